"""One loaded Whisper for all tests of listening, sounds made for a case, and plain faster-whisper as the peer."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from pipelines.asr import EngineContext, Recognition, RecognitionOptions
from pipelines.asr.whisper import Whisper
from pipelines.backend.policy import Policy
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.types import Segment
from pipelines.weights import present

RATE = 16_000
Sound = npt.NDArray[np.float32]


@pytest.fixture(scope="session")
def whisper() -> Whisper:
    settings = Settings.load()
    if not present(settings, "whisper-base"):
        pytest.skip("the Whisper model files are not on this computer")
    return Whisper(EngineContext(settings, Policy(threads=2)))


@pytest.fixture(scope="session")
def hear(whisper: Whisper) -> Callable[..., tuple[Recognition, list[Segment]]]:
    """Recognise a file with options given as keywords; the segments as a list."""

    def run(path: Path, **options: Any) -> tuple[Recognition, list[Segment]]:
        recognition = whisper.recognize(path, RecognitionOptions(**options), NullReport())
        return recognition, list(recognition.segments)

    return run


@pytest.fixture
def wav(tmp_path: Path) -> Callable[..., Path]:
    """Write float samples as a WAV file and give its path."""

    def write(samples: Sound, name: str = "sound.wav", sr: int = RATE) -> Path:
        soundfile.write(tmp_path / name, samples, sr, subtype="PCM_16")
        return tmp_path / name

    return write


def samples_of(path: Path) -> Sound:
    """16 kHz mono samples of a recording, through ffmpeg."""
    arguments = [
        imageio_ffmpeg.get_ffmpeg_exe(),
        "-v",
        "error",
        "-i",
        str(path),
        "-ac",
        "1",
        "-ar",
        str(RATE),
    ]
    done = subprocess.run([*arguments, "-f", "f32le", "-"], stdout=subprocess.PIPE, check=True)
    return np.frombuffer(done.stdout, np.float32)


def ffmpeg(*arguments: str | Path) -> None:
    """Make a media file for a case."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y", *(str(part) for part in arguments)]
    subprocess.run(command, check=True)
