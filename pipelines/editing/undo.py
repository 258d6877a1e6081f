"""Earlier tables, to go back to; rows that did not change are shared between them, so a step costs little."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.editing.table import Table

MOST = 200  # steps that are remembered


@dataclass(frozen=True, slots=True)
class Edits:
    """A table with the way that led to it; ``saved`` tells nobody: undoing everything leads to the table as opened."""

    table: Table
    past: tuple[Table, ...] = ()
    future: tuple[Table, ...] = ()

    def done(self, table: Table) -> Edits:
        """After one more step; a step that changes nothing is none."""
        if table.rows == self.table.rows:
            return self
        return Edits(table, (*self.past, self.table)[-MOST:])

    def undone(self) -> Edits:
        """One step back, if there is one. Keys go on counting, so that no key means two rows."""
        if not self.past:
            return self
        before = Table(self.past[-1].rows, self.table.following)
        return Edits(before, self.past[:-1], (self.table, *self.future))

    def redone(self) -> Edits:
        """One step forward again, if there is one."""
        if not self.future:
            return self
        after = Table(self.future[0].rows, max(self.table.following, self.future[0].following))
        return Edits(after, (*self.past, self.table), self.future[1:])
