"""Whose voice speaks: a recording's, a saved one's, or the engine's own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from pipelines.errors import InputError, OptionError
from pipelines.progress import NullReport, PartOf, Report
from pipelines.registry import EngineContext
from pipelines.types import Audio, Speech, VoiceProfile
from pipelines.voice import LineLength, SpeakOptions, choice
from pipelines.voice.kokoro import Kokoro
from pipelines.voice.library import save_voice


@dataclass
class Cloner:
    """An engine without voices of its own; keeps what it was given to learn from."""

    given: list[tuple[Audio, str]] = field(default_factory=list)

    def languages(self) -> tuple[str, ...]:
        return ("en",)

    def enroll(self, reference: Audio, name: str, report: Report) -> VoiceProfile:
        self.given.append((reference, name))
        return VoiceProfile("cloner", name, {}, {})

    def length(self, text: str, language: str, voice: VoiceProfile) -> LineLength:
        raise NotImplementedError

    def speak(
        self, text: str, language: str, voice: VoiceProfile, options: SpeakOptions, report: Report
    ) -> Speech:
        raise NotImplementedError


def test_a_saved_voice_goes_before_a_stock_voice_of_its_name(context: EngineContext, engine: Kokoro) -> None:
    stock = choice.find(engine, "am_adam", "en", context.settings)
    assert stock.facts["stock"] and stock.name == "am_adam"
    save_voice(context.settings.outputs / "voices", replace(stock, facts={"packs": ["mine"]}))
    assert choice.find(engine, "am_adam", "en", context.settings).facts == {"packs": ["mine"]}


def test_without_a_name_the_language_decides(context: EngineContext, engine: Kokoro) -> None:
    assert choice.find(engine, None, "es", context.settings).name == "ef_dora"
    assert choice.find(engine, None, "zh", context.settings).name == "zf_xiaoxiao"


def test_an_engine_without_voices_asks_for_a_recording(context: EngineContext) -> None:
    with pytest.raises(OptionError, match="no voice of its own"):
        choice.find(Cloner(), None, "en", context.settings)
    with pytest.raises(InputError, match="no saved voice called 'nobody'"):
        choice.find(Cloner(), "nobody", "en", context.settings)


def test_the_asked_stretch_is_learnt_from_in_full_bandwidth(data: Path, context: EngineContext) -> None:
    cloner, recording = Cloner(), data / "video" / "talk_room_20s.mp4"
    profile = choice.learn(cloner, recording, context.settings, NullReport(), start=2.0, end=7.0)
    sound, name = cloner.given[0]
    assert name == profile.name == "talk_room_20s"
    assert sound.sr == 48_000
    assert sound.duration == pytest.approx(5.0, abs=0.03)


def test_in_a_dub_learning_counts_as_speaking(data: Path, context: EngineContext) -> None:
    seen: list[tuple[str, float, float | None, str]] = []

    class Steps(NullReport):
        def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
            seen.append((stage, done, total, unit))

    inner = PartOf(Steps(), "speak")
    choice.learn(Cloner(), data / "speech" / "en_jfk.flac", context.settings, inner, end=4.0)
    inner.step("voice", 2, 5, "steps")
    assert seen == [("speak", 0, None, "steps"), ("speak", 2, 5, "steps")]
