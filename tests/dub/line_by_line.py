"""The plan that takes one line after the other: what the plan of all lines together must never be worse than."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pipelines.timing import DEFAULT_LIMITS, FitLimits, LineFit, LineWish


def fit_line_by_line(
    wishes: Sequence[LineWish], duration: float, limits: FitLimits = DEFAULT_LIMITS, begin: float = 0.0
) -> tuple[LineFit, ...]:
    """Place the lines one after the other, as ``pipelines.timing.fit_lines`` has them."""
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
    return LineFit(start, seconds, seconds / wish.natural)


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
