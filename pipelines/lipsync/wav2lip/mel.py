"""The sound as Wav2Lip was trained on it: 80 columns of 80 mel bands a second, in [−4, 4], of a sound of any length.

16 kHz mono; pre-emphasis 0.97; magnitudes of a centred short-time Fourier transform (Hann, 800 samples every 200, the
ends mirrored as librosa 0.7 did); Slaney's mel bands of equal area from 55 to 7600 Hz; decibels, −20, with −100 dB as
floor, laid linearly on [−4, 4].
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from librosa.filters import mel as mel_filters
from scipy.signal import get_window, lfilter

from pipelines.lipsync.geometry import F32
from pipelines.types import Samples

RATE = 16_000  # Hz
HOP, WINDOW = 200, 800  # samples
PER_SECOND = RATE // HOP
BANDS, LOWEST, HIGHEST = 80, 55.0, 7600.0  # Hz
EMPHASIS = 0.97
QUIETEST, REFERENCE, RANGE = 1e-5, 20.0, 100.0  # amplitude, dB, dB
LIMIT = 4.0
FLOOR = -LIMIT  # what silence is
BLOCK = 2048  # columns at once


def mel_of_blocks(blocks: Iterable[Samples], folder: Path) -> F32:
    """Columns of a sound that comes in blocks (n,); float32 (1 + samples // 200, 80), memory-mapped from ``folder``.

    A sound shorter than half a window has no columns.
    """
    sound = _emphasised(blocks, folder / "sound.f32")
    columns = 1 + len(sound) // HOP if len(sound) > WINDOW // 2 else 0
    if not columns:
        return np.zeros((0, BANDS), np.float32)
    path = folder / "mel.f32"
    mel = np.memmap(path, np.float32, "w+", shape=(columns, BANDS))
    for first in range(0, columns, BLOCK):
        last = min(first + BLOCK, columns)
        mel[first:last] = _columns(sound, first, last)
    mel.flush()
    return np.memmap(path, np.float32, "r", shape=(columns, BANDS))


def _emphasised(blocks: Iterable[Samples], path: Path) -> F32:
    """y[n] = x[n] − 0.97 x[n − 1] of the whole sound, in a file."""
    state = np.zeros(1)
    count = 0
    with path.open("wb") as file:
        for block in filter(len, blocks):
            filtered, state = lfilter([1.0, -EMPHASIS], [1.0], block, zi=state)
            file.write(np.asarray(filtered, np.float32).tobytes())
            count += len(block)
    return np.memmap(path, np.float32, "r", shape=(count,)) if count else np.zeros(0, np.float32)


def _columns(sound: F32, first: int, last: int) -> F32:
    """Columns [first, last)."""
    start, stop = first * HOP - WINDOW // 2, (last - 1) * HOP + WINDOW // 2
    place = np.abs(np.arange(start, stop))
    end = len(sound) - 1
    piece = np.asarray(sound[np.where(place > end, 2 * end - place, place)], np.float32)
    views = np.lib.stride_tricks.sliding_window_view(piece, WINDOW)[::HOP]
    magnitude = np.abs(np.fft.rfft(views * _window(), axis=1)).astype(np.float32)
    decibels = 20 * np.log10(np.maximum(magnitude @ _filters().T, QUIETEST)) - REFERENCE
    return np.asarray(np.clip(2 * LIMIT * (decibels + RANGE) / RANGE - LIMIT, -LIMIT, LIMIT), np.float32)


@functools.cache
def _window() -> F32:
    return np.asarray(get_window("hann", WINDOW, fftbins=True), np.float32)


@functools.cache
def _filters() -> F32:
    """(80, 401)."""
    made: Any = mel_filters(sr=RATE, n_fft=WINDOW, n_mels=BANDS, fmin=LOWEST, fmax=HIGHEST)
    return np.asarray(made, np.float32)


def first_column(frame: int | Fraction, fps: Fraction, offset: Fraction = Fraction(0)) -> int:
    """The column at which the sound of a frame begins; ``offset``: seconds by which the mouth is later than the sound.

    Exact for every frame rate: a rate that is added up as a decimal drifts by frames in an hour.
    """
    return int((Fraction(frame) / fps - offset) * PER_SECOND // 1)


@dataclass(frozen=True, slots=True)
class Sound:
    """What the network hears.

    Attributes:
        mel: (n, 80) columns of the whole sound, possibly memory-mapped.
        silent: (n,) bool, columns in which nobody speaks; what else is to be heard there moves no mouth.
    """

    mel: F32
    silent: npt.NDArray[np.bool_]

    def window(self, start: int, columns: int) -> F32:
        """(80, columns) from the column ``start`` on; beyond the sound's ends there is silence."""
        window = np.full((columns, BANDS), FLOOR, np.float32)
        low, high = max(start, 0), min(start + columns, len(self.mel))
        if low < high:
            heard = ~self.silent[low:high]
            window[low - start : high - start][heard] = self.mel[low:high][heard]
        return window.T
