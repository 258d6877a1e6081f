"""The Transcription tab: sound or video in; text and subtitle files out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.blocks import Block

from pipelines.jobs import JobSpec
from pipelines.jobs.spec import JobView
from pipelines.records import load_transcript, segment_from
from pipelines.types import Segment
from ui import examples, languages, lines, results
from ui.i18n import label, text
from ui.jobs_view import Follower, job_panel
from ui.services import Services, source_path
from ui.tabs.parts import PRIVATELY, engine_choice, fill_menu, local_path, open_folder_button

PARTIAL = "partial.jsonl"
FORMATS = ["srt", "vtt", "ass", "txt", "json"]


@dataclass(frozen=True, slots=True)
class TranscribeHandlers:
    """What happens on the tab."""

    services: Services

    def submit(self, **given: Any) -> str:
        """Send off a transcription; returns the job's id."""
        path = source_path(self.services, given["file"], given["path"])
        options = {
            "input": str(path),
            "engine": given["engine"],
            "language": given["language"] or None,
            "stream": None,
            "channel": None,
            "start": float(given["start"] or 0.0),
            "end": float(given["end"]) if given["end"] else None,
            "hotwords": [word.strip() for word in (given["hotwords"] or "").splitlines() if word.strip()],
            "itn": bool(given["itn"]),
            "formats": list(given["formats"]),
        }
        return self.services.submit(JobSpec("transcribe", options, path.name))

    def show(self, view: JobView, language: str) -> dict[str, Any]:
        """The text with times, while it is being heard and when it is finished, and the files."""
        if not view.ended:
            heard = list(_heard_so_far(view.folder / PARTIAL))
            return {"text": gr.Textbox(value=_told(heard), visible=True)} if heard else {}
        path = results.made(view, "transcript") if view.state == "done" else None
        if path is None:
            return {}
        spoken = _told(load_transcript(path).segments)
        saved = self.services.save(view)
        return {
            "text": gr.Textbox(value=spoken or text(language, "ui_transcribe_none"), visible=True),
            "folder": gr.Button(visible=self.services.local),
            "files": gr.Files(value=[str(item) for item in saved.values()], visible=bool(saved)),
        }


def _told(segments: Iterable[Segment]) -> str:
    return "\n".join(f"[{lines.time_text(s.start)} – {lines.time_text(s.end)}] {s.text}" for s in segments)


def _heard_so_far(path: Path) -> Iterator[Segment]:
    """Finished lines of a running transcription; the one being written is left out."""
    if not path.is_file():
        return
    for row in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if row.endswith("\n"):
            yield segment_from(json.loads(row))


def build(services: Services, demo: gr.Blocks) -> None:
    """Lay the tab out and connect it."""
    handlers = TranscribeHandlers(services)
    with gr.Tab(label("ui_tab_transcribe"), id="transcribe"), gr.Row():
        with gr.Column(scale=5, min_width=300):
            inputs = _inputs(services, demo)
            go = gr.Button(
                label("ui_transcribe_button"), variant="primary", size="lg", elem_id="transcribe-go"
            )
            example = gr.Button(label("ui_example"), size="sm", elem_id="transcribe-example")
        with gr.Column(scale=7, min_width=300):
            panel = job_panel(services, "transcribe")
            shown: dict[str, Block] = {
                "text": gr.Textbox(
                    label=label("ui_transcribe_text"),
                    lines=10,
                    max_lines=24,
                    interactive=False,
                    visible=False,
                    buttons=["copy"],
                    elem_id="transcribe-text",
                ),
                "files": gr.Files(
                    label=label("ui_files"), visible=False, interactive=False, elem_classes="made"
                ),
            }
            shown["folder"] = open_folder_button(services)
    follower = Follower(services, panel, shown, handlers.show)
    follower.connect(demo)
    follower.start(go, handlers.submit, inputs, "transcribe")
    example.click(examples.sample, None, inputs["file"], **PRIVATELY)


def _inputs(services: Services, demo: gr.Blocks) -> dict[str, Block]:
    from pipelines.asr import RECOGNIZERS

    file = gr.File(
        label=label("ui_transcribe_drop"),
        file_types=["audio", "video"],
        height=190,
        elem_id="transcribe-file",
    )
    path = local_path(services, "transcribe")
    language = gr.Dropdown([("…", "")], value="", label=label("ui_transcribe_language"))
    fill_menu(demo, language, languages.spoken_choices)
    with gr.Accordion(label("ui_more"), open=False):
        hotwords = gr.Textbox(label=label("ui_transcribe_hotwords"), lines=3)
        itn = gr.Checkbox(True, label=label("ui_transcribe_itn"))
        formats = gr.CheckboxGroup(FORMATS, value=["srt", "txt"], label=label("ui_transcribe_formats"))
        with gr.Row():
            start = gr.Number(label=label("ui_transcribe_start"), value=0, minimum=0)
            end = gr.Number(label=label("ui_transcribe_end"), value=0, minimum=0)
        engine = engine_choice(services, demo, RECOGNIZERS, "ui_engine")
    return {
        "file": file, "path": path, "language": language, "hotwords": hotwords, "itn": itn,
        "formats": formats, "start": start, "end": end, "engine": engine,
    }  # fmt: skip
