"""The table of a dub's lines: from the plan to rows a person edits, and back to the ``lines`` of a new request."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipelines.errors import Message, OptionError
from pipelines.languages import UNSPACED
from pipelines.records import load_plan
from pipelines.types import OWN_VOICE, DubLine, DubPlan, Segment
from ui.i18n import LANGUAGES, text

FILE = "lines.json"
# What a request says of a line; how it was spoken is for the flow to find out anew.
ASKED = (
    "index", "start", "end", "source", "text", "speaker", "keep", "locked", "slowest", "fastest", "voice",
)  # fmt: skip
COLUMNS = ("number", "start", "end", "source", "text", "keep", "fit", "locked", "speed", "speaker", "voice")
TEXT, KEEP, FIT, LOCKED, SPEED, SPEAKER, VOICE = (
    COLUMNS.index(name) for name in ("text", "keep", "fit", "locked", "speed", "speaker", "voice")
)
EXTREMES = (0.5, 2.0)  # speeds nobody needs to go beyond
Row = list[Any]


def read_plan(folder: Path) -> DubPlan | None:
    """The plan in a job's folder, or None before there is one."""
    path = folder / FILE
    return load_plan(path) if path.is_file() else None


def headers(language: str) -> list[str]:
    """Column headings."""
    return [text(language, f"ui_column_{name}") for name in COLUMNS]


def time_text(seconds: float) -> str:
    """``1:02.35``: minutes, seconds, hundredths."""
    hundredths = round(seconds * 100)
    return f"{hundredths // 6000}:{hundredths // 100 % 60:02d}.{hundredths % 100:02d}"


def parse_time(value: object) -> float:
    """Seconds from ``62.35``, ``1:02.35``, ``0:01:02,35``.

    Raises:
        OptionError: it is not a time.
    """
    match = re.fullmatch(r"(?:(\d+):)?(?:(\d+):)?(\d+(?:[.,]\d+)?)", str(value).strip())
    if match is None:
        raise OptionError(
            Message(f"{value!r} is not a time", f"“{value}”不是时间"),
            Message("Write minutes:seconds, such as 1:02.35.", "请写成 分：秒，例如 1:02.35。"),
        )
    first, second, last = match.groups()
    larger = [int(part) for part in (first, second) if part is not None]
    minutes = larger[0] * 60 + larger[1] if len(larger) == 2 else larger[0] if larger else 0
    return minutes * 60 + float(last.replace(",", "."))


def fit_text(line: DubLine, target: str, language: str) -> str:
    """How the dubbed line (in ``target``) sits in its place, in words: never by colour alone."""
    if line.keep:
        return text(language, "ui_fit_kept")
    if not line.text.strip():
        return text(language, "ui_fit_empty")
    if line.state != "spoken":
        return text(language, "ui_fit_new")
    if line.needed_speed > 1:
        several = "ui_fit_shorten_characters" if target in UNSPACED else "ui_fit_shorten_words"
        key = several if line.shorten_by > 1 else "ui_fit_shorten_little"
        return text(language, key, speed=f"{line.needed_speed:.1f}", count=line.shorten_by)
    speed = 1 / line.factor if line.factor > 0 else 1.0
    return text(language, "ui_fit_good" if speed <= 1.25 else "ui_fit_fast", speed=f"{speed:.2f}")


def speed_text(line: DubLine) -> str:
    """``0.9–1.2``, or nothing where the voice may do what it can."""
    if line.slowest is None and line.fastest is None:
        return ""
    return "–".join(f"{limit:g}" if limit else "" for limit in (line.slowest, line.fastest))


def parse_speeds(value: object) -> tuple[float | None, float | None]:
    """Slowest and fastest speed from ``0.9–1.2``, ``0.9-``, ``-1.2`` or ``1``; None where there is no limit.

    Raises:
        OptionError: it is no pair of speeds.
    """
    written = str(value or "").strip().replace(",", ".").replace("×", "")
    match = re.fullmatch(r"(\d+(?:\.\d+)?)?\s*(?:([-–—])\s*(\d+(?:\.\d+)?)?)?", written)
    first, dash, last = match.groups() if match else (None, None, None)
    slowest, fastest = float(first) if first else None, float(last) if last else None
    if first and not dash:
        fastest = slowest
    given = [limit for limit in (slowest, fastest) if limit is not None]
    wrong = any(not EXTREMES[0] <= limit <= EXTREMES[1] for limit in given) or given != sorted(given)
    if match is None or wrong:
        raise OptionError(
            Message(f"{value!r} is no range of speeds", f"“{value}”不是语速范围"),
            Message(
                "Write the slowest and the fastest, such as 0.9–1.2; 1 is natural.",
                "请写最慢和最快语速，例如 0.9–1.2；1 为自然语速。",
            ),
        )
    return slowest, fastest


def voice_text(voice: str | None, language: str) -> str:
    """A line's voice as the table shows it: nothing where it is the dub's."""
    return text(language, "ui_voice_own") if voice == OWN_VOICE else voice or ""


def parse_voice(value: object) -> str | None:
    """A line's voice from its cell."""
    written = str(value or "").strip()
    own = written == OWN_VOICE or written in {text(language, "ui_voice_own") for language in LANGUAGES}
    return OWN_VOICE if own else written or None


def cell(row: Row, column: int, missing: str | None) -> str | None:
    """A written cell without the space around it, None for an empty one; ``missing`` in a table that lacks the column."""
    return str(row[column] or "").strip() or None if len(row) > column else missing


def completed(table: Sequence[Row], plan: DubPlan, language: str) -> list[Row]:
    """The rows with the columns that a draft of an earlier version lacks."""
    known = {str(row[0]): row for row in rows(plan, language)}
    blank: Row = [""] * len(COLUMNS)
    return [[*row, *known.get(str(row[0]), blank)[len(row) :]] for row in table]


def ticked(row: Row, column: int) -> bool:
    """Whether a box of a row is ticked; a table from another program may lack the column."""
    return len(row) > column and str(row[column]).strip().lower() in ("true", "1")


def rows(plan: DubPlan, language: str) -> list[Row]:
    """One row a line, see ``COLUMNS``."""
    return [
        [
            line.index + 1,
            time_text(line.start),
            time_text(line.end),
            line.source,
            line.text,
            line.keep,
            fit_text(line, plan.target_language, language),
            line.locked,
            speed_text(line),
            line.speaker or "",
            voice_text(line.voice, language),
        ]
        for line in plan.lines
    ]


def lines_from(table: Sequence[Row], plan: DubPlan) -> list[dict[str, Any]]:
    """The ``lines`` option from an edited table; rows of a table that lacks a column keep what is in it.

    Rows without times, original and translation are left out. A time that was not edited keeps its exact value.

    Raises:
        OptionError: a time cannot be read, a line ends before it starts, or two lines overlap.
    """
    known = {line.index + 1: line for line in plan.lines}
    following = max(known, default=0)
    made: list[DubLine] = []
    for row in table:
        number, start, end, source, translation = ("" if cell is None else str(cell) for cell in row[:5])
        if not any(cell.strip() for cell in (start, end, source, translation)):
            continue
        old = known.pop(int(float(number)), None) if re.fullmatch(r"\d+(\.0)?", number.strip()) else None
        if old is None:
            old, following = DubLine(following, 0.0, 0.0, ""), following + 1
        first = old.start if start == time_text(old.start) else parse_time(start)
        last = old.end if end == time_text(old.end) else parse_time(end)
        slowest, fastest = parse_speeds(row[SPEED]) if len(row) > SPEED else (old.slowest, old.fastest)
        made.append(
            replace(
                old, start=first, end=last, source=source.strip(), text=translation.strip(),
                keep=ticked(row, KEEP), locked=ticked(row, LOCKED), slowest=slowest, fastest=fastest,
                speaker=cell(row, SPEAKER, old.speaker), voice=parse_voice(cell(row, VOICE, old.voice)),
            )
        )  # fmt: skip
    made.sort(key=lambda line: line.start)
    _check(made)
    return [{name: getattr(line, name) for name in ASKED} for line in made]


def numbered(table: Sequence[Row]) -> str:
    """The originals as ``1. text``, one a row, to be translated elsewhere."""
    from pipelines.translate.numbered import render

    return render([str(row[3] or "") for row in table])


def fill(table: Sequence[Row], answer: str) -> tuple[list[Row], str]:
    """The table with the translations of a numbered answer, and the numbers it lacks (empty: none); their rows stay.

    Raises:
        OptionError: no line of the answer belongs to a row.
    """
    from pipelines.translate.numbered import read_numbered, spans

    wanted = range(1, len(table) + 1)
    found = read_numbered(answer, wanted)
    if not found:
        raise OptionError(
            Message("There are no numbered lines in what you pasted", "粘贴的内容里没有编号行"),
            Message(
                "Each line must begin with its number, such as “1. …”.", "每行要以编号开头，例如“1. …”。"
            ),
        )
    filled = [
        [*row[:TEXT], row[TEXT] if ticked(row, LOCKED) else found.get(number, row[TEXT]), *row[TEXT + 1 :]]
        for number, row in enumerate(table, start=1)
    ]
    return filled, spans([number for number in wanted if number not in found])


def fill_from_cues(table: Sequence[Row], cues: Sequence[Segment]) -> tuple[list[Row], str]:
    """The table with the translated cues laid beside its lines by time, and the numbers of rows left as they were.

    Raises:
        OptionError: a time in the table cannot be read, or no cue shares time with any row.
    """
    from pipelines.translate.matching import translations_for
    from pipelines.translate.numbered import spans

    spoken = [Segment(parse_time(row[1]), parse_time(row[2]), str(row[3] or "")) for row in table]
    found = translations_for(spoken, cues)
    if not any(found):
        raise OptionError(
            Message("No cue of this file stands at the time of a line", "该字幕文件与各行的时间都对不上"),
            Message("Choose the subtitles of this very video.", "请选择该视频自己的字幕。"),
        )
    filled = [
        [*row[:TEXT], row[TEXT] if ticked(row, LOCKED) else words or row[TEXT], *row[TEXT + 1 :]]
        for row, words in zip(table, found, strict=True)
    ]
    return filled, spans([number for number, words in enumerate(found, start=1) if not words])


def _check(made: Sequence[DubLine]) -> None:
    for line in made:
        if line.end <= line.start:
            raise OptionError(
                Message(
                    f"Line {line.index + 1} ends before it starts", f"第 {line.index + 1} 行的结束早于开始"
                ),
                Message("Correct its times in the table.", "请在表格中改正时间。"),
                f"{time_text(line.start)}–{time_text(line.end)}",
            )
    for one, two in itertools.pairwise(made):
        if two.start < one.end - 0.005:
            raise OptionError(
                Message(
                    f"Lines {one.index + 1} and {two.index + 1} overlap",
                    f"第 {one.index + 1} 行与第 {two.index + 1} 行时间重叠",
                ),
                Message("Let one end before the other starts.", "请让前一行在后一行开始之前结束。"),
                f"{time_text(two.start)} < {time_text(one.end)}",
            )
