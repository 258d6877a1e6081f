"""The Voice cloning tab: a sample, a text, and the text spoken in that voice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.blocks import Block

from pipelines.errors import InputError, Message
from pipelines.jobs import JobSpec
from pipelines.jobs.spec import JobView
from ui import examples, languages, results
from ui.i18n import label, text
from ui.jobs_view import Follower, Reopener, job_panel, shown_html
from ui.services import Services, showable
from ui.speech import library, sample, wording
from ui.tabs.parts import PRIVATELY, engine_choice, only_with, open_folder_button

LONGEST = 600.0


@dataclass(frozen=True, slots=True)
class VoiceHandlers:
    """What happens on the tab."""

    services: Services

    def submit(self, **given: Any) -> str:
        """Send off a speech job; returns its id."""
        from pipelines.voice import VOICES

        words, brought, voice = (given["words"] or "").strip(), given["sample"], given["voice"] or None
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
            "seed": int(given["seed"] or 0) if "takes" in VOICES.info(given["engine"]).features else 0,
        }
        return self.services.submit(JobSpec("speak", options, f"{whose}: {words[:40]}"))

    def show(self, view: JobView, language: str) -> dict[str, Any]:
        """The speech, how long it is and how like the sample."""
        audio = results.made(view, "audio") if view.state == "done" else None
        if audio is None:
            return {}
        if view.kind == library.KEPT:
            return {
                "audio": gr.Audio(value=str(showable(self.services, audio)), visible=True),
                "measures": text(language, "ui_library_kept", name=view.result["voice"]),
                "folder": gr.Button(visible=False),
                "saved": shown_html(""),
            }
        saved = self.services.save(view)
        return {
            "audio": gr.Audio(value=str(showable(self.services, audio)), visible=True),
            "measures": _measures(view, language),
            "folder": gr.Button(visible=self.services.local),
            "saved": shown_html(results.saved_html(list(saved.values()), language)),
        }


def _measures(view: JobView, language: str) -> str:
    """Length, language and likeness of the speech, as far as the engine says them."""
    seconds, similarity = view.result.get("seconds"), view.result.get("similarity")
    said = [text(language, "ui_voice_length", seconds=f"{seconds or 0:.2f}")]
    if view.result.get("language"):
        said.append(languages.name(str(view.result["language"]), language))
    if similarity is not None:
        said.append(text(language, "ui_voice_similarity", similarity=f"{similarity:.2f}"))
    return " · ".join(said)


def build(services: Services, demo: gr.Blocks) -> Reopener:
    """Lay the tab out and connect it."""
    handlers = VoiceHandlers(services)
    with gr.Tab(label("ui_tab_voice"), id="voice"), gr.Row():
        with gr.Column(scale=6, min_width=300):
            menu = library.voice_menu(services, demo, "ui_voice_whose", "ui_voice_new", "voice-whose")
            given, shelf = sample.lay_out(services), library.lay_out(demo)
            library.connect(services, menu, shelf)
            inputs = {**given.given(), "voice": menu, **_inputs(services, demo)}
            go = gr.Button(label("ui_voice_button"), variant="primary", size="lg", elem_id="voice-go")
            example = gr.Button(label("ui_example"), size="sm", elem_id="voice-example")
        with gr.Column(scale=6, min_width=300):
            panel = job_panel(services, "voice")
            results_: dict[str, Block] = {
                "audio": gr.Audio(
                    label=label("ui_voice_result"), interactive=False, visible=False, elem_id="voice-result"
                ),
                "measures": gr.Markdown(elem_id="voice-measures"),
                "saved": gr.HTML(visible=False),
            }
            results_["folder"] = open_folder_button(services)
    follower = Follower(services, panel, results_, handlers.show)
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
        engine = engine_choice(services, demo, VOICES, "ui_engine")
        only_with(engine, VOICES, "takes", seed)
    return {
        "words": words, "language": language, "seconds": seconds, "speed": speed, "seed": seed, "engine": engine,
    }  # fmt: skip
