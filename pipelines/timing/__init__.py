"""Fitting dubbed lines into the times of the original: pure functions over seconds, no sound.

All lines of a stretch are placed together (``placing``): the plan is the one of least cost (``costs``) among all that
keep the lines' order, lay no line over another of the same speaker, and bend no voice beyond what it can do. A line is
never cut: what cannot be spoken within the time delays its neighbours, runs past the end, and is said (``tight``).
"""

from pipelines.timing.costs import total_cost
from pipelines.timing.lines import DEFAULT_LIMITS, FitLimits, Held, LineFit, LineWish, Stretch
from pipelines.timing.placing import fit_lines, fit_stretches
from pipelines.timing.tight import count_words

__all__ = [
    "DEFAULT_LIMITS",
    "FitLimits",
    "Held",
    "LineFit",
    "LineWish",
    "Stretch",
    "count_words",
    "fit_lines",
    "fit_stretches",
    "total_cost",
]
