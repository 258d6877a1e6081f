"""A subtitle file with the translation, laid beside what was said."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.types import Segment

LEAST_OVERLAP = 0.1  # seconds: two cues that merely touch do not belong together


def translations_for(lines: Sequence[Segment], cues: Sequence[Segment]) -> tuple[str, ...]:
    """For every transcript line the translated cues that belong to it (``""`` where none does).

    Each cue goes to the one line it shares most time with, cues in order of time are joined by a space: for filling
    the table of an existing transcript.
    """
    found: list[list[str]] = [[] for _ in lines]
    for cue in sorted(cues, key=lambda cue: cue.start):
        shared = [overlap(line, cue) for line in lines]
        best = max(range(len(lines)), key=lambda number: shared[number], default=None)
        if best is not None and shared[best] >= min(LEAST_OVERLAP, 0.5 * (cue.end - cue.start)):
            found[best].append(" ".join(cue.text.split()))
    return tuple(" ".join(texts) for texts in found)


def overlap(one: Segment, other: Segment) -> float:
    """Seconds two segments share."""
    return max(0.0, min(one.end, other.end) - max(one.start, other.start))
