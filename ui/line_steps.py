"""Splitting and joining rows of a dub's line table; how cues are cut and joined is ``pipelines.editing``'s."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.cues import CLAUSE_END, SENTENCE_END, width
from pipelines.editing import opened
from pipelines.editing import table as editing
from pipelines.errors import Message, OptionError
from pipelines.types import Segment
from ui.lines import COLUMNS, FIT, KEEP, LOCKED, SPEAKER, TEXT, Row, cell, parse_time, ticked, time_text

NUMBER, START, END, SOURCE = (COLUMNS.index(name) for name in ("number", "start", "end", "source"))
NO_SENTENCE, NO_CLAUSE = (
    0.12,
    0.25,
)  # what a cut after a clause or a word costs, as a share of the text's width
BREAK = re.compile(r"\s+|(?<=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af，。！？；：、])(?=\S)")


def cut_of(text: str, share: float = 0.5) -> int:
    """The letter before which a text is best cut near ``share`` of its width: after a sentence, a clause or a word.

    0 where there is no place to cut.
    """
    whole, best = max(width(text), 1), (2.0, 0)
    for match in BREAK.finditer(text):
        before = text[: match.start()].rstrip()
        if not before or not text[match.end() :].strip():
            continue
        price = abs(width(before) / whole - share)
        if before[-1] not in SENTENCE_END:
            price += NO_SENTENCE if before[-1] in CLAUSE_END else NO_CLAUSE
        best = min(best, (price, match.end()))
    return best[1]


def split(rows: Sequence[Row], place: int) -> list[Row]:
    """Cut a row in two where a sentence or clause ends nearest the middle; the translation is cut at the same share.

    Raises:
        OptionError: the row is locked, or there is nothing to cut.
    """
    row = rows[place]
    _refuse_locked(row)
    source, text = str(row[SOURCE] or ""), str(row[TEXT] or "")
    said = source or text
    at = cut_of(said)
    table = opened([Segment(parse_time(row[START]), parse_time(row[END]), said)])
    halves = editing.split(table, table.rows[0].key, at).rows
    cut = cut_of(text, width(said[:at]) / max(width(said), 1))
    texts = (text[:cut].rstrip(), text[cut:]) if cut else (text, "")
    made = [
        _changed(
            row,
            start=time_text(half.start),
            end=time_text(half.end),
            source=half.text if source else "",
            text=words,
        )
        for half, words in zip(halves, texts, strict=True)
    ]
    made[1][NUMBER] = ""
    return [*rows[:place], *made, *rows[place + 1 :]]


def merge(rows: Sequence[Row], place: int) -> list[Row]:
    """Join a row with the one after it.

    Raises:
        OptionError: it is the last one, one of the two is locked, or only one of them keeps its original sound.
    """
    if place + 1 >= len(rows):
        raise OptionError(
            Message("There is no row after this one", "后面没有可合并的行"),
            Message("Choose the row before.", "请选择上一行。"),
        )
    one, two = rows[place], rows[place + 1]
    for row in (one, two):
        _refuse_locked(row)
    if ticked(one, KEEP) != ticked(two, KEEP):
        raise OptionError(
            Message("Only one of the two rows keeps its original sound", "两行中只有一行保留原声"),
            Message("Tick both or none, then join them.", "请先统一勾选，再合并。"),
        )
    texts = [
        editing.side_by_side(str(one[column] or ""), str(two[column] or "")) for column in (SOURCE, TEXT)
    ]
    joined = _changed(one, end=two[END], source=texts[0], text=texts[1])
    return [*rows[:place], joined, *rows[place + 2 :]]


def spoken_by(rows: Sequence[Row], place: int, voice: str, *, whole_speaker: bool) -> list[Row]:
    """The rows with another voice in one of them, or in all of its speaker's that are not locked.

    Args:
        voice: as the table writes it, empty for the dub's.

    Raises:
        OptionError: the row is locked.
    """
    _refuse_locked(rows[place])
    speaker = cell(rows[place], SPEAKER, None)
    return [
        _changed(row, voice=voice)
        if number == place
        or (whole_speaker and cell(row, SPEAKER, None) == speaker and not ticked(row, LOCKED))
        else row
        for number, row in enumerate(rows)
    ]


def _changed(row: Row, **cells: object) -> Row:
    """The row with other cells; how it fitted is not known any more."""
    made = list(row)
    for name, value in cells.items():
        made[COLUMNS.index(name)] = value
    made[FIT] = ""
    return made


def _refuse_locked(row: Row) -> None:
    if ticked(row, LOCKED):
        raise OptionError(
            Message(f"Line {row[NUMBER]} is locked", f"第 {row[NUMBER]} 行已锁定"),
            Message("Untick its lock first.", "请先取消锁定。"),
        )
