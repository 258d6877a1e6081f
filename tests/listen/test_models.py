"""Larger Whisper models: engines of their own, ready once their files are there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipelines import weights
from pipelines.asr import RECOGNIZERS, RecognitionOptions
from pipelines.backend.policy import Policy
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.settings import Settings


def test_a_larger_model_is_heard_through_its_own_folder(tmp_path: Path, data: Path) -> None:
    """The files of the base model under the larger one's name: what the engine loads is what lies in that folder."""
    real = Settings.load()
    if not weights.present(real, "whisper-base"):
        pytest.skip("the Whisper model files are not on this computer")
    context = EngineContext(replace(real, weights=tmp_path), Policy(threads=2))
    before = RECOGNIZERS.state("whisper-small", context)
    assert before.state == "missing weights" and "whisper-small" in before.reason.en
    folder = tmp_path / "whisper-small"
    folder.mkdir()
    for file in weights.manifest(real)["whisper-small"].files:
        (folder / file.path).symlink_to(real.weights / "whisper-base" / file.path)
    assert RECOGNIZERS.state("whisper-small", context).ready
    assert not RECOGNIZERS.state("whisper", context).ready and not (tmp_path / "whisper-base").exists()
    engine = RECOGNIZERS.get("whisper-small", context)
    heard = engine.recognize(data / "speech" / "en_jfk.flac", RecognitionOptions(end=4.0), NullReport())
    assert "my fellow americans" in " ".join(part.text for part in heard.segments).lower()
