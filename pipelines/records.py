"""The vocabulary as JSON files, so that a stage's result can be read by the next stage, the page and a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from pipelines.files import read_json, write_json
from pipelines.types import DubLine, DubPlan, Phone, Segment, Transcript, Word


def save_transcript(path: Path, transcript: Transcript) -> None:
    """Write ``{"language", "segments": [{"start", "end", "text", "words", "speaker", "normalised"}]}``; times in seconds."""
    write_json(path, asdict(transcript))


def load_transcript(path: Path) -> Transcript:
    """Read what ``save_transcript`` wrote."""
    record = read_json(path)
    return Transcript(record["language"], tuple(segment_from(entry) for entry in record["segments"]))


def segment_from(record: dict[str, Any]) -> Segment:
    """One segment from its JSON record; ``words``, ``speaker`` and ``normalised`` may be absent."""
    words = tuple(Word(**word) for word in record.get("words", ()))
    normalised = record.get("normalised") or ""
    return Segment(record["start"], record["end"], record["text"], words, record.get("speaker"), normalised)


def save_plan(path: Path, plan: DubPlan) -> None:
    """Write ``{"source_language", "target_language", "duration", "lines": [DubLine as JSON]}``."""
    write_json(path, asdict(plan))


def load_plan(path: Path) -> DubPlan:
    """Read what ``save_plan`` wrote."""
    record = read_json(path)
    lines = tuple(line_from(entry) for entry in record["lines"])
    return DubPlan(record["source_language"], record["target_language"], record["duration"], lines)


def line_from(record: dict[str, Any]) -> DubLine:
    """One dub line from JSON; unknown keys (a table's own columns) are left out."""
    known = {field.name for field in fields(DubLine)}
    return DubLine(**{key: value for key, value in record.items() if key in known})


def save_speech_times(path: Path, phones: Sequence[Phone], words: Sequence[Word]) -> None:
    """Write the phone and word times of one spoken line."""
    write_json(path, {"phones": [asdict(p) for p in phones], "words": [asdict(w) for w in words]})


def load_speech_times(path: Path) -> tuple[tuple[Phone, ...], tuple[Word, ...]]:
    """Read what ``save_speech_times`` wrote."""
    record = read_json(path)
    return tuple(Phone(**p) for p in record["phones"]), tuple(Word(**w) for w in record["words"])
