"""The Talking head tab: a face and a sound, and the face says it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.blocks import Block

from pipelines.errors import InputError, Message
from pipelines.jobs import JobSpec
from pipelines.jobs.spec import JobView
from ui import examples, languages, people, results
from ui.i18n import label
from ui.jobs_view import Follower, Reopener, job_panel, shown_html
from ui.services import Services, showable, source_path
from ui.tabs.parts import PRIVATELY, engine_choice, fill_menu, kept_tab, local_path, open_folder_button

MAIN = "ui_people_main"
FITS = ("loop", "pingpong", "freeze", "trim")


@dataclass(frozen=True, slots=True)
class TalkingHeadHandlers:
    """What happens on the tab."""

    services: Services

    def submit(self, **given: Any) -> str:
        """Send off a lip-sync job; returns its id."""
        face = source_path(self.services, given["file"], given["path"])
        sound, words = given["sound"], (given["words"] or "").strip()
        if not sound and not words:
            raise InputError(
                Message("There is nothing for the face to say", "没有要说的内容"),
                Message("Add a sound file, or write a text.", "请添加声音文件，或输入文字。"),
            )
        options = {
            "face": str(face),
            "audio": sound or None,
            "engine": given["engine"],
            "fit": given["fit"],
            "offset": float(given["offset"] or 0.0),
            "head_motion": bool(given.get("head_motion", True)),
            "who": int(given.get("who") or 0) or None,
            "text": words if not sound else None,
            "language": given["language"] or None,
            "reference": given["reference"] or None,
        }
        title = f"{face.name} + {Path(sound).name if sound else words[:30]}"
        return self.services.submit(JobSpec("sync", options, title))

    def show(self, view: JobView, language: str) -> dict[str, Any]:
        """The video and where it was saved."""
        video = results.made(view, "video") if view.state == "done" else None
        if video is None:
            return {}
        saved = self.services.save(view)
        return {
            "video": gr.Video(value=str(showable(self.services, video)), visible=True),
            "folder": gr.Button(visible=self.services.local),
            "saved": shown_html(results.saved_html(list(saved.values())[:1], language)),
        }


def build(services: Services, demo: gr.Blocks) -> Reopener:
    """Lay the tab out and connect it."""
    handlers = TalkingHeadHandlers(services)
    with kept_tab("ui_tab_talking_head", "talking-head"), gr.Row():
        with gr.Column(scale=5, min_width=300):
            inputs = _inputs(services, demo)
            go = gr.Button(label("ui_head_button"), variant="primary", size="lg", elem_id="head-go")
            example = gr.Button(label("ui_example"), size="sm", elem_id="head-example")
        with gr.Column(scale=7, min_width=300):
            panel = job_panel(services, "head")
            shown: dict[str, Block] = {
                "video": gr.Video(
                    label=label("ui_head_result"),
                    interactive=False,
                    visible=False,
                    height=420,
                    elem_id="head-result",
                    buttons=["download"],
                ),
                "saved": gr.HTML(visible=False),
            }
            shown["folder"] = open_folder_button(services)
    follower = Follower(services, panel, shown, handlers.show)
    follower.connect(demo)
    follower.start(go, handlers.submit, inputs, "sync")
    filled: list[Block] = [inputs["file"], inputs["sound"]]
    example.click(lambda: (examples.talker(), examples.other_sample()), None, filled, **PRIVATELY)
    return follower.reopener("talking-head")


def _inputs(services: Services, demo: gr.Blocks) -> dict[str, Block]:
    from pipelines.lipsync import LIP_ENGINES

    file = gr.File(
        label=label("ui_head_face"), file_types=["video", "image"], height=190, elem_id="head-file"
    )
    path = local_path(services, "head")
    several = people.lay_out(services, "head", MAIN)
    people.connect(services, several, MAIN, file, path)
    sound = gr.Audio(label=label("ui_head_audio"), type="filepath", elem_id="head-audio")
    with gr.Accordion(label("ui_head_text"), open=False):
        words = gr.Textbox(label=label("ui_head_words"), lines=3)
        reference = gr.Audio(label=label("ui_head_sample"), type="filepath")
    language = gr.Dropdown([("…", "")], value="", label=label("ui_head_language"), elem_id="head-language")
    fill_menu(demo, language, languages.spoken_choices)
    with gr.Accordion(label("ui_more"), open=False):
        fits = [(label(f"ui_head_fit_{fit}"), fit) for fit in FITS]
        fit = gr.Dropdown(fits, value="pingpong", label=label("ui_head_fit"))
        offset = gr.Slider(-0.5, 0.5, value=0.0, step=0.02, label=label("ui_head_offset"))
        motion = gr.Checkbox(True, label=label("ui_head_motion"), elem_id="head-motion")
        engine = engine_choice(services, demo, LIP_ENGINES, "ui_engine", ready=False)
    return {
        "file": file, "path": path, "sound": sound, "words": words, "language": language,
        "reference": reference, "fit": fit, "offset": offset, "engine": engine, "who": several.who,
        "head_motion": motion,
    }  # fmt: skip
