"""What one step of the user does to the rows: from the browser's message to an operation of ``pipelines.editing``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pipelines.editing import Edits, table
from pipelines.errors import Message, OptionError
from ui.lines import parse_time, time_text
from ui.transcript.documents import Opened

Step = Mapping[str, Any]
Result = tuple[Edits, int | None, tuple[str, dict[str, Any]] | None]


def take(opened: Opened, step: Step) -> Result:
    """Do a step; returns the edits after it, the key of the row to go to, and a text to say with its values.

    Raises:
        OptionError: it cannot be done; the sentence says why.
    """
    name = str(step.get("do"))
    if name in ("undo", "redo"):
        edits = opened.edits
        return edits.undone() if name == "undo" else edits.redone(), None, None
    action = ACTIONS.get(name)
    if action is None:
        raise OptionError(Message(f"The editor cannot do {name!r}", f"编辑器不支持 {name!r}"))
    changed, focus, said = action(opened, step)
    return opened.edits.done(changed), focus, said


Change = tuple[table.Table, int | None, tuple[str, dict[str, Any]] | None]
Action = Callable[[Opened, Step], Change]


def _key(step: Step) -> int:
    return int(step["key"])


def _text(opened: Opened, step: Step) -> Change:
    return table.with_text(opened.edits.table, _key(step), str(step["value"])), None, None


def _time(opened: Opened, step: Step) -> Change:
    """A new start or end; what was not touched keeps its exact value."""
    rows, key = opened.edits.table, _key(step)
    row, value = rows.rows[rows.place(key)], str(step["value"])
    start, end = row.start, row.end
    if step["do"] == "start" and value != time_text(row.start):
        start = parse_time(value)
    if step["do"] == "end" and value != time_text(row.end):
        end = parse_time(value)
    return table.with_times(rows, key, start, end), None, None


def _speaker(opened: Opened, step: Step) -> Change:
    return table.with_speaker(opened.edits.table, _key(step), str(step["value"])), None, None


def _split(opened: Opened, step: Step) -> Change:
    at = int(step.get("at", -1))
    return table.split(opened.edits.table, _key(step), max(at, 0)), opened.edits.table.following, None


def _merge(opened: Opened, step: Step) -> Change:
    return table.merge(opened.edits.table, _key(step)), _key(step), None


def _insert(opened: Opened, step: Step) -> Change:
    after = None if step.get("key") is None else _key(step)
    return table.insert(opened.edits.table, after), opened.edits.table.following, None


def _delete(opened: Opened, step: Step) -> Change:
    rows, key = opened.edits.table, _key(step)
    changed = table.delete(rows, [key])
    place = min(rows.place(key), len(changed.rows) - 1)
    return changed, changed.rows[place].key if changed.rows else None, None


def _shift(opened: Opened, step: Step) -> Change:
    given = str(step.get("seconds") or "").strip()
    sign = -1.0 if given.startswith(("-", "−")) else 1.0
    seconds = sign * parse_time(given.lstrip("+-−"))
    first = step.get("first")
    changed = table.shift(opened.edits.table, seconds, None if first is None else int(first))
    return changed, None, ("ui_editor_shifted", {"seconds": f"{seconds:+.2f}"})


def _replace(opened: Opened, step: Step) -> Change:
    wanted, by = str(step.get("find") or ""), str(step.get("by") or "")
    changed, count = table.replace_all(
        opened.edits.table, wanted, by, match_case=bool(step.get("match_case"))
    )
    return changed, None, ("ui_editor_replaced", {"count": count})


def _rename(opened: Opened, step: Step) -> Change:
    return table.rename_speaker(opened.edits.table, str(step["name"]), str(step["value"])), None, None


def _join(opened: Opened, step: Step) -> Change:
    before = opened.edits.table
    changed = table.join_speakers_rows(before)
    return changed, None, ("ui_editor_joined", {"count": len(before.rows) - len(changed.rows)})


def _wording(opened: Opened, step: Step) -> Change:
    """All rows anew, from what is shown or from the words as they were heard; one undo brings the edited rows back."""
    opened.wording = str(step["value"])
    fresh = opened.document.table(opened.wording)
    first = opened.edits.table.following
    rows = tuple(
        table.Row(first + row.key, row.start, row.end, row.text, row.speaker, row.words) for row in fresh.rows
    )
    return table.Table(rows, first + fresh.following), None, None


ACTIONS: Mapping[str, Action] = {
    "text": _text, "start": _time, "end": _time, "speaker": _speaker, "split": _split, "merge": _merge,
    "insert": _insert, "delete": _delete, "shift": _shift, "replace": _replace, "rename": _rename, "join": _join,
    "wording": _wording,
}  # fmt: skip
