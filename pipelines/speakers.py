"""The names of speakers in a transcript: who appears, renaming, and two that turn out to be one person."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from pipelines.types import Segment


def speaker_id(number: int) -> str:
    """The name a speaker has before somebody gives another: S1, S2…; ``number`` counts from 0."""
    return f"S{number + 1}"


def speakers_of(segments: Sequence[Segment]) -> tuple[str, ...]:
    """The speakers in the order in which they first speak."""
    return tuple(dict.fromkeys(segment.speaker for segment in segments if segment.speaker))


def renamed(segments: Sequence[Segment], names: Mapping[str, str]) -> tuple[Segment, ...]:
    """The segments with speakers renamed; two given the same name become one, an empty name takes the label away."""
    return tuple(
        dataclasses.replace(segment, speaker=names[segment.speaker].strip() or None)
        if segment.speaker is not None and segment.speaker in names
        else segment
        for segment in segments
    )


def numbered(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """The segments with speakers named S1, S2… in the order in which they first speak."""
    return renamed(segments, {name: speaker_id(place) for place, name in enumerate(speakers_of(segments))})
