"""The Dub tab: drop a talking video, choose a language, press Dub; then correct the words line by line."""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields
from typing import Any

import gradio as gr
from gradio.blocks import Block
from gradio.components import Component

from ui import dub_table, exporting, languages, people, source
from ui.dub_editing import EditingHandlers
from ui.dubbing import DubHandlers, first_choice
from ui.i18n import label
from ui.jobs_view import Follower, Reopener, job_panel, plainly
from ui.services import Services
from ui.speech.library import voice_menu
from ui.tabs.parts import (
    PRIVATELY,
    engine_choice,
    fill_menu,
    kept_tab,
    local_path,
    open_folder_button,
    speaker_counts,
    translator_choices,
)

BY_SIGHT = "ui_people_seen"


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
    speakers: gr.Dropdown
    start: gr.Textbox
    end: gr.Textbox
    rest: gr.Radio
    keep_background: gr.Checkbox
    lips: gr.Checkbox
    who: gr.Radio
    asr_engine: gr.Dropdown
    voice_engine: gr.Dropdown
    lip_engine: gr.Dropdown

    def named(self) -> dict[str, Block]:
        """Components by keyword."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


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
    with kept_tab("ui_tab_dub", "dub"):
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
                looked = gr.HTML(visible=False, elem_id="dub-survey")
                target = gr.Dropdown(
                    languages.target_names("en"),
                    value=None,
                    label=label("ui_dub_target"),
                    elem_id="dub-target",
                )
                note = gr.HTML(visible=False, elem_id="dub-target-note")
                guess = gr.HTML(visible=False, elem_id="dub-estimate")
                go = gr.Button(label("ui_dub_button"), variant="primary", size="lg", elem_id="dub-go")
                preview = gr.Button(label("ui_dub_preview"), elem_id="dub-preview")
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
        table = dub_table.build(services, demo)
    results |= {"lines": table.group, "help": table.help, "table": table.table}
    follower = Follower(services, panel, results, handlers.show)
    follower.connect(demo)
    follower.start(go, handlers.submit, inputs.named(), "dub")
    follower.start(preview, handlers.submit_preview, inputs.named(), "dub_preview")
    follower.start(table.again, handlers.again, {"job_id": panel.last, "table": table.table}, "dub_again")
    follower.start(export, handlers.export, {"job_id": panel.last, **wanted.named()}, "dub_export")
    demo.load(None, target, target, js=first_choice(), **PRIVATELY)
    demo.load(handlers.first_targets, None, target, **PRIVATELY)
    _connect_source(handlers, inputs, told)
    _connect_survey(handlers, inputs, looked)
    _connect_target(handlers, inputs, note, go)
    dub_table.connect(EditingHandlers(services), table, panel.last)
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
        translation = gr.File(label=label("ui_dub_translation"), file_types=dub_table.SUBTITLES, height=100)
        voice = voice_menu(services, demo, "ui_voice_whose", "ui_dub_own_voice", "dub-whose")
        reference = gr.Audio(label=label("ui_dub_voice"), type="filepath")
        speakers = gr.Dropdown([("…", "")], value="", label=label("ui_dub_speakers"), elem_id="dub-speakers")
        fill_menu(demo, speakers, speaker_counts)
        with gr.Row():
            start = gr.Textbox(label=label("ui_dub_start"), max_lines=1, min_width=120, elem_id="dub-start")
            end = gr.Textbox(label=label("ui_dub_end"), max_lines=1, min_width=120, elem_id="dub-end")
        rests = [(label(f"ui_dub_rest_{name}"), name) for name in ("keep", "cut")]
        rest = gr.Radio(rests, value="keep", label=label("ui_dub_rest"), elem_id="dub-rest")
        background = gr.Checkbox(False, label=label("ui_dub_background"))
        lips = gr.Checkbox(True, label=label("ui_dub_lips"))
        several = people.lay_out(services, "dub", BY_SIGHT)
        people.connect(services, several, BY_SIGHT, given["file"], given["path"])
        return Inputs(
            **given, source_language=spoken, translation=translation, translator=translator, address=address,
            model=model, key=key, voice=voice, reference=reference, speakers=speakers, start=start, end=end, rest=rest,
            keep_background=background, lips=lips, who=several.who,
            asr_engine=engine_choice(services, demo, RECOGNIZERS, "ui_dub_asr_engine"),
            voice_engine=engine_choice(services, demo, VOICES, "ui_dub_voice_engine"),
            lip_engine=engine_choice(services, demo, LIP_ENGINES, "ui_dub_lip_engine", ready=False),
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


def _connect_survey(handlers: DubHandlers, inputs: Inputs, looked: gr.HTML) -> None:
    """One listener for all that changes what is looked at: an older answer never comes after a newer one."""
    given = [inputs.file, inputs.path]
    asked_by = [inputs.file.change, inputs.path.submit, inputs.path.blur, inputs.stream.input]
    gr.on(asked_by, handlers.looking, given, looked, queue=False, **PRIVATELY)
    told_by = [*asked_by, inputs.target.change]  # whether it is spoken there already
    looking_at = [*given, inputs.stream, inputs.target]
    gr.on(told_by, handlers.survey, looking_at, looked, trigger_mode="always_last", **PRIVATELY)


def _connect_target(handlers: DubHandlers, inputs: Inputs, note: gr.HTML, go: gr.Button) -> None:
    given = [inputs.target, inputs.source_language, inputs.address]
    for event in (inputs.target.change, inputs.source_language.change, inputs.address.change):
        event(handlers.target_note, given, [note, go], **PRIVATELY)
