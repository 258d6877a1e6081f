"""The Dub tab: drop a talking video, choose a language, press Dub; then correct the words line by line."""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields
from typing import Any, Literal

import gradio as gr
from gradio.blocks import Block
from gradio.components import Component

from ui import exporting, languages, lines, source
from ui.dubbing import DubHandlers, first_choice
from ui.i18n import label
from ui.jobs_view import Follower, Reopener, job_panel, plainly
from ui.services import Services
from ui.speech.library import voice_menu
from ui.tabs.parts import (
    PRIVATELY,
    engine_choice,
    fill_menu,
    local_path,
    open_folder_button,
    translator_choices,
)

# A page from another computer over plain http has no clipboard: the lines are then selected for the user to copy.
COPY = """async (numbered) => {
  try { await navigator.clipboard.writeText(numbered); return ["copied"]; } catch (refused) {}
  await new Promise((shown) => setTimeout(shown, 60));
  const box = document.querySelector('#dub-numbered textarea');
  box.focus(); box.select();
  return [document.execCommand('copy') ? "copied" : "selected"];
}"""
SUBTITLES = [".srt", ".vtt", ".ass"]
COLUMN_WIDTHS: list[str | int] = [
    *("66px", "80px", "80px", "22%", "22%", "100px", "130px", "78px", "100px"),
]
COLUMN_KINDS: list[Literal["number", "str", "bool"]] = [
    *("number", "str", "str", "str", "str", "bool", "str", "bool", "str"),
]


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the user gives; the names are the keywords of ``DubHandlers.submit``."""

    file: gr.File
    path: gr.Textbox
    target: gr.Dropdown
    source_language: gr.Dropdown
    stream: gr.Dropdown
    translation: gr.File
    translator: gr.Dropdown
    address: gr.Textbox
    model: gr.Textbox
    key: gr.Textbox
    voice: gr.Dropdown
    reference: gr.Audio
    keep_background: gr.Checkbox
    lips: gr.Checkbox
    asr_engine: gr.Dropdown
    voice_engine: gr.Dropdown
    lip_engine: gr.Dropdown

    def named(self) -> dict[str, Block]:
        """Components by keyword."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class Table:
    """The line table and what belongs to it."""

    group: gr.Column
    help: gr.Markdown
    table: gr.Dataframe
    again: gr.Button
    copy: gr.Button
    numbered: gr.Textbox
    paste: gr.Button
    subtitles: gr.UploadButton
    undo: gr.Button
    split: gr.Button
    merge: gr.Button
    chosen: gr.State


@dataclass(frozen=True, slots=True)
class Source:
    """What is told about the chosen file."""

    facts: gr.HTML
    guess: gr.HTML
    before: gr.Video
    waiting: gr.HTML
    timer: gr.Timer
    chosen: gr.State
    streams: gr.Dropdown

    def all(self) -> list[Component]:
        """In the order ``DubHandlers.facts`` returns them."""
        return [
            self.facts, self.guess, self.before, self.waiting, self.timer, self.chosen, self.streams
        ]  # fmt: skip


def build(services: Services, demo: gr.Blocks) -> Reopener:
    """Lay the tab out and connect it."""
    handlers = DubHandlers(services)
    with gr.Tab(label("ui_tab_dub"), id="dub"):
        timer, chosen = gr.Timer(1.5, active=False), gr.State("")
        with gr.Row():
            with gr.Column(scale=5, min_width=300):
                file = gr.File(
                    label=label("ui_dub_drop"), file_types=["video"], height=190, elem_id="dub-file"
                )
                path = local_path(services, "dub")
                facts = gr.HTML(visible=False, elem_id="dub-facts")
                stream = gr.Dropdown(
                    [str(number) for number in range(source.MOST_STREAMS)],
                    value=None,
                    label=label("ui_dub_stream"),
                    visible=False,
                    elem_id="dub-stream",
                )
                target = gr.Dropdown(
                    languages.target_names("en"),
                    value=None,
                    label=label("ui_dub_target"),
                    elem_id="dub-target",
                )
                note = gr.HTML(visible=False, elem_id="dub-target-note")
                guess = gr.HTML(visible=False, elem_id="dub-estimate")
                go = gr.Button(label("ui_dub_button"), variant="primary", size="lg", elem_id="dub-go")
                example = gr.Button(label("ui_example"), size="sm", elem_id="dub-example")
                given = {"file": file, "path": path, "stream": stream, "target": target}
                inputs = _more(services, demo, given)
            with gr.Column(scale=7, min_width=300):
                panel = job_panel(services, "dub")
                with gr.Row():
                    before = _player("before")
                    after = _player("after")
                told = Source(facts, guess, before, gr.HTML(visible=False), timer, chosen, stream)
                results: dict[str, Block] = {"before": before, "after": after, **_results(services)}
        results["export"], wanted, export = exporting.build(demo)
        results["timeline"] = gr.HTML(visible=False, elem_id="dub-timeline")
        table = _table()
    results |= {"lines": table.group, "help": table.help, "table": table.table}
    follower = Follower(services, panel, results, handlers.show)
    follower.connect(demo)
    follower.start(go, handlers.submit, inputs.named(), "dub")
    follower.start(table.again, handlers.again, {"job_id": panel.last, "table": table.table}, "dub_again")
    follower.start(export, handlers.export, {"job_id": panel.last, **wanted.named()}, "dub_export")
    demo.load(None, target, target, js=first_choice(), **PRIVATELY)
    demo.load(handlers.first_targets, None, target, **PRIVATELY)
    _connect_source(handlers, inputs, told)
    _connect_target(handlers, inputs, note, go)
    _connect_table(handlers, table, panel.last)
    demo.load(handlers.demonstration, None, file, **PRIVATELY)
    example.click(handlers.example, target, [file, target], **PRIVATELY)
    return follower.reopener("dub")


def _player(name: str) -> gr.Video:
    return gr.Video(
        label=label(f"ui_dub_{name}"),
        interactive=False,
        visible=False,
        height=340,
        min_width=240,
        elem_id=f"dub-{name}",
        buttons=["download"] if name == "after" else [],
    )


def _results(services: Services) -> dict[str, Block]:
    saved = gr.HTML(visible=False, elem_id="dub-saved")
    files = gr.Files(
        label=label("ui_files"), visible=False, interactive=False, elem_classes="made", elem_id="dub-files"
    )
    folder = open_folder_button(services)
    return {
        "saved": saved,
        "files": files,
        "folder": folder,
        "report": gr.HTML(visible=False, elem_id="dub-report"),
    }


def _more(services: Services, demo: gr.Blocks, given: dict[str, Any]) -> Inputs:
    """The folded choices; with what was ``given`` above them they are all inputs."""
    from pipelines.asr import RECOGNIZERS
    from pipelines.lipsync import LIP_ENGINES
    from pipelines.voice import VOICES

    with gr.Accordion(label("ui_more"), open=False, elem_id="dub-more"):
        spoken = gr.Dropdown([("…", "")], value="", label=label("ui_dub_source"))
        fill_menu(demo, spoken, languages.spoken_choices)
        translator = gr.Dropdown([("…", "")], value="", label=label("ui_dub_translator"))
        fill_menu(demo, translator, functools.partial(translator_choices, services))
        with gr.Group(visible=False) as endpoint:
            address = gr.Textbox(label=label("ui_dub_endpoint"), placeholder="http://127.0.0.1:11434/v1")
            model = gr.Textbox(label=label("ui_dub_model"), placeholder="qwen3:8b")
            key = gr.Textbox(label=label("ui_dub_key"), type="password")
        translator.change(
            lambda name: gr.Group(visible=name == "endpoint"), translator, endpoint, queue=False, **PRIVATELY
        )
        translation = gr.File(label=label("ui_dub_translation"), file_types=SUBTITLES, height=100)
        voice = voice_menu(services, demo, "ui_voice_whose", "ui_dub_own_voice", "dub-whose")
        reference = gr.Audio(label=label("ui_dub_voice"), type="filepath")
        background = gr.Checkbox(False, label=label("ui_dub_background"))
        lips = gr.Checkbox(True, label=label("ui_dub_lips"))
        return Inputs(
            **given, source_language=spoken, translation=translation, translator=translator, address=address,
            model=model, key=key, voice=voice, reference=reference, keep_background=background, lips=lips,
            asr_engine=engine_choice(services, demo, RECOGNIZERS, "ui_dub_asr_engine"),
            voice_engine=engine_choice(services, demo, VOICES, "ui_dub_voice_engine"),
            lip_engine=engine_choice(services, demo, LIP_ENGINES, "ui_dub_lip_engine", ready=False),
        )  # fmt: skip


def _table() -> Table:
    with gr.Column(visible=False, elem_id="dub-lines") as group:
        help_text = gr.Markdown(label("ui_dub_lines_help"), padding=True)
        table = gr.Dataframe(
            headers=[""] * len(lines.COLUMNS),
            column_count=len(lines.COLUMNS),
            datatype=COLUMN_KINDS,
            type="array",
            interactive=True,
            wrap=True,
            static_columns=[0, lines.FIT],
            column_widths=COLUMN_WIDTHS,
            label=label("ui_dub_lines"),
            elem_id="dub-table",
        )
        with gr.Row():
            undo, split, merge = (
                gr.Button(label(f"ui_dub_{name}"), size="sm", elem_id=f"dub-{name}")
                for name in ("undo", "split", "merge")
            )
        with gr.Row():
            again = gr.Button(label("ui_dub_again"), variant="primary", elem_id="dub-again")
            copy = gr.Button(label("ui_dub_copy"), elem_id="dub-copy")
            paste = gr.Button(label("ui_dub_paste"), elem_id="dub-paste")
            cues = gr.UploadButton(
                label("ui_dub_subtitles"),  # type: ignore[arg-type]  # translated as every label; Gradio's annotation lags
                file_types=SUBTITLES,
                elem_id="dub-subtitles",
            )
        numbered = gr.Textbox(label=label("ui_dub_numbered"), lines=4, max_lines=12, elem_id="dub-numbered")
        chosen = gr.State(None)
    return Table(
        group, help_text, table, again, copy, numbered, paste, cues, undo, split, merge, chosen
    )  # fmt: skip


def _connect_source(handlers: DubHandlers, inputs: Inputs, told: Source) -> None:
    given = [inputs.file, inputs.path]
    inputs.file.change(plainly(handlers.facts), given, told.all(), **PRIVATELY)
    for event in (inputs.path.submit, inputs.path.blur):
        event(plainly(handlers.facts), given, told.all(), **PRIVATELY)
    looked = [told.before, told.waiting, told.timer]
    told.timer.tick(handlers.preview, told.chosen, looked, queue=False, **PRIVATELY)
    for event in (inputs.source_language.change, inputs.address.change):
        event(handlers.targets_menu, [inputs.source_language, inputs.address], inputs.target, **PRIVATELY)


def _connect_target(handlers: DubHandlers, inputs: Inputs, note: gr.HTML, go: gr.Button) -> None:
    given = [inputs.target, inputs.source_language, inputs.address]
    for event in (inputs.target.change, inputs.source_language.change, inputs.address.change):
        event(handlers.target_note, given, [note, go], **PRIVATELY)


def _connect_table(handlers: DubHandlers, table: Table, last: gr.BrowserState) -> None:
    copied = table.copy.click(plainly(handlers.numbered), table.table, table.numbered, **PRIVATELY)
    copied.success(handlers.copied, table.numbered, None, js=COPY, **PRIVATELY)
    pasted = table.paste.click(
        plainly(handlers.pasted), [table.numbered, table.table], table.table, **PRIVATELY
    )
    filled = table.subtitles.upload(
        plainly(handlers.filled_from), [table.subtitles, table.table], table.table, **PRIVATELY
    )
    for edited in (table.table.input, pasted.success, filled.success):
        edited(plainly(handlers.keep_edits), [last, table.table], table.table, **PRIVATELY)
    table.table.select(_row_of, None, table.chosen, **PRIVATELY)
    table.undo.click(plainly(handlers.undo), last, table.table, **PRIVATELY)
    for button, step in ((table.split, handlers.split), (table.merge, handlers.merge)):
        button.click(plainly(step), [last, table.chosen, table.table], table.table, **PRIVATELY)


def _row_of(picked: gr.SelectData) -> int:
    """The row that was clicked."""
    return int(picked.index[0])
