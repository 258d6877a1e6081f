"""One way to report progress, to be told to stop, and to leave a note for the job's report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, Protocol, TypeVar

from pipelines.errors import Message

T = TypeVar("T")
NoteLevel = Literal["hint", "warning"]


class Report(Protocol):
    """What every long-running function is given.

    ``step`` is called at least twice a second of work and raises ``pipelines.errors.Stopped`` once the user has
    asked to stop, so that a loop ends where it stands and its ``finally`` blocks run.
    """

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        """Say that ``done`` of ``total`` ``unit`` (``frames``, ``lines``, ``s``…) of ``stage`` are finished."""

    def note(self, message: Message, level: NoteLevel = "hint") -> None:
        """Leave a sentence for the user in the job's report."""


class NullReport:
    """Reports to nobody and never stops: for library use and tests."""

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        """Do nothing."""

    def note(self, message: Message, level: NoteLevel = "hint") -> None:
        """Do nothing."""


def tracked(
    items: Iterable[T], report: Report, stage: str, total: float | None = None, unit: str = ""
) -> Iterator[T]:
    """Pass ``items`` through, reporting before the first and after each: the loop that shows and can be stopped."""
    report.step(stage, 0, total, unit)
    for done, item in enumerate(items, start=1):
        yield item
        report.step(stage, done, total, unit)


class StagePart:
    """Shows inner work as a stretch of one stage: whatever the inner stage names are, the bar moves steadily on.

    ``first`` and ``last`` are the stretch in units of ``total``; inner progress without a total stays at ``first``.
    """

    def __init__(
        self, report: Report, stage: str, first: float, last: float, total: float, unit: str = ""
    ) -> None:
        self._report, self._stage, self._unit = report, stage, unit
        self._first, self._last, self._total = first, last, total
        self._reached = first

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        """Report the inner fraction as a place between ``first`` and ``last``."""
        share = min(done / total, 1.0) if total else 0.0
        place = self._first + share * (self._last - self._first)
        self._reached = max(
            self._reached, place
        )  # inner work may take several passes; the bar never goes back
        self._report.step(self._stage, round(self._reached), self._total, self._unit)

    def note(self, message: Message, level: NoteLevel = "hint") -> None:
        """Pass the note on."""
        self._report.note(message, level)


class PartOf:
    """Shows inner work with its own counts under the name of the stage it belongs to."""

    def __init__(self, report: Report, stage: str) -> None:
        self._report, self._stage = report, stage

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        """Report, under the other name."""
        self._report.step(self._stage, done, total, unit)

    def note(self, message: Message, level: NoteLevel = "hint") -> None:
        """Pass the note on."""
        self._report.note(message, level)


class OneStage:
    """Shows inner work as one stage: steps of ``stage`` pass, those of other names only keep the bar where it is."""

    def __init__(self, report: Report, stage: str) -> None:
        self._report, self._stage = report, stage
        self._done: float = 0
        self._total: float | None = None
        self._unit = ""

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        """Report, under the one name."""
        if stage == self._stage:
            self._done, self._total, self._unit = done, total, unit
        self._report.step(self._stage, self._done, self._total, self._unit)

    def note(self, message: Message, level: NoteLevel = "hint") -> None:
        """Pass the note on."""
        self._report.note(message, level)
