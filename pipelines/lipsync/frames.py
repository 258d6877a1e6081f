"""Source frames in any asked order, forwards as one stream, backwards in small blocks, in constant memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipelines.settings import Settings
from pipelines.types import Frame, VideoInfo

BLOCK_BYTES = 150_000_000


def segments(order: Sequence[int]) -> list[tuple[int, int, int]]:
    """Cut an order of frames into runs (first position, last position + 1, step) with step 1 or −1.

    Frames that repeat belong to either kind of run.
    """
    cuts: list[tuple[int, int, int]] = []
    start, step = 0, 0
    for index in range(1, len(order)):
        change = order[index] - order[index - 1]
        if change in (0, step) or (step == 0 and change in (1, -1)):
            step = step or change
            continue
        cuts.append((start, index, step or 1))
        start, step = index, 0
    if order:
        cuts.append((start, len(order), step or 1))
    return cuts


def ordered_frames(info: VideoInfo, order: Sequence[int], settings: Settings) -> Iterator[Frame]:
    """The frames ``order`` names, one after the other; a frame asked for twice in a row is the same array."""
    block = max(BLOCK_BYTES // max(info.width * info.height * 3, 1), 2)
    for first, last, step in segments(order):
        if step == 1:
            yield from _forwards(info, order[first:last], settings)
        else:
            yield from _backwards(info, order[first:last], settings, block)


def _forwards(info: VideoInfo, order: Sequence[int], settings: Settings) -> Iterator[Frame]:
    from pipelines.media import read_frames

    frames = read_frames(info, settings, start=order[0], count=order[-1] - order[0] + 1)
    position, frame = order[0] - 1, None
    try:
        for wanted in order:
            while position < wanted:
                following = next(frames, None)
                if following is None:  # fewer frames than counted: the last one stands
                    break
                frame, position = following, position + 1
            if frame is None:
                return
            yield frame
    finally:
        if hasattr(frames, "close"):
            frames.close()


def _backwards(info: VideoInfo, order: Sequence[int], settings: Settings, block: int) -> Iterator[Frame]:
    from pipelines.media import read_frames

    index = 0
    while index < len(order):
        high = order[index]
        low = max(high - block + 1, order[-1])
        held = list(read_frames(info, settings, start=low, count=high - low + 1))
        while index < len(order) and order[index] >= low and held:
            yield held[min(order[index] - low, len(held) - 1)]
            index += 1
        if not held:
            return
