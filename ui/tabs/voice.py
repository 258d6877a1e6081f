"""The Voice cloning tab: a sample, a text, and the text spoken in that voice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.blocks import Block

from pipelines.errors import InputError, Message
from pipelines.jobs import JobSpec
from pipelines.sound_formats import FORMATS, LOUDNESS_CHOICES
from ui import examples
from ui.i18n import label, text
from ui.jobs_view import Follower, Reopener, job_panel
from ui.services import Services
from ui.speech import library, outcome, sample, wording
from ui.tabs.parts import PRIVATELY, engine_choice, fill_menu, kept_tab, only_with

LONGEST = 600.0
LOUD = ("ui_loud_web", "ui_loud_stream", "ui_loud_tv", "ui_loud_off")  # names of LOUDNESS_CHOICES


@dataclass(frozen=True, slots=True)
class VoiceHandlers:
    """What happens on the tab."""

    services: Services

    def submit(self, **given: Any) -> str:
        """Send off a speech job; returns its id."""
        from pipelines.voice import VOICES

        words, brought, voice = (given["words"] or "").strip(), given["sample"], given.get("voice") or None
        if not brought and not voice:
            raise library.no_sample()
        if not words:
            raise InputError(
                Message("There is nothing to say", "没有要说的文字"),
                Message("Write the text first.", "请先输入文字。"),
            )
        if not voice and not given["consent"]:
            raise library.no_consent()
        whose = voice or Path(brought).stem
        options = {
            "text": words,
            "reference": None if voice else brought,
            "reference_start": float(given.get("start") or 0.0),
            "reference_end": float(given["end"]) if given.get("end") else None,
            "voice": voice,
            "engine": given["engine"],
            "language": given["language"] or None,
            "seconds": float(given["seconds"]) if given["seconds"] else None,
            "speed": float(given["speed"] or 1.0),
            "emotion": None,
            "format": given.get("form") or "wav",
            "loudness": given.get("loudness") or None,
            "seed": int(given["seed"] or 0) if "takes" in VOICES.info(given["engine"]).features else 0,
        }
        return self.services.submit(JobSpec("speak", options, f"{whose}: {words[:40]}"))


def build(services: Services, demo: gr.Blocks) -> Reopener:
    """Lay the tab out and connect it."""
    handlers = VoiceHandlers(services)
    with kept_tab("ui_tab_voice", "voice"), gr.Row():
        with gr.Column(scale=6, min_width=300):
            menu = library.voice_menu(services, demo, "ui_voice_whose", "ui_voice_new", "voice-whose")
            given, shelf = sample.lay_out(services), library.lay_out(demo)
            library.connect(services, menu, shelf)
            inputs = {**given.given(), "voice": menu, **_inputs(services, demo)}
            go = gr.Button(label("ui_voice_button"), variant="primary", size="lg", elem_id="voice-go")
            example = gr.Button(label("ui_example"), size="sm", elem_id="voice-example")
        with gr.Column(scale=6, min_width=300):
            panel = job_panel(services, "voice")
            made = outcome.lay_out(services)
    follower = Follower(services, panel, made.shown, outcome.OutcomeHandlers(services).show)
    outcome.connect(services, follower, made)
    follower.connect(demo)
    follower.start(go, handlers.submit, inputs, "speak")
    kept = {**given.given(), "name": shelf.name, "language": shelf.language, "tags": shelf.tags,
            "engine": inputs["engine"]}  # fmt: skip
    follower.start(shelf.keep, library.LibraryHandlers(services).keep, kept, "keep_voice")
    filled: list[Block] = [inputs["sample"], inputs["words"], inputs["language"], inputs["consent"]]
    example.click(lambda: (examples.sample(), examples.SPEECH, "en", True), None, filled, **PRIVATELY)
    return follower.reopener("voice")


def _inputs(services: Services, demo: gr.Blocks) -> dict[str, Block]:
    from pipelines.voice import VOICES

    words, language = wording.lay_out(services, demo)
    with gr.Accordion(label("ui_more"), open=False):
        seconds = gr.Number(label=label("ui_voice_seconds"), value=0, minimum=0, maximum=LONGEST)
        speed = gr.Slider(0.7, 1.4, value=1.0, step=0.05, label=label("ui_voice_speed"))
        seed = gr.Number(label=label("ui_voice_seed"), value=0, precision=0, elem_id="voice-seed")
        with gr.Row():
            form = gr.Dropdown(
                [(name.upper(), name) for name in FORMATS], value="wav", label=label("ui_voice_form"),
                min_width=120, elem_id="voice-form",
            )  # fmt: skip
            first = LOUDNESS_CHOICES[0]
            loudness = gr.Dropdown(
                [("…", first)], value=first, label=label("ui_voice_loudness"), min_width=120
            )
            fill_menu(demo, loudness, lambda language: [
                (text(language, key), value) for value, key in zip(LOUDNESS_CHOICES, LOUD, strict=True)
            ])  # fmt: skip
        engine = engine_choice(services, demo, VOICES, "ui_engine")
        only_with(engine, VOICES, "takes", seed)
    return {
        "words": words, "language": language, "seconds": seconds, "speed": speed, "seed": seed, "engine": engine,
        "form": form, "loudness": loudness,
    }  # fmt: skip
