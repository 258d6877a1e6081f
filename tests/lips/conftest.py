"""Short clips cut from the real recordings, and one finished lip-sync that several tests look at."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from pipelines import faces, media
from pipelines.backend.policy import Policy
from pipelines.lipsync import LIP_ENGINES, EngineContext, LipDrive, LipReport
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.types import FaceTrack, Frame, Phone, VideoInfo
from tests.lips.phones import SPANISH
from tests.lips.wav2lip_weights import save_random

SECONDS = 4.0


@pytest.fixture(scope="session")
def lips_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lips 口型")


@pytest.fixture(scope="session")
def lips_settings(lips_home: Path) -> Settings:
    """One face cache for the whole session, so that a clip is analysed once."""
    return replace(
        Settings.load(), cache=lips_home / "cache", jobs=lips_home / "jobs", outputs=lips_home / "outputs"
    )


@pytest.fixture(scope="session")
def wav2lip_settings(lips_settings: Settings, lips_home: Path) -> Settings:
    """With weights for ``wav2lip``, of random numbers, and none for ``wav2lip-gan``."""
    save_random(lips_home / "weights" / "wav2lip" / "wav2lip.pth")
    return replace(lips_settings, weights=lips_home / "weights")


@pytest.fixture(scope="session")
def cut(data: Path, lips_home: Path, lips_settings: Settings) -> Callable[..., Path]:
    """``cut(clip, start, seconds, filters)``: a piece of a sample clip, H.264, without sound."""

    def make(clip: str, start: float, seconds: float, filters: str = "null") -> Path:
        name = f"{clip}-{start}-{seconds}-{abs(hash(filters)) % 10**8}.mp4"
        path = lips_home / name
        if not path.exists():
            command = [
                *(str(media.ffmpeg_path(lips_settings)), "-v", "error", "-y", "-ss", str(start)),
                *("-i", str(data / "video" / f"{clip}.mp4"), "-t", str(seconds), "-vf", filters, "-an"),
                *("-c:v", "libx264", "-preset", "veryfast", "-crf", "12", "-pix_fmt", "yuv420p", str(path)),
            ]
            subprocess.run(command, check=True)
        return path

    return make


@pytest.fixture(scope="session")
def join(lips_home: Path, lips_settings: Settings) -> Callable[..., Path]:
    """``join(name, graph, paths)``: clips put together by an ffmpeg filter graph that ends in [v]."""

    def make(name: str, graph: str, *paths: Path) -> Path:
        path = lips_home / f"{name}.mp4"
        inputs = [part for given in paths for part in ("-i", str(given))]
        command = [
            *(str(media.ffmpeg_path(lips_settings)), "-v", "error", "-y", *inputs, "-filter_complex", graph),
            *("-map", "[v]", "-c:v", "libx264", "-preset", "veryfast", "-crf", "12", "-pix_fmt", "yuv420p"),
            str(path),
        ]
        subprocess.run(command, check=True)
        return path

    return make


@dataclass(frozen=True)
class Result:
    """A finished run: what went in, what came out."""

    info: VideoInfo
    track: FaceTrack
    drive: LipDrive
    report: LipReport
    frames: list[Frame]


@pytest.fixture(scope="session")
def say(lips_settings: Settings) -> Callable[..., Result]:
    """``say(path, frames=…, order=…, keep=…, phones=…)``: let the face of a clip say something."""

    def run(
        path: Path,
        frames: int | None = None,
        order: tuple[int, ...] | None = None,
        keep: tuple[tuple[float, float], ...] = (),
        phones: tuple[Phone, ...] = SPANISH,
    ) -> Result:
        info = media.probe(path)
        track = faces.analyse(info, lips_settings, NullReport())[0]
        drive = LipDrive(order or tuple(range(frames or info.frames)), phones, path, keep)
        engine = LIP_ENGINES.get("ownmouth", EngineContext(lips_settings, Policy()))
        run = engine.sync(info, track, drive, NullReport())
        return Result(info, track, drive, run.report, list(run.frames))

    return run


@pytest.fixture(scope="session")
def spoken(cut: Callable[..., Path], say: Callable[..., Result]) -> Result:
    """Four seconds of the close-up say a Spanish line."""
    return say(cut("talk_512_8s", 0, SECONDS))


@pytest.fixture(scope="session")
def encode(lips_home: Path, lips_settings: Settings) -> Callable[[Result, str], VideoInfo]:
    """Write a result's frames as a video, as the flows do."""

    def write(result: Result, name: str) -> VideoInfo:
        path, info = lips_home / f"{name}.mp4", result.info
        with media.FrameWriter(
            path, info.width, info.height, info.fps, lips_settings, color=info.color
        ) as writer:
            for frame in result.frames:
                writer.write(frame)
        return media.probe(path)

    return write


def source_frames(result: Result, settings: Settings) -> list[Frame]:
    """The source's frames in the order the run was asked for (short clips only)."""
    frames = list(media.read_frames(result.info, settings))
    return [frames[number] for number in result.drive.order]


def changed(one: Frame, other: Frame) -> np.ndarray:
    """(H, W) bool: pixels that differ."""
    different: np.ndarray = (one != other).any(axis=2)
    return different
