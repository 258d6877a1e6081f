"""Long-term spectrum of a voice and the filter that brings one to another (a linear filter: no vocoder artefacts)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

SR = 24000
FFT = 1024
BANDS = 48  # mel bands of the comparison: finer would copy single words
TAPS = 511
LOWEST = 80.0  # Hz; below it there is no speech to compare


def _mel(frequency: npt.ArrayLike) -> npt.NDArray[np.float64]:
    return np.asarray(2595 * np.log10(1 + np.asarray(frequency, float) / 700))


def filters() -> npt.NDArray[np.float64]:
    """Overlapping triangles over mel frequency, (BANDS, FFT / 2 + 1)."""
    edges = np.linspace(_mel(LOWEST), _mel(SR / 2), BANDS + 2)
    place = _mel(np.fft.rfftfreq(FFT, 1 / SR))
    rise = (place[None] - edges[:-2, None]) / (edges[1] - edges[0])
    fall = (edges[2:, None] - place[None]) / (edges[1] - edges[0])
    bank = np.clip(np.minimum(rise, fall), 0, None)
    return np.asarray(bank / np.maximum(bank.sum(axis=1, keepdims=True), 1e-9))


def centres() -> npt.NDArray[np.float64]:
    """Centre frequency in Hz of each band."""
    edges = np.linspace(_mel(LOWEST), _mel(SR / 2), BANDS + 2)[1:-1]
    return np.asarray(700 * (10 ** (edges / 2595) - 1))


def envelope(samples: Floats) -> Floats:
    """Mean level in dB per band, float32 (48,), over the louder frames (speech, not pauses or breath)."""
    if len(samples) < FFT:
        samples = np.pad(samples, (0, FFT - len(samples)))
    frames = np.lib.stride_tricks.sliding_window_view(samples, FFT)[:: FFT // 4] * np.hanning(FFT)
    power = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    level = power.sum(axis=1)
    power = power[level > np.quantile(level, 0.9) * 10**-2.5]
    bands = 10 * np.log10(power @ filters().T + 1e-12)
    return np.asarray(bands.mean(axis=0), np.float32)


def correction(voice: Floats, reference: Floats, bandwidth: float, limit: float) -> Floats:
    """Gain in dB per band that brings ``voice`` to ``reference``, at most ±``limit``, smooth, without overall gain.

    Above the reference's bandwidth there is nothing to copy: the gain runs level from the last band that counts.
    """
    gain = (reference - voice).astype(np.float64)
    frequency = centres()
    inside = frequency < 0.92 * bandwidth
    speech = inside & (frequency > 150) & (frequency < 4000)
    gain -= gain[speech].mean()
    gain = np.convolve(np.pad(gain, 1, "edge"), [0.25, 0.5, 0.25], "valid")
    if not inside.all():
        last = np.flatnonzero(inside)[-1]
        gain[last + 1 :] = min(gain[max(0, last - 2) : last + 1].mean(), 0.0)
    return np.clip(gain, -limit, limit).astype(np.float32)


def taps(gain: Floats) -> Floats:
    """Linear-phase FIR, float32 (511,), with the given gain in dB per band."""
    from scipy.signal import firwin2

    frequency = np.concatenate([[0.0], centres(), [SR / 2]])
    level = 10 ** (np.concatenate([gain[:1], gain, gain[-1:]]) / 20)
    return np.asarray(firwin2(TAPS, frequency, level, fs=SR), np.float32)


def filtered(samples: Floats, fir: Floats) -> Floats:
    """The sound through the filter, same length, no delay, level kept."""
    from scipy.signal import fftconvolve

    middle = len(fir) // 2
    out = fftconvolve(samples, fir)[middle : middle + len(samples)]
    before, after = np.sqrt(np.mean(samples**2)), np.sqrt(np.mean(out**2))
    return np.asarray(out * (before / after if after > 0 else 1.0), np.float32)
