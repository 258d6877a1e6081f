"""What recordings do to speech: other voices, rooms, noise, telephones, loudness."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.signal import butter, fftconvolve, resample_poly, sosfilt

from pipelines.phones.features import SR

Floats = npt.NDArray[np.float32]


NOISES, NOISE_LENGTH = 64, 6 * SR
PACES = (0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.18)  # how much longer a sound gets


def respeeded(samples: Floats, factor: float) -> Floats:
    """Played at another speed, so that pitch, resonances and pace change together."""
    return np.asarray(resample_poly(samples, round(factor * 100), 100), np.float32)


def recorded(samples: Floats, others: list[Floats], rng: np.random.Generator) -> Floats:
    """One random recording of the clip; ``others`` are clips that may talk in the background."""
    sound = samples
    if rng.random() < 0.35:
        sound = in_a_room(sound, rng)
    if rng.random() < 0.4:
        sound = tilted(sound, rng)
    if rng.random() < 0.2:
        sound = with_babble(sound, others, rng)
    if rng.random() < 0.7:
        sound = with_noise(sound, rng)
    if rng.random() < 0.25:
        sound = through_a_codec(sound, rng)
    return np.asarray(sound * 10 ** rng.uniform(-1.3, 0.3), np.float32)


def in_a_room(samples: Floats, rng: np.random.Generator) -> Floats:
    """Decaying noise as an echo; the direct sound stays first, so times do not move."""
    seconds = rng.uniform(0.1, 0.5)
    count = int(seconds * SR)
    echo = rng.standard_normal(count) * np.exp(-6.9 * np.arange(count) / count)
    echo *= rng.uniform(0.1, 0.6) / np.sqrt((echo**2).sum())
    echo[0] = 1.0
    return np.asarray(fftconvolve(samples, echo)[: len(samples)], np.float32)


def tilted(samples: Floats, rng: np.random.Generator) -> Floats:
    """A brighter or a duller microphone, and now and then a hole below 100 to 300 Hz."""
    slope = rng.uniform(-0.7, 0.7)
    sound = samples + slope * np.concatenate([[0], samples[:-1]])
    if rng.random() < 0.3:
        sound = sosfilt(butter(2, rng.uniform(100, 300), "high", fs=SR, output="sos"), sound)
    return np.asarray(sound, np.float32)


@cache
def _noises() -> Floats:
    """``NOISES`` stretches of noise whose power falls with frequency to a random power, of unit power each."""
    rng = np.random.default_rng(0)
    spectra = np.fft.rfft(rng.standard_normal((NOISES, NOISE_LENGTH)))
    slopes = rng.uniform(0, 1.2, (NOISES, 1))
    spectra /= np.maximum(np.arange(spectra.shape[1]), 1) ** slopes
    noise = np.fft.irfft(spectra, NOISE_LENGTH)
    return np.asarray(noise / np.sqrt((noise**2).mean(axis=1, keepdims=True)), np.float32)


def coloured_noise(count: int, rng: np.random.Generator) -> Floats:
    """Noise of a random colour and of unit power: a stretch of one of many, from a random place."""
    noise = np.roll(_noises()[rng.integers(NOISES)], rng.integers(NOISE_LENGTH))
    return np.resize(noise, count)


def with_noise(samples: Floats, rng: np.random.Generator) -> Floats:
    """Noise 5 to 40 dB below the speech."""
    level = np.sqrt((samples**2).mean()) * 10 ** (-rng.uniform(5, 40) / 20)
    return np.asarray(samples + level * coloured_noise(len(samples), rng), np.float32)


def with_babble(samples: Floats, others: list[Floats], rng: np.random.Generator) -> Floats:
    """One to three other speakers, together 8 to 20 dB softer."""
    babble = np.zeros(len(samples), np.float32)
    for _ in range(rng.integers(1, 4)):
        babble += np.resize(others[rng.integers(len(others))], len(samples))
    factor = np.sqrt((samples**2).mean() / ((babble**2).mean() + 1e-12)) * 10 ** (-rng.uniform(8, 20) / 20)
    return np.asarray(samples + factor * babble, np.float32)


def through_a_codec(samples: Floats, rng: np.random.Generator) -> Floats:
    """Telephone (300 to 3400 Hz, eight-bit mu-law) or a low-rate stream (cut at 4 to 7 kHz)."""
    if rng.random() < 0.5:
        sound = sosfilt(butter(4, [300, 3400], "band", fs=SR, output="sos"), samples)
        peak = np.abs(sound).max() + 1e-9
        pressed = np.sign(sound) * np.log1p(255 * np.abs(sound) / peak) / np.log(256)
        coarse = np.round(pressed * 127) / 127
        return np.asarray(np.sign(coarse) * np.expm1(np.abs(coarse) * np.log(256)) / 255 * peak, np.float32)
    return np.asarray(
        sosfilt(butter(8, rng.uniform(4000, 7000), "low", fs=SR, output="sos"), samples), np.float32
    )
