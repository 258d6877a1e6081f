"""What the user chooses for a transcription: laid out, greyed out where the engine does not heed it, made options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import gradio as gr
from gradio.blocks import Block

from pipelines import subtitles
from pipelines.asr import RECOGNIZERS, VadOptions
from pipelines.asr.abilities import abilities
from pipelines.cues import CueRules
from pipelines.hotwords import read_hotwords
from ui import languages
from ui.i18n import label, language_of, text
from ui.jobs_view import plainly
from ui.services import Services
from ui.tabs.parts import PRIVATELY, engine_choice, fill_menu
from ui.transcript import word_lists

FORMATS = list(get_args(subtitles.Format))
FIRST_FORMATS = ["srt", "txt"]
CHANNELS: Mapping[str, int | str | None] = {"mix": None, "left": 0, "right": 1, "each": "each"}
# Values of the menus and what they are called; a number speaks for itself.
CHANNEL_NAMES = {
    "mix": "ui_transcribe_channel_mix", "left": "ui_transcribe_channel_left", "right": "ui_transcribe_channel_right",
    "each": "ui_transcribe_channel_each",
}  # fmt: skip
SCRIPTS = {
    "simplified": "ui_transcribe_script_simplified", "traditional": "ui_transcribe_script_traditional",
    "heard": "ui_transcribe_script_heard",
}  # fmt: skip
SPEAKERS = {
    "off": "ui_transcribe_speakers_off", "auto": "ui_transcribe_speakers_auto", **{str(n): "" for n in range(2, 9)},
}  # fmt: skip
SOFT = {"": "ui_transcribe_soft_none", "mp4": "", "mkv": ""}
VAD = tuple(VadOptions.LIMITS)
RULES = ("columns", "lines", "shortest", "longest", "speed", "wide_speed", "gap")
GREYED = ("language", "hotwords", "prompt", "itn", "speakers", "punctuation")


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The flow's options from the values of the components; what a program leaves out keeps its default."""
    vad = {name: float(given[f"vad_{name}"]) for name in VAD if given.get(f"vad_{name}") is not None}
    rules = {name: given[f"rule_{name}"] for name in RULES if given.get(f"rule_{name}")}
    speakers = str(given.get("speakers") or "off")
    punctuation = given.get("punctuation")
    return {
        "engine": given.get("engine") or RECOGNIZERS.infos()[0].name,
        "language": given.get("language") or None,
        "stream": int(given["stream"]) if given.get("stream") else None,
        "channel": CHANNELS.get(str(given.get("channel"))),
        "start": float(given.get("start") or 0.0),
        "end": float(given["end"]) if given.get("end") else None,
        "hotwords": [word.strip() for word in (given.get("hotwords") or "").splitlines() if word.strip()],
        "prompt": (given.get("prompt") or "").strip(),
        "text": (given.get("known") or "").strip(),
        "itn": bool(given.get("itn")),
        "script": given.get("script") or "simplified",
        "punctuation": True if punctuation is None else bool(punctuation),
        "speakers": int(speakers) if speakers.isdigit() else speakers,
        "vad": vad,
        "cues": rules,
        "formats": list(given.get("formats") or FIRST_FORMATS),
        "burn_in": bool(given.get("burn_in")),
        "soft_subtitles": given.get("soft") or "",
        "history": True,
        "save_to": (given.get("save_to") or "").strip() or None,
    }


def lay_out(services: Services, demo: gr.Blocks) -> dict[str, Block]:
    """Every choice by its name, folded by what it is about."""
    made: dict[str, Any] = {}
    made["language"] = gr.Dropdown(
        [("…", "")], value="", label=label("ui_transcribe_language"), interactive=True
    )
    fill_menu(demo, made["language"], languages.spoken_choices)
    made["speakers"] = _menu(demo, "ui_transcribe_speakers", SPEAKERS)
    with gr.Accordion(label("ui_transcribe_words"), open=False):
        made |= _hotwords(services, demo)
    with gr.Accordion(label("ui_transcribe_known"), open=False):
        gr.Markdown(label("ui_transcribe_known_help"))
        made["known"] = gr.Textbox(
            show_label=False,
            container=False,
            lines=4,
            max_lines=20,
            interactive=True,
            elem_id="transcribe-known",
        )
    with gr.Accordion(label("ui_transcribe_writing"), open=False):
        made["itn"] = gr.Checkbox(True, label=label("ui_transcribe_itn"), interactive=True)
        made["punctuation"] = gr.Checkbox(True, label=label("ui_transcribe_punctuation"), interactive=True)
        made["script"] = _menu(demo, "ui_transcribe_script", SCRIPTS)
        made |= _rules()
    with gr.Accordion(label("ui_transcribe_vad"), open=False, elem_id="transcribe-vad"):
        gr.Markdown(label("ui_transcribe_vad_help"))
        for name, (low, high, step) in VadOptions.LIMITS.items():
            first = getattr(VadOptions(), name)
            made[f"vad_{name}"] = gr.Slider(low, high, value=first, step=step, label=label(f"ui_vad_{name}"))
    with gr.Accordion(label("ui_more"), open=False):
        made |= _others(services, demo)
    _grey_out(demo, made)
    return made


def _menu(demo: gr.Blocks, key: str, names: Mapping[str, str]) -> gr.Dropdown:
    def choices(language: str) -> list[tuple[str, str]]:
        return [(text(language, name) if name else value.upper(), value) for value, name in names.items()]

    menu = gr.Dropdown(choices("en"), value=next(iter(names)), label=label(key), interactive=True)
    fill_menu(demo, menu, choices)
    return menu


def _hotwords(services: Services, demo: gr.Blocks) -> dict[str, Any]:
    words = gr.Textbox(
        label=label("ui_transcribe_hotwords"),
        lines=3,
        max_lines=12,
        interactive=True,
        elem_id="transcribe-hotwords",
    )
    with gr.Row():
        name = gr.Dropdown(
            [],
            value=None,
            label=label("ui_words_list"),
            allow_custom_value=True,
            elem_id="transcribe-list",
            min_width=140,
        )
        keep = gr.Button(label("ui_words_keep"), size="sm", elem_id="transcribe-list-keep", min_width=90)
        bring = gr.UploadButton(
            label("ui_words_import"),  # type: ignore[arg-type]  # translated as every label; Gradio's annotation lags
            file_types=[".txt", ".csv", ".tsv"],
            size="sm",
            elem_id="transcribe-words-import",
            min_width=90,
        )

    def lists() -> gr.Dropdown:
        return gr.Dropdown(choices=word_lists.names(services.settings))

    def imported(path: str, now: str) -> str:
        found = [_line(word.text, word.weight) for word in read_hotwords(Path(path))]
        return "\n".join(dict.fromkeys([*(now or "").splitlines(), *found]))

    def kept(chosen: str, now: str) -> gr.Dropdown:
        word_lists.keep(services.settings, chosen or "", now or "")
        return gr.Dropdown(choices=word_lists.names(services.settings), value=chosen.strip())

    def chosen(name: str) -> Any:
        found = word_lists.words(services.settings, name or "")
        return gr.skip() if found is None else found

    demo.load(lists, None, name, **PRIVATELY)
    bring.upload(plainly(imported), [bring, words], words, **PRIVATELY)
    keep.click(plainly(kept), [name, words], name, **PRIVATELY)
    name.input(plainly(chosen), name, words, **PRIVATELY)
    prompt = gr.Textbox(label=label("ui_transcribe_prompt"), lines=1, interactive=True)
    return {"hotwords": words, "prompt": prompt}


def _line(word: str, weight: float) -> str:
    return word if weight == 1.0 else f"{word}\t{weight:g}"


def _rules() -> dict[str, Any]:
    """Limits of a cue, two in a row."""
    made: dict[str, Any] = {}
    whole = {field.name for field in fields(CueRules) if str(field.type) == "int"}
    for first in range(0, len(RULES), 2):
        with gr.Row():
            for name in RULES[first : first + 2]:
                made[f"rule_{name}"] = gr.Number(
                    getattr(CueRules(), name), label=label(f"ui_rule_{name}"), minimum=0, min_width=120,
                    precision=0 if name in whole else None,
                )  # fmt: skip
    return made


def _others(services: Services, demo: gr.Blocks) -> dict[str, Any]:
    made: dict[str, Any] = {}
    made["formats"] = gr.CheckboxGroup(FORMATS, value=FIRST_FORMATS, label=label("ui_transcribe_formats"))
    made["burn_in"] = gr.Checkbox(False, label=label("ui_transcribe_burn_in"))
    made["soft"] = _menu(demo, "ui_transcribe_soft", SOFT)
    made["save_to"] = gr.Textbox(
        label=label("ui_transcribe_save_to"),
        max_lines=1,
        visible=services.local,
        elem_id="transcribe-save-to",
    )
    made["channel"] = _menu(demo, "ui_transcribe_channel", CHANNEL_NAMES)
    with gr.Row():
        made["start"] = gr.Number(label=label("ui_transcribe_start"), value=0, minimum=0, min_width=120)
        made["end"] = gr.Number(label=label("ui_transcribe_end"), value=0, minimum=0, min_width=120)
    made["engine"] = engine_choice(services, demo, RECOGNIZERS, "ui_engine")
    return made


def _grey_out(demo: gr.Blocks, made: Mapping[str, Any]) -> None:
    """What the chosen engine does not heed cannot be changed, and says why."""

    def follow(engine: str, request: gr.Request) -> list[Any]:
        language = language_of(request)
        known = {ability.name: ability for ability in abilities(RECOGNIZERS.info(engine))}
        return [
            gr.update(interactive=known[name].honoured, info=known[name].reason.text(language) or None)
            for name in GREYED
        ]

    outputs = [made[name] for name in GREYED]
    made["engine"].change(follow, made["engine"], outputs, queue=False, **PRIVATELY)
    demo.load(follow, made["engine"], outputs, **PRIVATELY)
