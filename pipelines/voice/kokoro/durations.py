"""Frames per token for an asked length: vowels and pauses give first, consonants last, the ends keep their length.

Pure arithmetic on the lengths the graph predicts; a frame is 25 ms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pipelines.g2p.symbols import MODIFIERS, PUNCTUATION, STRESS, VOWELS

Floats = npt.NDArray[np.float32]

SHORTEST, LONGEST = 0.7, 1.4  # of the natural length
# How readily a token changes its length against a vowel, and how short it may get against its natural length.
GIVE = {"vowel": 1.0, "pause": 1.4, "consonant": 0.6}
FLOOR = {"vowel": 0.5, "pause": 0.3, "consonant": 0.6}


def kind(symbol: str) -> str:
    """``vowel``, ``consonant`` or ``pause``; length, tone and stress marks behave like the vowel they sit on."""
    if symbol == " " or symbol in PUNCTUATION:
        return "pause"
    return "vowel" if symbol in VOWELS or symbol in MODIFIERS or symbol in STRESS else "consonant"


def fixed(symbols: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Tokens (n + 2, with the silent ones around) whose length must stay: shortening the ends garbles them.

    These are the first phone with its stress mark, the last with its marks, and everything outside of them.
    """
    inner = [index for index, symbol in enumerate(symbols) if kind(symbol) != "pause"]
    keep = np.ones(len(symbols) + 2, bool)
    if not inner:
        return keep
    first, last = inner[0], inner[-1]
    while first < last and symbols[first] in STRESS:
        first += 1
    while first < last and symbols[last] in MODIFIERS:
        last -= 1
    keep[first + 2 : last + 1] = False
    return keep


def natural(lengths: Floats) -> Floats:
    """Whole frames as the graph itself would round them."""
    return np.maximum(np.round(lengths), 1).astype(np.float32)


def slack(lengths: Floats, symbols: Sequence[str]) -> float:
    """Frames that can be taken away before the floors are reached."""
    free = ~fixed(symbols)
    kinds = ["pause", *(kind(symbol) for symbol in symbols), "pause"]
    floor = np.maximum(1.0, lengths * np.array([FLOOR[name] for name in kinds]))
    return float(np.maximum(natural(lengths) - floor, 0)[free].sum())


def fit(lengths: Floats, symbols: Sequence[str], change: int) -> Floats:
    """Frames per token so that their sum is that of ``natural(lengths)`` plus ``change``.

    Args:
        lengths: natural frames per token, float (n + 2,).
        symbols: the n symbols of the line.
        change: frames to add (or, negative, to take away). Where the floors allow no more, as many as possible.
    """
    frames = natural(lengths)
    free = ~fixed(symbols)
    if not change or not free.any():
        return frames
    kinds = ["pause", *(kind(symbol) for symbol in symbols), "pause"]
    give = np.array([GIVE[name] for name in kinds])[free]
    base = lengths[free].astype(np.float64)
    floor = np.maximum(1.0, base * np.array([FLOOR[name] for name in kinds])[free])
    total = frames[free].sum() + change
    asked = _scaled(base, give, floor, max(total, len(base)))
    frames[free] = _whole(asked, int(max(total, len(base))))
    return frames


def _scaled(base: npt.NDArray[np.float64], give: npt.NDArray[np.float64], floor: npt.NDArray[np.float64],
            total: float) -> npt.NDArray[np.float64]:  # fmt: skip
    """``base × (1 + give × s)`` with s such that the sum is ``total``, floors kept as long as they leave a choice."""
    if floor.sum() >= total:
        floor = np.maximum(1.0, floor * total / floor.sum() * 0.98)
    low, high = -2.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        if np.maximum(floor, base * (1 + give * middle)).sum() < total:
            low = middle
        else:
            high = middle
    return np.maximum(floor, base * (1 + give * high))


def _whole(asked: npt.NDArray[np.float64], total: int) -> Floats:
    """Whole frames (at least one each) whose running sum stays as close as can be to the asked one: rhythm is kept."""
    ends = np.round(np.cumsum(asked) * total / asked.sum()).astype(int)
    frames = np.maximum(np.diff(ends, prepend=0), 1)
    while (over := int(frames.sum()) - total) > 0:
        order = np.argsort(asked - frames)  # first those furthest above what was asked
        order = order[frames[order] > 1][:over]
        if not len(order):
            break
        frames[order] -= 1
    return frames.astype(np.float32)
