"""Log-mel features as Whisper was trained on, by torchaudio on the device that hears."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from faster_whisper.feature_extractor import FeatureExtractor

from pipelines.errors import EngineMissing, Message
from pipelines.types import Samples

AFTER = 160  # samples of silence behind the sound, a frame
FLOOR, RANGE = 1e-10, 8.0  # least energy; decades below the loudest that are kept


class DeviceFeatures(FeatureExtractor):  # type: ignore[misc]  # faster-whisper ships no types
    """faster-whisper's extractor with the work done by ``torchaudio.transforms.MelSpectrogram`` on a device."""

    def __init__(self, mels: int, device: torch.device) -> None:
        super().__init__(feature_size=mels)
        # Apple's graphics got complex numbers late and in parts; there the CPU does this small share of the work.
        self._device = torch.device("cpu") if device.type == "mps" else device
        spectrogram: Any = fitting_torchaudio().transforms.MelSpectrogram(
            sample_rate=self.sampling_rate,
            n_fft=self.n_fft,
            hop_length=self.hop_length,
            n_mels=mels,
            norm="slaney",
            mel_scale="slaney",
        )
        self._spectrogram = spectrogram.to(self._device)

    def __call__(
        self, waveform: Samples, padding: int = AFTER, chunk_length: int | None = None
    ) -> npt.NDArray[np.float32]:
        """float32 (mels, frames of 10 ms) of 16 kHz mono samples, within 1e-3 of faster-whisper's own."""
        sound = torch.from_numpy(np.pad(np.asarray(waveform, np.float32), (0, padding))).to(self._device)
        with torch.inference_mode():
            levels = self._spectrogram(sound)[:, :-1].clamp_min(FLOOR).log10()
            levels = (levels.maximum(levels.max() - RANGE) + 4.0) / 4.0
        return np.asarray(levels.cpu().numpy(), np.float32)


def fitting_torchaudio() -> ModuleType:
    """The package, when its build fits torch's.

    Raises:
        EngineMissing: it is not installed, or was built for another torch.
    """
    try:
        import torchaudio
        import torchaudio.transforms
    except (ImportError, OSError) as problem:
        raise EngineMissing(
            Message(
                f"torchaudio does not work with torch {torch.__version__}: {problem}",
                f"torchaudio 无法与 torch {torch.__version__} 一起使用:{problem}",
            ),
            Message(
                "Both must come from one index: remove .venv and run bash start_app.sh again. Until then start with --cpu.",
                "两者须来自同一安装源:请删除 .venv 后重新运行 bash start_app.sh。在此之前可使用 --cpu。",
            ),
        ) from problem
    found: ModuleType = torchaudio
    return found
