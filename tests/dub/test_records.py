"""What goes out as JSON comes back the same."""

from __future__ import annotations

from pathlib import Path

from pipelines.records import (
    load_plan,
    load_speech_times,
    load_transcript,
    save_plan,
    save_speech_times,
    save_transcript,
)
from pipelines.types import DubLine, DubPlan, Phone, Segment, Transcript, Word


def test_a_transcript_comes_back_whole(tmp_path: Path) -> None:
    word = Word(0.5, 0.75, "你好", 0.9)
    transcript = Transcript("zh", (Segment(0.5, 1.25, "你好,世界。", (word,), "A"), Segment(2.0, 3.0, "🎬")))
    save_transcript(tmp_path / "transcript.json", transcript)
    assert load_transcript(tmp_path / "transcript.json") == transcript


def test_a_plan_comes_back_whole(tmp_path: Path) -> None:
    line = DubLine(0, 0.5, 1.5, "hello", "hola", "A", 0.5, 1.4, 0.9, False, "spoken", 1.5, 4)
    plan = DubPlan("en", "es", 8.0, (line, DubLine(1, 2.0, 3.0, "bye", keep=True)))
    save_plan(tmp_path / "lines.json", plan)
    assert load_plan(tmp_path / "lines.json") == plan


def test_speech_times_come_back_whole(tmp_path: Path) -> None:
    phones, words = (Phone(0.0, 0.05, "h"), Phone(0.05, 0.2, "ˈoʊ")), (Word(0.0, 0.2, "ho"),)
    save_speech_times(tmp_path / "times.json", phones, words)
    assert load_speech_times(tmp_path / "times.json") == (phones, words)
