"""The System tab: what this computer can do, how engines run on it, model files, and the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import gradio as gr
from gradio.blocks import Block

from pipelines.errors import InputError, Message
from pipelines.jobs import JobSpec
from pipelines.jobs.spec import JobView
from ui import banner, notices, system_html
from ui.i18n import label, language_of, text
from ui.jobs_view import QUIETLY, Follower, job_panel, plainly
from ui.live_numbers import numbers_html
from ui.logs import log_file, log_html
from ui.services import Services, showable
from ui.tabs.parts import PRIVATELY

PAGE = ""
AUTOMATIC = "auto"
SECONDS_BETWEEN_NUMBERS = 2.0


@dataclass(frozen=True, slots=True)
class SystemHandlers:
    """What happens on the tab."""

    services: Services

    def numbers(self, request: gr.Request) -> str:
        """What the job, the memory and the cards do now."""
        return numbers_html(self.services, language_of(request))

    def doctor(self, request: gr.Request) -> str:
        """All checks of this computer."""
        from pipelines.doctor import doctor

        machine = self.services.machine
        rows = doctor(self.services.settings, machine.policy, machine.found)
        return system_html.doctor_html(rows, language_of(request))

    def report(self) -> str:
        """The findings as text for a report, without user name, home folder and serial numbers."""
        from pipelines.backend.banner import banner as sentence
        from pipelines.backend.copying import report
        from pipelines.doctor import doctor, engine_states

        machine = self.services.machine
        rows = doctor(self.services.settings, machine.policy, machine.found)
        states = engine_states(self.services.context)
        return report(sentence(machine.policy, machine.found, states).en, rows)

    def switch(self, device: str, safe_mode: bool, no_half: bool, request: gr.Request) -> str:
        """Run engines another way from the next job on; the banner says so."""
        self.services.machine.switch(device, safe_mode, no_half)
        notices.tell(request, "ui_system_switched")
        return banner.banner_html(self.services, language_of(request))

    def models(self, request: gr.Request) -> tuple[str, Any]:
        """The table of model files, and which can be fetched."""
        return self._models(language_of(request))

    def _models(self, language: str) -> tuple[str, Any]:
        from pipelines.weights import states

        found = states(self.services.settings)
        lacking = [
            (state.item.title.text(language), state.item.id) for state in found if state.state != "ready"
        ]
        return system_html.weights_html(found, language), gr.CheckboxGroup(choices=lacking, value=[])

    def fetch(self, items: list[str]) -> str:
        """Fetch the model files that were ticked; nothing else is ever downloaded."""
        if not items:
            raise InputError(
                Message("No model files are ticked", "没有勾选模型文件"),
                Message("Tick what you want to fetch.", "请勾选要获取的项目。"),
            )
        return self.services.executor.submit(JobSpec("weights", {"items": list(items)}, ", ".join(items)))

    def show(self, view: JobView, language: str) -> dict[str, Any]:
        """The table again when the job has ended."""
        if not view.ended:
            return {}
        table, items = self._models(language)
        return {"table": table, "items": items}

    def sources(self, request: gr.Request) -> gr.Dropdown:
        """Whose log to show: the page's own or a job's."""
        views = self.services.store.list(limit=100)
        jobs = [(f"{view.title or view.kind} · {view.id}", view.id) for view in views]
        return gr.Dropdown(choices=[(text(language_of(request), "ui_system_log_page"), PAGE), *jobs])

    def log(self, job_id: str, request: gr.Request) -> tuple[str, Any]:
        """The newest lines, and the file to download."""
        path = log_file(self.services, job_id or PAGE)
        shown = str(showable(self.services, path)) if path.is_file() else None
        return log_html(path, language_of(request)), gr.DownloadButton(value=shown)


def build(services: Services, demo: gr.Blocks, banner_line: gr.HTML, tabs: gr.Tabs) -> None:
    """Lay the tab out, as the last of ``tabs``, and connect it; ``banner_line`` follows the switches."""
    handlers = SystemHandlers(services)
    with gr.Tab(label("ui_tab_system"), id="system", elem_id=banner.SYSTEM_TAB) as tab:
        timer = _numbers(handlers, tab)
        _checks(handlers, tab)
        _switches(handlers, banner_line)
        _models(handlers, tab, demo)
        _log(handlers, tab)
    for other in tabs.children:
        if other is not tab:  # nobody looks: nothing is read
            cast(gr.Tab, other).select(lambda: gr.Timer(active=False), None, timer, **QUIETLY)


def _numbers(handlers: SystemHandlers, tab: gr.Tab) -> gr.Timer:
    """Numbers that follow while the tab is open; returns their timer."""
    with gr.Accordion(label("ui_system_now"), open=True):
        shown = gr.HTML(elem_id="system-now")
    timer = gr.Timer(SECONDS_BETWEEN_NUMBERS, active=False)
    tab.select(lambda: gr.Timer(active=True), None, timer, **QUIETLY)
    for event in (tab.select, timer.tick):
        event(handlers.numbers, None, shown, **QUIETLY)
    return timer


def _checks(handlers: SystemHandlers, tab: gr.Tab) -> None:
    with gr.Accordion(label("ui_system_doctor"), open=True):
        table = gr.HTML(elem_id="system-doctor")
        with gr.Row():
            again = gr.Button(label("ui_system_doctor_run"), size="sm", elem_id="system-again")
            copy = gr.Button(label("ui_system_report"), size="sm", elem_id="system-report")
        copied = gr.Code(
            label=label("ui_system_report_label"), language=None, visible=False, elem_id="system-report-text"
        )
    copy.click(lambda: gr.Code(value=handlers.report(), visible=True), None, copied, **PRIVATELY)
    for event in (tab.select, again.click):
        event(plainly(handlers.doctor), None, table, **PRIVATELY)


def _switches(handlers: SystemHandlers, banner_line: gr.HTML) -> None:
    policy = handlers.services.machine.policy
    with gr.Accordion(label("ui_system_switches"), open=False, elem_id="system-switches"):
        gr.Markdown(label("ui_system_switches_help"))
        with gr.Row():
            choices = [
                (cast(str, label("ui_system_device_auto")), AUTOMATIC),
                *handlers.services.machine.devices(),
            ]
            device = gr.Dropdown(choices, value=AUTOMATIC, label=label("ui_system_device"), min_width=240)
            safe = gr.Checkbox(
                policy.safe_mode, label=label("ui_system_safe_mode"), min_width=240, elem_id="system-safe"
            )
            full = gr.Checkbox(policy.precision == "float32", label=label("ui_system_no_half"), min_width=240)
        use = gr.Button(label("ui_system_use"), size="sm", elem_id="system-use")
    use.click(plainly(handlers.switch), [device, safe, full], banner_line, **PRIVATELY)


def _models(handlers: SystemHandlers, tab: gr.Tab, demo: gr.Blocks) -> None:
    with gr.Accordion(label("ui_system_weights"), open=True):
        gr.Markdown(label("ui_system_weights_help"))
        table = gr.HTML(elem_id="system-weights")
        items = gr.CheckboxGroup([], label=label("ui_system_weights_choose"), elem_id="system-items")
        with gr.Row():
            fetch = gr.Button(label("ui_system_fetch"), variant="primary", elem_id="system-fetch")
            again = gr.Button(label("ui_jobs_refresh"), elem_id="system-models-again")
        panel = job_panel(handlers.services, "system")
    follower = Follower(handlers.services, panel, {"table": table, "items": items}, handlers.show)
    follower.connect(demo)
    named: dict[str, Block] = {"items": items}
    follower.start(fetch, handlers.fetch, named, "fetch_weights")
    for event in (tab.select, again.click):
        event(plainly(handlers.models), None, [table, items], **QUIETLY)


def _log(handlers: SystemHandlers, tab: gr.Tab) -> None:
    with gr.Accordion(label("ui_system_log"), open=True):
        with gr.Row():
            source = gr.Dropdown(
                [("…", PAGE)], value=PAGE, label=label("ui_system_log_job"), scale=4, elem_id="system-source"
            )
            with gr.Column(scale=2, min_width=160):
                newest = gr.Button(label("ui_system_log_refresh"), size="sm", elem_id="system-newest")
                download = gr.DownloadButton(
                    cast(Any, label("ui_system_log_download")), size="sm", elem_id="system-download"
                )
        follow = gr.Checkbox(False, label=label("ui_system_log_follow"), elem_id="system-follow")
        shown = gr.HTML(elem_id="system-log")
        timer = gr.Timer(2.0, active=False)
    tab.select(handlers.sources, None, source, **PRIVATELY)
    follow.change(lambda on: gr.Timer(active=on), follow, timer, queue=False, **PRIVATELY)
    timer.tick(handlers.log, source, [shown, download], **QUIETLY)
    for event in (tab.select, newest.click, source.change):
        event(plainly(handlers.log), source, [shown, download], **PRIVATELY)
