"""What can go wrong, said to a person: what happened, where, and what to do, in English and in Chinese.

The page, the command line and the job record all show these; anything that is not a ``PipelineError`` is a bug and
goes to the log with its traceback, never to the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Message:
    """One sentence in both languages of the interface."""

    en: str
    zh: str

    def text(self, language: str) -> str:
        """The sentence in the interface language; anything but Chinese reads English."""
        return self.zh if language.lower().startswith("zh") else self.en


class PipelineError(Exception):
    """An expected failure.

    Args:
        what: what happened.
        todo: what the user can do about it.
        where: file, line, time or engine the failure belongs to (shown as it is).
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, what: Message, todo: Message | None = None, where: str = "") -> None:
        self.what = what
        self.todo = todo or Message("", "")
        self.where = where
        super().__init__(self.sentence("en", whole=True))

    def sentence(self, language: str, *, whole: bool = False) -> str:
        """The message: ``what (where). todo``.

        Args:
            whole: name files with their folders, as a log and a terminal want it; the page shows ``place``.
        """
        what, todo = self.what.text(language), self.todo.text(language)
        where = self.where if whole else self.place
        place = f" ({where})" if where else ""
        if language.lower().startswith("zh"):
            return f"{what.rstrip('。')}{place}。{todo}"
        return f"{what.rstrip('.')}{place}. {todo}".rstrip()

    @property
    def place(self) -> str:
        """``where`` as the page shows it."""
        return self.where

    def record(self) -> dict[str, Any]:
        """JSON for the job record; ``from_record`` is its inverse."""
        return {
            "code": self.code,
            "exit_code": self.exit_code,
            "what": [self.what.en, self.what.zh],
            "todo": [self.todo.en, self.todo.zh],
            "where": self.where,
        }

    @staticmethod
    def from_record(record: dict[str, Any]) -> PipelineError:
        """Rebuild the error of a job that ran in another process; an unknown code reads as ``PipelineError``."""
        kinds = {kind.code: kind for kind in _all_kinds(PipelineError)}
        kind = kinds.get(str(record.get("code")), PipelineError)
        return kind(Message(*record["what"]), Message(*record["todo"]), str(record.get("where", "")))


def _all_kinds(kind: type[PipelineError]) -> list[type[PipelineError]]:
    return [kind, *(found for child in kind.__subclasses__() for found in _all_kinds(child))]


class InputError(PipelineError):
    """Something the user gave cannot be used."""

    code = "input"
    exit_code = 2

    @property
    def place(self) -> str:
        """The file's name alone: an upload lies in a folder of ours that tells the user nothing."""
        path = Path(self.where)
        return path.name if path.is_absolute() else self.where


class OptionError(InputError):
    """An option has a value that makes no sense."""

    code = "option"


class MediaError(InputError):
    """A media file cannot be read or written."""

    code = "media"


class NoSoundTrack(MediaError):
    """The file has no sound track."""

    code = "no-sound"


class NoSpeech(InputError):
    """Nobody speaks in the sound."""

    code = "no-speech"


class NoFace(InputError):
    """No face in any frame."""

    code = "no-face"


class MissingError(PipelineError):
    """Something has to be installed or fetched first."""

    code = "missing"
    exit_code = 3


class EngineMissing(MissingError):
    """An engine is unknown, not installed or not able to run on this machine."""

    code = "engine-missing"


class WeightsMissing(MissingError):
    """Model files are not there."""

    code = "weights-missing"


class TranslatorMissing(MissingError):
    """No translator for this pair of languages and no translation given."""

    code = "translator-missing"


class ResourceError(PipelineError):
    """The machine ran out of something: disk, memory, a device."""

    code = "resource"


class DiskFull(ResourceError):
    """No room left on the disk."""

    code = "disk-full"


class OutOfMemory(ResourceError):
    """The computer or the graphics card ran out of memory."""

    code = "out-of-memory"


class TooManyAtOnce(OutOfMemory):
    """The graphics card ran out of memory in an engine that can compute fewer at once."""

    code = "too-many-at-once"


class WorkerDied(ResourceError):
    """The worker process ended without saying why."""

    code = "worker-died"


class BadOutput(ResourceError):
    """An engine returned something that cannot be right: NaN, silence, a constant."""

    code = "bad-output"


class InternalError(PipelineError):
    """A mistake of ours: the log has the traceback, the user a way to report it."""

    code = "internal"


class Stopped(PipelineError):
    """The user pressed Stop."""

    code = "stopped"
    exit_code = 130

    def __init__(
        self,
        what: Message | None = None,
        todo: Message | None = None,
        where: str = "",
    ) -> None:
        super().__init__(
            what or Message("Stopped", "已停止"),
            todo or Message("What was finished is kept.", "已完成的部分会保留。"),
            where,
        )
