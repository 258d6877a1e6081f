"""The System tab's tables: the doctor's findings and the model files."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.backend.rows import Row
from pipelines.weights import WeightState
from ui.i18n import escaped, text
from ui.results import size_text

SIGNS = {"ok": "✓", "warning": "!", "problem": "✕", "hint": "?"}
CLASSES = {"ok": "state-ok", "warning": "state-no", "problem": "state-bad", "hint": "quiet"}


def table(heads: Sequence[str], rows: Sequence[str], name: str) -> str:
    """A table that scrolls sideways by itself; ``rows`` are ready ``<tr>`` elements."""
    head = "".join(f"<th scope='col'>{escaped(title)}</th>" for title in heads)
    return (
        f'<div class="dw-table" tabindex="0" role="group" aria-label="{escaped(name)}"><table><thead><tr>{head}</tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def doctor_html(rows: Sequence[Row], language: str) -> str:
    """What was looked at, what was found, and what to do; what needs attention first."""
    order = {"problem": 0, "warning": 1, "hint": 2, "ok": 3}
    drawn = [_finding(row, language) for row in sorted(rows, key=lambda row: order[row.level])]
    heads = [text(language, f"ui_doctor_{name}") for name in ("check", "found", "todo")]
    worst = min((order[row.level] for row in rows), default=3)
    verdict = text(language, ("ui_doctor_bad", "ui_doctor_fair", "ui_doctor_good", "ui_doctor_good")[worst])
    name = text(language, "ui_system_doctor")
    return f'<p class="verdict">{escaped(verdict)}</p>{table(heads, drawn, name)}'


def _finding(row: Row, language: str) -> str:
    level = text(language, f"ui_level_{row.level}")
    after = " ".join(_sentence(part.text(language), language) for part in (row.meaning, row.remedy))
    return (
        f'<tr><td class="{CLASSES[row.level]}"><span aria-label="{escaped(level)}" title="{escaped(level)}">'
        f"{SIGNS[row.level]}</span> {escaped(row.title.text(language))}</td>"
        f"<td>{escaped(row.found)}</td><td>{escaped(after.strip())}</td></tr>"
    )


def _sentence(words: str, language: str) -> str:
    """Words with the full stop that parts them from the next sentence."""
    if not words or words.endswith((".", "。", "!", "！", "?", "？")):
        return words
    return f"{words}{'。' if language == 'zh' else '.'}"


def weights_html(states: Sequence[WeightState], language: str) -> str:
    """Every model: state, size, licence with what it means for the user, and where its files are put by hand."""
    heads = [text(language, f"ui_weights_{name}") for name in ("name", "state", "size", "licence", "folder")]
    return table(heads, [_model(state, language) for state in states], text(language, "ui_system_weights"))


def _model(state: WeightState, language: str) -> str:
    item = state.item
    said = text(language, f"ui_weights_{state.state}")
    note = state.note.text(language)
    kind = {"ready": "state-ok", "wrong": "state-bad"}.get(state.state, "state-no")
    licence = f"{item.licence}. {item.consequence.text(language)}".rstrip(". ") if item.licence else ""
    lacking = ", ".join(state.lacking[:4]) + ("…" if len(state.lacking) > 4 else "")
    where = f"{state.folder}" + (f" ← {lacking}" if lacking else "")
    cells = (item.title.text(language), size_text(item.size) if item.size else "?", licence, where)
    return (
        f"<tr><td>{escaped(cells[0])}</td><td class='{kind}'>{escaped(said)}{': ' if note else ''}{escaped(note)}</td>"
        f"<td>{escaped(cells[1])}</td><td>{escaped(cells[2])}</td><td><code>{escaped(cells[3])}</code></td></tr>"
    )
