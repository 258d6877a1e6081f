"""Which lines are too long for their time, and by about how many words."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from pipelines.timing.costs import start_of
from pipelines.timing.lines import FitLimits, LineFit, LineWish, Stretch

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
CLOSE = 1e-4  # seconds


def count_words(text: str) -> int:
    """Words of a text; every Chinese, Japanese or Korean character counts as one."""
    return len(_CJK.findall(text)) + len(_CJK.sub(" ", text).split())


def name_tight(stretch: Stretch, fits: Sequence[LineFit], limits: FitLimits) -> tuple[LineFit, ...]:
    """The fits, those too long for their time with the speed they need and the words too many.

    Where lines stand wall to wall and one of them leaves its original's start (off the screen: by more than
    ``limits.shift``), or the last ends too late, the lines to blame are those that are spoken for longer than from
    their own start to the next one's.
    """
    named, wishes, begin = list(fits), stretch.wishes, stretch.begin
    for first, last in _runs(wishes, fits, limits):
        places = range(first, last + 1)
        left = any(_left(wishes[number], fits[number], limits, begin) for number in places)
        if not left and fits[last].end <= stretch.until + CLOSE:
            continue
        for number in places:
            following = wishes[number + 1].start - limits.gap if number + 1 < len(wishes) else stretch.until
            room = max(following - start_of(wishes[number], begin), 0.0)
            if fits[number].seconds > room + CLOSE:
                named[number] = _named(wishes[number], fits[number], room, limits)
    return tuple(named)


def _left(wish: LineWish, fit: LineFit, limits: FitLimits, begin: float) -> bool:
    """Whether a line begins farther from its original than nobody would mind."""
    allowed = 0.0 if wish.on_screen else limits.shift
    return abs(fit.start - start_of(wish, begin)) > allowed + CLOSE


def _runs(wishes: Sequence[LineWish], fits: Sequence[LineFit], limits: FitLimits) -> list[tuple[int, int]]:
    """First and last line of every stretch of lines with no more than the gap between them."""
    runs = [[0, 0]] if fits else []
    for number in range(1, len(fits)):
        if fits[number].start - fits[number - 1].end <= limits.gap + CLOSE:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return [(first, last) for first, last in runs]


def _named(wish: LineWish, fit: LineFit, room: float, limits: FitLimits) -> LineFit:
    needed = wish.natural / room if room > 0 else math.inf
    surplus = count_words(wish.text) * (1 - room / (limits.preferred * wish.natural))
    return replace(fit, needed_speed=needed, shorten_by=max(1, math.ceil(surplus)))
