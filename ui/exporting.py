"""What else a finished dub is wanted as: the choices on the page, and the options of the job they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import gradio as gr
from gradio.blocks import Block

from ui.i18n import label, text
from ui.tabs.parts import fill_menu

ROLES = ("none", "target", "source", "both")
MENUS, FORMATS = ("soft_subtitles", "burned_subtitles"), ("vtt", "ass")


@dataclass(frozen=True, slots=True)
class ExportForm:
    """The components by the names of the job's options, and the button."""

    soft_subtitles: gr.Dropdown
    burned_subtitles: gr.Dropdown
    subtitle_formats: gr.CheckboxGroup
    original_track: gr.Checkbox
    mkv: gr.Checkbox
    stems: gr.Checkbox
    project: gr.Checkbox

    def named(self) -> dict[str, Block]:
        """Components by option."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def build(demo: gr.Blocks) -> tuple[gr.Accordion, ExportForm, gr.Button]:
    """Lay the choices out, hidden until there is a dub."""
    with gr.Accordion(label("ui_export"), open=False, visible=False, elem_id="dub-export") as group:
        with gr.Row():
            soft, burned = _menu(demo, "soft"), _menu(demo, "burned")
        formats = gr.CheckboxGroup(
            [(form.upper(), form) for form in FORMATS],
            label=label("ui_export_formats"),
            elem_id="dub-export-formats",
        )
        original, mkv, stems, project = (
            gr.Checkbox(False, label=label(f"ui_export_{name}"), elem_id=f"dub-export-{name}")
            for name in ("original", "mkv", "stems", "project")
        )
        go = gr.Button(label("ui_export_button"), variant="primary", elem_id="dub-export-go")
    return group, ExportForm(soft, burned, formats, original, mkv, stems, project), go


def _menu(demo: gr.Blocks, name: str) -> gr.Dropdown:
    menu = gr.Dropdown(
        [("…", "none")], value="none", label=label(f"ui_export_{name}"), elem_id=f"dub-export-{name}"
    )
    fill_menu(
        demo, menu, lambda language: [(text(language, f"ui_export_role_{role}"), role) for role in ROLES]
    )
    return menu


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The job's options from what is chosen."""
    names = ("original_track", "mkv", "stems", "project")
    return {
        **{name: None if given[name] in (None, "none") else given[name] for name in MENUS},
        "subtitle_formats": list(given["subtitle_formats"] or ()),
        **{name: bool(given[name]) for name in names},
    }
