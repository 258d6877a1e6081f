"""The Transcription tab: sound or video in; rows to correct, text and subtitle files out; one file or many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.blocks import Block

from pipelines.errors import InputError, Message, PipelineError
from ui import examples, source
from ui.i18n import label, language_of
from ui.jobs_view import QUIETLY, Reopener, optional, plainly
from ui.services import Services
from ui.tabs.parts import PRIVATELY, kept_tab, local_path, open_folder_button
from ui.transcript import choices, editor, files, live, past, queue
from ui.transcript.batch import NAME, BatchHandlers, Panel
from ui.transcript.editor import EditorHandlers

WAYS = ("burned", "mp4", "mkv")


@dataclass(frozen=True, slots=True)
class Edited:
    """The editor with what is below it."""

    panel: Panel
    forms: gr.CheckboxGroup
    save: gr.Button
    way: gr.Dropdown
    film: gr.Button


@dataclass(frozen=True, slots=True)
class TranscribeHandlers:
    """What happens when something is sent off."""

    services: Services

    @property
    def batch(self) -> BatchHandlers:
        """What happens to the jobs."""
        return BatchHandlers(self.services, EditorHandlers(self.services))

    def submit(self, **given: Any) -> str:
        """Send off transcriptions; returns the jobs' ids, joined by commas."""
        paths = files.chosen(self.services, given["file"], given["path"], below=bool(given.get("below")))
        if len(paths) > 1 and (given.get("known") or "").strip():
            raise InputError(
                Message("A text belongs to one sound, and there are several files", "文字稿只能对应一个文件"),
                Message("Send them off one by one, or empty the text.", "请逐个处理，或清空文字稿。"),
            )
        return self.batch.send(paths, choices.options(given))

    def recorded(self, engine: str, language: str, event: gr.EventData) -> str:
        """Send off what the microphone heard, to be transcribed as a whole; returns the job's id."""
        path = self.services.live.recording(str(event._data.get("session")), self.services.uploads)
        return self.batch.send([path], choices.options({"engine": engine, "language": language, "itn": True}))

    def tracks(self, uploaded: list[str] | str | None, typed: str, request: gr.Request) -> gr.Dropdown:
        """The sound tracks to choose from, where a single file has several."""
        from pipelines.media import sound_tracks

        hidden = gr.Dropdown(choices=[], value=None, visible=False)
        try:
            paths = files.chosen(self.services, uploaded, typed)
            found = sound_tracks(paths[0]) if len(paths) == 1 else ()
        except PipelineError:
            return hidden  # said when it is sent off
        if len(found) < 2:
            return hidden
        return gr.Dropdown(choices=source.tracks_menu(found, language_of(request)), value="", visible=True)


def build(services: Services, demo: gr.Blocks) -> Reopener:
    """Lay the tab out and connect it."""
    handlers = TranscribeHandlers(services)
    batch = handlers.batch
    with kept_tab("ui_tab_transcribe", "transcribe"):
        with gr.Row():
            with gr.Column(scale=5, min_width=300):
                inputs = _inputs(services, demo, handlers)
                go = gr.Button(
                    label("ui_transcribe_button"), variant="primary", size="lg", elem_id="transcribe-go"
                )
                example = gr.Button(label("ui_example"), size="sm", elem_id="transcribe-example")
            with gr.Column(scale=7, min_width=300):
                watched = _watched(services)
        edited = _edited(services, watched)
        panel, forms, save = edited.panel, edited.forms, edited.save
        _live(services, demo, handlers, panel, inputs)
        _history(services, batch, panel)
    _connect(batch, panel, demo)
    submit = optional(plainly(handlers.submit), inputs)
    sent = go.click(submit, None, panel.jobs, inputs_kwargs=inputs, api_name=NAME, show_progress="hidden")
    sent.success(lambda: "", None, panel.open, **QUIETLY).then(
        batch.look, [panel.jobs, panel.open], panel.looked, **QUIETLY
    )
    shown: list[Block] = [panel.files, panel.message]
    save.click(plainly(batch.save), [panel.jobs, panel.open, forms], shown, **PRIVATELY)
    filmed = edited.film.click(
        plainly(batch.film), [panel.jobs, panel.open, edited.way], panel.jobs, **PRIVATELY
    )
    filmed.success(batch.look, [panel.jobs, panel.open], panel.looked, **QUIETLY)
    panel.pack.click(plainly(batch.pack), [panel.jobs, forms], shown, **PRIVATELY)
    example.click(lambda: [examples.sample()], None, inputs["file"], **PRIVATELY)
    return Reopener("transcribe", [panel.jobs, panel.open], batch.look, panel.looked)


def _watched(services: Services) -> dict[str, Any]:
    """Progress of one file or of many, and the files that come of it."""
    card, rows = gr.HTML(elem_id="transcribe-progress"), queue.component()
    with gr.Row():
        stop = gr.Button(label("ui_stop"), variant="stop", visible=False, elem_id="transcribe-stop")
        resume = gr.Button(label("ui_resume"), visible=False, elem_id="transcribe-resume")
        retry = gr.Button(label("ui_queue_retry_all"), visible=False, elem_id="transcribe-retry")
        pack = gr.Button(label("ui_queue_pack"), visible=False, elem_id="transcribe-zip")
    made = gr.Files(
        label=label("ui_files"),
        visible=False,
        interactive=False,
        elem_classes="made",
        elem_id="transcribe-files",
    )
    message, folder = gr.HTML(visible=False, elem_id="transcribe-saved"), open_folder_button(services)
    return {
        "card": card, "queue": rows, "stop": stop, "resume": resume, "retry": retry, "pack": pack, "files": made,
        "message": message, "folder": folder,
    }  # fmt: skip


def _edited(services: Services, watched: dict[str, Any]) -> Edited:
    """The editor over the whole width, and below it what the rows are saved as."""
    secret, edited = services.browser_secret, editor.component()
    with gr.Row(visible=False, elem_id="transcribe-export", equal_height=False) as export:
        forms = gr.CheckboxGroup(
            choices.FORMATS, value=choices.FIRST_FORMATS, label=label("ui_transcribe_save_as"), scale=4
        )
        save = gr.Button(
            label("ui_transcribe_save"), variant="primary", elem_id="transcribe-save", scale=1, min_width=160
        )
        ways = [(label(f"ui_film_{way}"), way) for way in WAYS]
        way = gr.Dropdown(ways, value=WAYS[0], label=label("ui_transcribe_film"), min_width=180, scale=2)
        film = gr.Button(label("ui_transcribe_make_film"), elem_id="transcribe-film", scale=1, min_width=140)
    panel = Panel(
        jobs=gr.BrowserState("", storage_key=f"dubwright-{NAME}", secret=secret),
        open=gr.BrowserState("", storage_key=f"dubwright-{NAME}-open", secret=secret),
        timer=gr.Timer(0.6, active=False), editor=edited, save=export, **watched,
    )  # fmt: skip
    return Edited(panel, forms, save, way, film)


def _live(
    services: Services, demo: gr.Blocks, handlers: TranscribeHandlers, panel: Panel, inputs: dict[str, Block]
) -> None:
    """The microphone, folded; it hears with the engine and the language chosen above."""
    with gr.Accordion(label("ui_live"), open=False, elem_id="live-fold"):
        heard = live.component(services.live)

    def chosen(engine: str, language: str, request: gr.Request) -> dict[str, Any]:
        return {"texts": live.texts(language_of(request)), "engine": engine, "language": language}

    given = [inputs["engine"], inputs["language"]]
    demo.load(chosen, given, heard, **PRIVATELY)
    for menu in (inputs["engine"], inputs["language"]):
        menu.change(chosen, given, heard, **PRIVATELY)  # type: ignore[attr-defined]  # events are made at run time
    kept = heard.submit(plainly(handlers.recorded), given, panel.jobs, **QUIETLY)
    kept.success(lambda: "", None, panel.open, **QUIETLY).then(
        handlers.batch.look, [panel.jobs, panel.open], panel.looked, **QUIETLY
    )


def _history(services: Services, batch: BatchHandlers, panel: Panel) -> None:
    """Everything transcribed before, folded below the editor."""
    handlers = past.HistoryHandlers(services)
    with gr.Accordion(label("ui_history"), open=False, elem_id="history") as fold:
        with gr.Row():
            words = gr.Textbox(
                label=label("ui_history_search"), max_lines=1, elem_id="history-search", scale=3
            )
            spoken = gr.Dropdown([("…", "")], value="", label=label("ui_history_language"), min_width=130)
            engine = gr.Dropdown([("…", "")], value="", label=label("ui_engine"), min_width=130)
        found = past.component()
        clear = gr.Button(label("ui_history_clear"), size="sm", elem_id="history-clear")
        with gr.Group(visible=False) as question:
            asked = gr.Markdown(padding=True)
            with gr.Row():
                really = gr.Button(label("ui_history_delete"), variant="stop", elem_id="history-really")
                keep = gr.Button(label("ui_history_keep"), elem_id="history-keep")
    given, listed = [words, spoken, engine], [found, spoken, engine]
    # One listener for all of them: an older answer never comes after a newer one.
    asked_by = [fold.expand, words.change, spoken.input, engine.input]
    gr.on(asked_by, handlers.search, given, listed, trigger_mode="always_last", **PRIVATELY)
    acted = found.act(plainly(handlers.act), panel.open, panel.open, **QUIETLY)
    acted.then(batch.look, [panel.jobs, panel.open], panel.looked, **QUIETLY)
    acted.then(handlers.search, given, listed, **PRIVATELY)
    clear.click(handlers.ask, None, [question, asked], **PRIVATELY)
    keep.click(lambda: gr.Group(visible=False), None, question, **PRIVATELY)
    cleared = really.click(plainly(handlers.clear), None, question, **PRIVATELY)
    cleared.success(handlers.search, given, listed, **PRIVATELY)


def _connect(batch: BatchHandlers, panel: Panel, demo: gr.Blocks) -> None:
    seen = [panel.jobs, panel.open]
    panel.timer.tick(batch.look, seen, panel.looked, **QUIETLY)
    # Twice: files sent off while the first answer was on its way would be hidden by it.
    demo.load(batch.look, seen, panel.looked, **QUIETLY).then(batch.look, seen, panel.looked, **QUIETLY)
    # What the browser remembers may be read after the page has loaded.
    gr.on([panel.jobs.change, panel.open.change], batch.look, seen, panel.looked, **QUIETLY)
    for button, action in (
        (panel.stop, batch.stop_all),
        (panel.resume, batch.retry_failed),
        (panel.retry, batch.retry_failed),
    ):
        button.click(plainly(action), panel.jobs, None, **QUIETLY).then(
            batch.look, seen, panel.looked, **QUIETLY
        )
    panel.queue.act(plainly(batch.act), panel.open, panel.open, **QUIETLY).then(
        batch.look, seen, panel.looked, **QUIETLY
    )
    panel.editor.edit(batch.editor.act, None, panel.editor, trigger_mode="multiple", **QUIETLY)


def _inputs(services: Services, demo: gr.Blocks, handlers: TranscribeHandlers) -> dict[str, Block]:
    file = gr.File(
        label=label("ui_transcribe_drop"),
        file_count="multiple",
        file_types=["audio", "video"],
        height=190,
        elem_id="transcribe-file",
    )
    path = local_path(services, "transcribe")
    below = gr.Checkbox(False, label=label("ui_transcribe_below"), visible=services.local)
    stream = gr.Dropdown(
        [str(number) for number in range(source.MOST_STREAMS)],
        value=None,
        label=label("ui_dub_stream"),
        visible=False,
        elem_id="transcribe-stream",
    )
    for event in (file.change, path.submit, path.blur):
        event(handlers.tracks, [file, path], stream, **PRIVATELY)
    return {"file": file, "path": path, "below": below, "stream": stream, **choices.lay_out(services, demo)}
