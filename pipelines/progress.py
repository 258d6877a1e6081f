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
