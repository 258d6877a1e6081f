"""Fitting dubbed lines into the times of the original: pure functions over seconds, no sound.

A line keeps its start. It is spoken as long as the original line where that sounds natural, then shortened to the
preferred limit, then it borrows from the pause that follows, then it is shortened to the hard limit; what still does
not fit delays the next line, is said in plain words, and is never cut and never laid over a neighbour. A line pressed
against the end of the video moves earlier into the pause before it; the line before that is shortened to the hard limit
before its own start moves; when even that is not enough the plan grows longer than the video (the last picture is then
held).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class FitLimits:
    """How far a line may be bent; factors are asked length divided by natural length.

    Attributes:
        fill: largest factor used only to fill the original line's time (slower speech soon sounds drugged).
        preferred: smallest factor before the following pause is borrowed.
        gap: silence in seconds left between two lines.
    """

    fill: float = 1.15
    preferred: float = 0.8
    gap: float = 0.08


@dataclass(frozen=True, slots=True)
class LineWish:
    """One line to place: the original's times and the lengths in seconds the voice can give it."""

    start: float
    end: float
    natural: float
    shortest: float
    longest: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class LineFit:
    """Where a line is spoken and how fast.

    ``factor`` is ``seconds / natural`` (speed = 1 / factor); ``needed_speed`` is the speed at which the line would
    have fitted its own time, when that is beyond what the voice can do, else None; ``shorten_by`` is then about how
    many words (characters in Chinese, Japanese and Korean) are too many.
    """

    start: float
    seconds: float
    factor: float
    needed_speed: float | None = None
    shorten_by: int = 0

    @property
    def end(self) -> float:
        """When the line has been spoken."""
        return self.start + self.seconds


DEFAULT_LIMITS = FitLimits()


def fit_lines(
    wishes: Sequence[LineWish], duration: float, limits: FitLimits = DEFAULT_LIMITS, begin: float = 0.0
) -> tuple[LineFit, ...]:
    """Place all lines of a dub.

    Args:
        wishes: lines in order of their start.
        duration: when the last line should have been spoken: the length of the video in seconds.
        begin: before this time nothing may be spoken.

    Returns:
        One fit per line, in order, never overlapping; the last one may end after ``duration`` only when the lines
        cannot be spoken within it at all.
    """
    fits: list[LineFit] = []
    free_from = begin
    for number, wish in enumerate(wishes):
        following = wishes[number + 1].start - limits.gap if number + 1 < len(wishes) else duration
        fit = _fit_one(wish, max(wish.start, free_from), following, limits)
        fits.append(fit)
        free_from = fit.end + limits.gap
    return tuple(_pull_back(wishes, fits, begin, duration, limits.gap))


def _fit_one(wish: LineWish, start: float, following: float, limits: FitLimits) -> LineFit:
    """Place one line at ``start`` when the next one wants to begin at ``following``."""
    room = max(following - start, 0.0)
    slot = min(max(wish.end - start, 0.0), room)
    comfortable = min(max(slot, limits.preferred * wish.natural), limits.fill * wish.natural)
    seconds = min(max(min(comfortable, room), wish.shortest), wish.longest)
    fit = LineFit(start, seconds, seconds / wish.natural)
    if seconds <= room + 1e-9 or not wish.natural:
        return fit
    needed = wish.natural / room if room > 0 else math.inf
    return replace(fit, needed_speed=needed, shorten_by=_surplus(wish, room, limits))


def _surplus(wish: LineWish, room: float, limits: FitLimits) -> int:
    """About how many words must go for the line to fit ``room`` at the preferred speed."""
    return max(1, math.ceil(count_words(wish.text) * (1 - room / (limits.preferred * wish.natural))))


def count_words(text: str) -> int:
    """Words of a text; every Chinese, Japanese or Korean character counts as one."""
    return len(_CJK.findall(text)) + len(_CJK.sub(" ", text).split())


def _pull_back(
    wishes: Sequence[LineWish], fits: list[LineFit], begin: float, duration: float, gap: float
) -> list[LineFit]:
    """Move lines that end after the video earlier; a line in their way is shortened before its start moves."""
    latest = duration
    for number in range(len(fits) - 1, -1, -1):
        fit, wish = fits[number], wishes[number]
        if fit.end <= latest + 1e-9:
            break
        seconds = min(max(latest - fit.start, wish.shortest), fit.seconds)
        start = min(max(latest - seconds, begin), fit.start)
        fits[number] = replace(fit, start=start, seconds=seconds, factor=seconds / wish.natural)
        latest = start - gap
    free_from = begin  # what was pressed against the beginning pushes the rest forward again
    for number, fit in enumerate(fits):
        if fit.start < free_from:
            fits[number] = replace(fit, start=free_from)
        free_from = fits[number].end + gap
    return fits
