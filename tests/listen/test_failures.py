"""The table of reported failures: every row names tests that exist; and those that no other test reproduces."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.asr import Recognition
from pipelines.asr.scoring import score
from pipelines.types import Segment
from tests.listen.conftest import ffmpeg, samples_of

ROOT = Path(__file__).resolve().parents[2]


def test_every_row_names_a_test_that_exists() -> None:
    table = (ROOT / "docs" / "TRANSCRIPTION.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \|.*\| ([^|]+) \|$", table, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 41))
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    defined = set(re.findall(r"^def (test_\w+)", sources, re.MULTILINE))
    for number, held in rows:
        named = re.findall(r"`(test_\w+)`", held)
        assert named and set(named) <= defined, f"row {number}: {held}"


def test_a_telephone_recording_is_heard_at_its_own_speed(
    hear: Callable[..., tuple[Recognition, list[Segment]]], data: Path, tmp_path: Path
) -> None:
    """8 kHz mu-law: as long as it was, heard nearly as well, and no character is cut in two."""
    source, path = data / "speech" / "zh_asr_example.wav", tmp_path / "call.wav"
    ffmpeg("-i", source, "-ar", "8000", "-c:a", "pcm_mulaw", path)
    recognition, segments = hear(path, language="zh")
    assert recognition.duration == pytest.approx(len(samples_of(source)) / 16_000, abs=0.02)
    text = "".join(segment.text for segment in segments)
    assert score("欢迎大家来体验达摩院推出的语音识别模型", text, "zh").errors <= 5, text
    assert "\ufffd" not in "".join(word.text for segment in segments for word in segment.words)
