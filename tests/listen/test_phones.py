"""The phone network: what it is fed with, what it hears in real sound, and that it takes sound of any length."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.g2p.symbols import LETTERS
from pipelines.lipsync.articulation import gestures
from pipelines.media import read_sound
from pipelines.phones import SR, STEP, decode, hear
from pipelines.phones.alignment import align
from pipelines.phones.classes import COUNT, NAMES, SILENCE, classes
from pipelines.phones.features import BANDS, log_mel
from pipelines.phones.network import SAMPLES, WEIGHTS, Heard
from pipelines.settings import Settings
from pipelines.types import Samples


@pytest.fixture(scope="module")
def jfk(data: Path) -> Samples:
    return np.concatenate(list(read_sound(data / "speech" / "en_jfk.flac", Settings.load(), sr=SR)))


def test_every_symbol_of_the_voice_engine_has_a_class_and_every_class_a_gesture() -> None:
    letters = [letter for letter in LETTERS if letter.isalpha() and letter not in "ˈˌːʰʲᵝ"]
    assert [letter for letter in letters if not classes(letter)] == []
    assert [name for name in NAMES[1:] if classes(name) != (NAMES.index(name),)] == []
    assert all(gestures(name) for name in NAMES[1:])
    assert [NAMES[number] for number in classes("ˈA")] == ["e", "ɪ"]
    assert classes("tʰ") == classes("t") == classes("ʈ") and classes("?") == ()


def test_the_weights_are_small_and_match_the_classes() -> None:
    assert WEIGHTS.stat().st_size <= 2_000_000
    with np.load(WEIGHTS) as stored:
        assert stored["phones.weight"].shape[0] == COUNT == len(stored["log_prior"])
        assert {stored[name].dtype for name in stored.files} == {np.dtype(np.float16)}


def test_features_stand_in_the_middle_of_their_time_and_ignore_loudness() -> None:
    rng = np.random.default_rng(0)
    sound = np.zeros(SR, np.float32)
    sound[8000:9600] = 0.1 * rng.standard_normal(1600)
    mel = log_mel(sound)
    assert mel.shape == (BANDS, 100)
    loud = mel.mean(axis=0)
    assert 49 <= loud.argmax() <= 60 and loud[55] - loud[40] > 2
    assert np.allclose(log_mel(0.2 * sound), mel, atol=0.05)
    tone = np.sin(2 * np.pi * 1000 * np.arange(SR) / SR).astype(np.float32)
    centre = int(log_mel(tone)[:, 50].argmax())
    assert 20 <= centre <= 26  # 1000 Hz lies 34 % up the mel scale between 50 and 7600


def test_pieces_join_without_a_seam(jfk: Samples) -> None:
    sound = np.tile(jfk, 4)[: 33 * SR + 123]
    whole = hear([sound])
    blocks = hear(np.array_split(sound, 17))
    assert len(whole.scores) == -(-len(sound) // SAMPLES) and np.array_equal(whole.scores, blocks.scores)
    alone = hear([sound[: 20 * SR]]).scores.argmax(axis=1)
    assert (whole.scores[:900].argmax(axis=1) == alone[:900]).mean() > 0.95


def test_silence_and_noise_say_nothing_and_no_sound_has_no_frames() -> None:
    rng = np.random.default_rng(1)
    assert decode(hear([np.zeros(3 * SR, np.float32)])) == ()
    noise = (0.05 * rng.standard_normal(3 * SR)).astype(np.float32)
    assert sum(phone.end - phone.start for phone in decode(hear([noise]))) < 0.3
    assert hear([]).scores.shape == (0, COUNT) and decode(hear([])) == ()


def test_phones_are_heard_where_somebody_speaks(jfk: Samples) -> None:
    found = decode(hear([jfk]))

    def inside(start: float, end: float) -> list[str]:
        return [phone.symbol for phone in found if phone.end > start and phone.start < end]

    assert inside(2.4, 3.2) == [] and inside(4.5, 5.3) == []  # the speaker's rests
    assert len(inside(5.4, 7.5)) >= 12
    assert sum(p.end - p.start for p in found) > 5
    assert {"s", "z", "ʃ", "f", "θ"} & set(inside(0.57, 0.67))  # of "so"


def test_a_path_visits_all_phones_and_may_pass_weak_ones() -> None:
    """Made-up scores: t a (rest) t, with a schwa written that is not said."""
    said = (
        [SILENCE] * 5
        + list(classes("t")) * 4
        + list(classes("a")) * 6
        + [SILENCE] * 8
        + list(classes("t")) * 4
    )
    scores = np.full((len(said), COUNT), -8.0, np.float32)
    scores[np.arange(len(said)), said] = -0.01
    heard = Heard(scores)
    found = align([["t", "a", "ə"], ["t"]], heard, 1.0)
    assert found is not None
    times = [[(round(span.start, 3), round(span.end, 3)) for span in word] for word in found]
    assert times == [[(1.1, 1.18), (1.18, 1.3), (1.3, 1.3)], [(1.46, 1.54)]]
    assert found[0][0].score > 0.98 and found[0][2].score == 0
    assert align([["t"] * 30], heard) is None
    assert STEP == 0.02
