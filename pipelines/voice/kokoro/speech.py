"""One line spoken: planned, fitted to its length, tuned to the voice, sounded, and its edges cut."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipelines.types import Phone, Word
from pipelines.voice.kokoro import durations, times
from pipelines.voice.kokoro.graph import SECONDS, SR, Curves, Graph, Plan
from pipelines.voice.kokoro.line import Line
from pipelines.voice.kokoro.timbre import Recolouring, recoloured

Floats = npt.NDArray[np.float32]

LEAD, TAIL = 0.005, 0.010  # silence left before the first and after the last phone
EDGES = LEAD + TAIL
ROWS = (0, 8, -8, 16, -15)  # style rows away from the line's own, by take
VOICED = 30.0  # Hz; the graph writes 5 to 15 where there is no voice
NEAR = 0.02  # seconds that the heard length may be off
FINE = 0.015  # largest correction of length by resampling (a quarter of a semitone)
QUIET = -45.0  # dB below the loudest 5 ms: the edge of what is heard


@dataclass(frozen=True, slots=True)
class Tuning:
    """How a voice differs from the graph's own output.

    pitch: factor on the fundamental frequency; liveliness: factor on its excursions (in log frequency) around the
    line's median; formant: factor on the resonances, got by rendering slower and lower and resampling.
    """

    pitch: float = 1.0
    liveliness: float = 1.0
    formant: float = 1.0


@dataclass(frozen=True, slots=True)
class Draft:
    """A line that has been planned but not sounded; ``seconds`` is its natural length as it will be heard."""

    line: Line
    plan: Plan
    curves: Curves
    tuning: Tuning
    seconds: float
    slack: float


@dataclass(frozen=True, slots=True)
class Spoken:
    """A line's sound at 24 kHz with its times, all on one clock from the first sample."""

    samples: Floats
    phones: tuple[Phone, ...]
    words: tuple[Word, ...]


def median_pitch(curves: Curves) -> float | None:
    """Median of the voiced part in Hz; None for a line without voice."""
    voiced = curves.pitch[curves.pitch > VOICED]
    return float(np.median(voiced)) if len(voiced) else None


def draft(graph: Graph, line: Line, style: Floats, tuning: Tuning, take: int = 0) -> Draft:
    """Plan a line in a voice, float32 (510, 256): about a sixth of the work of speaking it.

    ``take``: 0 takes the style row made for the line's number of phonemes, others one made for longer or shorter lines,
    which gives the same voice another melody and rhythm.
    """
    row = min(max(len(line.symbols) - 1 + ROWS[take % len(ROWS)], 0), len(style) - 1)
    plan = graph.plan(line.symbols, style[row])
    frames = durations.natural(plan.lengths)
    curves = graph.curves(plan, frames)
    start, end = times.span(curves.energy)
    slack = durations.slack(plan.lengths, line.symbols) * SECONDS / tuning.formant
    return Draft(line, plan, curves, tuning, (end - start) / tuning.formant + EDGES, slack)


def _fitted(graph: Graph, draft: Draft, seconds: float, seen: float = 0.0) -> tuple[Floats, Curves]:
    """Frames whose heard length comes closest to ``seconds`` of the graph's time; the curves come with them.

    ``seen``: by how much a sounded attempt was longer than its energy curve had promised.
    """
    start, end = times.span(draft.curves.energy)
    change = round((seconds - seen - (end - start)) / SECONDS)
    tried: list[tuple[float, Floats, Curves]] = []
    for _ in range(5):
        frames = durations.fit(draft.plan.lengths, draft.line.symbols, change)
        curves = graph.curves(draft.plan, frames)
        start, end = times.span(curves.energy)
        error = seconds - seen - (end - start)
        tried.append((abs(error), frames, curves))
        if round(error / SECONDS) == 0:
            break
        change += round(error / SECONDS)
    _, frames, curves = min(tried, key=lambda one: one[0])
    return frames, curves


def tuned(draft: Draft, curves: Curves) -> Curves:
    """The pitch curve moved to the voice; a line made shorter or longer keeps the pitch it would have had."""
    tuning, centre = draft.tuning, median_pitch(draft.curves)
    pitch = curves.pitch
    voiced = pitch > VOICED
    if centre is None or not voiced.any():
        return curves
    relative = np.log(pitch[voiced] / centre) - (_level(curves) - _level(draft.curves))
    moved = pitch.copy()
    moved[voiced] = centre * tuning.pitch / tuning.formant * np.exp(relative * tuning.liveliness)
    return Curves(moved.astype(np.float32), curves.energy)


def _level(curves: Curves) -> float:
    """Log pitch of a line, half way between its mean and its median: steady for lines of two levels as well."""
    voiced = np.log(curves.pitch[curves.pitch > VOICED])
    return float(voiced.mean() + np.median(voiced)) / 2


def heard(samples: Floats) -> tuple[int, int]:
    """First and one past the last sample of what is heard."""
    hop = SR // 200
    count = len(samples) // hop
    power = (samples[: count * hop].reshape(count, hop).astype(np.float64) ** 2).mean(axis=1)
    loud = np.flatnonzero(power > power.max(initial=0.0) * 10 ** (QUIET / 10))
    return (int(loud[0]) * hop, int(loud[-1] + 1) * hop) if len(loud) else (0, len(samples))


def speak(graph: Graph, draft: Draft, seconds: float | None, change: Recolouring | None = None) -> Spoken:
    """Sound a drafted line in exactly ``seconds``, or at its natural pace (None), cut to what is heard.

    ``change``: what is done to the colour before the edges are looked for: it can lift a soft end or lower it.

    The length comes from the frames; what is left below half a frame is a resampling of at most 1.5 %. Where the end of
    the line fades so softly that the energy curve misjudged it, the line is sounded a second time.
    """
    tuning, line = draft.tuning, draft.line
    if seconds is None:
        frames, curves = durations.natural(draft.plan.lengths), draft.curves
        samples, first, last, curves = _sounded(graph, draft, frames, curves, change)
        seconds = (last - first) / SR / tuning.formant + EDGES
    else:
        inner = (seconds - EDGES) * tuning.formant
        frames, curves = _fitted(graph, draft, inner)
        samples, first, last, curves = _sounded(graph, draft, frames, curves, change)
        if abs(inner - (last - first) / SR) > max(FINE * inner, NEAR):
            start, end = times.span(curves.energy)
            frames, curves = _fitted(graph, draft, inner, (last - first) / SR - (end - start))
            samples, first, last, curves = _sounded(graph, draft, frames, curves, change)
    ratio = (seconds - EDGES) * tuning.formant / ((last - first) / SR)
    stretch = float(np.clip(ratio, 1 - FINE, 1 + FINE)) / tuning.formant
    phones = times.phones(line.symbols, frames, curves.energy)
    phones = _on_clock(phones, first / SR, last / SR, stretch)
    cut = _cut(samples, first, last, stretch, seconds)
    return Spoken(cut, phones, times.words(line.words, line.symbols, phones))


def _sounded(
    graph: Graph, draft: Draft, frames: Floats, curves: Curves, change: Recolouring | None
) -> tuple[Floats, int, int, Curves]:
    """Samples, first and one past the last heard one, and the curves as they were tuned."""
    curves = tuned(draft, curves)
    samples = graph.sound(draft.plan, frames, curves)
    if change is not None:
        samples = recoloured(samples, change)
    return (samples, *heard(samples), curves)


def _on_clock(phones: tuple[Phone, ...], first: float, last: float, stretch: float) -> tuple[Phone, ...]:
    """Times of the rendering → times of the cut, resampled piece; the ends are where the sound begins and ends."""
    found = []
    for index, phone in enumerate(phones):
        start = first if index == 0 else min(max(phone.start, first), last)
        end = last if index == len(phones) - 1 else min(max(phone.end, first), last)
        found.append(
            Phone((start - first) * stretch + LEAD, (max(end, start) - first) * stretch + LEAD, phone.symbol)
        )
    return tuple(found)


def _cut(samples: Floats, first: int, last: int, stretch: float, seconds: float) -> Floats:
    """Resample by ``stretch`` and cut to exactly ``seconds``, with short fades so that no edge clicks."""
    import soxr

    before, after = round(LEAD / stretch * SR), round(0.1 * SR)
    padded = np.pad(samples, (before, after))
    piece = padded[first : last + before + after]
    if abs(stretch - 1) > 1e-6:
        piece = soxr.resample(piece.astype(np.float32), SR, SR * stretch, quality="VHQ")
    length = round(seconds * SR)
    piece = np.pad(piece, (0, max(0, length - len(piece))))[:length].astype(np.float32)
    fade = round(LEAD * SR)
    piece[:fade] *= 0.5 - 0.5 * np.cos(np.pi * np.arange(fade) / fade, dtype=np.float32)
    fade = round(TAIL * SR)
    piece[len(piece) - fade :] *= 0.5 + 0.5 * np.cos(np.pi * np.arange(fade) / fade, dtype=np.float32)
    return piece
