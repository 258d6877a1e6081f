"""An edited table beside the transcript it came from: ``edited.json`` in the job's folder, written whole at every step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pipelines.editing.table import Row, Table
from pipelines.files import read_json, write_text
from pipelines.types import Word

NAME, VERSION = "edited.json", 1


def save(folder: Path, table: Table) -> None:
    """Write the table; compact, for it is written after every edit.

    Raises:
        DiskFull: there is no room; what was there stays.
    """
    record = {"version": VERSION, "rows": [_record(row) for row in table.rows]}
    write_text(folder / NAME, json.dumps(record, ensure_ascii=False, separators=(",", ":")))


def _record(row: Row) -> dict[str, Any]:
    words = [[word.start, word.end, word.text, word.prob] for word in row.words]
    return {
        "key": row.key, "start": row.start, "end": row.end, "text": row.text, "speaker": row.speaker, "words": words,
    }  # fmt: skip


def load(folder: Path) -> Table | None:
    """The edited table of a job's folder; None when nobody has edited it."""
    path = folder / NAME
    if not path.is_file():
        return None
    rows = tuple(
        Row(**{**row, "words": tuple(Word(*word) for word in row["words"])})
        for row in read_json(path)["rows"]
    )
    return Table(rows, max((row.key for row in rows), default=-1) + 1)
