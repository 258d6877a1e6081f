"""Progress from inside the worker: into ``progress.json``, at most a few times a second, and the way Stop comes in."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import asdict, dataclass

from pipelines.errors import Message, Stopped
from pipelines.jobs.folder import JobFolder, read_state, replace_state
from pipelines.progress import NoteLevel

WRITE_EVERY = 0.2  # seconds
LOOK_EVERY = 0.05  # seconds


@dataclass(slots=True)
class Stage:
    """A stage's counts and the wall time spent in it."""

    name: str
    done: float = 0
    total: float | None = None
    unit: str = ""
    seconds: float = 0.0


def keep_notes(folder: JobFolder) -> None:
    """Leave of an earlier attempt its notes alone: the stages they are about may be finished, and are not run again."""
    notes = read_state(folder.progress).get("notes")
    folder.progress.unlink(missing_ok=True)
    if notes:
        replace_state(folder.progress, {"at": time.time(), "current": "", "stages": [], "notes": notes})


class FolderReport:
    """A ``Report`` that writes into the job folder. Several threads may call it.

    Wall time since the last report belongs to the stage that reports now, or, when that stage only begins, to the one
    before it: so stages that run side by side share the time between them and the sum is the time that passed.
    """

    def __init__(self, folder: JobFolder) -> None:
        self._folder = folder
        self._guard = (
            threading.RLock()
        )  # Stopped may come out of a signal handler while a report is being made
        self._stages: dict[str, Stage] = {}
        earlier: list[dict[str, str]] = read_state(folder.progress).get("notes", [])
        self._notes = {(note["level"], note["en"]): note for note in earlier}
        self._current = ""
        self._clock = time.monotonic()
        self._written = self._looked = float("-inf")
        self.stopping = False

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        """Record progress.

        Raises:
            Stopped: the user asked to stop.
        """
        with self._guard:
            now = time.monotonic()
            self._look(now)
            begins = stage not in self._stages
            entry = self._stages.setdefault(stage, Stage(stage))
            self._spend(now, self._current if begins else stage)
            entry.done, entry.total, entry.unit = done, total, unit or entry.unit
            self._current = stage
            if begins or done == total or now - self._written >= WRITE_EVERY:
                self._write(now)

    def note(self, message: Message, level: NoteLevel = "hint") -> None:
        """Leave a sentence for the user; saying it twice leaves it once."""
        with self._guard:
            self._notes[(level, message.en)] = {"level": level, "en": message.en, "zh": message.zh}
            self._write(time.monotonic())

    def close(self) -> None:
        """Write the last state."""
        with self._guard:
            now = time.monotonic()
            self._spend(now, self._current)
            self._write(now)

    def _look(self, now: float) -> None:
        if now - self._looked >= LOOK_EVERY:
            self._looked = now
            self.stopping = self.stopping or self._folder.stop.exists()
        if self.stopping:
            raise Stopped

    def _spend(self, now: float, stage: str) -> None:
        if stage in self._stages:
            self._stages[stage].seconds += now - self._clock
        self._clock = now

    def _write(self, now: float) -> None:
        self._written = now
        value = {
            "at": time.time(),
            "current": self._current,
            "stages": [asdict(stage) for stage in self._stages.values()],
            "notes": list(self._notes.values()),
        }
        with contextlib.suppress(OSError):  # full disk or folder gone: the work itself meets it and says so
            replace_state(self._folder.progress, value)
