"""The flow from a recording and a text to a sound file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from pipelines import enrol, speak
from pipelines.errors import InputError, Message, OptionError
from pipelines.progress import NoteLevel, NullReport
from pipelines.records import load_speech_times
from pipelines.registry import EngineContext
from pipelines.sample import load_sample
from pipelines.types import Audio
from pipelines.voice import dvector
from pipelines.voice.kokoro import Kokoro
from pipelines.voice.library import describe, load_voice, save_voice

OPTIONS = {
    "text": "Good morning, all 3 of you.",
    "reference": None,
    "voice": None,
    "engine": "kokoro",
    "language": "en",
    "seconds": 2.0,
    "speed": 1.0,
    "emotion": None,
    "seed": 0,
}


class Steps(NullReport):
    """Remembers the steps and the notes."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, float, float | None]] = []
        self.notes: list[tuple[str, str]] = []

    def note(self, message: Message, level: NoteLevel = "hint") -> None:
        self.notes.append((level, message.en))

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        self.seen.append((stage, done, total))


def test_a_line_in_the_voice_of_a_recording(
    tmp_path: Path, data: Path, context: EngineContext, engine: Kokoro, man: Audio
) -> None:
    reference = tmp_path / "голос 声音 😀.flac"
    reference.write_bytes((data / "speech" / "en_jfk.flac").read_bytes())
    report = Steps()
    result = speak.run(tmp_path, {**OPTIONS, "reference": str(reference)}, context, report)
    samples, sr = soundfile.read(tmp_path / result["audio"], dtype="float32")
    assert len(samples) / sr == pytest.approx(2.0, abs=0.001)
    assert result["seconds"] == pytest.approx(2.0, abs=0.001)
    assert [word["text"] for word in result["words"]] == ["Good", "morning", "all", "3", "of", "you"]
    assert 0.2 < result["similarity"] <= 1
    assert result["voice"] == reference.stem
    learning = [done for stage, done, total in report.seen if stage == "voice" and total]
    assert learning[-1] == 5 and learning == sorted(learning)  # "voice 2 of 5", never back
    assert report.seen[-1] == ("speak", 1, 1)
    again = Steps()
    assert speak.run(tmp_path, {**OPTIONS, "reference": str(reference)}, context, again) == result
    assert again.seen == []  # everything was there


def test_a_saved_voice(tmp_path: Path, context: EngineContext, engine: Kokoro) -> None:
    profile = engine.stock("am_michael")
    save_voice(context.settings.outputs / "voices", replace(profile, name="mine"))
    result = speak.run(
        tmp_path, {**OPTIONS, "voice": "mine", "text": "Yes.", "seconds": None}, context, Steps()
    )
    assert result["voice"] == "mine" and result["similarity"] is None


def test_a_voice_is_learnt_once_kept_and_used_without_hearing_its_sample_again(
    tmp_path: Path, data: Path, context: EngineContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {
        "reference": str(data / "speech" / "en_jfk.flac"),
        "name": "Jack",
        "language": "en",
        "tags": ["old"],
    }
    with pytest.raises(OptionError, match="may use this voice"):
        enrol.run(tmp_path / "no", asked, context, Steps())
    kept = enrol.run(tmp_path / "one", {**asked, "consent": True}, context, Steps())
    library = context.settings.outputs / "voices"
    voice, facts = describe(library, kept["voice"]), load_voice(library, kept["voice"]).facts
    assert (voice.name, voice.language, voice.tags, voice.consent) == ("Jack", "en", ("old",), True)
    assert facts["source"] == "en_jfk.flac" and len(str(facts["source_sha256"])) == 64
    assert voice.preview is not None and soundfile.info(voice.preview).duration > 1.5
    encoded: list[int] = []
    real = dvector.embed_features

    def counting(bands: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        encoded.append(len(bands))
        return real(bands)

    monkeypatch.setattr(dvector, "embed_features", counting)
    engine = Kokoro(context)
    sample = load_sample(Path(asked["reference"]), context.settings)
    engine.enroll(sample, "again", Steps())
    assert encoded == [], "the same recording is never encoded twice"
    copy = tmp_path / "copy.flac"
    copy.write_bytes(Path(asked["reference"]).read_bytes())
    engine.enroll(load_sample(copy, context.settings), "copy", Steps())
    assert encoded == [], "whatever its name"
    spoken = speak.run(tmp_path / "s", {**OPTIONS, "voice": "Jack", "seconds": None}, context, Steps())
    assert spoken["voice"] == "Jack" and len(encoded) == 1, "only what was spoken, to be compared"


def test_the_glossary_says_how_and_the_words_stay_as_written(
    tmp_path: Path, context: EngineContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.speak.flow.glossary.load", lambda _: {"GIF": "jif"})
    asked = {**OPTIONS, "text": "A GIF.", "seconds": None}
    result = speak.run(tmp_path, asked, context, Steps())
    assert [word["text"] for word in result["words"]] == ["A", "GIF"]
    assert [phone[-1] for phone in phones_of(tmp_path)][1:4] == ["ʤ", "ɪ", "f"]


def test_the_language_of_the_text_is_found_and_told(tmp_path: Path, context: EngineContext) -> None:
    asked = {**OPTIONS, "text": "Buenos días, ¿cómo estás?", "language": None, "seconds": None}
    report = Steps()
    found = speak.run(tmp_path / "found", asked, context, report)
    assert found["language"] == "es" and report.notes == [("hint", "The text was taken for Spanish")]
    named = speak.run(tmp_path / "named", {**asked, "language": "es"}, context, Steps())
    english = speak.run(tmp_path / "english", {**asked, "language": "en"}, context, Steps())
    sounds = {name: phones_of(tmp_path / name) for name in ("found", "named", "english")}
    assert sounds["found"] == sounds["named"] != sounds["english"]
    assert named["seconds"] == found["seconds"] and english["language"] == "en"


def phones_of(folder: Path) -> list[str]:
    """What the mouth says."""
    return [phone.symbol for phone in load_speech_times(folder / speak.TIMES)[0]]


def test_a_seed_without_effect_is_said(tmp_path: Path, context: EngineContext) -> None:
    report = Steps()
    speak.run(tmp_path, {**OPTIONS, "text": "Yes.", "seconds": None, "seed": 7}, context, report)
    assert [level for level, said in report.notes if "the seed 7 has no effect" in said] == ["warning"]


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"text": "  "}, InputError, "no text to speak"),
        ({"text": "😀。"}, InputError, "nothing to say"),
        ({"voice": "nobody"}, OptionError, "no stock voice called 'nobody'"),
        ({"reference": "a.wav", "voice": "b"}, OptionError, "Both a reference and a voice"),
        ({"language": "xx"}, OptionError, "not available"),
        (
            {"text": "Wir fahren mit dem Zug nach Berlin.", "language": None},
            OptionError,
            "in German, which no voice",
        ),
        ({"seconds": 60.0}, OptionError, "out of reach"),
    ],
)
def test_what_cannot_be_done_is_said(
    tmp_path: Path, context: EngineContext, change: dict[str, object], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        speak.run(tmp_path, {**OPTIONS, **change}, context, Steps())
