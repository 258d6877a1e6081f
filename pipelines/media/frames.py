"""Frames in: a video as a constant-rate stream of BGR pictures, from any frame on, in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from pipelines.errors import MediaError, Message
from pipelines.media.ffmpeg import Child, child, command, failure
from pipelines.media.probe import clock_input
from pipelines.media.still import load_still
from pipelines.settings import Settings
from pipelines.types import Frame, VideoInfo

# Demuxers with a real index: others may land behind the wanted frame, so they are decoded from the start.
INDEXED = ("mov,mp4", "matroska,webm")
PRE_ROLL = 1.0  # seconds before the wanted frame: the picture on the screen there may be an earlier one
HELD_SECONDS = 0.5  # a damaged last packet is bridged by the last good picture up to here
SCALING = "bicubic+accurate_rnd+full_chroma_int"
WHITE = 255
HDR_WHITE = 203  # cd/m²


def read_frames(
    info: VideoInfo, settings: Settings, *, start: int = 0, count: int | None = None
) -> Iterator[Frame]:
    """Deliver frames ``start`` … ``start + count - 1`` of the ``info.frames`` frames at ``info.fps``.

    Frames are upright, of the displayed size, uint8 (H, W, 3) BGR, in the file's SDR colours (HDR is tone-mapped to
    bt709), alpha laid on white. One frame is in memory at a time; when the iterator is closed, ffmpeg is gone.

    Args:
        info: from ``probe``. start: first frame; any frame of the file can be the first. count: how many at most,
            None for all to the end.

    Raises:
        MediaError: the picture cannot be decoded, or not to the end.
    """
    left = max(info.frames - start, 0) if count is None else max(min(count, info.frames - start), 0)
    if start < 0:
        raise ValueError(f"start is {start}")
    if info.still:
        if left:
            yield load_still(info.path)
        return
    if left:
        yield from _stream(info, settings, start, left)


def frame_at(info: VideoInfo, seconds: float, settings: Settings) -> Frame:
    """The picture on the screen at ``seconds`` (clipped to the video), for previews.

    Raises:
        MediaError: it cannot be decoded.
    """
    number = min(max(int(seconds * info.fps + 1e-6), 0), info.frames - 1)
    return next(read_frames(info, settings, start=number, count=1))


def _stream(info: VideoInfo, settings: Settings, start: int, count: int) -> Iterator[Frame]:
    channels = 4 if info.alpha else 3
    delivered = 0
    last: Frame | None = None
    with child(reader_arguments(info, settings, start, count), reads=True) as running:
        for raw in _pictures(running.stdout, info.height, info.width, channels):
            last = _on_white(raw) if info.alpha else raw
            delivered += 1
            yield last
        if delivered < count:
            _check_end(info, running, start, count, delivered)
    while last is not None and delivered < count:
        delivered += 1
        yield last.copy()


def reader_arguments(info: VideoInfo, settings: Settings, start: int, count: int) -> list[str]:
    """The ffmpeg command line that writes those frames as raw pictures to its standard output."""
    seek = max(start / float(info.fps) + info.phase - PRE_ROLL, 0.0)
    indexed = info.container.startswith(INDEXED) and seek > 0
    options: dict[str, Any] = {"noaccurate_seek": None, "ss": f"{seek:.6f}"} if indexed else {}
    if info.alpha and info.codec in ("vp8", "vp9"):
        options["vcodec"] = (
            f"libvpx-{info.codec}" if info.codec == "vp9" else "libvpx"
        )  # the native ones drop alpha
    shift = -info.phase - start / float(info.fps)
    picture = on_grid(clock_input(info.path, **options)["V:0"], info, shift)
    picture = sdr(picture, info).filter(
        "scale", info.width, info.height, flags=SCALING, in_color_matrix=input_matrix(info)
    )
    # By way of planar RGB: the direct way to packed RGB is either 1/255 too dark or twice as slow.
    picture = picture.filter("format", "gbrap" if info.alpha else "gbrp")
    form = "bgra" if info.alpha else "bgr24"
    output = picture.output("pipe:1", format="rawvideo", pix_fmt=form, **{"frames:v": count})
    return command(settings, output)


def on_grid(picture: Any, info: VideoInfo, shift: float) -> Any:
    """Frames at ``info.fps`` with time ``-shift`` becoming frame 0: the rule of ``pipelines.media.timeline``."""
    if info.interlaced:
        picture = picture.filter("bwdif", mode="send_frame", deint="interlaced")
    return picture.filter("setpts", f"round(PTS+({shift:.9f})/TB)").filter(
        "fps", fps=f"{info.fps.numerator}/{info.fps.denominator}", round="near", start_time=0
    )


def sdr(picture: Any, info: VideoInfo) -> Any:
    """HDR (PQ, HLG) brought to bt709: what is darker than half of reference white stays, highlights roll off to white.

    ``zscale`` puts HDR reference white (203 cd/m², ITU-R BT.2408) at 1.0; the Möbius curve is the identity below 0.5.
    """
    if not info.hdr:
        return picture
    return (
        picture.filter("zscale", transfer="linear", npl=HDR_WHITE)
        .filter("format", "gbrpf32le")
        .filter("zscale", primaries="bt709")
        .filter("tonemap", tonemap="mobius", param=0.5, desat=0)
        .filter("zscale", transfer="bt709", matrix="bt709", range="tv")
        .filter("format", "yuv444p")
    )


def input_matrix(info: VideoInfo) -> str:
    """The YUV matrix as the scale filter names it: what probe decided, also for untagged pictures."""
    return "bt470" if info.color == "bt470bg" else info.color


def _pictures(pipe: IO[bytes], height: int, width: int, channels: int) -> Iterator[npt.NDArray[np.uint8]]:
    """Whole raw pictures from the pipe; a cut-off last one is dropped."""
    while True:
        picture = np.empty((height, width, channels), np.uint8)
        view = picture.data.cast("B")
        filled = 0
        while filled < len(view):
            got = pipe.readinto(view[filled:])  # type: ignore[attr-defined]  # buffered pipes have readinto
            if not got:
                return
            filled += got
        yield picture


def _on_white(picture: npt.NDArray[np.uint8]) -> Frame:
    alpha = picture[:, :, 3:].astype(np.uint16)
    mixed = picture[:, :, :3].astype(np.uint16) * alpha + WHITE * (255 - alpha)
    return ((mixed + 127) // 255).astype(np.uint8)


def _check_end(info: VideoInfo, running: Child, start: int, count: int, delivered: int) -> None:
    """Accept a picture that ends a little early (the last one is held); refuse one that ends much too early."""
    status = running.finish()
    missing = count - delivered
    if delivered and missing <= max(HELD_SECONDS * float(info.fps), 2):
        return
    seconds = (start + delivered) / float(info.fps)
    what = Message(
        f"The picture can only be decoded up to {seconds:.1f} s of {info.duration:.1f} s",
        f"画面只能解码到 {seconds:.1f} 秒(共 {info.duration:.1f} 秒)",
    )
    if status != 0 or running.tail():
        raise failure(running, what, str(info.path))
    raise MediaError(
        what, Message("The file is damaged; export it again.", "文件已损坏,请重新导出。"), str(info.path)
    )
