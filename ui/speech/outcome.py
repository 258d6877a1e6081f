"""What was said: its sound, a picture with marks at its words, its pieces to be changed and said again, and its files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.blocks import Block

from pipelines.jobs.spec import JobView
from ui import languages, results
from ui.i18n import label, text
from ui.jobs_view import Follower, shown_html
from ui.services import Services, showable
from ui.speech.library import KEPT
from ui.tabs.parts import open_folder_button
from ui.transcript.wave import read, wave_html

TEXT, SPEED, PAUSE = 1, 2, 3
Row = list[Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The components."""

    shown: dict[str, Block]
    table: gr.Dataframe
    again: gr.Button


def lay_out(services: Services) -> Outcome:
    """Sound, picture, files and the table of pieces; hidden until there is something."""
    shown: dict[str, Block] = {
        "audio": gr.Audio(
            label=label("ui_voice_result"), interactive=False, visible=False, elem_id="voice-result"
        ),
        "wave": gr.HTML(visible=False, elem_id="voice-wave"),
        "measures": gr.Markdown(elem_id="voice-measures"),
        "files": gr.Files(
            label=label("ui_files"),
            visible=False,
            interactive=False,
            elem_classes="made",
            elem_id="voice-files",
        ),
        "saved": gr.HTML(visible=False),
    }
    shown["folder"] = open_folder_button(services)
    with gr.Column(visible=False, elem_id="voice-pieces") as pieces:
        table = gr.Dataframe(
            headers=[""] * 5,
            column_count=5,
            datatype=["number", "str", "number", "number", "str"],
            type="array",
            interactive=True,
            wrap=True,
            static_columns=[0, 4],
            column_widths=["8%", "52%", "12%", "14%", "14%"],
            label=label("ui_pieces"),
            elem_id="voice-table",
        )
        again = gr.Button(label("ui_pieces_again"), elem_id="voice-again")
    shown |= {"pieces": pieces, "table": table}
    return Outcome(shown, table, again)


@dataclass(frozen=True, slots=True)
class OutcomeHandlers:
    """What is shown of a job, and what the table does."""

    services: Services

    def show(self, view: JobView, language: str) -> dict[str, Any]:
        """Everything made, by the names of the components."""
        audio = results.made(view, "audio") if view.state == "done" else None
        if audio is None:
            return {}
        player = gr.Audio(value=str(showable(self.services, audio)), visible=True)
        if view.kind == KEPT:
            return {**_nothing(), "audio": player, "measures": _kept(view, language)}
        saved = list(self.services.save(view).values())
        pieces = view.result.get("pieces") or []
        return {
            "audio": player,
            "wave": shown_html(wave_html(read(results.made(view, "wave")), language)),
            "measures": measures(view, language),
            "files": gr.Files(value=[str(path) for path in saved], visible=bool(saved)),
            "folder": gr.Button(visible=self.services.local),
            "saved": shown_html(results.saved_html(saved[:1], language)),
            "pieces": gr.Column(visible=bool(pieces)),
            "table": gr.Dataframe(value={"headers": _headers(language), "data": rows(pieces)}),
        }

    def again(self, job_id: str, table: list[Row]) -> str:
        """Say the pieces as they stand in the table, in the same job: only those that changed are said again."""
        return self.services.ask_again(job_id, pieces=records(table))


def connect(services: Services, follower: Follower, outcome: Outcome) -> None:
    """Let the button under the table ask again."""
    asked = {"job_id": follower.panel.last, "table": outcome.table}
    follower.start(outcome.again, OutcomeHandlers(services).again, asked, "speak_again")


def rows(pieces: list[dict[str, Any]]) -> list[Row]:
    """The table: number, text, speed, pause after it (empty: the usual gap), where it begins."""
    return [
        [number, piece["text"], piece["speed"], piece["pause"], f"{piece['start']:.2f} s"]
        for number, piece in enumerate(pieces, start=1)
    ]


def records(table: list[Row]) -> list[dict[str, Any]]:
    """The pieces as they stand in the table; a speed or pause that is no number counts as not given."""
    return [
        {"text": str(row[TEXT] or ""), "speed": _number(row[SPEED]) or 1.0, "pause": _number(row[PAUSE])}
        for row in table
    ]


def _number(value: Any) -> float | None:
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if found == found else None  # an empty cell comes as NaN


def _headers(language: str) -> list[str]:
    names = ("ui_pieces_number", "ui_pieces_text", "ui_pieces_speed", "ui_pieces_pause", "ui_pieces_start")
    return [text(language, name) for name in names]


def _nothing() -> dict[str, Any]:
    """Updates that hide what a kept voice has not."""
    return {
        "wave": shown_html(""),
        "files": gr.Files(visible=False),
        "folder": gr.Button(visible=False),
        "saved": shown_html(""),
        "pieces": gr.Column(visible=False),
    }


def _kept(view: JobView, language: str) -> str:
    return text(language, "ui_library_kept", name=view.result["voice"])


def measures(view: JobView, language: str) -> str:
    """Length, language and likeness of the speech, as far as the engine says them."""
    seconds, similarity = view.result.get("seconds"), view.result.get("similarity")
    said = [text(language, "ui_voice_length", seconds=f"{seconds or 0:.2f}")]
    if view.result.get("language"):
        said.append(languages.name(str(view.result["language"]), language))
    if similarity is not None:
        said.append(text(language, "ui_voice_similarity", similarity=f"{similarity:.2f}"))
    return " · ".join(said)
