"""The history as a table: an SQLite index over the job folders, which are the truth; rebuilt from them when lost.

Each operation opens its own connection (a fraction of a millisecond), so any thread and any process may use it.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.jobs.record import JobRecord
from pipelines.jobs.spec import JobState

SCHEMA = 1
TABLE = """
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, title TEXT NOT NULL, state TEXT NOT NULL,
    created REAL NOT NULL, finished REAL, stamp INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS jobs_by_time ON jobs (created DESC);
"""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which jobs: states and kinds (empty means all) and a text looked for in title and id, whatever its case."""

    states: tuple[JobState, ...] = ()
    kinds: tuple[str, ...] = ()
    text: str = ""

    def where(self) -> tuple[str, list[str]]:
        """The SQL condition and its values."""
        parts, values = ["1"], []
        for column, allowed in (("state", self.states), ("kind", self.kinds)):
            if allowed:
                parts.append(f"{column} IN ({','.join('?' * len(allowed))})")
                values += list(allowed)
        if self.text:
            escaped = self.text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            parts.append("(title LIKE ? ESCAPE '\\' OR id LIKE ? ESCAPE '\\')")
            values += [f"%{escaped}%"] * 2
        return " AND ".join(parts), values


class JobIndex:
    """One row a job. ``stamp`` is the time of ``job.json`` (ns) the row was made from: an older row is stale."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def prepare(self) -> None:
        """Make the table; an index that is damaged or of another schema is thrown away (it holds nothing of its own)."""
        try:
            with self._open() as base:
                version = base.execute("PRAGMA user_version").fetchone()[0]
                if version in (0, SCHEMA):
                    base.executescript(TABLE)
                    base.execute(f"PRAGMA user_version = {SCHEMA}")
                    base.execute("SELECT COUNT(*) FROM jobs").fetchone()
                    return
        except sqlite3.OperationalError:
            raise  # no room, no right, locked for long: not the index's fault
        except sqlite3.DatabaseError:
            pass
        self.discard()
        with self._open() as base:
            base.executescript(TABLE)
            base.execute(f"PRAGMA user_version = {SCHEMA}")

    def discard(self) -> None:
        """Remove the index file and its journal."""
        for suffix in ("", "-journal", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def put(self, rows: Iterable[tuple[JobRecord, int]]) -> None:
        """Insert or renew rows."""
        values = [(r.id, r.kind, r.title, r.state, r.created, r.finished, stamp) for r, stamp in rows]
        with self._open() as base:
            base.executemany("INSERT OR REPLACE INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def remove(self, ids: Sequence[str]) -> None:
        """Remove rows."""
        with self._open() as base:
            base.executemany("DELETE FROM jobs WHERE id = ?", [(job_id,) for job_id in ids])

    def stamps(self) -> dict[str, int]:
        """The stamp of every row."""
        with self._open() as base:
            return dict(base.execute("SELECT id, stamp FROM jobs").fetchall())

    def ids(self, wanted: Filter, limit: int, offset: int) -> list[str]:
        """Ids of matching jobs, newest first; a negative limit means all."""
        where, values = wanted.where()
        query = f"SELECT id FROM jobs WHERE {where} ORDER BY created DESC, id DESC LIMIT ? OFFSET ?"
        with self._open() as base:
            return [row[0] for row in base.execute(query, [*values, limit, offset])]

    def count(self, wanted: Filter) -> int:
        """How many jobs match."""
        where, values = wanted.where()
        with self._open() as base:
            return int(base.execute(f"SELECT COUNT(*) FROM jobs WHERE {where}", values).fetchone()[0])

    def ended_since(self, moment: float) -> list[tuple[str, float]]:
        """Id and time of the end of jobs that ended at ``moment`` (POSIX seconds) or later, in order."""
        query = "SELECT id, finished FROM jobs WHERE finished >= ? ORDER BY finished, id"
        with self._open() as base:
            return [(str(row[0]), float(row[1])) for row in base.execute(query, (moment,))]

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(sqlite3.connect(self.path, timeout=10)) as base, base:
            yield base
