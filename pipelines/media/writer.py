"""Frames out: BGR pictures to an H.264 file that every browser plays, written whole or not at all."""

from __future__ import annotations

import contextlib
import weakref
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

import ffmpeg
import numpy as np

from pipelines.errors import Message
from pipelines.files import part_file
from pipelines.media.encoder import Encoder, x264
from pipelines.media.ffmpeg import Child, command, failure, target
from pipelines.settings import Settings
from pipelines.types import ColorSpace, Frame

SCALING = "bicubic+accurate_rnd+full_chroma_int"
# H.273 names of a consistent set of tags for each matrix.
TAGS: dict[ColorSpace, tuple[str, str]] = {
    "bt709": ("bt709", "bt709"),
    "smpte170m": ("smpte170m", "smpte170m"),
    "bt470bg": ("bt470bg", "smpte170m"),
}


class FrameWriter:
    """Encode frames one by one; used as a context manager.

    The file appears under its name when the block ends well; on any error, Stop included, ffmpeg is killed and
    nothing is left. An odd width or height is made even by repeating the last column or row (H.264 4:2:0 needs it).

    Args:
        path: the file to make (mp4). width, height: size of the frames. fps: frames a second.
        crf: x264 quality, lower is better. preset: x264 speed. color: YUV matrix and tags (``VideoInfo.color``).
        encoder: another encoder, from ``choose_encoder``; ``crf`` and ``preset`` are its own then.
    """

    def __init__(
        self,
        path: Path,
        width: int,
        height: int,
        fps: Fraction,
        settings: Settings,
        *,
        crf: int = 17,
        preset: str = "veryfast",
        color: ColorSpace = "bt709",
        encoder: Encoder | None = None,
    ) -> None:
        self.frames = 0
        self._path = path
        self._shape = (height, width, 3)
        self._settings = settings
        self._output = (Fraction(fps), color, encoder or x264(crf, preset))
        self._files = contextlib.ExitStack()
        self._child: Child | None = None
        self._cleanup: Any = None

    def __enter__(self) -> FrameWriter:
        part = self._files.enter_context(part_file(self._path))
        arguments = writer_arguments(self._settings, self._shape[1], self._shape[0], *self._output, part)
        try:
            self._child = Child(arguments, feeds=True)
        except OSError:
            part.unlink(missing_ok=True)
            raise
        self._cleanup = weakref.finalize(self, _abandon, self._child, part)
        return self

    def write(self, frame: Frame) -> None:
        """Hand one frame, uint8 (H, W, 3) BGR, to the encoder; waits while its pipe is full.

        Raises:
            ValueError: the frame has another shape or type. MediaError, DiskFull: ffmpeg gave up.
        """
        if frame.shape != self._shape or frame.dtype != np.uint8:
            raise ValueError(f"frame is {frame.dtype} {frame.shape}, expected uint8 {self._shape}")
        running = self._running()
        try:
            running.stdin.write(np.ascontiguousarray(frame).data.cast("B"))
        except BrokenPipeError:
            running.finish()
            raise failure(running, WRITING, str(self._path)) from None
        self.frames += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        running = self._running()
        try:
            if kind is None:
                with contextlib.suppress(BrokenPipeError):  # the exit status below tells
                    running.stdin.close()
                if running.finish() != 0 or self.frames == 0:
                    raise failure(running, WRITING if self.frames else NOTHING, str(self._path))
        except BaseException as failed:
            running.close()
            self._cleanup.detach()
            self._files.__exit__(type(failed), failed, failed.__traceback__)
            raise
        running.close()
        self._cleanup.detach()
        self._files.__exit__(kind, error, trace)

    def _running(self) -> Child:
        if self._child is None:
            raise RuntimeError("FrameWriter is used outside its with block")
        return self._child


WRITING = Message("The video could not be written", "无法写入视频")
NOTHING = Message("There was no frame to write", "没有可写入的画面")


def _abandon(running: Child, part: Path) -> None:
    running.close()
    part.unlink(missing_ok=True)


def writer_arguments(
    settings: Settings,
    width: int,
    height: int,
    fps: Fraction,
    color: ColorSpace,
    encoder: Encoder,
    part: Path,
) -> list[str]:
    """The ffmpeg command line that reads raw BGR frames from standard input and writes an mp4 to ``part``."""
    rate = f"{fps.numerator}/{fps.denominator}"
    picture = ffmpeg.input("pipe:0", format="rawvideo", pix_fmt="bgr24", s=f"{width}x{height}", r=rate)
    picture = even(picture, width, height)
    picture = picture.filter("scale", flags=SCALING, out_color_matrix=_matrix(color), out_range="tv")
    picture = picture.filter("format", encoder.pixel_format)
    primaries, transfer = TAGS[color]
    picture = picture.filter(
        "setparams", colorspace=color, color_primaries=primaries, color_trc=transfer, range="tv"
    )
    if encoder.upload:
        picture = picture.filter("hwupload")
    options = {"c:v": encoder.name, **dict(encoder.options)}
    output = picture.output(target(part), format="mp4", movflags="+faststart", **options)
    return command(settings, output, *encoder.device)


def even(picture: Any, width: int, height: int) -> Any:
    """Make odd sizes even by repeating the last column or row."""
    right, bottom = width % 2, height % 2
    if not right and not bottom:
        return picture
    picture = picture.filter("pad", width + right, height + bottom)
    return picture.filter("fillborders", right=right, bottom=bottom, mode="smear")


def _matrix(color: ColorSpace) -> str:
    return "bt470" if color == "bt470bg" else color
