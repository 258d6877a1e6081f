"""A matched voice in a language: what it borrows, how its pitch is set, what is kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.g2p.symbols import SYMBOLS
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.types import Audio, VoiceProfile
from pipelines.voice import SpeakOptions, pitch, reference
from pipelines.voice.kokoro import Kokoro, accent
from pipelines.voice.kokoro.line import lines
from pipelines.voice.kokoro.packs import NATIVE

REPORT = NullReport()


@pytest.fixture(scope="module")
def matched(engine: Kokoro, man: Audio) -> VoiceProfile:
    return engine.enroll(man, "a man", REPORT)


def mixed(voice: VoiceProfile, shares: dict[str, float]) -> VoiceProfile:
    """The voice as if it had been mixed otherwise."""
    arrays = {**voice.arrays, "shares": np.array(list(shares.values()), np.float32)}
    return VoiceProfile(
        voice.engine, voice.name, arrays, {**voice.facts, "packs": [f"{n} 0.5" for n in shares]}
    )


def test_a_blend_speaks_the_language_most_of_it_is_native_to(matched: VoiceProfile) -> None:
    voice = mixed(matched, {"am_eric": 0.4, "bf_emma": 0.3, "zf_xiaobei": 0.3})
    assert accent.at_home(voice, "en")
    assert not accent.at_home(voice, "zh")


def test_a_foreign_language_is_spoken_with_half_the_sounds_and_all_the_rhythm_of_a_native(
    engine: Kokoro, matched: VoiceProfile
) -> None:
    voice = mixed(matched, {"am_eric": 1.0})
    name = accent.fittest_native(voice, "zh", engine.packs)
    assert name and name[0] == "z"
    native, blend = engine.packs.style(name), voice.arrays["style"]
    style = accent.style_in(voice, "zh", engine.packs)
    assert np.allclose(style[:, :128], (native[:, :128] + blend[:, :128]) / 2, atol=1e-6)
    assert (style[:, 128:] == native[:, 128:]).all()
    assert (accent.style_in(voice, "en", engine.packs) == blend).all()


def test_every_language_has_sentences_the_graph_can_say() -> None:
    assert set(accent.SENTENCES) == set(NATIVE.values())
    for language, texts in accent.SENTENCES.items():
        for text in texts:
            (line,) = lines(text, language)
            assert len(line.symbols) > 15 and SYMBOLS.issuperset(line.symbols)


def test_pitch_is_the_speakers_in_a_foreign_language(
    engine: Kokoro, man: Audio, matched: VoiceProfile
) -> None:
    text = "Mi hermano abrió una pequeña empresa hace tres años. Hacía buen tiempo."
    said = engine.speak(text, "es", matched, SpeakOptions(), REPORT).audio
    own, made = pitch.measure(reference.prepare(man).audio), pitch.measure(said)
    assert own and made
    assert abs(12 * np.log2(made.median / own.median)) < 2


def test_an_accent_is_found_once_and_kept(
    engine: Kokoro, context: EngineContext, matched: VoiceProfile, tmp_path: Path
) -> None:
    first = engine._accent(matched, "en")
    fresh = Kokoro(context)
    fresh.__dict__["_graph"] = None  # finding it a second time would need the graph
    again = fresh._accent(matched, "en")
    assert again.tuning == first.tuning
    assert again.change is not None and first.change is not None
    assert (again.change.matrix == first.change.matrix).all()
    (tmp_path / "k").mkdir()
    (tmp_path / "k" / "voice.npz").write_bytes(b"half")
    assert accent.load_accent(tmp_path, "k") is None


def test_a_voice_saved_by_the_earlier_method_still_speaks(engine: Kokoro) -> None:
    flat = np.zeros(511, np.float32)
    flat[255] = 1.0
    style = engine.packs.style("am_adam")
    old = VoiceProfile(
        "kokoro", "old", {"style": style, "filter": flat}, {"pitch": 1.0, "packs": ["am_adam"]}
    )
    one = engine.speak("Good morning.", "en", old, SpeakOptions(), REPORT).audio
    plain = engine.speak("Good morning.", "en", engine.stock("am_adam"), SpeakOptions(), REPORT).audio
    assert len(one.samples) == len(plain.samples)
    assert np.abs(one.samples - plain.samples).max() < 1e-4
