"""The voices kept on this computer: which one speaks, and how they are kept, heard, renamed, deleted and carried elsewhere."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.blocks import Block

from pipelines.errors import InputError, Message
from pipelines.jobs import JobSpec
from pipelines.types import OWN_VOICE
from pipelines.voice.library import change_voice, delete_voice, describe, list_voices
from pipelines.voice.package import SUFFIX, export_voice, import_voice
from ui import languages, notices
from ui.i18n import label, language_of, text
from ui.jobs_view import plainly
from ui.results import file_name
from ui.services import Services, showable
from ui.tabs.parts import PRIVATELY, fill_menu

KEPT = "enrol"


def folder(services: Services) -> Path:
    """Where the voices are."""
    return services.settings.outputs / "voices"


def tags_in(written: str | None) -> tuple[str, ...]:
    """Tags as they are written in the field, commas of either script between them."""
    return tuple(tag.strip() for tag in re.split(r"[,，、;]", written or "") if tag.strip())


def voice_choices(
    services: Services, key: str, language: str, own: str | None = None
) -> list[tuple[str, str]]:
    """The empty choice, called by ``key``, the speaker's own voice where ``own`` says how it is called, and every kept one."""
    owned = [(text(language, own), OWN_VOICE)] if own else []
    return [(text(language, key), ""), *owned, *((name, name) for name in list_voices(folder(services)))]


def voice_menu(
    services: Services, demo: gr.Blocks, key: str, empty: str, name: str, *, own: str | None = None
) -> gr.Dropdown:
    """A menu of the kept voices, read anew when it is opened; see ``voice_choices``."""
    # A name that is not listed may be one that was kept meanwhile, or one of the engine's own voices.
    menu = gr.Dropdown(
        [("…", "")], value="", label=label(key), interactive=True, allow_custom_value=True, elem_id=name
    )
    fill_menu(demo, menu, lambda language: voice_choices(services, empty, language, own))

    def again(request: gr.Request) -> gr.Dropdown:
        return gr.Dropdown(choices=voice_choices(services, empty, language_of(request), own))

    menu.focus(again, None, menu, **PRIVATELY)
    return menu


@dataclass(frozen=True, slots=True)
class Shelf:
    """The folded part of the tab that looks after the voices."""

    name: gr.Textbox
    language: gr.Dropdown
    tags: gr.Textbox
    keep: gr.Button
    shown: gr.Group
    preview: gr.Audio
    facts: gr.Markdown
    change: gr.Button
    export: gr.DownloadButton
    delete: gr.Button
    bring: gr.UploadButton
    question: gr.Group
    really: gr.Button
    spare: gr.Button


@dataclass(frozen=True, slots=True)
class LibraryHandlers:
    """What happens to kept voices."""

    services: Services

    def keep(self, **given: Any) -> str:
        """Queue the learning of a voice that is kept; returns the job's id.

        Raises:
            InputError: there is no sample, or no consent.
        """
        sample = given["sample"]
        if not sample:
            raise no_sample()
        if not given["consent"]:
            raise no_consent()
        name = (given["name"] or "").strip() or Path(sample).stem
        options = {
            "reference": sample,
            "reference_start": float(given["start"] or 0.0),
            "reference_end": float(given["end"]) if given["end"] else None,
            "name": name,
            "language": given["language"] or "en",
            "tags": list(tags_in(given["tags"])),
            "consent": True,
            "engine": given["engine"] or "kokoro",
        }
        return self.services.executor.submit(JobSpec(KEPT, options, name))

    def chosen(self, name: str, request: gr.Request) -> tuple[gr.Group, Any, str, Any, Any, Any, Any]:
        """What is known of the chosen voice, its preview, its name, tags and language to be changed, and its file."""
        if not name or name not in list_voices(folder(self.services)):
            return gr.Group(visible=False), gr.skip(), "", gr.skip(), gr.skip(), gr.skip(), gr.skip()
        found, language = describe(folder(self.services), name), language_of(request)
        known = [
            languages.name(found.language, language) if found.language else "",
            found.created,
            *found.tags,
        ]
        known.append(text(language, "ui_library_consent" if found.consent else "ui_library_no_consent"))
        player = gr.Audio(
            value=str(showable(self.services, found.preview)) if found.preview else None,
            visible=found.preview is not None,
        )
        told = " · ".join(part for part in known if part)
        tags = ", ".join(found.tags)
        return gr.Group(visible=True), player, told, name, tags, found.language, self._file(name)

    def change(self, name: str, new_name: str, tags: str, language: str, request: gr.Request) -> gr.Dropdown:
        """Another name, other tags and another language for the chosen voice.

        Raises:
            InputError: there is no such voice.
        """
        now = change_voice(
            folder(self.services), name, new_name=new_name, tags=tags_in(tags), language=language or None
        )
        return self._menu(now, request)

    def delete(self, name: str, request: gr.Request) -> tuple[gr.Dropdown, gr.Group]:
        """Delete the chosen voice.

        Raises:
            InputError: there is no such voice.
        """
        delete_voice(folder(self.services), name)
        return self._menu("", request), gr.Group(visible=False)

    def _file(self, name: str) -> str:
        """A voice as one file, to be downloaded."""
        self.services.uploads.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=self.services.uploads)) / f"{file_name(name)}{SUFFIX}"
        export_voice(folder(self.services), name, place)
        return str(place)

    def bring(self, path: str, request: gr.Request) -> gr.Dropdown:
        """Add the voice in a file and choose it.

        Raises:
            InputError: it holds no voice.
        """
        name = import_voice(folder(self.services), Path(path))
        notices.tell(request, "ui_library_brought", name=name)
        return self._menu(name, request)

    def _menu(self, value: str, request: gr.Request) -> gr.Dropdown:
        choices = voice_choices(self.services, "ui_voice_new", language_of(request))
        return gr.Dropdown(choices=choices, value=value)


def no_sample() -> InputError:
    """Nothing to learn from."""
    return InputError(
        Message("There is no voice sample yet", "还没有声音样本"),
        Message("Upload one or record it.", "请上传或录制一段。"),
    )


def no_consent() -> InputError:
    """The box below the sample is not ticked."""
    return InputError(
        Message("You have not said that you may use this voice", "尚未确认您有权使用此声音"),
        Message("Tick the box below the sample.", "请勾选样本下方的方框。"),
    )


def lay_out(demo: gr.Blocks) -> Shelf:
    """The folded part: how the chosen voice is looked after, and how the sample is kept as a voice."""
    with gr.Accordion(label("ui_library"), open=False, elem_id="voice-library"):
        with gr.Row():
            name = gr.Textbox(
                label=label("ui_library_name"), max_lines=1, min_width=120, elem_id="voice-name"
            )
            tags = gr.Textbox(
                label=label("ui_library_tags"), max_lines=1, min_width=120, elem_id="voice-tags"
            )
            language = gr.Dropdown([("…", "")], value="", label=label("ui_library_language"), min_width=120)
            fill_menu(demo, language, languages.voice_choices)
        keep = gr.Button(label("ui_library_keep"), elem_id="voice-keep")
        with gr.Group(visible=False) as shown:
            facts = gr.Markdown(padding=True, elem_id="voice-facts")
            preview = gr.Audio(
                label=label("ui_library_preview"), interactive=False, buttons=[], elem_id="voice-preview"
            )
            with gr.Row():
                change = gr.Button(label("ui_library_change"), size="sm", elem_id="voice-change")
                export = gr.DownloadButton(
                    label("ui_library_export"),  # type: ignore[arg-type]  # translated as every label
                    size="sm",
                    elem_id="voice-export",
                )
                delete = gr.Button(label("ui_library_delete"), size="sm", elem_id="voice-delete")
        bring = gr.UploadButton(
            label("ui_library_import"),  # type: ignore[arg-type]  # translated as every label
            file_types=[SUFFIX],
            size="sm",
            elem_id="voice-import",
        )
        with gr.Group(visible=False) as question:
            gr.Markdown(label("ui_library_sure"), padding=True)
            with gr.Row():
                really = gr.Button(label("ui_library_delete"), variant="stop", elem_id="voice-really")
                spare = gr.Button(label("ui_library_spare"), elem_id="voice-spare")
    return Shelf(
        name,
        language,
        tags,
        keep,
        shown,
        preview,
        facts,
        change,
        export,
        delete,
        bring,
        question,
        really,
        spare,
    )


def connect(services: Services, menu: gr.Dropdown, shelf: Shelf) -> None:
    """Let the shelf follow the menu of voices, and its buttons work on the chosen voice."""
    handlers = LibraryHandlers(services)
    told: list[Block] = [
        shelf.shown,
        shelf.preview,
        shelf.facts,
        shelf.name,
        shelf.tags,
        shelf.language,
        shelf.export,
    ]
    menu.change(plainly(handlers.chosen), menu, told, **PRIVATELY)
    menu.change(lambda: gr.Group(visible=False), None, shelf.question, **PRIVATELY)
    wanted = [menu, shelf.name, shelf.tags, shelf.language]
    changed = shelf.change.click(plainly(handlers.change), wanted, menu, **PRIVATELY)
    changed.success(plainly(handlers.chosen), menu, told, **PRIVATELY)
    shelf.delete.click(lambda: gr.Group(visible=True), None, shelf.question, **PRIVATELY)
    shelf.spare.click(lambda: gr.Group(visible=False), None, shelf.question, **PRIVATELY)
    shelf.really.click(plainly(handlers.delete), menu, [menu, shelf.question], **PRIVATELY)
    shelf.bring.upload(plainly(handlers.bring), shelf.bring, menu, **PRIVATELY)
