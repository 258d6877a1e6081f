"""A hint whether music plays: tones that stand still for half a second, which a speaking voice hardly ever does.

The voice glides: even in a held vowel its harmonics leave a band of 8 Hz within half a second. Tones that sound almost all
the time are hum, not music.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

RATE = 16_000
WINDOW, HOP = 2048, 1024
LOWEST, HIGHEST = 130.0, 3500.0  # Hz
ABOVE = 12.0  # dB of a peak over the spectrum around it
AROUND = 12  # bins either way that are "around"
HELD = 8  # frames after one another: half a second
TOGETHER = 2  # tones
HUM = 0.85  # share of all frames from which a tone is hum
QUIET = 1e-4  # RMS below which nothing sounds
LIKELY = 0.2  # share of the time with standing tones from which music is likely


def standing_tones(samples: npt.NDArray[np.float32]) -> float:
    """Share of the time, in [0, 1], in which at least two tones stand still; mono at 16 kHz."""
    count = (len(samples) - WINDOW) // HOP + 1
    if count < HELD:
        return 0.0
    places = np.arange(count)[:, None] * HOP + np.arange(WINDOW)
    frames = samples[places] * np.hanning(WINDOW).astype(np.float32)
    level = 20 * np.log10(np.abs(np.fft.rfft(frames)) + 1e-7)
    loud = np.sqrt((frames**2).mean(axis=1)) > QUIET
    peaks = _peaks(level) & loud[:, None]
    steady = peaks.mean(axis=0) > HUM
    near = peaks | np.roll(peaks, 1, axis=1) | np.roll(peaks, -1, axis=1)
    near[:, steady | np.roll(steady, 1) | np.roll(steady, -1)] = False
    held = _held(near)
    # the same tone shows in up to three neighbouring bins: count the runs of bins
    tones = (held & ~np.roll(held, 1, axis=1)).sum(axis=1)
    return float((tones >= TOGETHER).mean())


def _peaks(level: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    from scipy.ndimage import median_filter

    floor = median_filter(level, size=(1, 2 * AROUND + 1), mode="nearest")
    top = (level > np.roll(level, 1, axis=1)) & (level >= np.roll(level, -1, axis=1))
    frequencies = np.fft.rfftfreq(WINDOW, 1 / RATE)
    inside = (frequencies >= LOWEST) & (frequencies <= HIGHEST)
    return np.asarray(top & (level > floor + ABOVE) & inside, np.bool_)


def _held(near: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Where a bin is on for at least ``HELD`` frames after one another."""
    from scipy.ndimage import binary_opening

    return np.asarray(binary_opening(near, structure=np.ones((HELD, 1), bool)), np.bool_)
