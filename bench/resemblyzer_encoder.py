"""Resemblyzer's speaker encoder (GE2E, Wan et al. 2018) read from its weights file alone: its package needs a compiler."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from pipelines.types import Audio
from pipelines.voice.dvector import to_mono

SR, BANDS, PART, STEP = 16000, 40, 160, 77

_found = importlib.util.find_spec("resemblyzer")
if _found is None or not _found.submodule_search_locations:
    raise ImportError("resemblyzer is not installed")
WEIGHTS = Path(_found.submodule_search_locations[0]) / "pretrained.pt"


@cache
def _network() -> tuple[torch.nn.LSTM, torch.nn.Linear]:
    state = torch.load(WEIGHTS, map_location="cpu", weights_only=True)["model_state"]
    lstm, linear = torch.nn.LSTM(BANDS, 256, 3, batch_first=True), torch.nn.Linear(256, 256)
    lstm.load_state_dict({key[5:]: value for key, value in state.items() if key.startswith("lstm.")})
    linear.load_state_dict({key[7:]: value for key, value in state.items() if key.startswith("linear.")})
    return lstm.eval(), linear.eval()


def embed(audio: Audio) -> npt.NDArray[np.float32]:
    """Unit vector, float32 (256,)."""
    import librosa

    samples = to_mono(audio, SR)
    level = float(np.sqrt(np.mean(samples**2)))
    samples = samples * max(1.0, 10 ** (-30 / 20) / level)
    mel = librosa.feature.melspectrogram(y=samples, sr=SR, n_fft=400, hop_length=160, n_mels=BANDS).T
    mel = np.pad(mel, ((0, max(0, PART - len(mel))), (0, 0))).astype(np.float32)
    starts = [*range(0, len(mel) - PART, STEP), len(mel) - PART]
    lstm, linear = _network()
    with torch.no_grad():
        _, (hidden, _) = lstm(torch.from_numpy(np.stack([mel[start : start + PART] for start in starts])))
        vectors = torch.relu(linear(hidden[-1]))
        vectors = vectors / vectors.norm(dim=1, keepdim=True)
    mean = vectors.numpy().mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), np.float32)
