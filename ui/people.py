"""Who of several people speaks: a picture of each to choose from, found when asked for."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from pipelines import faces
from pipelines.artifacts import options_key
from pipelines.files import read_json, write_json
from ui.aside import run_aside
from ui.i18n import label, language_of, text
from ui.jobs_view import plainly
from ui.services import Services, source_path
from ui.source import probe
from ui.tabs.parts import PRIVATELY

VERSION, RESULT = 1, "people.json"
COLUMNS = 4
PATIENCE, PER_SECOND = 120.0, 6.0  # seconds that are waited, and more for each second of the clip


@dataclass(frozen=True, slots=True)
class People:
    """The components; ``who`` is the input of the tab: a person's number, 0 for nobody chosen."""

    find: gr.Button
    gallery: gr.Gallery
    who: gr.Radio
    forget: gr.Button


@dataclass(frozen=True, slots=True)
class PeopleHandlers:
    """What happens when somebody is looked for."""

    services: Services
    automatic: str

    def find(
        self, file: str | None, path: str | None, request: gr.Request
    ) -> tuple[gr.Gallery, gr.Radio, gr.Button]:
        """Pictures of all people and the choice between them.

        Raises:
            PipelineError: there is no file, or it cannot be read.
        """
        language = language_of(request)
        chosen = source_path(self.services, file, path)
        found, place = people_of(self.services, chosen)
        pictures = [
            (str(place / person["file"]), f"{number} · {max(round(100 * person['share']), 1)} %")
            for number, person in enumerate(found, start=1)
        ]
        if not pictures:
            gr.Info(text(language, "ui_people_none"))
        return (
            gr.Gallery(value=pictures, visible=bool(pictures)),
            gr.Radio(choices=self.choices(len(pictures), language), value=0, visible=len(pictures) > 1),
            gr.Button(visible=True),
        )

    def choices(self, people: int, language: str) -> list[tuple[str, int]]:
        """Nobody in particular, and everybody by number."""
        numbered = [(text(language, "ui_people_number", number=n), n) for n in range(1, people + 1)]
        return [(text(language, self.automatic), 0), *numbered]

    def clear(self) -> tuple[gr.Gallery, gr.Radio, gr.Button]:
        """Another file: nobody is chosen."""
        return (
            gr.Gallery(value=None, visible=False),
            gr.Radio(value=0, visible=False),
            gr.Button(visible=False),
        )

    def forget(
        self, file: str | None, path: str | None, request: gr.Request
    ) -> tuple[gr.Gallery, gr.Radio, gr.Button]:
        """Remove what was found of the faces in this file; the next job looks for them again.

        Raises:
            PipelineError: there is no file.
        """
        chosen = source_path(self.services, file, path)
        shutil.rmtree(_place(self.services, chosen), ignore_errors=True)
        faces.forget(probe(chosen), self.services.settings)
        gr.Info(text(language_of(request), "ui_people_forgotten"))
        return self.clear()


def people_of(services: Services, path: Path) -> tuple[list[dict[str, Any]], Path]:
    """The people in a file, and the folder of their pictures; looked for once for each state of the file.

    Raises:
        PipelineError: it cannot be looked at.
    """
    place = _place(services, path)
    if not (place / RESULT).is_file():
        patience = PATIENCE + PER_SECOND * probe(path).duration
        write_json(place / RESULT, run_aside(services, "people", {"input": str(path)}, place, patience))
    found: list[dict[str, Any]] = read_json(place / RESULT)["people"]
    return found, place


def _place(services: Services, path: Path) -> Path:
    stamp = path.stat()
    key = options_key(path=str(path), changed=stamp.st_mtime_ns, size=stamp.st_size, version=VERSION)
    return services.uploads / f"people-{key[:32]}"


def lay_out(services: Services, name: str, automatic: str) -> People:
    """The button, the pictures and the choice; ``automatic`` is the text key of what happens without one."""
    find = gr.Button(label("ui_people_find"), size="sm", elem_id=f"{name}-people-find")
    gallery = gr.Gallery(
        label=label("ui_people"), show_label=False, visible=False, height="auto", columns=COLUMNS, object_fit="cover",
        allow_preview=False, interactive=False, buttons=[], elem_id=f"{name}-people",
    )  # fmt: skip
    who = gr.Radio(
        [(label(automatic), 0)], value=0, label=label("ui_people_who"), visible=False, elem_id=f"{name}-who"
    )
    forget = gr.Button(label("ui_people_forget"), size="sm", visible=False, elem_id=f"{name}-people-forget")
    return People(find, gallery, who, forget)


def connect(services: Services, people: People, automatic: str, file: gr.File, path: gr.Textbox) -> None:
    """Finding, choosing by a click on a picture, and forgetting when another file is chosen."""
    handlers = PeopleHandlers(services, automatic)
    shown = [people.gallery, people.who, people.forget]
    people.find.click(plainly(handlers.find), [file, path], shown, **PRIVATELY)

    def clicked(event: gr.SelectData) -> int:
        return int(event.index) + 1

    people.gallery.select(clicked, None, people.who, **PRIVATELY)
    people.forget.click(plainly(handlers.forget), [file, path], shown, **PRIVATELY)
    for event in (file.change, path.change):
        event(handlers.clear, None, shown, queue=False, **PRIVATELY)
