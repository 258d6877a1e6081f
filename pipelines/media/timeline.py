"""Frame times to a constant rate: which rate a video has, and how many frames it is at that rate.

A video whose frame times all lie within 0.4 frame of one constant rate has that rate and keeps every frame exactly
once, whatever its header says and however coarsely its times are rounded. Everything else is variable-rate and gets a
standard rate near its usual frame distance, so that no frame of its fluent parts is lost; pauses repeat frames.

One rule places frames for the counting and for the reader: frame ``k`` belongs to slot ``round((t_k - phase) * fps)``,
a slot without a frame shows the latest one before it, and the last frame stays for its own duration.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.float64]  # (n,) seconds, ascending

STANDARD_RATES: tuple[Fraction, ...] = (
    *(Fraction(rate) for rate in (5, 6, 8, 10, 12)),
    Fraction(25, 2),
    Fraction(15),
    Fraction(20),
    Fraction(24000, 1001),
    Fraction(24),
    Fraction(25),
    Fraction(30000, 1001),
    Fraction(30),
    Fraction(48),
    Fraction(50),
    Fraction(60000, 1001),
    *(Fraction(rate) for rate in (60, 90, 100)),
    Fraction(120000, 1001),
    *(Fraction(rate) for rate in (120, 240)),
)
STILL_RATE = Fraction(25)
CONSTANT_WITHIN = 0.4  # frames off the grid at most
SNAP_WITHIN = 0.05  # a variable rate this near (relative) to a standard rate becomes it
MAX_VARIABLE_RATE = Fraction(60)


@dataclass(frozen=True, slots=True)
class Timeline:
    """The constant-rate reading of a list of frame times."""

    fps: Fraction
    frames: int
    phase: float
    vfr: bool


def timeline(times: Times, last_duration: float | None, declared: Iterable[Fraction]) -> Timeline:
    """Find the rate of a video from its frame times and count its frames at that rate.

    Args:
        times: presentation times in seconds on the file's clock, ascending, at least one.
        last_duration: how long the last frame is shown, when the container says so.
        declared: rates the container names; believed only if the times agree.
    """
    candidates = [rate for rate in (*STANDARD_RATES, *declared) if 1 <= rate <= 1000]
    constant = _constant_rate(times, candidates)
    fps = constant or _variable_rate(times)
    phase = _phase(times, fps)
    return Timeline(fps, _count(times, last_duration, fps, phase), phase, constant is None)


def _constant_rate(times: Times, candidates: list[Fraction]) -> Fraction | None:
    """The rate on whose grid all frames lie, or None; of two that fit, a known rate before a measured one."""
    if len(times) < 2:
        return candidates[-1] if len(candidates) > len(STANDARD_RATES) else STILL_RATE
    span = float(times[-1] - times[0])
    if span <= 0:
        return None
    measured = Fraction((len(times) - 1) / span).limit_denominator(1001)
    best = min(candidates, key=lambda rate: _spread(times, rate))
    if _spread(times, best) <= CONSTANT_WITHIN:
        return best
    if measured >= 1 and _spread(times, measured) <= CONSTANT_WITHIN:
        return measured
    return None


def _spread(times: Times, rate: Fraction) -> float:
    """Largest distance, in frames, of the times from the best-placed grid of that rate with one frame per slot."""
    off = times * float(rate) - np.arange(len(times))
    return float(off.max() - off.min()) / 2


def _variable_rate(times: Times) -> Fraction:
    """A standard rate near the usual frame distance of the fluent parts, never below the average rate."""
    gaps = np.diff(times)
    gaps = gaps[gaps > 1e-4]
    if not len(gaps):
        return STILL_RATE
    average = (len(times) - 1) / max(float(times[-1] - times[0]), 1e-3)
    rate = max(1 / float(np.percentile(gaps, 25)), average)
    rate = min(rate, max(float(MAX_VARIABLE_RATE), average), 240.0)
    nearest = min(STANDARD_RATES, key=lambda standard: abs(float(standard) - rate))
    if abs(float(nearest) - rate) <= SNAP_WITHIN * rate:
        return nearest
    return max(Fraction(rate).limit_denominator(100), Fraction(1))


def _phase(times: Times, fps: Fraction) -> float:
    """Where the frames lie between the grid's slots, in seconds: the circular mean of their offsets."""
    angles = 2 * np.pi * ((times * float(fps)) % 1.0)
    mean = np.arctan2(np.sin(angles).mean(), np.cos(angles).mean()) / (2 * np.pi)
    return float(mean) / float(fps)


def slot(time: float, fps: Fraction, phase: float) -> int:
    """The slot a frame shown from ``time`` belongs to."""
    return int(np.floor((time - phase) * float(fps) + 0.5))


def _count(times: Times, last_duration: float | None, fps: Fraction, phase: float) -> int:
    last = slot(float(times[-1]), fps, phase)
    until = slot(float(times[-1]) + (last_duration or 0.0), fps, phase)
    return max(last + 1, until, 1)
