"""A look-ahead true-peak limiter: no sample, and no peak between samples, above the ceiling.

True peak is measured as in ITU-R BS.1770-5, annex 2, by oversampling (to 192 kHz). The gain that each peak asks for is
held for the look-ahead on both sides and then smoothed over the same length, so it never changes faster than that and
is never above what any peak allows. It works on whole sounds and on streams with the same result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
from scipy.ndimage import minimum_filter1d, uniform_filter1d
from scipy.signal import firwin

from pipelines.types import Samples

FINE_RATE = 192_000  # Hz: four times 48 kHz, and as fine for lower rates
HALF_TAPS = 24  # input samples on each side of the interpolation filter
HOLD_SECONDS = 0.005
MARGIN_DB = 0.1  # kept below the ceiling: for 16-bit rounding and other meters' filters
MIN_OVERSAMPLING = 2


def _interpolators(sr: int) -> list[Samples]:
    """One filter for each point between two samples."""
    factor = max(-(-FINE_RATE // sr), MIN_OVERSAMPLING)
    taps = firwin(2 * HALF_TAPS * factor + 1, 1 / factor, window=("kaiser", 9.0)) * factor
    return [np.asarray(taps[phase::factor], np.float32) for phase in range(1, factor)]


def true_peaks(samples: Samples, sr: int, above: float = 0.0) -> Samples:
    """Largest magnitude of the waveform around each sample, between samples included: float32 (n,), linear.

    Stretches in which no true peak can reach ``above`` are not looked at closely: the samples' own magnitude is given.
    """
    columns = samples if samples.ndim == 2 else samples[:, None]
    peaks = np.zeros(len(columns), np.float32)
    for column in columns.T:
        np.maximum(peaks, np.abs(column), out=peaks)
    filters = _interpolators(sr)
    worst = max(float(np.abs(taps).sum()) for taps in filters)
    for first, last in _stretches(peaks > above / worst):
        begin, end = max(first - HALF_TAPS, 0), min(last + HALF_TAPS, len(columns))
        after = np.zeros(last - first, np.float32)  # the highest point from each sample up to the next
        for column in columns.T:
            near = np.ascontiguousarray(column[begin:end])
            for taps in filters:
                between = np.convolve(near, taps)[HALF_TAPS + first - begin :][: last - first]
                np.maximum(after, np.abs(between), out=after)
        np.maximum(peaks[first:last], after, out=peaks[first:last])
        np.maximum(peaks[first + 1 : last], after[:-1], out=peaks[first + 1 : last])
    return peaks


def _stretches(loud: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Ranges [first, last) that hold all loud samples and what their filter reaches; near ones are joined."""
    places = np.flatnonzero(loud)
    if not len(places):
        return []
    breaks = np.flatnonzero(np.diff(places) > 8 * HALF_TAPS)
    firsts = np.concatenate([places[:1], places[breaks + 1]]) - HALF_TAPS - 1
    lasts = np.concatenate([places[breaks], places[-1:]]) + HALF_TAPS + 2
    return [
        (max(int(first), 0), min(int(last), len(loud))) for first, last in zip(firsts, lasts, strict=True)
    ]


def true_peak_db(samples: Samples, sr: int) -> float:
    """True peak in dBTP; −inf for silence."""
    peak = float(true_peaks(samples, sr).max()) if len(samples) else 0.0
    return 20 * float(np.log10(peak)) if peak > 0 else -np.inf


def limiter_gain(samples: Samples, sr: int, ceiling_db: float) -> npt.NDArray[np.float32]:
    """The gain (n,) that keeps true peaks below the ceiling; each value depends on ``reach(sr)`` samples around it."""
    ceiling = 10 ** ((ceiling_db - MARGIN_DB) / 20)
    wanted = np.minimum(1.0, ceiling / np.maximum(true_peaks(samples, sr, ceiling), 1e-9)).astype(np.float64)
    width = 2 * round(HOLD_SECONDS * sr) + 1
    held = minimum_filter1d(wanted, 2 * width - 1, mode="nearest")
    # Twice a moving average of half the length: a triangle, smooth at both ends, within the held stretch.
    smooth = uniform_filter1d(uniform_filter1d(held, width, mode="nearest"), width, mode="nearest")
    return np.minimum(smooth, wanted).astype(np.float32)


def reach(sr: int) -> int:
    """How many samples on each side a value of the gain depends on."""
    return 4 * round(HOLD_SECONDS * sr) + 2 * HALF_TAPS + 4


def limit(samples: Samples, sr: int, ceiling_db: float) -> Samples:
    """The sound with its true peak at or below ``ceiling_db`` dBTP; untouched where it is quieter."""
    gain = limiter_gain(samples, sr, ceiling_db)
    return np.asarray(samples * (gain if samples.ndim == 1 else gain[:, None]), np.float32)


def limit_blocks(blocks: Iterable[Samples], sr: int, ceiling_db: float) -> Iterator[Samples]:
    """``limit`` for a stream: the same samples, in blocks, with a short delay and constant memory."""
    side = reach(sr)
    kept: Samples | None = None  # already given out up to ``done``, still needed as surroundings
    done = 0
    for block in blocks:
        kept = block if kept is None else np.concatenate([kept, block])
        ready = len(kept) - side
        if ready > done:
            yield limit(kept, sr, ceiling_db)[done:ready]
            drop = max(ready - side, 0)
            kept, done = kept[drop:], ready - drop
    if kept is not None and len(kept) > done:
        yield limit(kept, sr, ceiling_db)[done:]
