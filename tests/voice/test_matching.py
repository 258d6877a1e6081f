"""A voice matched to a recording: pitch, likeness, what is refused, what is kept."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from pipelines.errors import Message, NoSpeech
from pipelines.progress import NoteLevel, NullReport
from pipelines.registry import EngineContext
from pipelines.types import Audio, VoiceProfile
from pipelines.voice import SpeakOptions, pitch, reference
from pipelines.voice.kokoro import Kokoro, spectrum
from pipelines.voice.similarity import similarity

REPORT = NullReport()
SENTENCE = "We will meet again at the old harbour before noon."


@dataclass
class Notes(NullReport):
    """Keeps the notes."""

    notes: list[str] = field(default_factory=list)

    def note(self, message: Message, level: NoteLevel = "hint") -> None:
        self.notes.append(message.en)


@pytest.fixture(scope="module")
def matched(engine: Kokoro, man: Audio) -> VoiceProfile:
    return engine.enroll(man, "a man", REPORT)


@pytest.fixture(scope="module")
def spoken(engine: Kokoro, matched: VoiceProfile) -> Audio:
    return engine.speak(SENTENCE, "en", matched, SpeakOptions(), REPORT).audio


def test_pitch_is_the_speakers(man: Audio, spoken: Audio) -> None:
    own, made = pitch.measure(reference.prepare(man).audio), pitch.measure(spoken)
    assert own and made
    assert abs(12 * np.log2(made.median / own.median)) < 2


def test_nearer_to_the_speaker_than_to_a_stranger(
    engine: Kokoro, man: Audio, woman: Audio, spoken: Audio, matched: VoiceProfile
) -> None:
    own = similarity(spoken, reference.prepare(man).audio)
    stranger = similarity(spoken, reference.prepare(woman).audio)
    assert own > stranger
    assert own == pytest.approx(float(matched.facts["similarity"]), abs=0.15)  # type: ignore[arg-type]


def test_the_profile_says_what_it_is_made_of(matched: VoiceProfile) -> None:
    assert matched.name == "a man" and matched.engine == "kokoro"
    assert matched.arrays["style"].shape == (510, 256)
    assert matched.facts["packs"]
    assert float(matched.facts["reference_seconds"]) > 3  # type: ignore[arg-type]


def test_the_same_recording_is_not_matched_twice(
    engine: Kokoro, context: EngineContext, man: Audio, matched: VoiceProfile
) -> None:
    fresh = Kokoro(context)
    fresh.__dict__["_graph"] = None  # a second match would need the graph
    again = fresh.enroll(man, "another name", REPORT)
    assert again.name == "another name"
    assert (again.arrays["style"] == matched.arrays["style"]).all()
    assert again.facts == matched.facts


def noise(seconds: float, sr: int = 16000) -> Audio:
    return Audio(np.random.default_rng(1).normal(0, 0.05, int(seconds * sr)).astype(np.float32), sr)


def test_recordings_without_enough_speech_are_refused(engine: Kokoro, man: Audio) -> None:
    tone = Audio(0.3 * np.sin(np.arange(80000) * 0.05).astype(np.float32), 16000)
    silent = Audio(np.zeros(80000, np.float32), 16000)
    short = Audio(man.samples[: 2 * man.sr], man.sr)
    for audio in (noise(5), tone, silent, short):
        with pytest.raises(NoSpeech, match=r"at least 3 s are needed"):
            engine.enroll(audio, "x", REPORT)


def test_silence_around_speech_is_cut_and_the_best_part_kept(woman: Audio) -> None:
    gap = np.zeros(woman.sr * 20, np.float32)
    rng = np.random.default_rng(0)
    rough = (woman.samples + rng.normal(0, 0.05, len(woman.samples))).astype(np.float32)
    long = Audio(np.concatenate([gap, rough, gap, woman.samples, gap, rough]), woman.sr)
    found = reference.prepare(long)
    assert 3 <= found.seconds <= 12.6
    begin = (2 * len(gap) + len(rough)) / woman.sr
    assert begin - 0.5 <= found.start and found.end <= begin + woman.duration + 0.5


def test_bad_recordings_are_told(engine: Kokoro, woman: Audio) -> None:
    from pipelines.voice.kokoro.matching import _remarks

    rng = np.random.default_rng(0)
    rough = Audio((woman.samples + rng.normal(0, 0.03, len(woman.samples))).astype(np.float32), woman.sr)
    loud = Audio(np.clip(woman.samples * 12, -1, 1), woman.sr)
    notes = Notes()
    _remarks(reference.prepare(rough), notes)
    _remarks(reference.prepare(loud), notes)
    assert any("noisy" in note for note in notes.notes)
    assert any("clipped" in note for note in notes.notes)


def test_bandwidth_of_a_telephone_is_seen(woman: Audio) -> None:
    import soxr

    thin = soxr.resample(soxr.resample(woman.samples, woman.sr, 8000), 8000, 24000)
    assert reference.bandwidth(thin) < 4600
    assert reference.bandwidth(reference.to_mono(woman, 24000)) > 7000


def test_filter_brings_one_spectrum_to_another_and_leaves_what_the_reference_has_not(woman: Audio) -> None:
    samples = reference.to_mono(woman, 24000)
    coloured = spectrum.filtered(samples, spectrum.taps(np.linspace(6, -6, 48).astype(np.float32)))
    plain, other = spectrum.envelope(samples), spectrum.envelope(coloured)
    gain = spectrum.correction(plain, other, 11000, 12)
    again = spectrum.envelope(spectrum.filtered(samples, spectrum.taps(gain)))
    inside = spectrum.centres() < 9000
    assert np.abs((again - other)[inside] - (again - other)[inside].mean()).max() < 1.5
    limited = spectrum.correction(plain, other, 4000, 12)
    above = spectrum.centres() > 4000
    assert np.ptp(limited[above]) < 0.01 and limited[above].max() <= 0
