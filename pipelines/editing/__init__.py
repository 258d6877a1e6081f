"""Editing a transcript as a table of cues: pure functions from one table to the next, with undo.

``table`` has the operations on rows, ``wording`` keeps word times while text is changed, ``undo`` remembers earlier
tables, ``file`` keeps an edited table in its job's folder.
"""

from __future__ import annotations

from pipelines.editing.table import Row, Table, opened
from pipelines.editing.undo import Edits

__all__ = ["Edits", "Row", "Table", "opened"]
