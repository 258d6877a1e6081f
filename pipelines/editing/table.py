"""The table of cues and what can be done to it; every operation returns a new table and leaves the old one as it was.

Rows are in order of time. A row's ``key`` stays the same while the row is edited, so that a page which is a moment
behind still means the right row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from pipelines.cues import SENTENCE_END, width
from pipelines.editing.wording import reworded
from pipelines.errors import Message, OptionError
from pipelines.types import Segment, Word

SHORTEST = 0.1  # seconds; a row that is cut or inserted is at least this long
INSERTED = 2.0  # seconds a new row takes where there is room


@dataclass(frozen=True, slots=True)
class Row:
    """One cue. ``words`` spell ``text`` (see ``wording``), or there are none; times are seconds."""

    key: int
    start: float
    end: float
    text: str
    speaker: str | None = None
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """All rows in order of time; ``following`` is the key of the next new row."""

    rows: tuple[Row, ...]
    following: int

    def segments(self) -> tuple[Segment, ...]:
        """What is exported: one segment for each row that has text."""
        return tuple(
            Segment(row.start, row.end, row.text, row.words, row.speaker)
            for row in self.rows
            if row.text.strip()
        )

    def place(self, key: int) -> int:
        """Where a row stands.

        Raises:
            OptionError: it was deleted.
        """
        for number, row in enumerate(self.rows):
            if row.key == key:
                return number
        raise OptionError(
            Message("This row is not there any more", "该行已不存在"),
            Message("Undo brings deleted rows back.", "可用“撤销”恢复已删除的行。"),
        )

    def speakers(self) -> tuple[str, ...]:
        """Names in order of appearance."""
        return tuple(dict.fromkeys(row.speaker for row in self.rows if row.speaker))


def opened(cues: Iterable[Segment]) -> Table:
    """A table of cues, as it is before anybody edits it."""
    ordered = sorted(cues, key=lambda cue: (cue.start, cue.end))
    rows = tuple(
        Row(key, cue.start, cue.end, cue.text, cue.speaker, reworded(cue.words, cue.text, cue.start, cue.end))
        for key, cue in enumerate(ordered)
    )
    return Table(rows, len(rows))


def _with(table: Table, rows: Iterable[Row], following: int | None = None) -> Table:
    ordered = tuple(sorted(rows, key=lambda row: row.start))  # stable: rows of equal start stay as they stand
    return Table(ordered, table.following if following is None else following)


def _changed(table: Table, key: int, change: Callable[[Row], Row]) -> Table:
    place = table.place(key)
    return _with(table, (*table.rows[:place], change(table.rows[place]), *table.rows[place + 1 :]))


# ---- one row ---------------------------------------------------------------------------------------------------------


def with_text(table: Table, key: int, text: str) -> Table:
    """The row says something else."""
    clean = "\n".join(line.strip() for line in text.strip().splitlines() if line.strip())
    return _changed(
        table, key, lambda row: replace(row, text=clean, words=reworded(row.words, clean, row.start, row.end))
    )


def with_times(table: Table, key: int, start: float, end: float) -> Table:
    """The row stands at another time; words keep to it.

    Raises:
        OptionError: it would end before it starts, or start before the file does.
    """
    if start < 0 or end <= start:
        raise OptionError(
            Message("A row must end after it starts", "结束时间必须晚于开始时间"),
            Message("Correct one of its times.", "请改正其中一个时间。"),
            f"{start:.2f}–{end:.2f} s",
        )

    def moved(row: Row) -> Row:
        return replace(row, start=start, end=end, words=reworded(row.words, row.text, start, end))

    return _changed(table, key, moved)


def with_speaker(table: Table, key: int, name: str) -> Table:
    """Somebody else says it; an empty name: nobody is named."""
    return _changed(table, key, lambda row: replace(row, speaker=name.strip() or None))


def split(table: Table, key: int, at: int) -> Table:
    """Cut a row in two before the letter ``at`` of its text, at the time that word is spoken.

    Raises:
        OptionError: one part would be empty, or the row is too short to be cut.
    """
    row = table.rows[table.place(key)]
    first, second = row.text[:at].rstrip(), row.text[at:].lstrip()
    if not first or not second or row.end - row.start < 2 * SHORTEST:
        raise OptionError(
            Message("There is nothing to split here", "此处无法拆分"),
            Message("Put the cursor between two words first.", "请先把光标放在两个词之间。"),
        )
    when = min(max(_time_at(row, len(first)), row.start + SHORTEST), row.end - SHORTEST)
    one = Row(row.key, row.start, when, first, row.speaker, reworded(row.words, first, row.start, when))
    two = Row(table.following, when, row.end, second, row.speaker, _later(row, second, when))
    kept = [other for other in table.rows if other.key != key]
    return _with(table, [*kept, one, two], table.following + 1)


def _time_at(row: Row, letters: int) -> float:
    """When the letter is spoken: where its word begins or, without words, by width."""
    seen = 0
    wanted = len(re.sub(r"\s", "", row.text[:letters]))
    for word in row.words:
        if seen >= wanted:
            return word.start
        seen += len(re.sub(r"\s", "", word.text))
    share = width(row.text[:letters]) / max(width(row.text), 1)
    return row.start + (row.end - row.start) * share


def _later(row: Row, text: str, when: float) -> tuple[Word, ...]:
    words = [word for word in row.words if (word.start + word.end) / 2 >= when]
    return reworded(words, text, when, row.end)


def merge(table: Table, key: int) -> Table:
    """Join a row with the one after it; speakers that differ are kept by a dash before each line.

    Raises:
        OptionError: it is the last row.
    """
    place = table.place(key)
    if place + 1 == len(table.rows):
        raise OptionError(
            Message("There is no row after this one", "后面没有可合并的行"),
            Message("Merge from the row before.", "请从上一行开始合并。"),
        )
    return _with(
        table, (*table.rows[:place], _joined(*table.rows[place : place + 2]), *table.rows[place + 2 :])
    )


def _joined(one: Row, two: Row) -> Row:
    text = side_by_side(one.text, two.text)
    if one.speaker != two.speaker and one.text and two.text:
        text = "\n".join(line if line.startswith("-") else f"- {line}" for line in (one.text, two.text))
    start, end = one.start, max(one.end, two.end)
    words = reworded((*one.words, *two.words), text, start, end) if one.words and two.words else ()
    return Row(one.key, start, end, text, one.speaker or two.speaker, words)


def side_by_side(one: str, two: str) -> str:
    """Two texts as one, with a space between where their script has any."""
    wide = bool(one and two) and width(one[-1]) == 2 and width(two[0]) == 2
    return one + two if wide else f"{one} {two}".strip()


def delete(table: Table, keys: Sequence[int]) -> Table:
    """Without these rows; unknown keys are no harm."""
    return _with(table, (row for row in table.rows if row.key not in set(keys)))


def insert(table: Table, after: int | None) -> Table:
    """A new empty row after another one (None: before all), in the room up to the next."""
    place = -1 if after is None else table.place(after)
    start = table.rows[place].end if place >= 0 else 0.0
    following = table.rows[place + 1].start if place + 1 < len(table.rows) else start + INSERTED
    end = max(min(following, start + INSERTED), start + SHORTEST)
    speaker = table.rows[place].speaker if place >= 0 else None
    new = Row(table.following, start, end, "", speaker)
    rows = (*table.rows[: place + 1], new, *table.rows[place + 1 :])
    return _with(table, rows, table.following + 1)


# ---- many rows -------------------------------------------------------------------------------------------------------


def shift(table: Table, seconds: float, first: int | None = None) -> Table:
    """Move all rows, or those from the row ``first`` on, by so many seconds (negative: earlier).

    Raises:
        OptionError: a row would start before the file does.
    """
    begin = 0 if first is None else table.place(first)
    if any(row.start + seconds < -0.0005 for row in table.rows[begin:]):
        raise OptionError(
            Message("The first row would start before the file does", "第一行会早于文件开头"),
            Message("Move by fewer seconds.", "请减少移动的秒数。"),
            f"{seconds:+.2f} s",
        )
    return _with(table, (*table.rows[:begin], *(_shifted(row, seconds) for row in table.rows[begin:])))


def _shifted(row: Row, seconds: float) -> Row:
    start = max(0.0, row.start + seconds)
    words = tuple(
        replace(word, start=max(0.0, word.start + seconds), end=max(0.0, word.end + seconds))
        for word in row.words
    )
    return replace(row, start=start, end=max(row.end + seconds, start), words=words)


def find(table: Table, wanted: str, *, match_case: bool = False) -> tuple[int, ...]:
    """Keys of the rows with this text in them, in order; a line break counts as a space."""
    pattern = _pattern(wanted, match_case)
    return tuple(row.key for row in table.rows if pattern and pattern.search(row.text))


def replace_all(table: Table, wanted: str, by: str, *, match_case: bool = False) -> tuple[Table, int]:
    """Put ``by`` in the place of every ``wanted``; returns the table and how often."""
    pattern, count, rows = _pattern(wanted, match_case), 0, []
    for row in table.rows:
        text, found = pattern.subn(lambda _: by, row.text) if pattern else (row.text, 0)
        words = reworded(row.words, text, row.start, row.end) if found else row.words
        rows.append(replace(row, text=text, words=words))
        count += found
    return _with(table, rows), count


def _pattern(wanted: str, match_case: bool) -> re.Pattern[str] | None:
    if not wanted.strip():
        return None
    words = r"\s+".join(re.escape(part) for part in wanted.split())
    return re.compile(words, 0 if match_case else re.IGNORECASE)


def rename_speaker(table: Table, name: str, new: str) -> Table:
    """Give a speaker another name everywhere; a name that is there already makes the two one speaker."""
    wanted = new.strip() or None
    return _with(table, (replace(row, speaker=wanted) if row.speaker == name else row for row in table.rows))


def join_speakers_rows(table: Table, *, pause: float = 1.0, longest: float = 7.0, columns: int = 84) -> Table:
    """Join neighbouring rows of the same speaker while the pause between them is short and the cue stays readable.

    Args:
        pause: seconds between two rows at most. longest: seconds, columns: width, of a joined row at most.
    """
    rows: list[Row] = []
    for row in table.rows:
        before = rows[-1] if rows else None
        fits = (
            before is not None
            and before.speaker == row.speaker
            and row.start - before.end <= pause
            and row.end - before.start <= longest
            and width(side_by_side(before.text, row.text)) <= columns
        )
        if before is not None and fits:
            rows[-1] = _joined(before, row)
        else:
            rows.append(row)
    return _with(table, rows)


def paragraphs(rows: Sequence[Segment], pause: float = 2.0) -> tuple[Segment, ...]:
    """Rows as sentences, for plain text: a row that does not end a sentence goes on with the next of its speaker."""
    joined: list[Segment] = []
    for row in rows:
        before = joined[-1] if joined else None
        ended = before is None or before.text.rstrip("\"'”’»)]）】》」』 ")[-1:] in SENTENCE_END
        if before is None or ended or before.speaker != row.speaker or row.start - before.end > pause:
            joined.append(row)
        else:
            text = side_by_side(" ".join(before.text.split("\n")), " ".join(row.text.split("\n")))
            joined[-1] = replace(before, end=row.end, text=text, words=(*before.words, *row.words))
    return tuple(joined)
