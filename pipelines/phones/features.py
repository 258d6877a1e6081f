"""Sound as the phone network sees it: log energies in mel bands, a hundred times a second, level taken out."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from pipelines.types import Samples

Floats = npt.NDArray[np.float32]

SR = 16_000  # Hz
HOP, WINDOW, FFT = 160, 400, 512  # samples
BANDS, LOWEST, HIGHEST = 64, 50.0, 7600.0  # Hz
RANGE = 14.0  # natural log of energy below the loudest frames at which everything is silence (60 dB)
QUIETEST = -11.0  # log energy of the loudest frames below which a recording counts as silence
LOUD = 95  # percentile that says how loud speech is
SCALE = 4.0


@cache
def _filters() -> Floats:
    """Triangles evenly spaced in mel (O'Shaughnessy's 2595 log10(1 + f/700)), float32 (BANDS, FFT/2 + 1)."""
    low, high = (2595 * np.log10(1 + f / 700) for f in (LOWEST, HIGHEST))
    edges = 700 * (10 ** (np.linspace(low, high, BANDS + 2) / 2595) - 1)
    bins = np.arange(FFT // 2 + 1) * SR / FFT
    rise = (bins - edges[:-2, None]) / np.diff(edges)[:-1, None]
    fall = (edges[2:, None] - bins) / np.diff(edges)[1:, None]
    return np.asarray(np.maximum(0, np.minimum(rise, fall)), np.float32)


def log_mel(samples: Samples) -> Floats:
    """Levelled log energies, float32 (BANDS, n), frame ``i`` centred on ``(i + 0.5) × 10 ms``, about −3 … 1.

    Args:
        samples: mono at 16 kHz, (m,); n is ``ceil(m / HOP)``.
    """
    count = -(-len(samples) // HOP)
    if not count:
        return np.zeros((BANDS, 0), np.float32)
    before = WINDOW // 2 - HOP // 2
    padded = np.pad(np.asarray(samples, np.float32), (before, WINDOW + HOP))
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP][:count]
    spectrum = np.abs(np.fft.rfft(frames * np.hanning(WINDOW).astype(np.float32), FFT)).astype(np.float32)
    energy = np.log(_filters() @ (spectrum**2).T + 1e-9)
    return levelled(energy)


def levelled(energy: Floats) -> Floats:
    """Log energies relative to how loud the loud frames are, everything far below that being silence."""
    level = max(float(np.percentile(energy.mean(axis=0), LOUD)), QUIETEST)
    return np.asarray(np.maximum(energy - level, -RANGE) / SCALE + 0.5, np.float32)
