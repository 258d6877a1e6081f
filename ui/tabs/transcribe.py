"""The Transcription tab: sound or video in; rows to correct, text and subtitle files out; one file or many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import gradio as gr
from gradio.blocks import Block

from pipelines import subtitles
from pipelines.errors import PipelineError
from ui import examples, languages, source
from ui.i18n import label, language_of, text
from ui.jobs_view import QUIETLY, optional, plainly
from ui.services import Services
from ui.tabs.parts import PRIVATELY, engine_choice, fill_menu, local_path, open_folder_button
from ui.transcript import editor, files, queue
from ui.transcript.batch import NAME, BatchHandlers, Panel
from ui.transcript.editor import EditorHandlers

FORMATS = list(get_args(subtitles.Format))
FIRST_FORMATS = ["srt", "txt"]
CHANNELS = ("mix", "left", "right")


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
        paths = files.chosen(self.services, given["file"], given["path"], below=bool(given["below"]))
        return self.batch.send(paths, self.options(given))

    def options(self, given: dict[str, Any]) -> dict[str, Any]:
        """The flow's options, alike for all files."""
        return {
            "engine": given["engine"],
            "language": given["language"] or None,
            "stream": int(given["stream"]) if given["stream"] else None,
            "channel": {"left": 0, "right": 1}.get(str(given["channel"])),
            "start": float(given["start"] or 0.0),
            "end": float(given["end"]) if given["end"] else None,
            "hotwords": [word.strip() for word in (given["hotwords"] or "").splitlines() if word.strip()],
            "itn": bool(given["itn"]),
            "formats": list(given["formats"] or FIRST_FORMATS),
        }

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


def build(services: Services, demo: gr.Blocks) -> None:
    """Lay the tab out and connect it."""
    handlers = TranscribeHandlers(services)
    batch = handlers.batch
    with gr.Tab(label("ui_tab_transcribe"), id="transcribe"):
        with gr.Row():
            with gr.Column(scale=5, min_width=300):
                inputs = _inputs(services, demo, handlers)
                go = gr.Button(
                    label("ui_transcribe_button"), variant="primary", size="lg", elem_id="transcribe-go"
                )
                example = gr.Button(label("ui_example"), size="sm", elem_id="transcribe-example")
            with gr.Column(scale=7, min_width=300):
                watched = _watched(services)
        panel, forms, save = _edited(services, watched)
    _connect(batch, panel, demo)
    submit = optional(plainly(handlers.submit), inputs)
    sent = go.click(submit, None, panel.jobs, inputs_kwargs=inputs, api_name=NAME, show_progress="hidden")
    sent.success(lambda: "", None, panel.open, **QUIETLY).then(
        batch.look, [panel.jobs, panel.open], panel.looked, **QUIETLY
    )
    shown: list[Block] = [panel.files, panel.message]
    save.click(plainly(batch.save), [panel.jobs, panel.open, forms], shown, **PRIVATELY)
    panel.pack.click(plainly(batch.pack), [panel.jobs, forms], shown, **PRIVATELY)
    example.click(lambda: [examples.sample()], None, inputs["file"], **PRIVATELY)


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


def _edited(services: Services, watched: dict[str, Any]) -> tuple[Panel, gr.CheckboxGroup, gr.Button]:
    """The editor over the whole width, and below it what the rows are saved as."""
    secret, edited = services.browser_secret, editor.component()
    with gr.Row(visible=False, elem_id="transcribe-export", equal_height=True) as export:
        forms = gr.CheckboxGroup(FORMATS, value=FIRST_FORMATS, label=label("ui_transcribe_save_as"), scale=4)
        save = gr.Button(
            label("ui_transcribe_save"), variant="primary", elem_id="transcribe-save", scale=1, min_width=160
        )
    panel = Panel(
        jobs=gr.BrowserState("", storage_key=f"dubwright-{NAME}", secret=secret),
        open=gr.BrowserState("", storage_key=f"dubwright-{NAME}-open", secret=secret),
        timer=gr.Timer(0.6, active=False), editor=edited, save=export, **watched,
    )  # fmt: skip
    return panel, forms, save


def _connect(batch: BatchHandlers, panel: Panel, demo: gr.Blocks) -> None:
    seen = [panel.jobs, panel.open]
    panel.timer.tick(batch.look, seen, panel.looked, **QUIETLY)
    # Twice: files sent off while the first answer was on its way would be hidden by it.
    demo.load(batch.look, seen, panel.looked, **QUIETLY).then(batch.look, seen, panel.looked, **QUIETLY)
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
    from pipelines.asr import RECOGNIZERS

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
    language = gr.Dropdown([("…", "")], value="", label=label("ui_transcribe_language"))
    fill_menu(demo, language, languages.spoken_choices)
    with gr.Accordion(label("ui_more"), open=False):
        hotwords = gr.Textbox(label=label("ui_transcribe_hotwords"), lines=3)
        itn = gr.Checkbox(True, label=label("ui_transcribe_itn"))
        formats = gr.CheckboxGroup(FORMATS, value=FIRST_FORMATS, label=label("ui_transcribe_formats"))
        channel = gr.Dropdown(
            [(text("en", f"ui_transcribe_channel_{name}"), name) for name in CHANNELS],
            value="mix",
            label=label("ui_transcribe_channel"),
        )
        fill_menu(demo, channel, _channels)
        with gr.Row():
            start = gr.Number(label=label("ui_transcribe_start"), value=0, minimum=0)
            end = gr.Number(label=label("ui_transcribe_end"), value=0, minimum=0)
        engine = engine_choice(services, demo, RECOGNIZERS, "ui_engine")
    return {
        "file": file, "path": path, "below": below, "stream": stream, "language": language, "hotwords": hotwords,
        "itn": itn, "formats": formats, "channel": channel, "start": start, "end": end, "engine": engine,
    }  # fmt: skip


def _channels(language: str) -> list[tuple[str, str]]:
    return [(text(language, f"ui_transcribe_channel_{name}"), name) for name in CHANNELS]
