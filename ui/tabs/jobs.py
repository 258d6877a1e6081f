"""The Jobs tab: everything that was made or is waiting; results, resume, stop, delete; survives a restart."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from pipelines import remade
from pipelines.errors import InputError, Message
from pipelines.jobs.spec import JobView
from pipelines.jobs.store import CLEAN_UP_RULE
from ui import notices, results
from ui.i18n import label, language_of, text
from ui.jobs_view import Reopener, job_html, plainly
from ui.results import size_text
from ui.services import Services, showable
from ui.source import expected_seconds
from ui.tabs.parts import PRIVATELY, open_folder_button

REOPENED = frozenset({"dub", "speak", "transcribe", "sync"})
KINDS = ("dub", "speak", "transcribe", "caption", "sync", "weights")
SHOWN, DAYS = 200, 30
LONGEST_DAYS = 3650
COLUMNS = ("when", "kind", "title", "state", "disk")


@dataclass(frozen=True, slots=True)
class JobsHandlers:
    """What happens on the tab."""

    services: Services

    def views(self, words: str = "") -> tuple[JobView, ...]:
        """The jobs listed, newest first; previews are part of other jobs and left out."""
        return self.services.store.list(kinds=KINDS, text=words.strip(), limit=SHOWN)

    def _row(self, view: JobView, language: str) -> list[str]:
        return [
            time.strftime("%Y-%m-%d %H:%M", time.localtime(view.created)),
            text(language, f"ui_kind_{view.kind}"),
            view.title,
            text(language, f"ui_state_{view.state}"),
            size_text(self.services.store.disk_use(view.id)),
        ]

    def listing(self, words: str, request: gr.Request) -> tuple[Any, ...]:
        """Table of the jobs with these words in their name (empty: all), state by id of its rows, and the sum line."""
        language, views = language_of(request), self.views(words)
        heads = [text(language, f"ui_jobs_column_{name}") for name in COLUMNS]
        total = sum(self.services.store.disk_use(view.id) for view in views)
        summary = text(language, "ui_jobs_total", count=len(views), size=size_text(total))
        if not views:
            summary = text(language, "ui_jobs_no_match" if words.strip() else "ui_jobs_none")
        else:
            summary = f"{text(language, 'ui_jobs_choose')} {summary}"
        table = {"headers": heads, "data": [self._row(view, language) for view in views]}
        rule = CLEAN_UP_RULE.text(language)
        return (
            table,
            {view.id: view.state for view in views},
            f"{summary} {rule} {text(language, 'ui_jobs_uploads_rule')}",
        )

    def choose(
        self, listed: dict[str, str], words: str, picked: gr.SelectData, request: gr.Request
    ) -> tuple[Any, ...]:
        """Show the job of the row that was clicked."""
        job_id = list(listed)[picked.index[0]] if picked.index[0] < len(listed) else ""
        return job_id, *self.watch(job_id, listed, words, request)

    def watch(self, job_id: str, listed: dict[str, str], words: str, request: gr.Request) -> tuple[Any, ...]:
        """``show``, and ``listing`` when the job's row says another state than the job is in now."""
        shown = self.show(job_id, request)
        view = self.services.executor.view(job_id) if job_id in listed else None
        if view is None or view.state == listed[job_id]:
            return *shown, gr.skip(), gr.skip(), gr.skip()
        return *shown, *self.listing(words, request)

    def show(self, job_id: str, request: gr.Request) -> tuple[Any, ...]:
        """Card, player, files, and which buttons make sense; the timer runs while the job does."""
        view = self.services.executor.view(job_id) if job_id else None
        hidden = gr.Button(visible=False)
        if view is None:
            return (
                "",
                gr.Video(visible=False),
                gr.Files(visible=False),
                hidden,
                hidden,
                hidden,
                gr.Timer(active=False),
                hidden,
            )
        video = results.made(view, "video") if view.state == "done" else None
        saved = self.services.save(view)
        paths = [str(path) for path in saved.values() if path.is_file()]
        return (
            job_html(view, language_of(request), expected=expected_seconds(self.services, view)),
            gr.Video(value=str(showable(self.services, video)) if video else None, visible=video is not None),
            gr.Files(value=paths, visible=bool(paths)),
            gr.Button(visible=not view.ended),
            gr.Button(visible=view.state in ("failed", "stopped")),
            gr.Button(visible=view.ended),
            gr.Timer(active=not view.ended),
            gr.Button(visible=view.kind in REOPENED),
        )

    def reopen(self, kind: str, reopener: Reopener, job_id: str) -> list[Any]:
        """What the tab of this kind of job remembers from now on, and that it is shown; nothing for other kinds."""
        view = self.services.store.view(job_id) if job_id else None
        if view is None or view.kind != kind:
            return [gr.skip()] * (len(reopener.states) + 1)
        return [job_id, *[""] * (len(reopener.states) - 1), gr.Tabs(selected=reopener.tab)]

    def ask(self, job_id: str, request: gr.Request) -> tuple[Any, ...]:
        """Ask before deleting, saying what goes and what stays."""
        view = self.services.store.view(job_id)
        if view is None:
            return gr.Group(visible=False), ""
        size = size_text(self.services.store.disk_use(job_id))
        asked = text(language_of(request), "ui_jobs_delete_ask", title=view.title or view.id, size=size)
        return gr.Group(visible=True), asked

    def delete(self, job_id: str) -> tuple[str, Any]:
        """Delete the chosen job."""
        self.services.store.delete(job_id)
        return "", gr.Group(visible=False)

    def clean(self, days: float | None, request: gr.Request) -> None:
        """Delete old jobs by the stated rule."""
        if days is None or days < 0:
            raise InputError(
                Message("There is no number of days", "没有填写天数"),
                Message("Say how old jobs must be to go.", "请填写要清理多少天以前的任务。"),
            )
        gone = self.services.store.clean_up(days * 86400.0)
        notices.tell(request, "ui_jobs_cleaned", count=len(gone))

    def cached(self, request: gr.Request) -> tuple[str, Any]:
        """How much is kept only for speed, and whether there is anything to delete."""
        kept = remade.size(self.services.settings)
        told = text(
            language_of(request), "ui_jobs_cache" if kept else "ui_jobs_cache_none", size=size_text(kept)
        )
        return told, gr.Button(interactive=kept > 0)

    def empty_cache(self, request: gr.Request) -> None:
        """Delete what can be made again, unless something is using it."""
        if self.services.previews.busy():
            raise InputError(
                Message("A preview is being made", "正在生成预览"),
                Message("Try again in a moment.", "请稍后再试。"),
            )
        freed = remade.empty(self.services.settings)
        notices.tell(request, "ui_jobs_cache_emptied", size=size_text(freed))


def build(services: Services, demo: gr.Blocks, tabs: gr.Tabs, reopeners: Mapping[str, Reopener]) -> None:
    """Lay the tab out and connect it; ``reopeners`` show a job of a kind in the tab that made it."""
    handlers = JobsHandlers(services)
    with gr.Tab(label("ui_tab_jobs"), id="jobs") as tab:
        rows, chosen, timer = gr.State({}), gr.State(""), gr.Timer(1.0, active=False)
        search = gr.Textbox(label=label("ui_jobs_search"), max_lines=1, elem_id="jobs-search")
        table = gr.Dataframe(
            headers=["", "", "", "", ""],
            type="array",
            interactive=False,
            wrap=True,
            label=label("ui_jobs_list"),
            elem_id="jobs-table",
        )
        summary = gr.Markdown(elem_classes="quiet", elem_id="jobs-summary")
        with gr.Row():
            refresh = gr.Button(label("ui_jobs_refresh"), size="sm", elem_id="jobs-refresh")
            folder = open_folder_button(services)
            folder.visible = services.local
        _tidying(handlers, tab, search, (table, rows, summary))
        card = gr.HTML(elem_id="jobs-card")
        with gr.Row():
            stop = gr.Button(label("ui_stop"), variant="stop", visible=False, elem_id="jobs-stop")
            resume = gr.Button(label("ui_resume"), visible=False, elem_id="jobs-resume")
            reopen = gr.Button(label("ui_jobs_reopen"), visible=False, elem_id="jobs-reopen")
            delete = gr.Button(label("ui_jobs_delete"), visible=False, elem_id="jobs-delete")
        with gr.Group(visible=False) as question:
            asked = gr.Markdown(padding=True)
            with gr.Row():
                really = gr.Button(label("ui_jobs_delete_really"), variant="stop", elem_id="jobs-really")
                keep = gr.Button(label("ui_jobs_keep"), elem_id="jobs-keep")
        video = gr.Video(label=label("ui_jobs_result"), interactive=False, visible=False, height=360)
        files = gr.Files(label=label("ui_files"), interactive=False, visible=False, elem_classes="made")

    listed = [table, rows, summary]
    shown = [card, video, files, stop, resume, delete, timer, reopen]
    for event in (tab.select, refresh.click, search.submit, search.input):
        event(handlers.listing, search, listed, trigger_mode="always_last", **PRIVATELY)
    table.select(handlers.choose, [rows, search], [chosen, *shown, *listed], **PRIVATELY)
    watched = [chosen, rows, search]
    timer.tick(handlers.watch, watched, [*shown, *listed], queue=False, **PRIVATELY)
    for button, action in ((stop, services.executor.stop), (resume, services.executor.resume)):
        done = button.click(plainly(action), chosen, None, **PRIVATELY)
        done.then(handlers.watch, watched, [*shown, *listed], **PRIVATELY)
    for kind, reopener in reopeners.items():
        opened = reopen.click(
            functools.partial(handlers.reopen, kind, reopener), chosen, [*reopener.states, tabs], **PRIVATELY
        )
        opened.then(reopener.look, list(reopener.states), list(reopener.outputs), **PRIVATELY)
    delete.click(handlers.ask, chosen, [question, asked], **PRIVATELY)
    keep.click(lambda: gr.Group(visible=False), None, question, **PRIVATELY)
    gone = really.click(plainly(handlers.delete), chosen, [chosen, question], **PRIVATELY)
    gone.success(handlers.show, chosen, shown, **PRIVATELY).then(
        handlers.listing, search, listed, **PRIVATELY
    )


def _tidying(handlers: JobsHandlers, tab: gr.Tab, search: gr.Textbox, listed: tuple[Component, ...]) -> None:
    """What takes room on the disk, and two ways to have it back."""
    with gr.Accordion(label("ui_jobs_tidy"), open=False, elem_id="jobs-tidy"), gr.Row(equal_height=False):
        with gr.Column(min_width=260):
            days = gr.Number(
                DAYS,
                label=label("ui_jobs_days"),
                precision=0,
                minimum=0,
                maximum=LONGEST_DAYS,
                elem_id="jobs-days",
            )
            clean = gr.Button(label("ui_jobs_clean"), size="sm", elem_id="jobs-clean")
        with gr.Column(min_width=260):
            cached = gr.Markdown(elem_id="jobs-cache")
            empty = gr.Button(label("ui_jobs_cache_empty"), size="sm", elem_id="jobs-cache-empty")
    kept = [cached, empty]
    tab.select(handlers.cached, None, kept, **PRIVATELY)
    cleaned = clean.click(plainly(handlers.clean), days, None, **PRIVATELY)
    cleaned.success(handlers.listing, search, list(listed), **PRIVATELY)
    emptied = empty.click(plainly(handlers.empty_cache), None, None, **PRIVATELY)
    emptied.success(handlers.cached, None, kept, **PRIVATELY)
