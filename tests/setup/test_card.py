"""Each library the application is named for does a real job: the job's result is looked at, and the library is seen at it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from fastapi.testclient import TestClient

from pipelines import faces, media, transcribe
from pipelines.backend.policy import Policy
from pipelines.backend.probe import Probe
from pipelines.files import read_json
from pipelines.lipsync.geometry import build_mesh, reference_shape
from pipelines.lipsync.warp import Region, draw, remap
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.types import Audio, FaceTrack, Frame
from pipelines.voice.pitch import measure
from pipelines.weights import present
from tests.setup.test_whole import CARD
from ui.machine import Machine
from ui.server import make_app
from ui.services import make_services

SHIFT = 6  # px
HUM = 150.0  # Hz


def test_every_library_on_the_card_has_a_job_here() -> None:
    done = {name.removeprefix("test_").partition("_")[0] for name in globals() if name.startswith("test_")}
    assert set(CARD) <= done


def test_gradio_is_the_page(settings: Settings) -> None:
    services = make_services(settings, Machine(Probe(), Policy(threads=1)))
    try:
        with TestClient(make_app(services), base_url="http://127.0.0.1:7860") as client:
            config = client.get("/config").json()
    finally:
        services.close()
    kinds = {component["type"] for component in config["components"]}
    assert {"tabs", "video", "dropdown", "dataframe"} <= kinds
    assert config["title"] == "Dubwright"


@pytest.fixture(scope="module")
def heard(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A transcription job by the torch engine: its transcript, with what torch and torchaudio made on the way."""
    import torch
    import torchaudio

    settings = Settings.load()
    if not present(settings, "whisper-base"):
        pytest.skip("the Whisper model files are not on this computer")
    seen: dict[str, Any] = {}

    def watched(place: Any, name: str, key: str) -> Any:
        real = getattr(place, name)

        def call(*arguments: Any, **options: Any) -> Any:
            made = real(*arguments, **options)
            seen.setdefault(key, []).append(made.detach())
            return made

        return patch.object(place, name, call)

    folder = tmp_path_factory.mktemp("heard")
    options = {
        "input": str(data / "speech" / "en_voice_ref.wav"),
        "engine": "whisper-torch",
        "language": "en",
    }
    threads = torch.get_num_threads()
    with (
        watched(torchaudio.transforms.MelSpectrogram, "forward", "spectrogram"),
        watched(torch.nn.Conv1d, "forward", "convolution"),
    ):
        transcribe.run(folder, options, EngineContext(settings, Policy(threads=1)), NullReport())
    torch.set_num_threads(threads)
    return {
        **seen,
        "text": " ".join(part["text"] for part in read_json(folder / transcribe.TRANSCRIPT)["segments"]),
    }


@pytest.mark.slow
def test_torch_writes_down_what_is_said(heard: dict[str, Any]) -> None:
    assert "mother nature" in heard["text"].lower()
    assert {tuple(made.shape) for made in heard["convolution"]} >= {(1, 512, 3000), (1, 512, 1500)}


def test_torchaudio_makes_what_torch_hears(heard: dict[str, Any]) -> None:
    (bands,) = heard["spectrogram"]
    assert bands.shape[0] == 80
    low, high = bands[:20].mean(), bands[60:].mean()
    assert low > 10 * high, "a voice is loudest in its low bands"


@pytest.fixture(scope="module")
def face(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Frame, FaceTrack]:
    """The first picture of a close-up, and the face in it."""
    folder = tmp_path_factory.mktemp("face")
    settings = replace(Settings.load(), cache=folder / "cache")
    clip = folder / "clip.mp4"
    source = data / "video" / "talk_512_8s.mp4"
    command = [str(media.ffmpeg_path(settings)), "-v", "error", "-i", str(source), "-t", "0.4", "-an"]
    subprocess.run([*command, "-c:v", "libx264", "-crf", "12", str(clip)], check=True)
    info = media.probe(clip)
    (track,) = faces.analyse(info, settings, NullReport())
    return next(iter(media.read_frames(info, settings, count=1))), track


def test_mediapipe_finds_the_face(face: tuple[Frame, FaceTrack]) -> None:
    _, track = face
    assert track.found.all()
    assert track.landmarks.shape == (10, 478, 2)
    eyes, nose, mouth, chin = (np.asarray(track.landmarks[:, point, 1]) for point in (159, 1, 13, 152))
    assert ((eyes < nose) & (nose < mouth) & (mouth < chin)).all()


def test_cv2_warps_the_face_where_it_should_be(face: tuple[Frame, FaceTrack]) -> None:
    frame, track = face
    landmarks = np.asarray(track.landmarks[0], np.float32)
    mesh = build_mesh(reference_shape(np.asarray(track.landmarks)))
    points = mesh.points(landmarks)
    height, width = frame.shape[:2]
    drawn = draw(mesh, points + np.float32(SHIFT), Region(0, 0, width, height))
    moved = remap(frame, drawn.maps(mesh, points))
    inside = drawn.triangles < len(drawn.inverse)  # pixels that lie in the mesh
    assert inside.sum() > 5_000
    assert np.array_equal(moved[~inside], frame[~inside])
    expected = np.roll(frame, (SHIFT, SHIFT), axis=(0, 1)).astype(int)
    assert np.abs(moved.astype(int) - expected)[inside].mean() < 1.0
    assert np.abs(frame.astype(int) - expected)[inside].mean() > 3.0


@pytest.fixture
def command_lines() -> Iterator[list[list[str]]]:
    """Arguments that ffmpeg-python put together."""
    import ffmpeg

    lines: list[list[str]] = []
    real: Callable[..., list[str]] = ffmpeg.get_args

    def watched(*arguments: Any, **options: Any) -> list[str]:
        lines.append(real(*arguments, **options))
        return lines[-1]

    with patch.object(ffmpeg, "get_args", watched):
        yield lines


def test_ffmpeg_command_lines_write_and_read_the_picture(
    settings: Settings, tmp_path: Path, command_lines: list[list[str]]
) -> None:
    path = tmp_path / "grey 灰.mp4"
    with media.FrameWriter(path, 64, 48, Fraction(25), settings) as writer:
        for level in (40, 120, 200):
            writer.write(np.full((48, 64, 3), level, np.uint8))
    frames = list(media.read_frames(media.probe(path), settings))
    assert [round(float(frame.mean()), -1) for frame in frames] == [40, 120, 200]
    written, read = command_lines[0], command_lines[-1]
    assert any("grey" in part for part in written) and "libx264" in written
    assert "rawvideo" in read


def test_librosa_hears_the_pitch() -> None:
    time = np.arange(2 * 16_000) / 16_000
    hum = sum(np.sin(2 * np.pi * HUM * number * time) / number for number in range(1, 9)) * 0.2
    found = measure(Audio(np.asarray(hum, np.float32), 16_000))
    assert found is not None
    assert found.median == pytest.approx(HUM, rel=0.02)
    assert found.spread < 0.5
