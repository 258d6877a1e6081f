"""The history: everything transcribed before, found by its words, opened again, deleted one by one or all at once."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import gradio as gr

from pipelines.clock import clock
from pipelines.history import History, Row
from ui import languages, notices
from ui.i18n import escaped, language_of, text
from ui.jobs_view import shown_html
from ui.services import Services
from ui.transcript.documents import ENTRY

MOST = 100
SCRIPT = """
element.addEventListener('click', (event) => {
  const button = event.target.closest('[data-act]');
  if (!button) return;
  const item = button.closest('.item');
  if (button.dataset.act === 'ask') item.classList.add('asking');
  else if (button.dataset.act === 'keep') item.classList.remove('asking');
  else trigger('act', {do: button.dataset.act, entry: Number(item.dataset.entry)});
});
"""


def component() -> gr.HTML:
    """The list, empty."""
    return gr.HTML(value="", js_on_load=SCRIPT, apply_default_css=False, elem_id="history-list")


@dataclass(frozen=True, slots=True)
class HistoryHandlers:
    """What happens in the history."""

    services: Services

    def search(self, words: str, spoken: str, engine: str, request: gr.Request) -> tuple[Any, ...]:
        """The list for these words and filters, and the menus of the filters."""
        language = language_of(request)
        with History.open(self.services.settings) as history:
            found = history.search(words or "", language=spoken or None, engine=engine or None, limit=MOST)
            count = history.count(words or "", language=spoken or None, engine=engine or None)
            heard, engines = history.languages(), history.engines()
        every = (text(language, "ui_history_every"), "")
        return (
            shown_html(list_html(found, count, language)),
            gr.Dropdown(
                choices=[every, *((languages.tagged(code, language) or code, code) for code in heard)]
            ),
            gr.Dropdown(choices=[every, *((name, name) for name in engines)]),
        )

    def act(self, event: gr.EventData, chosen: str) -> Any:
        """Open an entry in the editor, or delete it; returns what is open then."""
        number = int(event._data["entry"])
        if event._data.get("do") == "open":
            return f"{ENTRY}{number}"
        with History.open(self.services.settings) as history:
            history.delete(number)
        self.services.documents.forget(f"{ENTRY}{number}")
        return "" if chosen == f"{ENTRY}{number}" else gr.skip()

    def ask(self, request: gr.Request) -> tuple[gr.Group, str]:
        """Ask before everything is deleted, saying how much that is."""
        with History.open(self.services.settings) as history:
            count = history.count()
        return gr.Group(visible=True), text(language_of(request), "ui_history_clear_ask", count=count)

    def clear(self, request: gr.Request) -> gr.Group:
        """Delete all entries; media, saved files and jobs stay."""
        with History.open(self.services.settings) as history:
            count = history.clear()
        notices.tell(request, "ui_history_cleared", count=count)
        return gr.Group(visible=False)


def list_html(rows: tuple[Row, ...], count: int, language: str) -> str:
    """One item for each entry, with the words that were found marked."""
    if not rows:
        return f'<p class="quiet">{escaped(text(language, "ui_history_none"))}</p>'
    told = text(language, "ui_history_sum", shown=len(rows), count=count)
    items = "".join(_item(row, language) for row in rows)
    return f'<div class="queue history"><div class="sum">{escaped(told)}</div>{items}</div>'


def _item(row: Row, language: str) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.created))
    spoken = languages.tagged(row.language, language)
    facts = " · ".join(part for part in (when, clock(row.duration), spoken, row.engine) if part)
    snippet = escaped(row.snippet).replace("⟦", "<mark>").replace("⟧", "</mark>")
    return (
        f'<div class="item" data-entry="{row.id}"><span></span><span class="name">{escaped(row.name)}</span>'
        f'<span class="what">{escaped(facts)}</span><span class="acts">{_button("open", row, language)} '
        f"{_button('ask', row, language)}</span>"
        f'<span class="sure">{_button("delete", row, language)} {_button("keep", row, language)}</span>'
        f'<span class="found">{snippet}</span></div>'
    )


def _button(act: str, row: Row, language: str) -> str:
    words = escaped(text(language, f"ui_history_{act}"))
    return (
        f'<button type="button" data-act="{act}" aria-label="{words}: {escaped(row.name)}">{words}</button>'
    )
