"""Whisper through faster-whisper (CTranslate2): CPU in int8, NVIDIA cards in half precision, always from local files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

from pipelines import weights
from pipelines.asr import EngineContext
from pipelines.asr.listener import WhisperListener
from pipelines.backend.policy import Policy


class Whisper(WhisperListener):
    """Recogniser over a CTranslate2 Whisper folder; follows the ``Recognizer`` protocol."""

    item: ClassVar[str] = "whisper-base"  # id in weights/manifest.toml

    def __init__(self, context: EngineContext) -> None:
        folder = weights.locate(context.settings, self.item)
        super().__init__(context.settings, load_model(folder, context.policy))


class WhisperSmall(Whisper):
    """The small model: fewer mistakes, about three times the work."""

    item = "whisper-small"


class WhisperLarge(Whisper):
    """The large model, version 3: for graphics cards, or for those who can wait."""

    item = "whisper-large-v3"


class WhisperFolder(WhisperListener):
    """Any CTranslate2 Whisper folder; follows the ``Recognizer`` protocol."""

    def __init__(self, context: EngineContext, folder: Path) -> None:
        super().__init__(context.settings, load_model(folder, context.policy))


def load_model(folder: Path, policy: Policy) -> Any:
    """A ``faster_whisper.WhisperModel`` from a folder, on the device and in the precision the policy allows."""
    os.environ["HF_HUB_OFFLINE"] = (
        "1"  # read when the hub's library is imported: it must never ask the network
    )
    import ctranslate2
    from faster_whisper import WhisperModel

    ctranslate2.set_random_seed(0)  # its retries sample: the same sound gives the same text
    on_card = policy.family == "cuda" and ctranslate2.get_cuda_device_count() > 0
    number = policy.device.partition(":")[2]
    return WhisperModel(
        str(folder),
        device="cuda" if on_card else "cpu",
        device_index=int(number) if on_card and number else 0,
        compute_type=("float16" if policy.precision != "float32" else "float32") if on_card else "int8",
        cpu_threads=policy.threads,
        local_files_only=True,
    )
