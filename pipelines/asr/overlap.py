"""What was said during given times: the source text beside the cues of a translated subtitle file, or a line read back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipelines.asr.words import line_text
from pipelines.types import Segment, Word


def said_between(segments: Iterable[Segment], start: float, end: float, language: str) -> str:
    """The words whose middle lies in [start, end), as written text; segments without words count whole."""
    words: list[Word] = []
    for segment in segments:
        if segment.end <= start or segment.start >= end:
            continue
        parts = segment.words or (Word(segment.start, segment.end, segment.text.strip()),)
        words += [word for word in parts if start <= (word.start + word.end) / 2 < end]
    return line_text(words, language)


def sources_for(cues: Sequence[Segment], segments: Sequence[Segment], language: str) -> tuple[str, ...]:
    """For every cue of a translation what the transcript says during it; a word goes to one cue only."""
    return tuple(said_between(segments, cue.start, cue.end, language) for cue in cues)
