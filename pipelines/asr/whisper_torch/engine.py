"""Whisper by torch: for AMD cards and Apple chips, where CTranslate2 has no backend; the same listening around it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from pipelines import weights
from pipelines.asr import EngineContext
from pipelines.asr.listener import WhisperListener
from pipelines.asr.whisper_torch.model import load_model


class WhisperTorch(WhisperListener):
    """Recogniser over a CTranslate2 or safetensors Whisper folder; follows the ``Recognizer`` protocol.

    Obeys the policy's device and precision: in safe mode and with ``--no-half`` everything is 32-bit.
    """

    item: ClassVar[str] = "whisper-base"  # id in weights/manifest.toml

    def __init__(self, context: EngineContext) -> None:
        folder = weights.locate(context.settings, self.item)
        super().__init__(context.settings, load_model(folder, context.policy))


class WhisperFolderTorch(WhisperListener):
    """Any CTranslate2 or safetensors Whisper folder; follows the ``Recognizer`` protocol."""

    def __init__(self, context: EngineContext, folder: Path) -> None:
        super().__init__(context.settings, load_model(folder, context.policy))


class WhisperSmallTorch(WhisperTorch):
    """The small model."""

    item = "whisper-small"


class WhisperLargeTorch(WhisperTorch):
    """The large model, version 3."""

    item = "whisper-large-v3"
