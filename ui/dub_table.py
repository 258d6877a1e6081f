"""The line table of the Dub tab and the buttons that belong to it, laid out and connected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import gradio as gr

from ui import lines
from ui.dub_editing import EditingHandlers
from ui.i18n import label
from ui.jobs_view import plainly
from ui.services import Services
from ui.speech.library import voice_menu
from ui.tabs.parts import PRIVATELY

SUBTITLES = [".srt", ".vtt", ".ass"]
# A page from another computer over plain http has no clipboard: the lines are then selected for the user to copy.
COPY = """async (numbered) => {
  try { await navigator.clipboard.writeText(numbered); return ["copied"]; } catch (refused) {}
  await new Promise((shown) => setTimeout(shown, 60));
  const box = document.querySelector('#dub-numbered textarea');
  box.focus(); box.select();
  return [document.execCommand('copy') ? "copied" : "selected"];
}"""
COLUMN_WIDTHS: list[str | int] = [
    *("66px", "78px", "78px", "17%", "17%", "98px", "116px", "80px", "84px", "88px", "104px"),
]
COLUMN_KINDS: list[Literal["number", "str", "bool"]] = [
    *("number", "str", "str", "str", "str", "bool", "str", "bool", "str", "str", "str"),
]


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
    voice: gr.Dropdown
    this_row: gr.Button
    this_speaker: gr.Button


def build(services: Services, demo: gr.Blocks) -> Table:
    """Lay the table out; it shows itself once a dub has lines."""
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
            voice = voice_menu(
                services, demo, "ui_dub_row_voice", "ui_voice_dubs", "dub-row-voice", own="ui_voice_own"
            )
            with gr.Column(min_width=160):
                this_row, this_speaker = (
                    gr.Button(label(f"ui_dub_voice_{name}"), size="sm", elem_id=f"dub-voice-{name}")
                    for name in ("row", "speaker")
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
        group, help_text, table, again, copy, numbered, paste, cues, undo, split, merge, chosen,
        voice, this_row, this_speaker,
    )  # fmt: skip


def connect(handlers: EditingHandlers, table: Table, last: gr.BrowserState) -> None:
    """Let every button change the table of the job whose id is ``last``."""
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
    for button, voiced in (
        (table.this_row, handlers.voice_of_row),
        (table.this_speaker, handlers.voice_of_speaker),
    ):
        given = [last, table.chosen, table.voice, table.table]
        button.click(plainly(voiced), given, table.table, **PRIVATELY)


def _row_of(picked: gr.SelectData) -> int:
    """The row that was clicked."""
    return int(picked.index[0])
