"""From phones to what the mouth should do: opening, width and lip tuck over time, in units of the speaker's own range.

Coarticulation follows the dominance idea of Cohen & Massaro (Modeling Coarticulation in Synthetic Visual Speech, 1993):
every phone pulls the lips towards its target with a strength that falls off exponentially before and after it; vowels
pull the opening hard, tongue consonants hardly at all, and p, b, m shut the lips whatever stands beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pipelines.types import Phone

Curve = npt.NDArray[np.float32]

RATE = 200  # Hz of the internal curves
LEAD = 0.03  # s by which lips are ahead of the sound
PAUSE = 0.16  # s without a phone from which on the mouth shuts
SHUT_EASE = 0.10  # s the lips take to shut before, and to open after, a pause
CLOSURE = 0.08  # s for which p, b, m hold the lips together at least
MARKS = "ˈˌːˑ̃ʰʲ̩̯͡↓→↗↘ˉˊˇˋ'"


@dataclass(frozen=True, slots=True)
class Gesture:
    """The lips' part of one phone.

    Attributes:
        opening: 0 shut … 1 the speaker's widest.
        width: −1 rounded … 0 rest … +1 spread.
        hold: how firmly the opening is asked for (0 leaves it to the neighbours, 1 insists).
        shape: the same for the width.
        shut: lips must touch (p, b, m).
        tuck: lower lip against the upper teeth, 0…1 (f, v).
    """

    opening: float
    width: float
    hold: float
    shape: float
    shut: bool = False
    tuck: float = 0.0


def _table() -> dict[str, Gesture]:
    rows: tuple[tuple[str, Gesture], ...] = (
        ("ɑaɐɶ", Gesture(1.0, 0.05, 1.0, 0.5)),
        ("æ", Gesture(0.95, 0.40, 1.0, 0.6)),
        ("ʌɜ", Gesture(0.70, 0.05, 0.9, 0.4)),
        ("ɒɔ", Gesture(0.80, -0.55, 1.0, 0.8)),
        ("o", Gesture(0.60, -0.75, 0.9, 0.9)),
        ("ɛe", Gesture(0.60, 0.40, 0.9, 0.7)),
        ("əᵊɘɚɝɤᵻ", Gesture(0.40, 0.05, 0.5, 0.3)),
        ("ɪɨ", Gesture(0.38, 0.40, 0.7, 0.6)),
        ("i", Gesture(0.30, 0.80, 0.9, 0.9)),
        ("yɥøœ", Gesture(0.28, -0.80, 0.8, 1.0)),
        ("uʊɯ", Gesture(0.24, -0.95, 0.8, 1.0)),
        ("wʍᵝɰ", Gesture(0.14, -1.0, 0.8, 1.0)),
        ("pbm", Gesture(0.0, 0.0, 1.0, 0.15, shut=True)),
        ("ɱfv", Gesture(0.10, 0.10, 1.0, 0.4, tuck=1.0)),
        ("ɸβʋ", Gesture(0.12, -0.15, 0.8, 0.4, tuck=0.3)),
        ("θð", Gesture(0.28, 0.15, 0.6, 0.3)),
        ("tdnlɾɫɬɭɖʈɳɽ", Gesture(0.30, 0.15, 0.35, 0.15)),
        ("szʣʦ", Gesture(0.18, 0.35, 0.65, 0.4)),
        ("ʃʒʧʤ", Gesture(0.26, -0.55, 0.7, 0.7)),
        ("ʂꭧɻʐ", Gesture(0.24, -0.40, 0.65, 0.6)),
        ("ɕʑʥʨ", Gesture(0.20, 0.45, 0.65, 0.5)),
        ("ɹ", Gesture(0.28, -0.45, 0.5, 0.5)),
        ("rʀ", Gesture(0.32, 0.0, 0.4, 0.2)),
        ("kɡgqxɣχʁhħɦʔŋɴcɟ", Gesture(0.35, 0.05, 0.2, 0.08)),
        ("jʎɲʝç", Gesture(0.26, 0.50, 0.5, 0.5)),
    )
    return {symbol: gesture for symbols, gesture in rows for symbol in symbols}


GESTURES = _table()
# Kokoro writes English diphthongs and affricates with single letters; both ends are gestures of their own.
DIPHTHONGS: dict[str, tuple[str, str]] = {
    "A": ("e", "ɪ"), "I": ("a", "ɪ"), "O": ("o", "ʊ"), "Q": ("ə", "ʊ"), "W": ("a", "ʊ"), "Y": ("ɔ", "ɪ"),
}  # fmt: skip
# The two of Kokoro's capitals that are not diphthongs: light schwa and flap.
ALIASES = {"S": "ᵊ", "T": "ɾ"}
UNKNOWN = Gesture(0.30, 0.05, 0.2, 0.1)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A gesture with its time in seconds."""

    start: float
    end: float
    gesture: Gesture


@dataclass(frozen=True, slots=True)
class Targets:
    """What the lips should do in every output frame.

    Attributes:
        opening: (n,) 0…1. width: (n,) −1…1. tuck: (n,) 0…1.
        shut: (n,) bool, frames in which the lips must touch: p, b, m and pauses.
        silent: (n,) bool, frames well inside a pause.
    """

    opening: Curve
    width: Curve
    tuck: Curve
    shut: npt.NDArray[np.bool_]
    silent: npt.NDArray[np.bool_]


def gestures(symbol: str) -> tuple[Gesture, ...]:
    """The gestures of one phone as written by Kokoro's grapheme-to-phoneme parts; length and tone marks are ignored."""
    letters = [ALIASES.get(letter, letter) for letter in symbol if letter not in MARKS]
    parts = [part for letter in letters for part in DIPHTHONGS.get(letter, (letter,))]
    return tuple(GESTURES.get(part, UNKNOWN) for part in parts if part.strip() and part.isalpha())


def stretches(phones: Sequence[Phone], shift: float = 0.0) -> list[Stretch]:
    """Gestures on the clock of the output, moved by ``shift`` seconds."""
    result: list[Stretch] = []
    for phone in phones:
        parts = gestures(phone.symbol)
        length = max(phone.end - phone.start, 0.01)
        for index, gesture in enumerate(parts):
            start = phone.start + shift + length * index / len(parts)
            result.append(Stretch(start, start + length / len(parts), gesture))
    return sorted(result, key=lambda stretch: stretch.start)


def is_shut(phone: Phone) -> bool:
    """Whether a phone asks for touching lips (p, b, m)."""
    parts = gestures(phone.symbol)
    return any(part.shut for part in parts)


def targets(phones: Sequence[Phone], frames: int, fps: Fraction, offset: float = 0.0) -> Targets:
    """The targets of ``frames`` output frames.

    Args:
        phones: all phones of the sound track, on the output's clock.
        offset: seconds by which the mouth is moved against the sound (positive: later).
    """
    parts = stretches(phones, offset - LEAD)
    total = frames / float(fps)
    grid = int(np.ceil(total * RATE)) + 1
    opening, width, tuck = _dominance(parts, grid)
    depth = _pause_depth(parts, grid)
    ease = np.clip(depth / SHUT_EASE, 0, 1)
    speaking = 1 - ease * ease * (3 - 2 * ease)
    opening, width, tuck = opening * speaking, width * speaking, tuck * speaking
    opening *= 1 - _closures(parts, grid, fps)
    return _sampled(opening, width, tuck, depth, parts, frames, fps)


def _dominance(parts: Sequence[Stretch], grid: int) -> tuple[Curve, Curve, Curve]:
    """Cohen-Massaro blending of all gestures on the internal grid."""
    reach = int(0.25 * RATE)
    sums = np.zeros((3, grid), np.float32)
    weights = np.full((3, grid), 1e-4, np.float32)
    for part in parts:
        first, last = part.start * RATE, part.end * RATE
        low, high = max(int(first) - reach, 0), min(int(last) + reach, grid)
        if high <= low:
            continue
        time = np.arange(low, high, dtype=np.float32)
        away = np.maximum(np.maximum(first - time, time - last), 0) / RATE
        gesture = part.gesture
        firm = (gesture.hold, gesture.shape, max(gesture.hold, 0.3))
        # Consonants act briefly on the opening; rounding begins early (anticipation over a syllable).
        fall = np.stack([np.exp(-away / 0.030), np.exp(-away / 0.055), np.exp(-away / 0.025)])
        pull = fall * np.array(firm, np.float32)[:, None]
        weights[:, low:high] += pull
        sums[:, low:high] += (
            pull * np.array([gesture.opening, gesture.width, gesture.tuck], np.float32)[:, None]
        )
    opening, width, tuck = sums / weights
    return _smoothed(opening, 0.018), _smoothed(width, 0.030), _smoothed(tuck, 0.012)


def _pause_depth(parts: Sequence[Stretch], grid: int) -> Curve:
    """Seconds from here to the nearest speech, 0 in speech and in gaps shorter than PAUSE; the file's ends are pauses."""
    time = np.arange(grid, dtype=np.float32) / RATE
    depth = np.zeros(grid, np.float32)
    end = -10.0
    for start, stop in [*((part.start, part.end) for part in parts), (grid / RATE + 10.0, 0.0)]:
        if start - end >= PAUSE:
            low, high = max(int(np.ceil(end * RATE)), 0), min(max(int(start * RATE), 0), grid)
            depth[low:high] = np.minimum(time[low:high] - end, start - time[low:high])
        end = max(end, stop)
    return depth


def _closure(part: Stretch, fps: Fraction) -> tuple[float, float]:
    """When the lips touch for a p, b or m: at least CLOSURE seconds and a little more than one frame."""
    spare = max(max(CLOSURE, 1.05 / float(fps)) - (part.end - part.start), 0) / 2
    return part.start - spare, part.end + spare


def _closures(parts: Sequence[Stretch], grid: int, fps: Fraction) -> Curve:
    """1 where p, b, m hold the lips shut, with short ramps; as long as one frame at least, so that a frame shows it."""
    shut = np.zeros(grid, np.float32)
    for part in parts:
        if part.gesture.shut:
            start, end = _closure(part, fps)
            shut[max(int(start * RATE), 0) : max(int(np.ceil(end * RATE)), 0)] = 1
    ramp = _smoothed(shut, 0.012) * 1.6
    return np.maximum(np.clip(ramp, 0, 1), shut)


def _sampled(
    opening: Curve,
    width: Curve,
    tuck: Curve,
    depth: Curve,
    parts: Sequence[Stretch],
    frames: int,
    fps: Fraction,
) -> Targets:
    centre = (np.arange(frames) + 0.5) / float(fps)
    index = np.clip(np.round(centre * RATE).astype(int), 0, len(opening) - 1)
    shut = np.zeros(frames, np.bool_)
    for part in parts:
        if part.gesture.shut:
            start, end = _closure(part, fps)
            shut |= (centre >= start) & (centre <= end)
    silent = depth[index] >= SHUT_EASE
    shut |= silent
    sampled = np.where(shut, 0, opening[index]).astype(np.float32)
    return Targets(sampled, width[index].astype(np.float32), tuck[index].astype(np.float32), shut, silent)


def _smoothed(curve: Curve, sigma: float) -> Curve:
    """Gaussian smoothing, ``sigma`` in seconds; the ends are held."""
    radius = max(int(3 * sigma * RATE), 1)
    kernel = np.exp(-0.5 * (np.arange(-radius, radius + 1) / (sigma * RATE)) ** 2)
    padded = np.pad(curve, radius, mode="edge")
    smooth: Curve = np.convolve(padded, kernel / kernel.sum(), "valid").astype(np.float32)
    return smooth
