"""Recognisers for Whisper folders that lie in weights/ under any name: what somebody put there is offered.

A CTranslate2 folder (``model.bin``) is heard by faster-whisper, and by torch on AMD and Apple graphics; a transformers
folder (``model.safetensors``) by torch everywhere. Names are ``whisper:FOLDER`` and ``whisper:FOLDER-torch``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pipelines import weights
from pipelines.asr import RECOGNIZERS, WHISPER_FEATURES, WHISPER_LIMITS
from pipelines.errors import Message
from pipelines.registry import EngineInfo
from pipelines.settings import Settings

PREFIX = "whisper:"
CTRANSLATE2 = "pipelines.asr.whisper:WhisperFolder"
TORCH = "pipelines.asr.whisper_torch.engine:WhisperFolderTorch"
UNKNOWN_LICENCE = "see the model's own page"


def register_found(settings: Settings) -> None:
    """Offer the folders that are there now, and no longer those that are gone; cheap, and safe to repeat."""
    known = weights.manifest(settings)
    wanted: dict[str, tuple[EngineInfo, str, Path]] = {}
    for folder in _folders(settings.weights):
        if folder.name in known:
            continue  # has an engine of its own, with its hashes
        for torch in (False, True) if (folder / "model.bin").is_file() else (True,):
            info = _info(folder, torch=torch)
            wanted[info.name] = (info, TORCH if torch else CTRANSLATE2, folder)
    there = {info.name for info in RECOGNIZERS.infos() if info.name.startswith(PREFIX)}
    for name in there - wanted.keys():
        RECOGNIZERS.remove(name)
    for name, (info, path, folder) in wanted.items():
        if name not in there:
            RECOGNIZERS.add(info, path, folder=folder)


def _folders(place: Path) -> Iterator[Path]:
    if place.is_dir():
        yield from sorted(folder for folder in place.iterdir() if is_whisper(folder))


def is_whisper(folder: Path) -> bool:
    """Whether a folder holds a whole Whisper model that one of the engines reads."""
    if not (folder / "tokenizer.json").is_file():
        return False
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if (folder / "model.bin").is_file():
        return "suppress_ids" in config or "alignment_heads" in config
    pieces = list(folder.glob("model*.safetensors"))
    return (
        config.get("model_type") == "whisper"
        and bool(pieces)
        and (folder / "generation_config.json").is_file()
    )


def _info(folder: Path, *, torch: bool) -> EngineInfo:
    """What an engine for a folder says of itself."""
    name = PREFIX + folder.name
    by_ct2 = (folder / "model.bin").is_file()
    packages = (
        ("faster_whisper", "torch", "torchaudio", "safetensors")
        if torch
        else ("faster_whisper", "ctranslate2")
    )
    return EngineInfo(
        name=f"{name}-torch" if torch and by_ct2 else name,
        label=Message(
            f"Whisper in weights/{folder.name}" + (" by PyTorch" if torch else ""),
            f"weights/{folder.name} 中的 Whisper" + (" PyTorch 版" if torch else ""),
        ),
        licence=UNKNOWN_LICENCE,
        packages=packages,
        runs_on="device",
        features=WHISPER_FEATURES,
        limits=WHISPER_LIMITS,
        **({} if torch else {"families": frozenset({"cuda", "cpu"}), "stand_in": f"{name}-torch"}),  # type: ignore[arg-type]
    )
