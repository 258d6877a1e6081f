"""The files sent off together: watched, stopped, retried, opened in the editor and packed; found again after a reload.

The browser remembers their job ids (joined by commas) and which of them is open; everything else is in the jobs.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.blocks import Block

from pipelines.errors import InputError
from pipelines.jobs import JobSpec
from pipelines.jobs.spec import JobView
from ui import notices, results, source
from ui.i18n import escaped, language_of, text
from ui.jobs_view import empty_html, job_html, shown_html, worth_resuming
from ui.services import Services
from ui.transcript import documents, saving
from ui.transcript.documents import ENTRY, Opened
from ui.transcript.editor import NOTHING, EditorHandlers
from ui.transcript.queue import queue_html, worth_retrying

NAME, FILM = "transcribe", "caption"
JOIN = ","


@dataclass(frozen=True, slots=True)
class Panel:
    """What shows a batch."""

    jobs: gr.BrowserState
    open: gr.BrowserState
    queue: gr.HTML
    card: gr.HTML
    stop: gr.Button
    resume: gr.Button
    retry: gr.Button
    pack: gr.Button
    timer: gr.Timer
    editor: gr.HTML
    save: gr.Row
    files: gr.Files
    folder: gr.Button
    message: gr.HTML

    @property
    def looked(self) -> list[Block]:
        """What ``BatchHandlers.look`` fills, in its order."""
        return [
            self.queue, self.card, self.stop, self.resume, self.retry, self.pack, self.timer, self.editor, self.save,
            self.files, self.folder, self.message,
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class BatchHandlers:
    """What happens to the files of a batch."""

    services: Services
    editor: EditorHandlers

    def send(self, paths: list[Path], options: dict[str, Any]) -> str:
        """One job for each file; returns their ids. The same request under way already is not made twice."""
        ids = []
        for path in paths:
            spec = JobSpec(NAME, {**options, "input": str(path)}, path.name)
            ids.append(self.services.going(spec) or self.services.submit(spec))
        return JOIN.join(ids)

    def views(self, jobs: str) -> list[JobView]:
        """The jobs of a batch that are still there."""
        found = [self.services.executor.view(one) for one in (jobs or "").split(JOIN) if one]
        return [view for view in found if view is not None]

    def look(self, jobs: str, chosen: str, request: gr.Request) -> tuple[Any, ...]:
        """Everything of the panel, in the order of ``Panel.looked``."""
        language, views = language_of(request), self.views(jobs)
        shown = self._shown(views, chosen)
        active = any(not view.ended for view in views)
        saved = self._saved(views, shown)
        several = len(views) > 1
        return (
            shown_html(queue_html(views, shown.id if shown else "", language)),
            self._card(views, shown, language),
            gr.Button(visible=active),
            gr.Button(visible=not several and shown is not None and worth_resuming(shown)),
            gr.Button(visible=several and any(worth_retrying(view) for view in views)),
            gr.Button(visible=any(view.state == "done" for view in views)),
            gr.Timer(active=active),
            self._edited(shown, chosen, language),
            gr.Row(visible=bool(chosen.startswith(ENTRY) or (shown and shown.state == "done"))),
            gr.Files(value=[str(path) for path in saved], visible=bool(saved)),
            gr.Button(visible=bool(saved) and self.services.local),
            shown_html(results.saved_html(saved[:1], language)),
        )

    def _card(self, views: list[JobView], shown: JobView | None, language: str) -> gr.HTML:
        if not views:
            return gr.HTML(value=empty_html(NAME, language), visible=True)
        return gr.HTML(
            value=job_html(shown, language) if shown and len(views) == 1 else "", visible=len(views) == 1
        )

    def _shown(self, views: list[JobView], chosen: str) -> JobView | None:
        """The file whose rows are shown: the one chosen, else the only one, the one being heard, the first done."""
        views = [view for view in views if view.kind == NAME]
        for view in views:
            if chosen == f"job:{view.id}":
                return view
        if len(views) == 1:
            return views[0]
        running = [view for view in views if view.state == "running"]
        return next(iter(running or [view for view in views if view.state == "done"]), None)

    def _edited(self, shown: JobView | None, chosen: str, language: str) -> dict[str, Any]:
        if chosen.startswith(ENTRY):
            opened = self.entry(chosen)
            return self.editor.value(opened, language) if opened else NOTHING
        return self.editor.of_job(shown, language) if shown else NOTHING

    def _saved(self, views: list[JobView], shown: JobView | None) -> list[Path]:
        """Files made by the jobs; saved by whoever looks first."""
        saved: list[Path] = []
        for view in views:
            if view.state == "done" and (len(views) == 1 or view is shown or view.kind == FILM):
                saved += self.services.save(view).values()
        return [path for path in saved if path.is_file()]

    def act(self, event: gr.EventData, chosen: str) -> str:
        """Open, stop or retry one file of the list; returns what is open then."""
        job = str(event._data.get("job"))
        action = event._data.get("do")
        if action == "open":
            return f"job:{job}"
        if action == "stop":
            self.services.executor.stop(job)
        elif action == "retry":
            self.services.executor.resume(job)
        return chosen

    def stop_all(self, jobs: str) -> None:
        """Stop what runs and what waits, the waiting ones first so that none of them begins."""
        for view in sorted(self.views(jobs), key=lambda view: view.state == "running"):
            if not view.ended:
                self.services.executor.stop(view.id)

    def retry_failed(self, jobs: str) -> None:
        """Queue again what failed or was stopped."""
        for view in self.views(jobs):
            if worth_retrying(view):
                self.services.executor.resume(view.id)

    def current(self, jobs: str, chosen: str) -> Opened | None:
        """The document whose rows are shown, if they can be edited."""
        if chosen.startswith(ENTRY):
            return self.entry(chosen)
        shown = self._shown(self.views(jobs), chosen)
        document = documents.of_job(shown) if shown else None
        return self.services.documents.open(document) if document else None

    def entry(self, chosen: str) -> Opened | None:
        """An entry of the history, opened; None when it was deleted."""
        try:
            number = int(chosen.removeprefix(ENTRY))
            return self.services.documents.open(documents.of_entry(self.services.settings, number))
        except (InputError, ValueError):
            return None

    def save(self, jobs: str, chosen: str, forms: list[str], request: gr.Request) -> tuple[gr.Files, gr.HTML]:
        """Write the rows that are shown as they are now.

        Raises:
            InputError: nothing is open, or no format was chosen.
        """
        opened = self.current(jobs, chosen)
        made = saving.save(opened, forms, self.services.settings.outputs) if opened else []
        if not made:
            raise nothing_open()
        told = results.saved_html(made, language_of(request))
        return gr.Files(value=[str(path) for path in made], visible=True), shown_html(told)

    def film(self, jobs: str, chosen: str, how: str) -> str:
        """Queue the video with the rows as they are now; returns the batch with it.

        Raises:
            InputError: nothing is open, or it was not heard in a video.
        """
        opened = self.current(jobs, chosen)
        if opened is None:
            raise nothing_open()
        document = opened.document
        source.probe(document.media or Path(document.name))  # a sound file is refused at once
        rows = [asdict(row) for row in opened.edits.table.segments()]
        options = {"input": str(document.media), "rows": rows, "how": how, "language": document.language}
        job = self.services.submit(JobSpec(FILM, options, f"{document.name} · {how}"))
        return JOIN.join([*(view.id for view in self.views(jobs)), job])

    def pack(self, jobs: str, forms: list[str], request: gr.Request) -> tuple[gr.Files, gr.HTML]:
        """All finished files of the batch in one ZIP among the outputs.

        Raises:
            InputError: no file is finished.
        """
        done = [documents.of_job(view) for view in self.views(jobs) if view.kind == NAME]
        opened = [self.services.documents.open(one) for one in done if one is not None]
        stamp = time.strftime("%Y-%m-%d %H.%M")
        name = text(language_of(request), "ui_queue_zip_name", when=stamp)
        outputs = self.services.settings.outputs
        free = saving.free_stem(name, lambda stem: (outputs / f"{stem}.zip").exists())
        path = saving.zipped(opened, forms or ["srt", "txt"], outputs / f"{free}.zip")
        notices.tell(request, "ui_queue_packed", count=len(opened))
        return gr.Files(value=[str(path)], visible=True), shown_html(
            f'<p class="quiet">{escaped(text(language_of(request), "ui_saved", path=path))}</p>'
        )


def nothing_open() -> InputError:
    """The sentence where no transcript is open."""
    from pipelines.errors import Message

    return InputError(
        Message("No transcript is open", "没有打开的文字稿"),
        Message("Transcribe a file, or open one from the history.", "请先转写文件，或从历史记录中打开。"),
    )
