"""The files of a batch: one row each with state, progress and, where it failed, why; each can be opened, stopped, retried."""

from __future__ import annotations

from collections.abc import Sequence

import gradio as gr

from pipelines.clock import clock
from pipelines.jobs.spec import JobView
from ui.i18n import escaped, text
from ui.jobs_view import ICONS, error_sentence, worth_resuming

SCRIPT = """
element.addEventListener('click', (event) => {
  const button = event.target.closest('[data-act]');
  if (button) trigger('act', {do: button.dataset.act, job: button.closest('.item').dataset.job});
});
"""
SIGNS = {**ICONS, "queued": ICONS["waiting"], "stopping": ICONS["running"]}


def component() -> gr.HTML:
    """The list, empty."""
    return gr.HTML(value="", js_on_load=SCRIPT, apply_default_css=False, elem_id="transcribe-queue")


def queue_html(views: Sequence[JobView], chosen: str, language: str) -> str:
    """All files in the order they were given, under a line that says how many are done; nothing for a single one."""
    if len(views) < 2:
        return ""
    done = sum(view.state == "done" for view in views)
    failed = sum(view.state == "failed" for view in views)
    key = "ui_queue_sum_failed" if failed else "ui_queue_sum"
    told = text(language, key, done=done, all=len(views), failed=failed)
    items = "".join(_item(view, view.id == chosen, language) for view in views)
    return f'<div class="queue"><div class="sum" role="status">{escaped(told)}</div>{items}</div>'


def _item(view: JobView, chosen: bool, language: str) -> str:
    state = text(language, f"ui_state_{view.state}")
    why = error_sentence(view, language) if view.state == "failed" else ""
    return (
        f'<div class="item{" open" if chosen else ""}" data-job="{escaped(view.id)}" data-state="{view.state}">'
        f'<span aria-hidden="true">{SIGNS[view.state]}</span><span class="name">{escaped(view.title)}</span>'
        f'<span class="what">{escaped(state)}{escaped(_progress(view))}</span><span>{_buttons(view, language)}</span>'
        + (f'<span class="why">{escaped(why)}</span>' if why else "")
        + "</div>"
    )


def _progress(view: JobView) -> str:
    stage = view.stages[-1] if view.state == "running" and view.stages else None
    if stage is None or not stage.total:
        return ""
    return f" · {clock(stage.done)} / {clock(stage.total)}"


def _buttons(view: JobView, language: str) -> str:
    acts = []
    if view.state in ("done", "running"):
        acts.append("open")
    if not view.ended:
        acts.append("stop")
    if worth_retrying(view):
        acts.append("retry")
    return " ".join(_button(act, view.title, language) for act in acts)


def _button(act: str, name: str, language: str) -> str:
    words, hint = text(language, f"ui_queue_{act}"), text(language, f"ui_queue_name_{act}", name=name)
    return f'<button type="button" data-act="{act}" aria-label="{escaped(hint)}">{escaped(words)}</button>'


def worth_retrying(view: JobView) -> bool:
    """Failed or stopped. Also where the file could not be read: it may have been mended or finished copying since."""
    return view.state == "failed" or worth_resuming(view)
