"""Fundamental frequency of a speaker: median and range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipelines.types import Audio
from pipelines.voice.dvector import SR, to_mono

LOWEST, HIGHEST = 60.0, 500.0


@dataclass(frozen=True, slots=True)
class Pitch:
    """``median`` in Hz; ``spread`` in semitones: half the distance between the 16th and the 84th percentile."""

    median: float
    spread: float


def track(audio: Audio) -> np.ndarray:  # type: ignore[type-arg]
    """Frequencies in Hz of the voiced frames (pYIN: Mauch and Dixon 2014, as in librosa).

    Steps of a tenth of a semitone that may glide fast: with coarse ones most frames of a low, rough voice count as
    voiceless, and the median of the rest lies up to three semitones too high.
    """
    import librosa

    samples = to_mono(audio, SR)
    frequency, voiced, _ = librosa.pyin(
        samples,
        fmin=LOWEST,
        fmax=HIGHEST,
        sr=SR,
        frame_length=1024,
        hop_length=320,
        resolution=0.1,
        max_transition_rate=100,
    )
    return np.asarray(frequency[voiced])


def measure(audio: Audio) -> Pitch | None:
    """Median and spread, octave errors left out; None where there is hardly any voice."""
    found = track(audio)
    if len(found) < 15:
        return None
    middle = np.median(found)
    found = found[np.abs(np.log2(found / middle)) < 0.8]
    low, high = np.percentile(12 * np.log2(found / np.median(found)), (16, 84))
    return Pitch(float(np.median(found)), float((high - low) / 2))
