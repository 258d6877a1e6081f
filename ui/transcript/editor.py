"""The editor on the page: a component that shows one transcript, and what happens when something is done to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import gradio as gr

from pipelines.cue_checks import check_cues
from pipelines.editing import Edits
from pipelines.errors import MediaError, PipelineError
from pipelines.jobs.spec import JobView
from pipelines.records import segment_from
from pipelines.types import Segment
from ui import source
from ui.i18n import escaped, language_of, text
from ui.services import Services, showable
from ui.transcript import documents, rows_html, steps
from ui.transcript.documents import Opened
from ui.transcript.wave import read, wave_html

FOLDER = Path(__file__).resolve().parent
PARTIAL, SPEECH = "partial.jsonl", "speech.json"
BROWSER_SOUND = frozenset({".wav", ".mp3", ".m4a", ".aac", ".ogg", ".oga", ".opus", ".flac", ".webm"})
BROWSER_CODECS = frozenset({"aac", "mp3", "opus", "vorbis", "flac", "pcm_s16le", "pcm_u8", "pcm_f32le"})
Value = dict[str, Any]
NOTHING: Value = {"job": ""}


def component() -> gr.HTML:
    """The editor, empty."""
    return gr.HTML(
        value=NOTHING,
        html_template=(FOLDER / "editor.html").read_text(encoding="utf-8"),
        js_on_load=(FOLDER / "editor.js").read_text(encoding="utf-8"),
        apply_default_css=False,
        elem_id="editor",
    )


@dataclass(frozen=True, slots=True)
class EditorHandlers:
    """What the editor shows and does."""

    services: Services

    def of_job(self, view: JobView, language: str) -> Value:
        """The rows of a job: those heard so far while it runs, those to edit when it is done."""
        if not view.ended:
            return self._reading(view, language)
        document = documents.of_job(view)
        if document is None:
            return NOTHING
        return self.value(self.services.documents.open(document), language)

    def act(self, event: gr.EventData, request: gr.Request) -> Value:
        """Do what the browser asks, and show the rows after it; what cannot be done is said above the rows."""
        step: Mapping[str, Any] = event._data
        language, identity = language_of(request), str(step.get("job"))
        focus: list[int | None] = [None]
        said = [""]

        def change(opened: Opened) -> Edits:
            edits, focus[0], told = steps.take(opened, step)
            said[0] = text(language, told[0], **told[1]) if told else ""
            return edits

        try:
            opened = self.services.documents.get(identity) if step.get("do") == "look" else None
            opened = opened or self.services.documents.step(identity, change)
        except PipelineError as error:
            said[0] = error.sentence(language)
            found = self.services.documents.get(identity)
            if found is None:
                return {"job": identity, "said": _said(said[0]), "version": -1}
            found.version += 1
            opened = found
        return self.value(opened, language, focus[0], said[0])

    def value(self, opened: Opened, language: str, focus: int | None = None, said: str = "") -> Value:
        """Everything that the browser shows of an open document."""
        document, edits = opened.document, opened.edits
        table = edits.table
        paint = rows_html.colours(table.speakers())
        issues: dict[int, list[Any]] = {}
        cues = [Segment(row.start, row.end, row.text, (), row.speaker) for row in table.rows]
        ends = document.start + document.duration if document.duration else None
        for issue in check_cues(cues, None, ends):
            issues.setdefault(issue.index, []).append(issue)
        rows = [
            [row.key, rows_html.row_html(row, place + 1, issues.get(place, ()), paint, language)]
            for place, row in enumerate(table.rows)
        ]
        player = self._player(document.media, language)
        return {
            "job": document.id,
            "version": opened.version,
            "focus": focus,
            "title": _title(document.name, len(rows), len(issues), language),
            "player": player or _waiting(language),
            "pending": player is None,
            "wave": wave_html(read(document.folder / SPEECH if document.folder else None), language),
            "speakers": rows_html.speakers_html(table.speakers(), paint, language),
            "tools": rows_html.tools_html(
                language, len(edits.past), len(edits.future), opened.wording if document.normalised else None
            ),
            "said": _said(said),
            "rows": rows,
            "foot": _foot(language) if rows else _empty(language),
        }

    def _reading(self, view: JobView, language: str) -> Value:
        heard = list(heard_so_far(view.folder / PARTIAL))
        wave = wave_html(read(view.folder / SPEECH), language)
        if not heard and not wave:
            return NOTHING
        rows = [
            [number, rows_html.heard_html(one, number, language)] for number, one in enumerate(heard, start=1)
        ]
        told = escaped(text(language, "ui_editor_reading", count=len(rows)))
        return {
            "job": f"reading:{view.id}", "version": len(rows), "title": f"<h3>{escaped(view.title)}</h3>", "wave": wave,
            "said": f'<p class="quiet">{told}</p>', "rows": rows,
        }  # fmt: skip

    def _player(self, media: Path | None, language: str) -> str | None:
        """The player's HTML; empty when the file is gone, None while a copy that browsers can play is being made."""
        if media is None:
            return f'<p class="quiet">{escaped(text(language, "ui_editor_gone"))}</p>'
        try:
            moving, path = self._playable(media)
        except PipelineError:
            return " "
        if path is None:
            return None
        kind = "video" if moving else "audio"
        name = escaped(text(language, "ui_editor_player"))
        address = escaped("/gradio_api/file=" + quote(str(showable(self.services, path))))
        return (
            f'<{kind} controls preload="metadata" playsinline aria-label="{name}" src="{address}"></{kind}>'
        )

    def _playable(self, media: Path) -> tuple[bool, Path | None]:
        from pipelines.media import sound_tracks

        try:
            info = source.probe(media)
        except MediaError:
            tracks = sound_tracks(media)
            plain = media.suffix.lower() in BROWSER_SOUND and all(
                track.codec in BROWSER_CODECS for track in tracks
            )
            return False, media if plain else self.services.previews.of_sound(media)
        return True, self.services.previews.of(info)


def heard_so_far(path: Path) -> Iterator[Segment]:
    """Finished lines of a running transcription; the one being written is left out."""
    if not path.is_file():
        return
    for row in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if row.endswith("\n"):
            yield segment_from(json.loads(row))


def _title(name: str, rows: int, wrong: int, language: str) -> str:
    told = text(language, "ui_editor_count", rows=rows)
    if wrong:
        told += " · ⚠ " + text(language, "ui_editor_wrong", count=wrong)
    return f'<h3>{escaped(name)}</h3><p class="quiet">{escaped(told)}</p>'


def _waiting(language: str) -> str:
    return f'<p class="quiet">{escaped(text(language, "ui_dub_proxy"))}</p>'


def _said(words: str) -> str:
    return f'<p class="said">{escaped(words)}</p>' if words else ""


def _foot(language: str) -> str:
    return f'<p class="quiet">{escaped(text(language, "ui_editor_saved"))}</p>'


def _empty(language: str) -> str:
    add = escaped(text(language, "ui_editor_add"))
    told = escaped(text(language, "ui_transcribe_none"))
    return f'<p>{told}</p><button type="button" data-act="insert">＋ {add}</button>'
