"""Known words laid over real and generated sound: starts against marks made by eye and against the voice engine's own."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from pipelines.asr.align import Alignment, align_segments, align_text
from pipelines.asr.said import in_phones, items
from pipelines.audio import resample
from pipelines.backend.policy import Policy
from pipelines.media import read_sound
from pipelines.phones import SR, STEP, Heard, hear
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.types import Phone, Segment, Speech, Word
from pipelines.voice import VOICES, SpeakOptions, StockVoices

MARKS = Path(__file__).with_name("word_starts.tsv")
SAID = {
    "en_jfk": "And so my fellow Americans, ask not what your country can do for you, ask what you can do for your country.",
    "en_lj_0001": "Printing, in the only sense with which we are at present concerned, differs from most if not from all"
    " the arts and crafts represented in the Exhibition",
}
# Texts and pairs of text and voice that were not trained with; eight voices.
SPOKEN = (
    ("en", "af_bella", "The committee postponed its verdict until Monday."),
    ("en", "am_michael", "Fifteen volunteers planted cherry trees along the fence."),
    ("en", "bf_emma", "Would anybody object if we moved the piano closer?"),
    ("en", "bm_george", "He claims that the shortest route goes through the tunnel."),
    ("zh", "zf_xiaobei", "我们公司下个月要搬到新的办公大楼。"),
    ("zh", "zf_xiaoni", "这位画家的作品在世界各地都很受欢迎。"),
    ("zh", "zm_yunjian", "由于天气原因,前往广州的列车全部取消。"),
    ("zh", "zm_yunxi", "冬天吃火锅,身体一下子就暖和起来了。"),
)


@pytest.fixture(scope="module")
def recordings(data: Path) -> dict[str, Heard]:
    """What the network hears in the marked recordings."""
    settings = Settings.load()
    return {clip: hear(read_sound(data / "speech" / f"{clip}.flac", settings, sr=SR)) for clip in SAID}


def marks(clip: str) -> list[tuple[int, str, float]]:
    rows = [line.split("\t") for line in MARKS.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [(int(place), word, float(start)) for name, place, word, start in rows if name == clip]


def in_order(found: Alignment) -> bool:
    return all(a.end <= b.start + 1e-9 for a, b in itertools.pairwise(found.phones))


def plain(symbols: str) -> str:
    return "".join(c for c in symbols if c not in "ˈˌː→↗↘↓ʲ")


def test_words_of_real_recordings_start_where_the_eye_sees_them(recordings: dict[str, Heard]) -> None:
    errors = []
    for clip, text in SAID.items():
        found = align_text(text, "en", recordings[clip])
        assert len(found.words) == len(text.split()) and in_order(found)
        for place, word, start in marks(clip):
            assert found.words[place].text == word
            errors.append(abs(found.words[place].start - start))
    assert len(errors) == 36
    assert np.median(errors) <= 0.06 and np.percentile(errors, 95) <= 0.15


def test_words_of_generated_speech_start_where_the_voice_engine_put_them() -> None:
    engine = VOICES.get("kokoro", EngineContext(Settings.load(), Policy(threads=2)))
    assert isinstance(engine, StockVoices)
    errors: dict[str, list[float]] = {"en": [], "zh": []}
    for language, voice, text in SPOKEN:
        speech: Speech = engine.speak(
            text, language, engine.stock(voice, language), SpeakOptions(), NullReport()
        )
        heard = hear([resample(speech.audio.samples, speech.audio.sr, SR)])
        found = align_text(text, language, heard)
        assert [word.text for word in found.words] == [word.text for word in speech.words]
        errors[language] += [
            abs(ours.start - known.start) for ours, known in zip(found.words, speech.words, strict=True)
        ]
    for off in errors.values():
        assert np.median(off) <= 0.06 and np.percentile(off, 95) <= 0.15


def test_rough_times_become_exact(recordings: dict[str, Heard]) -> None:
    """Word times a third of a second off, as a recogniser may give them."""
    exact = align_text(SAID["en_jfk"], "en", recordings["en_jfk"])
    late = tuple(Word(word.start + 0.3, word.end + 0.3, word.text) for word in exact.words)
    segments = [
        Segment(late[0].start, late[4].end, "And so my fellow Americans,", late[:5]),
        Segment(late[5].start, late[-1].end, SAID["en_jfk"].partition(", ")[2], late[5:]),
    ]
    found = align_segments(segments, "en", recordings["en_jfk"])
    off = [abs(word.start - known.start) for word, known in zip(found.words, exact.words, strict=True)]
    assert np.median(off) <= 0.02 and np.percentile(off, 90) <= 0.1
    assert all(word.prob > 0 for word in found.words) and in_order(found)


def test_a_text_that_is_not_said_keeps_its_rough_times(recordings: dict[str, Heard]) -> None:
    heard = recordings["en_jfk"]
    silence = Heard(np.repeat(heard.scores[:1], 150, axis=0))
    words = (Word(0.5, 1.0, "Buy"), Word(1.0, 1.5, "maps"))
    found = align_segments([Segment(0.5, 1.5, "Buy maps", words)], "en", silence)
    assert [(w.start, w.text, w.prob) for w in found.words] == [(0.5, "Buy", 0.0), (1.0, "maps", 0.0)]
    assert found.phones == ()
    short = Heard(heard.scores[:3])
    assert {word.prob for word in align_text("Buy some maps", "en", short).words} == {0.0}


def test_a_language_nobody_can_pronounce_gives_the_phones_that_are_heard(
    recordings: dict[str, Heard],
) -> None:
    words = (Word(3.2, 3.8, "mbote"), Word(3.8, 4.4, "yo"))
    found = align_segments([Segment(3.2, 4.4, "mbote yo", words)], "ln", recordings["en_jfk"])
    assert [(w.start, w.end, w.text) for w in found.words] == [(3.2, 3.8, "mbote"), (3.8, 4.4, "yo")]
    middles = [(phone.start + phone.end) / 2 for phone in found.phones if phone.symbol in "aɑæʌɔɛ"]
    assert any(3.3 < time < 3.6 for time in middles) and any(
        4.04 < time < 4.3 for time in middles
    )  # ask, not
    assert in_order(found) and 3.15 <= found.phones[0].start <= 3.45 and found.phones[-1].end <= 4.42
    assert align_text("mbote", "ln", recordings["en_jfk"]).words == ()


def test_items_take_the_times_of_the_words_they_stand_in() -> None:
    words = (Word(0.0, 0.3, "We"), Word(0.3, 0.6, "have"), Word(0.6, 1.4, "25"), Word(1.4, 1.8, "maps."))
    found = items(Segment(0.0, 1.8, "We have 25 maps.", words), "en")
    assert [(item.text, item.start, item.end) for item in found] == [
        ("We", 0.0, 0.3),
        ("have", pytest.approx(0.3), pytest.approx(0.6)),
        ("25", pytest.approx(0.6), pytest.approx(1.4)),
        ("maps", pytest.approx(1.4), pytest.approx(1.8)),
    ]
    assert plain("".join(found[2].symbols)).startswith("tw")
    assert items(Segment(4.0, 5.0, "..."), "en") == []


def test_mandarin_by_characters_and_russian_through_espeak() -> None:
    characters = tuple(Word(i * 0.4, i * 0.4 + 0.4, c) for i, c in enumerate("欢迎大家"))
    found = items(Segment(0.0, 1.6, "欢迎大家\u3002", characters), "zh")
    assert [item.text for item in found] == ["欢迎", "大家"]
    assert (found[1].start, plain(found[1].symbols[0])) == (pytest.approx(0.8), "t")
    words = (Word(0.0, 0.5, "Мама"), Word(0.5, 1.0, "папа"))
    first, second = items(Segment(0.0, 1.0, "Мама папа", words), "ru")
    assert "".join(first.symbols).count("m") == 2 and "".join(second.symbols).count("p") == 2


def test_marks_join_their_phone() -> None:
    assert in_phones("həlˈO wˈɜːld, ma↘") == ["h", "ə", "l", "ˈO", "w", "ˈɜː", "l", "d", "m", "a↘"]


def test_phones_carry_their_stress_and_lie_on_the_networks_grid(recordings: dict[str, Heard]) -> None:
    found = align_text(SAID["en_jfk"], "en", recordings["en_jfk"]).phones
    assert "ˈ" in "".join(phone.symbol for phone in found)
    assert all(abs(phone.start / STEP - round(phone.start / STEP)) < 1e-6 for phone in found)
    labials: list[Phone] = [phone for phone in found if phone.symbol.endswith("m")]
    assert len(labials) == 2  # my, Americans
