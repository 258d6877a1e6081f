"""Speech of the video that no line of the dub covers: it falls silent, and the user must know."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.clock import clock
from pipelines.errors import Message
from pipelines.types import DubLine, Transcript, Word

SHORTEST = 0.3  # seconds of uncovered speech worth a word
JOINED = 1.0  # pauses up to here are one stretch
LISTED = 8


def uncovered(lines: Sequence[DubLine], transcript: Transcript) -> tuple[tuple[float, float], ...]:
    """Stretches (start, end) in seconds of words whose middle lies in no line, in order of time."""
    found: list[list[float]] = []
    for part in transcript.segments:
        for word in part.words or (Word(part.start, part.end, part.text),):
            middle = (word.start + word.end) / 2
            if not word.text.strip() or any(line.start <= middle < line.end for line in lines):
                continue
            if (
                found
                and word.start - found[-1][1] <= JOINED
                and not _between(lines, found[-1][1], word.start)
            ):
                found[-1][1] = max(found[-1][1], word.end)
            else:
                found.append([word.start, word.end])
    return tuple((start, end) for start, end in found if end - start >= SHORTEST)


def _between(lines: Sequence[DubLine], start: float, end: float) -> bool:
    return any(line.start < end and line.end > start for line in lines)


def gap_note(stretches: Sequence[tuple[float, float]]) -> Message:
    """\u201c0:12–0:15 is spoken but has no translation\u201d."""
    listed = ", ".join(f"{clock(start)}–{clock(end)}" for start, end in stretches[:LISTED])
    more = " …" if len(stretches) > LISTED else ""
    many = len(stretches) > 1
    return Message(
        f"{listed}{more} {'are' if many else 'is'} spoken but {'have' if many else 'has'} no translation:"
        " the dub is silent there",
        f"{listed}{more} 有人说话但没有译文:配音在此处无声",
    )
