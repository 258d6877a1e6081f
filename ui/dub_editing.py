"""What happens when the line table of the Dub tab is edited: every edit is kept beside the job and can be undone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from pipelines import subtitles
from pipelines.errors import InputError, Message
from ui import drafts, line_steps, lines, notices
from ui.i18n import language_of
from ui.services import Services


@dataclass(frozen=True, slots=True)
class EditingHandlers:
    """The table's handlers; none of them starts work."""

    services: Services

    def keep_edits(self, job_id: str, table: list[lines.Row], request: gr.Request) -> Any:
        """Keep the table as it is now beside the job; locked rows are put back."""
        draft, folder = self._draft(job_id, request)
        rows, put_back = drafts.locks_kept(draft.rows, table)
        drafts.save(folder, draft.done(rows))
        if put_back:
            notices.warn(request, "ui_dub_locked")
        return self._table(rows, request) if put_back else gr.skip()

    def undo(self, job_id: str, request: gr.Request) -> Any:
        """The table one step back."""
        draft, folder = self._draft(job_id, request)
        if not draft.past:
            notices.tell(request, "ui_dub_undo_nothing")
            return gr.skip()
        before = draft.undone()
        drafts.save(folder, before)
        return self._table(before.rows, request)

    def split(self, job_id: str, place: int | None, table: list[lines.Row], request: gr.Request) -> Any:
        """The table with the chosen row cut in two."""
        return self._stepped(line_steps.split, job_id, place, table, request)

    def merge(self, job_id: str, place: int | None, table: list[lines.Row], request: gr.Request) -> Any:
        """The table with the chosen row joined with the next."""
        return self._stepped(line_steps.merge, job_id, place, table, request)

    def voice_of_row(
        self, job_id: str, place: int | None, voice: str, table: list[lines.Row], request: gr.Request
    ) -> Any:
        """The table with the chosen row in another voice."""
        return self._voiced(job_id, place, voice, table, request, whole_speaker=False)

    def voice_of_speaker(
        self, job_id: str, place: int | None, voice: str, table: list[lines.Row], request: gr.Request
    ) -> Any:
        """The table with all rows of the chosen one's speaker in another voice."""
        return self._voiced(job_id, place, voice, table, request, whole_speaker=True)

    def _voiced(
        self,
        job_id: str,
        place: int | None,
        voice: str,
        table: list[lines.Row],
        request: gr.Request,
        *,
        whole_speaker: bool,
    ) -> Any:
        shown = lines.voice_text(voice or None, language_of(request))
        step = functools.partial(line_steps.spoken_by, voice=shown, whole_speaker=whole_speaker)
        return self._stepped(step, job_id, place, table, request)

    def _stepped(
        self,
        step: Callable[[list[lines.Row], int], list[lines.Row]],
        job_id: str,
        place: int | None,
        table: list[lines.Row],
        request: gr.Request,
    ) -> Any:
        if place is None or not 0 <= place < len(table):
            notices.warn(request, "ui_dub_row_first")
            return gr.skip()
        draft, folder = self._draft(job_id, request)
        rows = step(table, place)
        drafts.save(folder, draft.done(rows))
        return self._table(rows, request)

    def _draft(self, job_id: str, request: gr.Request) -> tuple[drafts.Draft, Path]:
        """The table as it was last kept, and the job's folder.

        Raises:
            InputError: there is no such job, or it has no lines.
        """
        view = self.services.store.view(job_id) if job_id else None
        plan = lines.read_plan(view.folder) if view else None
        if view is None or plan is None:
            raise InputError(
                Message("This job was deleted", "该任务已被删除"),
                Message("Start a new one.", "请新建任务。"),
            )
        kept = drafts.load(view.folder)
        return kept or drafts.Draft(lines.rows(plan, language_of(request))), view.folder

    def _table(self, rows: list[lines.Row], request: gr.Request) -> gr.Dataframe:
        return gr.Dataframe(value={"headers": lines.headers(language_of(request)), "data": rows})

    def copied(self, how: str, request: gr.Request) -> None:
        """Say whether the numbered lines could be copied (``copied``) or only be selected, as the browser tells."""
        if how == "copied":
            notices.tell(request, "ui_dub_copied")
        else:
            notices.warn(request, "ui_dub_selected")

    def numbered(self, table: list[lines.Row]) -> str:
        """All original lines as numbered text for a translator elsewhere."""
        return lines.numbered(table)

    def filled_from(self, path: str, table: list[lines.Row], request: gr.Request) -> gr.Dataframe:
        """The table with the translation from a subtitle file, each cue in the row it shares most time with."""
        filled, missing = lines.fill_from_cues(table, subtitles.read(Path(path)))
        return self._filled(filled, missing, request)

    def pasted(self, answer: str, table: list[lines.Row], request: gr.Request) -> gr.Dataframe:
        """The table with the numbered translation filled in."""
        filled, missing = lines.fill(table, answer or "")
        return self._filled(filled, missing, request)

    def _filled(self, filled: list[lines.Row], missing: str, request: gr.Request) -> gr.Dataframe:
        count = sum(bool(str(row[lines.TEXT] or "").strip()) for row in filled)
        if missing:
            notices.warn(request, "ui_dub_pasted_part", count=count, missing=missing)
        else:
            notices.tell(request, "ui_dub_pasted", count=count)
        return self._table(filled, request)
