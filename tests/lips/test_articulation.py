"""Phones to lips: what has to hold for every language, on made-up and on real phone times."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from pipelines.lipsync.articulation import DIPHTHONGS, LEAD, gestures, is_shut, targets
from pipelines.settings import Settings
from pipelines.types import Phone
from tests.lips.phones import SPANISH

FPS = Fraction(25)


def line(symbols: str, start: float = 0.4, length: float = 0.12) -> tuple[Phone, ...]:
    return tuple(
        Phone(start + i * length, start + (i + 1) * length, s) for i, s in enumerate(symbols.split())
    )


def peak(symbol: str) -> tuple[float, float]:
    """Opening and width in the middle of a long phone between two t's."""
    aims = targets((Phone(0.5, 0.6, "t"), Phone(0.6, 0.9, symbol), Phone(0.9, 1.0, "t")), 40, FPS)
    middle = round((0.75 - LEAD) * 25)
    return float(aims.opening[middle]), float(aims.width[middle])


def test_vowels_are_ordered_as_phonetics_says() -> None:
    assert peak("ɑː")[0] > peak("ɛ")[0] > peak("ə")[0] > peak("i")[0] > 0.1
    assert peak("a")[0] > peak("ɔ")[0] > peak("u")[0]
    assert peak("i")[1] > 0.5 > peak("a")[1] > -0.2 > peak("o")[1] > peak("u")[1]


@pytest.mark.parametrize("fps", [Fraction(24000, 1001), FPS, Fraction(30), Fraction(50), Fraction(60)])
@pytest.mark.parametrize("symbol", ["p", "b", "m", "pʰ", "ˈm"])
def test_lips_touch_in_every_labial_at_every_frame_rate(fps: Fraction, symbol: str) -> None:
    for start in np.linspace(0.5, 0.54, 9):
        phones = (Phone(0.3, start, "a"), Phone(start, start + 0.03, symbol), Phone(start + 0.03, 0.9, "a"))
        aims = targets(phones, 60, fps)
        time = (np.arange(60) + 0.5) / float(fps) + LEAD
        near = np.abs(time - start - 0.015) < 0.06
        assert aims.opening[near].min() == 0
        assert (aims.shut & near).any()
        assert aims.opening.max() > 0.7


def test_every_real_labial_is_shut_and_every_pause_is_still() -> None:
    aims = targets(SPANISH, 110, FPS)
    labials = [phone for phone in SPANISH if is_shut(phone)]
    assert len(labials) >= 4
    for phone in labials:
        middle = (phone.start + phone.end) / 2 - LEAD
        assert aims.opening[int(middle * 25)] == 0
    time = (np.arange(110) + 0.5) / 25
    before, after = time < SPANISH[0].start - 0.15, time > SPANISH[-1].end + 0.15
    assert (aims.opening[before | after] == 0).all()
    assert aims.silent[before].all() and aims.silent[after].all()


def test_rounding_begins_in_the_consonant_before() -> None:
    rounded, spread = targets(line("s u"), 30, FPS), targets(line("s i"), 30, FPS)
    in_s = round((0.4 + 0.10 - LEAD) * 25)
    assert rounded.width[in_s] < spread.width[in_s] - 0.2


def test_f_tucks_the_lip() -> None:
    aims = targets(line("a f a"), 30, FPS)
    middle = round((0.4 + 0.18 - LEAD) * 25 - 0.5)
    assert aims.tuck[middle] > 0.7
    assert 0.02 < aims.opening[middle] < 0.4
    assert targets(line("a t a"), 30, FPS).tuck.max() == 0


def test_a_diphthong_is_two_gestures() -> None:
    for letter in DIPHTHONGS:
        assert len(gestures(letter)) == 2
    aims = targets((Phone(0.5, 0.9, "W"),), 30, FPS)  # as in "how"
    assert aims.opening[14] > aims.opening[20] + 0.2
    assert aims.width[20] < aims.width[14] - 0.3


def test_the_lips_lead_and_the_offset_moves_them() -> None:
    phones = line("t a t", start=0.8, length=0.2)
    base = targets(phones, 60, FPS).opening
    later = targets(phones, 60, FPS, offset=0.2).opening
    assert np.allclose(base[:-5], later[5:], atol=1e-3)
    vowel = (np.arange(60) + 0.5) / 25 @ (base / base.sum())  # centre of the gesture; the vowel's is at 1.1 s
    assert 1.1 - 0.06 < vowel < 1.1 - 0.01


def test_a_short_gap_is_no_pause() -> None:
    phones = (Phone(0.3, 0.6, "a"), Phone(0.7, 1.0, "a"))
    aims = targets(phones, 40, FPS)
    assert aims.opening[9:23].min() > 0.8


def test_nothing_said_is_a_shut_mouth() -> None:
    aims = targets((), 10, FPS)
    assert (aims.opening == 0).all() and aims.shut.all() and aims.silent.all()


def test_every_symbol_the_voice_engine_can_write_has_a_gesture() -> None:
    from pipelines.lipsync.articulation import ALIASES, GESTURES, MARKS

    vocabulary = Settings.load().weights / "kokoro" / "vocab.json"
    assert vocabulary.is_file(), f"default weights are not assembled: {vocabulary}"
    letters = json.loads(Path(vocabulary).read_text(encoding="utf-8"))["vocab"]
    known = set(GESTURES) | set(DIPHTHONGS) | set(ALIASES) | set(MARKS)
    assert [letter for letter in letters if letter.isalpha() and letter not in known] == []
