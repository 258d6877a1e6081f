"""The colour of a voice, frame by frame: how its spectra are spread, and the map that spreads another voice's like it.

A long-term filter gives every sound of a voice the same change. Here each frame gets a change of its own: the spectra of
both voices are taken for normal distributions, and the map is the one that turns one into the other while moving every
spectrum as little as can be (linear optimal transport between Gaussians: Peyré and Cuturi, *Computational Optimal
Transport*, 2019, remark 2.31). What it changes is only the gain of bands; pitch, rhythm and phase are the voice's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipelines.voice.kokoro import spectrum

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

ORDER = 20  # cepstra that describe a spectrum; the first, its level, is left out
HOP = spectrum.FFT // 4
FLOOR = 1e-9  # power added before the logarithm
RIDGE = 0.3  # dB² added to the variances: what varies less is not told apart from noise
MOST = 12.0  # dB that one frame's band may be moved beside the long-term gain
SMOOTH = 2  # frames on either side over which the gains are smoothed


@dataclass(frozen=True, slots=True)
class Colour:
    """Spectra of a voice. mean: dB per band (48,); centre: mean cepstra (19,); spread: their covariance (19, 19), dB²."""

    mean: Doubles
    centre: Doubles
    spread: Doubles


@dataclass(frozen=True, slots=True)
class Recolouring:
    """A change of colour. gain: dB per band (48,); centre (19,) and matrix (19, 19): cepstra move by matrix @ (c − centre).

    reach: Hz up to which the reference had anything to copy; above, gains run level.
    """

    gain: Floats
    centre: Floats
    matrix: Floats
    reach: float


def _window() -> Doubles:
    """Square root of a periodic Hann window: analysis and synthesis together overlap to a constant."""
    return np.asarray(np.sqrt(np.hanning(spectrum.FFT + 1)[:-1]))


def _frames(samples: Floats) -> npt.NDArray[np.complex128]:
    """Spectra (frames, 513) of overlapping windows, half a window before the start to half a window past the end."""
    padded = np.pad(samples.astype(np.float64), (spectrum.FFT, spectrum.FFT))
    cut = np.lib.stride_tricks.sliding_window_view(padded, spectrum.FFT)[::HOP]
    return np.asarray(np.fft.rfft(cut * _window(), axis=1))


def _bands(spectra: npt.NDArray[np.complex128]) -> Doubles:
    """Levels in dB, (frames, 48)."""
    return np.asarray(10 * np.log10((np.abs(spectra) ** 2) @ spectrum.filters().T + FLOOR))


def _cepstra(bands: Doubles) -> Doubles:
    """Shape without level, (frames, 19)."""
    from scipy.fft import dct

    return np.asarray(dct(bands, axis=1, norm="ortho")[:, 1:ORDER])


def _speech(bands: Doubles) -> npt.NDArray[np.bool_]:
    """The louder frames: speech, not pauses or breath."""
    level = (10 ** (bands / 10)).sum(axis=1)
    return np.asarray(level > np.quantile(level, 0.9) * 10**-2.5)


def colour(samples: Floats) -> Colour:
    """The colour of some seconds of speech, mono float32 at 24 kHz."""
    bands = _bands(_frames(samples))
    bands = bands[_speech(bands)]
    cepstra = _cepstra(bands)
    return Colour(bands.mean(axis=0), cepstra.mean(axis=0), np.cov(cepstra.T))


def _transport(source: Doubles, target: Doubles) -> Doubles:
    """The symmetric matrix that turns covariance ``source`` into ``target`` with the least movement."""
    ridge = RIDGE * np.eye(len(source))
    root = _root(source + ridge)
    inverse = np.linalg.inv(root)
    return np.asarray(inverse @ _root(root @ (target + ridge) @ root) @ inverse)


def _root(matrix: Doubles) -> Doubles:
    """Square root of a symmetric positive matrix."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)


def recolouring(
    voice: Colour, reference: Colour, bandwidth: float, limit: float, strength: float
) -> Recolouring:
    """The change that brings ``voice`` to ``reference``.

    Args:
        bandwidth: Hz up to which the reference holds signal. limit: dB that the long-term gain may reach.
        strength: 0 (long-term gain alone) to 1 (the reference's whole variety of spectra).
    """
    from scipy.fft import dct

    gain = spectrum.correction(
        voice.mean.astype(np.float32), reference.mean.astype(np.float32), bandwidth, limit
    )
    centre = voice.centre + dct(gain.astype(np.float64), norm="ortho")[1:ORDER]
    target = (1 - strength) * voice.spread + strength * reference.spread
    matrix = _transport(voice.spread, target) - np.eye(ORDER - 1)
    return Recolouring(gain, centre.astype(np.float32), matrix.astype(np.float32), 0.92 * bandwidth)


def _moves(bands: Doubles, change: Recolouring) -> Doubles:
    """Gain in dB, (frames, 48), of every frame of a voice's bands."""
    from scipy.fft import idct

    moved = np.zeros_like(bands)
    moved[:, 1:ORDER] = (_cepstra(bands + change.gain) - change.centre) @ change.matrix.T
    extra = np.clip(idct(moved, axis=1, norm="ortho"), -MOST, MOST)
    outside = spectrum.centres() >= change.reach
    if outside.any() and not outside.all():
        extra[:, outside] = np.minimum(extra[:, ~outside][:, -1:], 0.0)
    return change.gain + _smoothed(extra)


def _smoothed(gains: Doubles) -> Doubles:
    """Over time: a gain that jumps from frame to frame would be heard as roughness."""
    weights = np.hanning(2 * SMOOTH + 3)[1:-1]
    weights /= weights.sum()
    padded = np.pad(gains, ((SMOOTH, SMOOTH), (0, 0)), "edge")
    return np.asarray(sum(w * padded[i : i + len(gains)] for i, w in enumerate(weights)))


def recoloured(samples: Floats, change: Recolouring) -> Floats:
    """The sound with its colour changed: same length, no delay, same level."""
    spectra = _frames(samples)
    gains = _moves(_bands(spectra), change) @ _spread_bands()
    pieces = np.fft.irfft(spectra * 10 ** (gains / 20), axis=1) * _window()
    out = np.zeros((len(pieces) - 1) * HOP + spectrum.FFT)
    for index, piece in enumerate(pieces):
        out[index * HOP : index * HOP + spectrum.FFT] += piece
    # Four square-rooted Hann windows, twice each, overlap to 2.
    out = out[spectrum.FFT : spectrum.FFT + len(samples)] / 2
    before, after = np.sqrt(np.mean(np.square(samples, dtype=np.float64))), np.sqrt(np.mean(out**2))
    return np.asarray(out * (before / after if after > 0 else 1.0), np.float32)


def _spread_bands() -> Doubles:
    """Weights (48, 513) that interpolate gains of bands to the frequencies of a frame."""
    frequencies = np.fft.rfftfreq(spectrum.FFT, 1 / spectrum.SR)
    rows = (np.interp(frequencies, spectrum.centres(), one) for one in np.eye(spectrum.BANDS))
    return np.stack(list(rows))
