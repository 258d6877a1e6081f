"""Progress on stderr: one line that renews itself on a terminal, otherwise a plain line every few seconds."""

from __future__ import annotations

import shutil
import time
import unicodedata
from typing import TextIO

from commands.words import clock, language
from pipelines.errors import Message
from pipelines.jobs import JobView
from pipelines.jobs.spec import StageView

PLAIN_EVERY = 5.0  # seconds between lines where nobody looks at a moving one
WAITING = Message("waiting: another job runs on this computer", "等待中:本机正在运行另一个任务")


class Console:
    """Shows running jobs and says sentences between them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._moving = stream.isatty()
        self._said: set[tuple[str, str]] = set()
        self._shown_at = float("-inf")
        self._shown_stage = ""

    def say(self, sentence: str) -> None:
        """A sentence that stays."""
        self._clear()
        self._stream.write(f"{sentence}\n")
        self._stream.flush()

    def show(self, view: JobView, waited: float) -> None:
        """The state of a job; notes it left are said once. ``waited``: seconds since it was asked for."""
        for note in view.notes:
            if (view.id, note.en) not in self._said:
                self._said.add((view.id, note.en))
                self.say(f"{view.title}: {Message(note.en, note.zh).text(language())}")
        if view.ended:
            self._clear()
            return
        stage = view.stages[-1] if view.stages and view.state != "queued" else None
        if stage is None and (view.state != "queued" or waited < 1.0):
            return
        text = WAITING.text(language()) if stage is None else describe(stage)
        self._put(f"{view.title}: {text}", stage.name if stage else "waiting")

    def _put(self, line: str, stage: str) -> None:
        now = time.monotonic()
        if self._moving:
            columns = shutil.get_terminal_size().columns - 1
            self._stream.write(f"\r\x1b[K{clipped(line, columns)}")
        elif stage != self._shown_stage or now - self._shown_at >= PLAIN_EVERY:
            self._stream.write(f"{line}\n")
            self._shown_at = now
        self._shown_stage = stage
        self._stream.flush()

    def _clear(self) -> None:
        if self._moving:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def describe(stage: StageView) -> str:
    """``listen 45 % (13.5 of 30 s) 0:07``."""
    parts = [stage.name]
    unit = f" {stage.unit}" if stage.unit else ""
    if stage.total:
        parts.append(f"{min(100, 100 * stage.done / stage.total):.0f} %")
        parts.append(f"({count(stage.done)} of {count(stage.total)}{unit})")
    elif stage.done:
        parts.append(f"{count(stage.done)}{unit}")
    parts.append(clock(stage.seconds))
    return " ".join(parts)


def count(value: float) -> str:
    """Whole numbers whole, others with one decimal."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.1f}"


def clipped(line: str, columns: int) -> str:
    """The beginning of a line that fits into so many terminal columns (Chinese characters take two)."""
    kept, used = "", 0
    for letter in line:
        used += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if used > columns:
            break
        kept += letter
    return kept
