"""Landmarks over time: short gaps bridged, jitter removed without any lag.

The filter is centred (Savitzky-Golay, second order: Anal. Chem. 36, 1964), so a moving face is neither led nor
trailed.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.signal import savgol_filter

BRIDGE_SECONDS = 0.13  # a blink of the detector; anything longer may be a hand or a turned head
WINDOW_SECONDS = 0.20

# The lips: left as they were detected. Shut lips of one or two frames (p, b, m) would not survive any filter.
MOUTH = (
    61, 146, 91, 181, 84, 17, 314, 405, 321, 375, 291, 409, 270, 269, 267, 0, 37, 39, 40, 185,
    78, 95, 88, 178, 87, 14, 317, 402, 318, 324, 308, 415, 310, 311, 312, 13, 82, 81, 80, 191,
    76, 62, 77, 96, 90, 89, 180, 179, 85, 86, 16, 15, 315, 316, 404, 403, 320, 319, 307, 325, 306, 292,
    184, 183, 74, 42, 73, 41, 72, 38, 11, 12, 302, 268, 303, 271, 304, 272, 408, 407,
)  # fmt: skip


def runs(seen: npt.NDArray[np.bool_], cuts: frozenset[int] = frozenset()) -> list[tuple[int, int]]:
    """Ranges [first, last) of consecutive true values, broken at cuts."""
    found: list[tuple[int, int]] = []
    start: int | None = None
    for index, value in enumerate(seen.tolist()):
        if start is not None and (not value or index in cuts):
            found.append((start, index))
            start = None
        if value and start is None:
            start = index
    if start is not None:
        found.append((start, len(seen)))
    return found


def bridge(
    points: npt.NDArray[np.float32], seen: npt.NDArray[np.bool_], fps: float, cuts: frozenset[int]
) -> npt.NDArray[np.bool_]:
    """Fill gaps of at most BRIDGE_SECONDS by straight lines, in place; returns which frames hold a face afterwards.

    Longer gaps get straight lines or the nearest face too, so that no array holds rubbish, but stay marked as unseen.

    Args:
        points: (T, N, 2); rows that were not seen may hold anything.
        seen: (T,).
        fps: frames per second.
        cuts: first frames of shots; nothing is bridged across one.
    """
    found = seen.copy()
    stretches = runs(seen)
    if not stretches:
        return found
    points[: stretches[0][0]] = points[stretches[0][0]]
    points[stretches[-1][1] :] = points[stretches[-1][1] - 1]
    longest = max(round(BRIDGE_SECONDS * fps), 1)
    for (_, last), (first, _) in pairwise(stretches):
        left, right = points[last - 1].copy(), points[first].copy()
        for index in range(last, first):
            weight = np.float32((index - last + 1) / (first - last + 1))
            points[index] = left + (right - left) * weight
        if first - last <= longest and not any(cut in cuts for cut in range(last, first + 1)):
            found[last:first] = True
    return found


def smooth(
    points: npt.NDArray[np.float32], found: npt.NDArray[np.bool_], fps: float, cuts: frozenset[int]
) -> None:
    """Smooth landmarks in place within every uninterrupted stretch, in blocks, so that memory stays small.

    Args:
        points: (T, 478, 2), possibly memory-mapped.
    """
    window = _window(WINDOW_SECONDS, fps)
    for first, last in runs(found, cuts):
        _smooth_stretch(points, first, last, window)


def _smooth_stretch(points: npt.NDArray[np.float32], first: int, last: int, window: int) -> None:
    halo = window
    before = points[first:first].copy()  # untouched frames left of the block, which is overwritten as we go
    for start in range(first, last, 512):
        stop = min(start + 512, last)
        block = np.concatenate([before, points[start : min(stop + halo, last)]])
        before, kept = (
            block[: len(before) + stop - start][-halo:].copy(),
            slice(len(before), len(before) + stop - start),
        )
        result = _filtered(block, window)
        result[:, MOUTH] = block[:, MOUTH]
        points[start:stop] = result[kept]


def _filtered(block: npt.NDArray[np.float32], window: int) -> npt.NDArray[np.float32]:
    window = min(window, len(block) - 1 + len(block) % 2)
    if window < 3:
        return block.copy()
    smoothed: npt.NDArray[np.float32] = savgol_filter(block, window, min(2, window - 1), axis=0).astype(
        np.float32
    )
    return smoothed


def _window(seconds: float, fps: float) -> int:
    """An odd number of frames, at least 3."""
    return max(round(seconds * fps) // 2 * 2 + 1, 3)
