"""The line table as it is being edited: kept in the job's folder after every step, with the steps that led to it.

A page that is closed, reloaded or restarted finds the table as it was left. The draft ends when it is dubbed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.files import read_json, write_text
from ui.lines import FIT, LOCKED, Row, ticked

NAME, MOST = "draft.json", 50


@dataclass(frozen=True, slots=True)
class Draft:
    """The rows, and earlier ones to go back to, the oldest first."""

    rows: list[Row]
    past: tuple[list[Row], ...] = ()

    def done(self, rows: Sequence[Row]) -> Draft:
        """After one more step; a step that changes no cell is none."""
        new = [list(row) for row in rows]
        if [_cells(row) for row in new] == [_cells(row) for row in self.rows]:
            return self
        return Draft(new, (*self.past, self.rows)[-MOST:])

    def undone(self) -> Draft:
        """One step back, if there is one."""
        return Draft(self.past[-1], self.past[:-1]) if self.past else self


def _cells(row: Row) -> list[str]:
    """What a person can change in a row, however the browser writes it (a ticked box comes as true or "true")."""
    shown = ("" if cell is None else str(cell).strip() for cell in row)
    return [
        cell.lower() if cell.lower() in ("true", "false") else cell
        for place, cell in enumerate(shown)
        if place != FIT
    ]


def locks_kept(before: Sequence[Row], after: Sequence[Row]) -> tuple[list[Row], bool]:
    """The edited rows with locked ones as they were, and whether any had to be put back; a lock may be taken off."""
    locked = {str(row[0]): row for row in before if ticked(row, LOCKED) and str(row[0]).strip()}
    kept, put_back = [], False
    for row in after:
        old = locked.pop(str(row[0]), None)
        spoiled = old is not None and ticked(row, LOCKED) and _cells(row) != _cells(old)
        put_back = put_back or spoiled
        kept.append(list(old) if spoiled and old is not None else list(row))
    return kept, put_back


def load(folder: Path) -> Draft | None:
    """The draft of a job's folder, or None."""
    path = folder / NAME
    if not path.is_file():
        return None
    record = read_json(path)
    return Draft(record["rows"], tuple(record["past"]))


def save(folder: Path, draft: Draft) -> None:
    """Write the draft; compact, for it is written after every edit.

    Raises:
        DiskFull: there is no room; what was there stays.
    """
    record = {"rows": draft.rows, "past": draft.past}
    write_text(folder / NAME, json.dumps(record, ensure_ascii=False, separators=(",", ":")))


def end(folder: Path) -> None:
    """The draft has become the dub's lines."""
    (folder / NAME).unlink(missing_ok=True)
