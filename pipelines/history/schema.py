"""The history's tables and how an older file becomes a newer one: each step raises ``user_version`` by one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from pipelines.errors import InputError, Message


def _first(database: sqlite3.Connection) -> None:
    database.execute(
        """CREATE TABLE entries (
            id INTEGER PRIMARY KEY AUTOINCREMENT, created REAL NOT NULL, source TEXT NOT NULL, name TEXT NOT NULL,
            language TEXT NOT NULL, engine TEXT NOT NULL, duration REAL NOT NULL, settings TEXT NOT NULL,
            segments TEXT NOT NULL, folder TEXT NOT NULL)"""
    )
    database.execute("CREATE INDEX entries_created ON entries (created)")
    database.execute(
        "CREATE VIRTUAL TABLE words USING fts5 (name, said, tokenize='unicode61 remove_diacritics 2')"
    )


def _one_entry_a_job(database: sqlite3.Connection) -> None:
    """A job that is done again replaces its entry; the number of lines stands in the row, for the list."""
    database.execute("ALTER TABLE entries ADD COLUMN lines INTEGER NOT NULL DEFAULT 0")
    database.execute("UPDATE entries SET lines = json_array_length(segments)")
    database.execute(
        "DELETE FROM words WHERE rowid IN (SELECT a.id FROM entries a JOIN entries b ON a.folder = b.folder "
        "AND a.folder <> '' AND a.id < b.id)"
    )
    database.execute(
        "DELETE FROM entries WHERE id IN (SELECT a.id FROM entries a JOIN entries b ON a.folder = b.folder "
        "AND a.folder <> '' AND a.id < b.id)"
    )
    database.execute("CREATE UNIQUE INDEX entries_folder ON entries (folder) WHERE folder <> ''")


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_first, _one_entry_a_job)


def prepare(database: sqlite3.Connection, path: Path) -> None:
    """Bring a new or older file to the newest schema, whole or not at all.

    Raises:
        InputError: the file was made by a newer version.
    """
    database.execute("BEGIN IMMEDIATE")
    try:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            raise InputError(
                Message(
                    "The history was made by a newer version of Dubwright",
                    "历史记录由更新版本的 Dubwright 创建",
                ),
                Message("Update Dubwright, or move the file away.", "请升级 Dubwright,或移走该文件。"),
                str(path),
            )
        for migrate in MIGRATIONS[version:]:
            migrate(database)
        database.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")
