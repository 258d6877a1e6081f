"""Single pictures spread over a video, quickly: key frames first, which cost one picture each, then all of a small video."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import av
import numpy as np

from pipelines.errors import MediaError, Message
from pipelines.types import Frame, VideoInfo

WHOLE_PIXELS = 1.3e9  # a clip with no more of them (20 s at 1080p30) is decoded as a whole: about two seconds
MOST_REPEATS = 6  # seeks that lead to pictures that are there already: the key frames are used up


def sampled_frames(
    info: VideoInfo, wanted: int, seconds: float, long_side: int = 960
) -> Iterator[tuple[float, Frame]]:
    """Pictures with their times in seconds, spread over the video ever more closely; each time comes once.

    Args:
        wanted: how many at most. seconds: time that may be spent; what has come by then is all. long_side: px of the
            pictures, which are upright but keep the pixel aspect of the file.

    Raises:
        MediaError: the picture cannot be decoded.
    """
    ends = time.monotonic() + seconds
    seen: set[float] = set()
    try:
        with av.open(str(info.path)) as container:
            stream = container.streams.video[0]
            stream.thread_type = "AUTO"
            zero = (container.start_time or 0) / av.time_base  # where the file's own clock begins
            small = info.frames * info.width * info.height <= WHOLE_PIXELS
            rest = _all_through(container, stream, info.duration / wanted) if small else iter(())
            for pictures in (_key_frames(container, stream, info.duration, wanted, zero), rest):
                repeats = 0
                for frame in pictures:
                    at = round(float(frame.time or 0.0) - zero, 2)
                    repeats = repeats + 1 if at in seen else 0
                    if at not in seen:
                        seen.add(at)
                        yield at, _upright(frame, info, long_side)
                    if time.monotonic() > ends:
                        return
                    if repeats >= MOST_REPEATS and pictures is not rest:
                        break
    except (av.error.FFmpegError, IndexError) as error:
        raise MediaError(
            Message("The picture cannot be decoded", "无法解码画面"),
            Message("Try another file.", "请换一个文件。"),
            f"{info.path.name}: {error}",
        ) from error


def _key_frames(container: Any, stream: Any, duration: float, wanted: int, zero: float) -> Iterator[Any]:
    for place in spread(wanted):
        at = duration * (place + 0.5) / wanted
        container.seek(int((at + zero) / float(stream.time_base)), stream=stream, backward=True)
        frame = next(iter(container.decode(stream)), None)
        if frame is not None:
            yield frame


def spread(count: int) -> list[int]:
    """0 … count − 1 in an order whose every beginning is spread over the whole (bits reversed)."""
    bits = max(count - 1, 1).bit_length()
    turned = (int(f"{number:0{bits}b}"[::-1], 2) for number in range(1 << bits))
    return [number for number in turned if number < count]


def _all_through(container: Any, stream: Any, apart: float) -> Iterator[Any]:
    container.seek(0)
    due: float | None = None
    for frame in container.decode(stream):
        if frame.time is not None and (due is None or frame.time >= due):
            due = frame.time + apart
            yield frame


def _upright(frame: Any, info: VideoInfo, long_side: int) -> Frame:
    scale = min(1.0, long_side / max(frame.width, frame.height))
    size = {name: max(16, round(getattr(frame, name) * scale) // 2 * 2) for name in ("width", "height")}
    picture = frame.reformat(format="bgr24", **size).to_ndarray()
    return np.ascontiguousarray(np.rot90(picture, -info.rotation // 90))
