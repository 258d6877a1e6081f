"""Small media files made with the real ffmpeg: every frame carries its number as a row of black and white blocks."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from pipelines.media import ffmpeg_path
from pipelines.settings import Settings
from pipelines.types import Frame

BITS = 10
BLOCK = 16


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.load({"DUBWRIGHT_HOME": str(tmp_path / "home")})


Run = Callable[..., None]


@pytest.fixture
def ffmpeg(settings: Settings) -> Run:
    """Run the real ffmpeg with these arguments; ``feed`` goes to its standard input."""

    def run(*arguments: str | Path, feed: bytes | None = None) -> None:
        listed = [str(argument) for argument in arguments]
        done = subprocess.run(
            [str(ffmpeg_path(settings)), "-hide_banner", "-loglevel", "error", "-y", *listed],
            input=feed,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")

    return run


def numbered(number: int, width: int = 192, height: int = 112) -> Frame:
    """A picture that shows its number in blocks on a background that changes smoothly."""
    frame = np.full((height, width, 3), (90, 110, 130), np.uint8)
    frame[height // 2 :, :, 0] = (number * 3) % 200
    for bit in range(BITS):
        value = 235 if number >> bit & 1 else 20
        frame[:BLOCK, bit * BLOCK : (bit + 1) * BLOCK] = value
    return frame


def number_of(frame: Frame) -> int:
    """The number a picture shows (upright, at its original size)."""
    middle = BLOCK // 2
    bits = [int(frame[middle, bit * BLOCK + middle].mean() > 128) for bit in range(BITS)]
    return sum(bit << place for place, bit in enumerate(bits))


Make = Callable[..., Path]


@pytest.fixture
def numbered_video(tmp_path: Path, ffmpeg: Run) -> Make:
    """Make a video of ``count`` numbered frames; ``options`` are ffmpeg's output options."""

    def make(
        name: str,
        count: int,
        fps: Fraction | int = 25,
        options: Sequence[str] = (),
        inputs: Sequence[str] = (),
        size: tuple[int, int] = (192, 112),
    ) -> Path:
        path = tmp_path / name
        raw = b"".join(numbered(number, *size).tobytes() for number in range(count))
        rate = Fraction(fps)
        ffmpeg(
            *("-f", "rawvideo", "-pix_fmt", "bgr24", "-s", f"{size[0]}x{size[1]}"),
            *("-r", f"{rate.numerator}/{rate.denominator}", "-i", "pipe:0", *inputs),
            *(options or ("-pix_fmt", "yuv420p")),
            path,
            feed=raw,
        )
        return path

    return make
