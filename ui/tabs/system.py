"""The System tab: what this computer can do, model files, and the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import gradio as gr

from ui import banner
from ui.i18n import label, language_of, text
from ui.jobs_view import plainly
from ui.logs import log_file, log_html
from ui.services import Services
from ui.tabs.parts import PRIVATELY

PAGE = ""


@dataclass(frozen=True, slots=True)
class SystemHandlers:
    """What happens on the tab."""

    services: Services

    def engines(self, request: gr.Request) -> str:
        """The table of engines."""
        return banner.engine_table(list(banner.engines(self.services)), language_of(request))

    def sources(self, request: gr.Request) -> gr.Dropdown:
        """Whose log to show: the page's own or a job's."""
        views = self.services.store.list(limit=100)
        jobs = [(f"{view.title or view.kind} · {view.id}", view.id) for view in views]
        return gr.Dropdown(choices=[(text(language_of(request), "ui_system_log_page"), PAGE), *jobs])

    def log(self, job_id: str, request: gr.Request) -> tuple[str, Any]:
        """The newest lines, and the file to download."""
        path = log_file(self.services, job_id)
        return log_html(path, language_of(request)), gr.DownloadButton(
            value=str(path) if path.is_file() else None
        )


def build(services: Services, demo: gr.Blocks) -> None:
    """Lay the tab out and connect it."""
    handlers = SystemHandlers(services)
    with gr.Tab(label("ui_tab_system"), id="system") as tab:
        with gr.Accordion(label("ui_system_doctor"), open=True):
            table = gr.HTML(elem_id="system-engines")
            again = gr.Button(label("ui_system_doctor_run"), size="sm")
        with gr.Accordion(label("ui_system_log"), open=True):
            with gr.Row():
                source = gr.Dropdown(
                    [("…", PAGE)], value=PAGE, label=label("ui_system_log_job"), elem_id="system-source"
                )
                newest = gr.Button(label("ui_system_log_refresh"), elem_id="system-newest")
                download = gr.DownloadButton(
                    cast(Any, label("ui_system_log_download")), elem_id="system-download"
                )
            shown = gr.HTML(elem_id="system-log")
    for event in (tab.select, again.click):
        event(handlers.engines, None, table, **PRIVATELY)
    tab.select(handlers.sources, None, source, **PRIVATELY)
    for event in (tab.select, newest.click, source.change):
        event(plainly(handlers.log), source, [shown, download], **PRIVATELY)
