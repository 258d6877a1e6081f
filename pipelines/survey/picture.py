"""Whether and when faces are to be seen, from pictures spread over a video."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.types import VideoInfo

PICTURES, SECONDS = 96, 3.5
SMALL = (
    0.08  # a face narrower than this share of the picture's shorter side is too small for its lips to be read
)


@dataclass(frozen=True, slots=True)
class Faces:
    """What the sampled pictures show.

    Attributes:
        looked: pictures that were looked at. share: of the time they stand for, that with a face.
        people: most faces that are seen together in at least a tenth of the pictures with faces.
        without: stretches in seconds (start, end) with no face in at least two pictures after one another; their edges
            are as exact as the pictures are close.
        width: median width of the largest face, as a share of the picture's shorter side; 0 without faces.
    """

    looked: int
    share: float
    people: int
    without: tuple[tuple[float, float], ...]
    width: float


def find_faces(info: VideoInfo) -> Faces:
    """Look at pictures spread over the video for a few seconds.

    Raises:
        MediaError: the picture cannot be decoded.
    """
    from pipelines.faces.detection import Searcher, reduced
    from pipelines.media.samples import sampled_frames

    searcher = Searcher()
    found: list[tuple[float, list[float]]] = []
    try:
        for at, frame in sampled_frames(info, PICTURES, SECONDS):
            rgb, scale = reduced(frame)
            boxes = searcher.search(frame, rgb, scale)
            found.append((at, [(box[2] - box[0]) / min(frame.shape[:2]) for box in boxes]))
    finally:
        searcher.close()
    return summed_up(sorted(found), info.duration)


def summed_up(found: Sequence[tuple[float, Sequence[float]]], duration: float) -> Faces:
    """Times in order, each with the widths of its faces."""
    seen = [widths for _, widths in found if widths]
    if not seen:
        return Faces(len(found), 0.0, 0, ((0.0, duration),) if found else (), 0.0)
    largest = sorted(max(widths) for widths in seen)
    counts = [len(widths) for widths in seen]
    people = max(number for number in set(counts) if sum(c >= number for c in counts) >= 0.1 * len(counts))
    return Faces(
        len(found),
        round(_share(found, duration), 3),
        people,
        _without(found, duration),
        largest[len(largest) // 2],
    )


def _share(found: Sequence[tuple[float, Sequence[float]]], duration: float) -> float:
    """Every picture stands for the time that is nearer to it than to any other."""
    times = [at for at, _ in found]
    edges = [0.0, *((one + two) / 2 for one, two in itertools.pairwise(times)), max(duration, times[-1])]
    spans = [last - first for first, last in itertools.pairwise(edges)]
    return sum(span for span, (_, widths) in zip(spans, found, strict=True) if widths) / max(sum(spans), 1e-6)


def _without(
    found: Sequence[tuple[float, Sequence[float]]], duration: float
) -> tuple[tuple[float, float], ...]:
    stretches: list[tuple[float, float]] = []
    first = 0
    while first < len(found):
        last = first
        while last < len(found) and not found[last][1]:
            last += 1
        if last - first >= 2:
            start = found[first][0] if first else 0.0
            stretches.append((start, found[last][0] if last < len(found) else duration))
        first = max(last, first + 1)
    return tuple(stretches)
