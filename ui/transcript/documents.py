"""What the editor has open: the transcript of a job or of a history entry, with its edits, saved after every step."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.cues import cues
from pipelines.editing import Edits, Table, opened
from pipelines.editing import file as edited_file
from pipelines.editing.wording import reworded
from pipelines.errors import InputError, Message
from pipelines.history import History
from pipelines.jobs.spec import JobView
from pipelines.records import load_transcript
from pipelines.settings import Settings
from pipelines.types import Segment
from ui import results

REMEMBERED = 24  # documents whose steps can be undone, of all pages together
SHOWN, HEARD = "shown", "heard"
ENTRY = "history:"  # how the id of a document in the history begins


@dataclass(frozen=True, slots=True)
class Document:
    """A transcript that can be edited.

    Attributes:
        id: ``history:NUMBER`` for what is in the history, whichever way it was opened; else ``job:ID``.
        name: of the file it was heard in. media: that file, if it is still there.
        segments: as they were recognised. folder: of the job, if it is still there.
        entry: its number in the history, if it has one. duration: of the sound, seconds.
    """

    id: str
    name: str
    media: Path | None
    language: str
    duration: float
    segments: tuple[Segment, ...]
    folder: Path | None
    entry: int | None
    start: float = 0.0

    def table(self, wording: str = SHOWN) -> Table:
        """The rows before anybody edits them: cues of what is shown, or of the words as they were heard."""
        plain = tuple(
            _as_shown(segment) if wording == SHOWN else _as_heard(segment) for segment in self.segments
        )
        return opened(cues(plain, until=self.start + self.duration if self.duration else float("inf")))

    @property
    def normalised(self) -> bool:
        """Whether what is shown differs anywhere from what was heard."""
        return any(segment.normalised for segment in self.segments)


def _as_shown(segment: Segment) -> Segment:
    """The line as people read it, its word times brought over from what was heard."""
    words = reworded(segment.words, segment.shown, segment.start, segment.end)
    return Segment(segment.start, segment.end, segment.shown, words, segment.speaker)


def _as_heard(segment: Segment) -> Segment:
    return Segment(segment.start, segment.end, segment.text, segment.words, segment.speaker)


def of_job(view: JobView) -> Document | None:
    """The document of a finished transcription; None when it has none (yet)."""
    path = results.made(view, "transcript") if view.state == "done" else None
    if path is None:
        return None
    transcript = load_transcript(path)
    source = Path(str(view.options.get("input", "")))
    entry = view.result.get("history")
    return Document(
        id=f"job:{view.id}" if entry is None else f"{ENTRY}{entry}",
        name=view.title or source.name,
        media=source if source.is_file() else None,
        language=transcript.language,
        duration=float(view.result.get("duration") or 0.0),
        segments=transcript.segments,
        folder=view.folder,
        entry=int(entry) if entry is not None else None,
        start=float(view.options.get("start") or 0.0),
    )


def of_entry(settings: Settings, number: int) -> Document:
    """The document of a history entry, with or without its job.

    Raises:
        InputError: it was deleted.
    """
    with History.open(settings) as history:
        entry = history.get(number)
    folder, source = Path(entry.folder) if entry.folder else None, Path(entry.source)
    there = folder is not None and folder.is_dir()
    return Document(
        id=f"{ENTRY}{number}",
        name=entry.name,
        media=source if source.is_file() else None,
        language=entry.language,
        duration=entry.duration,
        segments=entry.segments,
        folder=folder if there else None,
        entry=number,
        start=float(entry.settings.get("start") or 0.0),
    )


@dataclass(slots=True)
class Opened:
    """A document and where its editing stands; ``version`` counts the steps."""

    document: Document
    edits: Edits
    version: int = 0
    edited: bool = False
    wording: str = SHOWN
    guard: threading.Lock = field(default_factory=threading.Lock)


class Documents:
    """The documents that are open, by id; shared by all pages, so two windows see the same rows."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opened: OrderedDict[str, Opened] = OrderedDict()
        self._guard = threading.Lock()

    def get(self, identity: str) -> Opened | None:
        """An open document."""
        with self._guard:
            found = self._opened.get(identity)
            if found is not None:
                self._opened.move_to_end(identity)
            return found

    def open(self, document: Document) -> Opened:
        """Open it where its editing was left; the longest unused is put away (its rows are saved)."""
        found = self.get(document.id)
        if found is not None:
            return found
        saved = edited_file.load(document.folder) if document.folder is not None else None
        opened_ = Opened(document, Edits(saved or document.table()), edited=saved is not None)
        with self._guard:
            self._opened.setdefault(document.id, opened_)
            while len(self._opened) > REMEMBERED:
                self._opened.popitem(last=False)
            return self._opened[document.id]

    def forget(self, identity: str) -> None:
        """Close a document that is deleted."""
        with self._guard:
            self._opened.pop(identity, None)

    def step(self, identity: str, change: Callable[[Opened], Edits]) -> Opened:
        """Do one step and save the rows, in the job's folder and in the history.

        Raises:
            InputError: the document is not open any more. Whatever ``change`` raises: then nothing changed.
        """
        found = self.get(identity)
        if found is None:
            raise InputError(
                Message("This transcript is not open any more", "该文字稿已关闭"),
                Message("Open it again from the history.", "请从历史记录中重新打开。"),
            )
        with found.guard:
            edits = change(found)
            if edits is not found.edits:
                self._save(found.document, edits.table)
                found.edits, found.edited = edits, True
            found.version += 1
        return found

    def _save(self, document: Document, table: Table) -> None:
        if document.folder is not None:
            edited_file.save(document.folder, table)
        if document.entry is not None:
            with History.open(self._settings) as history:
                history.update(document.entry, table.segments())
