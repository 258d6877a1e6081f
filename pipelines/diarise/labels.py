"""Turns laid over a transcript: every line gets its speaker, and a line in which another begins to speak is parted there."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from pipelines.asr.sentences import lines
from pipelines.diarise.turns import Turn
from pipelines.speakers import numbered, speaker_id
from pipelines.types import Segment, Word

LONE = 2  # words: fewer of another speaker within a line are a slip of the turn's edge


def labelled(segments: Sequence[Segment], turns: Sequence[Turn], language: str) -> tuple[Segment, ...]:
    """The segments with speakers S1, S2… in the order in which they first speak."""
    if not turns:
        return tuple(segments)
    parted = (part for segment in segments for part in _parted(segment, turns, language))
    return numbered(tuple(lines(parted, language)))


def _parted(segment: Segment, turns: Sequence[Turn], language: str) -> Iterator[Segment]:
    if not segment.words:
        yield dataclasses.replace(segment, speaker=speaker_id(_speaker(segment.start, segment.end, turns)))
        return
    speakers = _steadied([_speaker(word.start, word.end, turns) for word in segment.words])
    first = 0
    for place in range(1, len(speakers) + 1):
        if place == len(speakers) or speakers[place] != speakers[first]:
            words = segment.words[first:place]
            yield _part(segment, words, speaker_id(speakers[first]))
            first = place


def _part(segment: Segment, words: tuple[Word, ...], speaker: str) -> Segment:
    if len(words) == len(segment.words):
        return dataclasses.replace(segment, speaker=speaker)
    return Segment(words[0].start, words[-1].end, " ".join(word.text for word in words), words, speaker)


def _steadied(speakers: list[int]) -> list[int]:
    """Runs of fewer than ``LONE`` words between words of one other speaker go to that one."""
    steady = list(speakers)
    for place in range(1, len(steady) - 1):
        run = next((n for n in range(place, len(steady)) if steady[n] != steady[place]), len(steady)) - place
        before, after = steady[place - 1], steady[place + run] if place + run < len(steady) else None
        if run < LONE and before == after and steady[place] != before:
            steady[place : place + run] = [before] * run
    return steady


def _speaker(start: float, end: float, turns: Sequence[Turn]) -> int:
    """Whose turn has most of [start, end]; beside all turns, the nearest."""
    best = max(turns, key=lambda turn: _shared(start, end, turn))
    if _shared(start, end, best) > 0:
        return best.speaker
    return min(turns, key=lambda turn: max(turn.start - end, start - turn.end)).speaker


def _shared(start: float, end: float, turn: Turn) -> float:
    return min(end, turn.end) - max(start, turn.start)
