"""What is wrong with cues somebody has edited: each row is looked at as it will be shown."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pipelines.cues import CueRules, reading_time, width
from pipelines.errors import Message
from pipelines.types import Segment

Kind = Literal["empty", "no-length", "overlap", "past-end", "too-fast", "too-long", "too-short", "too-wide"]
SLACK = 0.001  # seconds: times in files are whole milliseconds
COMFORT = 1.05  # a little faster than the rule is nobody's trouble


@dataclass(frozen=True, slots=True)
class CueIssue:
    """One fault of row ``index`` (from 0) and how to say it."""

    index: int
    kind: Kind
    message: Message


def check_cues(
    rows: Sequence[Segment], rules: CueRules | None = None, duration: float | None = None
) -> tuple[CueIssue, ...]:
    """All faults in the order of the rows.

    Args:
        rows: in order of time as shown in the table; lines of a cue are separated by newlines.
        duration: seconds of the film or sound, where known: nothing may be shown after it.
    """
    rules = rules or CueRules()
    ends = [0.0, *itertools.accumulate((row.end for row in rows), max)]
    return tuple(
        issue for index, row in enumerate(rows) for issue in _of_row(row, index, ends[index], rules, duration)
    )


def _of_row(
    row: Segment, index: int, until: float, rules: CueRules, duration: float | None
) -> Iterator[CueIssue]:
    text, length = row.shown.strip(), row.end - row.start
    if not text:
        yield CueIssue(index, "empty", Message("no text", "没有文字"))
    if length <= SLACK:
        yield CueIssue(index, "no-length", Message("ends before it begins", "结束时间不晚于开始时间"))
    elif text:
        yield from _of_length(index, text, length, rules)
    yield from _of_neighbours(row, index, until)
    if duration is not None and row.end > duration + SLACK:
        late = row.end - duration
        yield CueIssue(
            index,
            "past-end",
            Message(f"{late:.1f} s after the end of the sound", f"超出音频结尾 {late:.1f} 秒"),
        )
    widest = max((width(line) for line in text.split("\n")), default=0)
    many = text.count("\n") + 1 > rules.lines
    if many or widest > rules.columns * (rules.lines if "\n" not in text else 1):
        yield CueIssue(index, "too-wide", _wide(text, rules))


def _wide(text: str, rules: CueRules) -> Message:
    columns = sum(width(line) for line in text.split("\n"))
    return Message(
        f"{columns} columns do not fit {rules.lines} lines of {rules.columns}",
        f"共 {columns} 列,超出 {rules.lines} 行 × {rules.columns} 列",
    )


def _of_length(index: int, text: str, length: float, rules: CueRules) -> Iterator[CueIssue]:
    needed = reading_time(text, rules)
    if needed > length * COMFORT:
        missing = needed - length
        yield CueIssue(
            index,
            "too-fast",
            Message(f"too fast to read: {missing:.1f} s more needed", f"阅读太快:还需 {missing:.1f} 秒"),
        )
    if length > rules.longest + SLACK:
        yield CueIssue(
            index, "too-long", Message(f"longer than {rules.longest:g} s", f"时长超过 {rules.longest:g} 秒")
        )
    if length < rules.shortest - SLACK:
        yield CueIssue(
            index,
            "too-short",
            Message(f"shorter than {rules.shortest:g} s", f"时长不足 {rules.shortest:g} 秒"),
        )


def _of_neighbours(row: Segment, index: int, until: float) -> Iterator[CueIssue]:
    """An overlap is the fault of the later cue; ``until`` is when the last of those before it ends."""
    if row.start < until - SLACK:
        over = until - row.start
        yield CueIssue(
            index,
            "overlap",
            Message(f"begins {over:.2f} s before the one above ends", f"与前面的字幕重叠 {over:.2f} 秒"),
        )
