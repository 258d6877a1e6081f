"""A script to be spoken line by line: plain text, a dialogue (``NAME: line``), a CSV table, or subtitles with their times."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from pipelines import subtitles
from pipelines.errors import InputError, Message
from pipelines.text.encodings import decoded

TIMED = frozenset({".srt", ".vtt", ".ass", ".ssa"})
SAYS = re.compile(r"(?P<name>[^:：\n]{1,30})[:：]\s*(?P<text>\S.*)")


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """A line, who says it, and from when to when (seconds; None without a time line)."""

    text: str
    speaker: str | None = None
    start: float | None = None
    end: float | None = None


def read_script(path: Path) -> tuple[ScriptLine, ...]:
    """The lines of a script, in order.

    A text is a dialogue when every line of it names who speaks; a table has the columns text and, if it likes, speaker.

    Raises:
        InputError: it cannot be read, or says nothing.
    """
    if path.suffix.lower() in TIMED:
        cues = subtitles.read(path)
        lines = [ScriptLine(subtitles.one_line(cue.text), cue.speaker, cue.start, cue.end) for cue in cues]
    else:
        text = decoded(path.read_bytes())
        if text is None:
            raise _unreadable(path)
        lines = _table(text, path) if path.suffix.lower() in (".csv", ".tsv") else _text(text)
    if not lines:
        raise _unreadable(path)
    return tuple(lines)


def _text(text: str) -> list[ScriptLine]:
    rows = [row.strip() for row in text.splitlines() if row.strip()]
    named = [SAYS.fullmatch(row) for row in rows]
    if all(named):
        return [ScriptLine(match["text"], match["name"].strip()) for match in named if match]
    return [ScriptLine(row) for row in rows]


def _table(text: str, path: Path) -> list[ScriptLine]:
    head = text.split("\n", 1)[0]
    reader = csv.DictReader(text.splitlines(), delimiter=max(",;\t", key=head.count))
    columns = {(name or "").strip().lower(): name for name in reader.fieldnames or []}
    if "text" not in columns:
        raise InputError(
            Message("The table has no column called text", "表格中没有名为 text 的列"),
            Message(
                "Name the columns in the first row: text, and speaker if you like.",
                "请在首行写列名：text，可加 speaker。",
            ),
            path.name,
        )
    found = []
    for row in reader:
        words = (row[columns["text"]] or "").strip()
        speaker = (row.get(columns.get("speaker", ""), "") or "").strip()
        if words:
            found.append(ScriptLine(words, speaker or None))
    return found


def _unreadable(path: Path) -> InputError:
    return InputError(
        Message("This script has no lines to speak", "该脚本没有可朗读的内容"),
        Message("Give a text, a CSV table or subtitles.", "请提供文本、CSV 表格或字幕文件。"),
        path.name,
    )
