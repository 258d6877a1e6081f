"""When each phone and word sounds, from the frames per token and the energy curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipelines.g2p.symbols import MODIFIERS, PUNCTUATION, STRESS
from pipelines.types import Phone, Word
from pipelines.voice.kokoro.graph import SECONDS

Floats = npt.NDArray[np.float32]

HALF = SECONDS / 2  # one value of the energy curve
# The sound of a token comes this much before its frames: best lag of vowels, stops and fricatives against the
# measured spectrum, eight voices in three languages: −50 to −60 ms.
EARLY = 0.055
LOUD = -1.0  # of the energy curve; about −45 dB below the loudest syllable, agrees with the sound to 12.5 ms
PAUSE = 0.09  # silences at marks shorter than this belong to the phones around them


@dataclass(frozen=True, slots=True)
class Spelled:
    """One word's or mark's place among the symbols of a line: ``symbols[start:end]``."""

    text: str
    start: int
    end: int
    mark: bool


def span(energy: Floats) -> tuple[float, float]:
    """Start and end in seconds of what is heard; the whole when nothing is loud."""
    loud = np.flatnonzero(energy > LOUD)
    if not len(loud):
        return 0.0, len(energy) * HALF
    return float(loud[0] * HALF), float((loud[-1] + 1) * HALF)


def silences(energy: Floats, start: float, end: float) -> list[tuple[float, float]]:
    """Silent stretches of at least ``PAUSE`` inside [start, end], in seconds."""
    quiet = np.concatenate([[False], energy <= LOUD, [False]])
    edges = np.flatnonzero(quiet[1:] != quiet[:-1]).reshape(-1, 2) * HALF
    return [(a, b) for a, b in edges.tolist() if b - a >= PAUSE and a > start and b < end]


def groups(symbols: Sequence[str]) -> list[tuple[int, int]]:
    """Ranges of symbols that make one phone: stress marks before it, length and tone marks after it."""
    found: list[tuple[int, int]] = []
    begin = 0
    for index, symbol in enumerate(symbols):
        if symbol == " " or symbol in PUNCTUATION:
            begin = index + 1
        elif symbol in MODIFIERS and found and found[-1][1] == index:
            found[-1] = (found[-1][0], index + 1)
            begin = index + 1
        elif symbol not in STRESS:
            found.append((begin, index + 1))
            begin = index + 1
    return found


def phones(symbols: Sequence[str], frames: Floats, energy: Floats) -> tuple[Phone, ...]:
    """Phones on the clock of the whole rendering, without gaps except where the voice pauses.

    Args:
        symbols: the n symbols; frames: (n + 2,); energy: (2 × frames.sum(),).
    """
    ranges = groups(symbols)
    if not ranges:
        return ()
    begin, finish = span(energy)
    edges = np.concatenate([[0.0], np.cumsum(frames)]) * SECONDS - EARLY
    starts = [float(edges[start + 1]) for start, _ in ranges]
    ends = [float(edges[end + 1]) for _, end in ranges]
    starts[0], ends[-1] = begin, finish
    gaps = silences(energy, begin, finish)
    for index in range(len(ranges) - 1):
        marked = any(symbol in PUNCTUATION for symbol in symbols[ranges[index][1] : ranges[index + 1][0]])
        gap = _gap(gaps, ends[index], starts[index + 1]) if marked else None
        if gap:
            ends[index], starts[index + 1] = gap
        else:  # a blank between words is no silence: both sides share its frames
            ends[index] = starts[index + 1] = (ends[index] + starts[index + 1]) / 2
    return _ordered(
        [("".join(symbols[a:b]), s, e) for (a, b), s, e in zip(ranges, starts, ends, strict=True)], finish
    )


def _gap(gaps: Sequence[tuple[float, float]], end: float, start: float) -> tuple[float, float] | None:
    """The silence that lies at a mark whose frames run from ``end`` to ``start``, if there is one."""
    near = [gap for gap in gaps if gap[0] < start + 0.12 and gap[1] > end - 0.12]
    return max(near, key=lambda gap: gap[1] - gap[0]) if near else None


def _ordered(found: list[tuple[str, float, float]], finish: float) -> tuple[Phone, ...]:
    """Times made to run forward: silences found by energy may have moved an edge past a short neighbour."""
    phones: list[Phone] = []
    for symbol, start, end in found:
        start = min(max(start, phones[-1].end if phones else start), finish)
        phones.append(Phone(start, min(max(end, start), finish), symbol))
    return tuple(phones)


def words(spelled: Sequence[Spelled], symbols: Sequence[str], timed: Sequence[Phone]) -> tuple[Word, ...]:
    """Written words with the times of their phones."""
    ranges = groups(symbols)
    found = []
    for word in spelled:
        inside = [
            phone
            for phone, (start, end) in zip(timed, ranges, strict=True)
            if start < word.end and end > word.start
        ]
        if inside and not word.mark:
            found.append(Word(inside[0].start, inside[-1].end, word.text))
    return tuple(found)
