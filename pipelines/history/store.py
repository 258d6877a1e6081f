"""The history itself: entries go in whole, are found by words and filters, and go again one by one or all at once."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from pipelines.errors import InputError, Message
from pipelines.history.schema import prepare
from pipelines.history.searching import LEFT, RIGHT, indexed, match_expression, readable
from pipelines.records import segment_from
from pipelines.settings import Settings
from pipelines.types import Segment

FILE = "history.sqlite3"
WAIT = 10.0  # seconds for another process that writes
SNIPPET_WORDS = 32


@dataclass(frozen=True, slots=True)
class Entry:
    """One transcription with everything needed to open it again.

    Attributes:
        created: seconds since 1970. source: the media file. name: what it is called in the list.
        duration: seconds of sound. settings: the job's options. folder: the job's folder ("" for none), one entry each.
    """

    source: str
    name: str
    language: str
    engine: str
    duration: float
    segments: tuple[Segment, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    folder: str = ""
    created: float = 0.0
    id: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """An entry in the list; ``snippet`` has what was found between ``⟦`` and ``⟧``, or the beginning of the text."""

    id: int
    created: float
    name: str
    language: str
    engine: str
    duration: float
    segments: int
    snippet: str


class History:
    """An open history; use it as a context manager, one in each thread. Several processes may have it open."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._database = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
            self._database.execute("PRAGMA journal_mode = WAL")
            prepare(self._database, path)
        except sqlite3.DatabaseError as error:
            raise InputError(
                Message("The history cannot be opened", "无法打开历史记录"),
                Message("Move the file away to begin a new one.", "请移走该文件以新建历史记录。"),
                str(path),
            ) from error

    @classmethod
    def open(cls, settings: Settings) -> History:
        """The history of this installation.

        Raises:
            InputError: the file is damaged, or was made by a newer version.
        """
        return cls(settings.jobs / FILE)

    def __enter__(self) -> History:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def add(self, entry: Entry) -> int:
        """Keep an entry; one from the same job's folder is replaced and keeps its number. Returns the number."""
        values = {
            "created": entry.created or time.time(),
            "source": entry.source,
            "name": entry.name,
            "language": entry.language,
            "engine": entry.engine,
            "duration": entry.duration,
            "settings": json.dumps(entry.settings, ensure_ascii=False),
            "segments": _as_json(entry.segments),
            "folder": entry.folder,
            "lines": len(entry.segments),
        }
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            number = self._of_folder(entry.folder)
            if number is None:
                names = ", ".join(values)
                marks = ", ".join(f":{name}" for name in values)
                done = self._database.execute(f"INSERT INTO entries ({names}) VALUES ({marks})", values)
                number = int(done.lastrowid or 0)
            else:
                sets = ", ".join(f"{name} = :{name}" for name in values)
                self._database.execute(f"UPDATE entries SET {sets} WHERE id = :id", {**values, "id": number})
            self._index(number, entry.name, entry.segments)
        return number

    def _of_folder(self, folder: str) -> int | None:
        found = self._database.execute("SELECT id FROM entries WHERE folder = ? AND folder <> ''", (folder,))
        row = found.fetchone()
        return int(row[0]) if row else None

    def _index(self, number: int, name: str, segments: Sequence[Segment]) -> None:
        said = " \n ".join(
            f"{s.text} {s.normalised}" if s.normalised and s.normalised != s.text else s.text
            for s in segments
        )
        self._database.execute("DELETE FROM words WHERE rowid = ?", (number,))
        self._database.execute(
            "INSERT INTO words (rowid, name, said) VALUES (?, ?, ?)", (number, indexed(name), indexed(said))
        )

    def get(self, number: int) -> Entry:
        """An entry to be opened again.

        Raises:
            InputError: it is not there (any more).
        """
        row = self._database.execute(
            "SELECT source, name, language, engine, duration, segments, settings, folder, created FROM entries WHERE id = ?",
            (number,),
        ).fetchone()
        if row is None:
            raise _gone(number)
        segments = tuple(segment_from(record) for record in json.loads(row[5]))
        return Entry(
            source=row[0],
            name=row[1],
            language=row[2],
            engine=row[3],
            duration=row[4],
            segments=segments,
            settings=json.loads(row[6]),
            folder=row[7],
            created=row[8],
            id=number,
        )

    def update(self, number: int, segments: Sequence[Segment]) -> None:
        """Keep edited rows instead of those that were heard.

        Raises:
            InputError: the entry is not there.
        """
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            name = self._name(number)
            self._database.execute(
                "UPDATE entries SET segments = ?, lines = ? WHERE id = ?",
                (_as_json(segments), len(segments), number),
            )
            self._index(number, name, segments)

    def rename(self, number: int, name: str) -> None:
        """Call an entry something else in the list.

        Raises:
            InputError: the entry is not there.
        """
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            self._name(number)
            self._database.execute("UPDATE entries SET name = ? WHERE id = ?", (name, number))
            self._database.execute("UPDATE words SET name = ? WHERE rowid = ?", (indexed(name), number))

    def _name(self, number: int) -> str:
        row = self._database.execute("SELECT name FROM entries WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise _gone(number)
        return str(row[0])

    def delete(self, number: int) -> None:
        """Take one entry out; the media file and the job stay. One that is gone already is no mistake."""
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.execute("DELETE FROM entries WHERE id = ?", (number,))
            self._database.execute("DELETE FROM words WHERE rowid = ?", (number,))

    def clear(self) -> int:
        """Take all entries out and give their room back; returns how many there were."""
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            count = self._database.execute("DELETE FROM entries").rowcount
            self._database.execute("DELETE FROM words")
        self._database.execute("VACUUM")
        return int(count)

    def search(
        self,
        query: str = "",
        *,
        language: str | None = None,
        engine: str | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> tuple[Row, ...]:
        """Entries in which all words of ``query`` occur (name or text), the newest first.

        Args:
            since, until: seconds since 1970, both included.
        """
        source, where, values = _conditions(query, language, engine, since, until)
        snippet = "substr(entries.segments, 1, 0)"
        if match_expression(query):
            snippet = f"snippet(words, 1, '{LEFT}', '{RIGHT}', '…', {SNIPPET_WORDS})"
        rows = self._database.execute(
            f"SELECT entries.id, created, entries.name, language, engine, duration, lines, {snippet}, "
            f"json_extract(segments, '$[0].text') FROM {source} {where} "
            "ORDER BY created DESC, entries.id DESC LIMIT :limit OFFSET :offset",
            {**values, "limit": limit, "offset": offset},
        )
        return tuple(_row(*row) for row in rows)

    def count(
        self,
        query: str = "",
        *,
        language: str | None = None,
        engine: str | None = None,
        since: float | None = None,
        until: float | None = None,
    ) -> int:
        """How many entries ``search`` has in all."""
        source, where, values = _conditions(query, language, engine, since, until)
        return int(self._database.execute(f"SELECT count(*) FROM {source} {where}", values).fetchone()[0])

    def languages(self) -> tuple[str, ...]:
        """The languages that occur, sorted."""
        return tuple(
            row[0] for row in self._database.execute("SELECT DISTINCT language FROM entries ORDER BY 1")
        )

    def engines(self) -> tuple[str, ...]:
        """The engines that occur, sorted."""
        return tuple(
            row[0] for row in self._database.execute("SELECT DISTINCT engine FROM entries ORDER BY 1")
        )


def _row(*values: Any) -> Row:
    *facts, snippet, beginning = values
    number, created, name, language, engine, duration, lines = facts
    text = readable(snippet) or beginning or ""
    return Row(number, created, name, language, engine, duration, lines, text)


def _conditions(
    query: str, language: str | None, engine: str | None, since: float | None, until: float | None
) -> tuple[str, str, dict[str, Any]]:
    """The FROM and WHERE of a search with their values."""
    tests = {
        "words MATCH :match": match_expression(query) or None,
        "language = :language": language or None,
        "engine = :engine": engine or None,
        "created >= :since": since,
        "created <= :until": until,
    }
    values = {test.rpartition(":")[2]: value for test, value in tests.items() if value is not None}
    where = " AND ".join(test for test, value in tests.items() if value is not None)
    source = "entries JOIN words ON words.rowid = entries.id" if "match" in values else "entries"
    if query.strip() and "match" not in values:
        where = "0" if not where else f"0 AND {where}"  # nothing but signs: nothing is found
    return source, f"WHERE {where}" if where else "", values


def _as_json(segments: Sequence[Segment]) -> str:
    return json.dumps([dataclasses.asdict(segment) for segment in segments], ensure_ascii=False)


def _gone(number: int) -> InputError:
    return InputError(
        Message(f"There is no entry {number} in the history", f"历史记录中没有第 {number} 条"),
        Message("Somebody may have deleted it: search again.", "可能已被删除,请重新搜索。"),
    )
