"""Frames per token: sums kept exactly, ends untouched, consonants spared."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.voice.kokoro import durations

SYMBOLS = tuple("ðə kˈæt sˈæt, ænd stˈAd.")
LENGTHS = np.array([14, *np.random.default_rng(3).uniform(1.0, 5.0, len(SYMBOLS)), 1.2], np.float32)


@pytest.mark.parametrize("change", [-12, -5, -1, 0, 1, 7, 20, 35])
def test_the_sum_is_exact_and_the_ends_keep_their_length(change: int) -> None:
    frames = durations.fit(LENGTHS, SYMBOLS, change)
    natural = durations.natural(LENGTHS)
    assert frames.sum() == natural.sum() + change
    assert (frames >= 1).all()
    keep = durations.fixed(SYMBOLS)
    assert (frames[keep] == natural[keep]).all()


def test_first_and_last_phone_are_the_fixed_ones() -> None:
    keep = durations.fixed(SYMBOLS)
    assert [symbol for symbol, kept in zip(SYMBOLS, keep[1:-1], strict=True) if kept] == ["ð", "d", "."]
    assert keep[0] and keep[-1]


def test_vowels_give_more_than_consonants() -> None:
    symbols = tuple("bababababa")
    lengths = np.array([10.0, *[6.0] * 10, 2.0], np.float32)
    frames = durations.fit(lengths, symbols, -12)
    vowels, consonants = frames[2:-2:2].mean(), frames[3:-2:2].mean()
    assert vowels < consonants < 6


def test_more_than_can_be_taken_ends_at_one_frame_each() -> None:
    frames = durations.fit(LENGTHS, SYMBOLS, -1000)
    assert (frames[~durations.fixed(SYMBOLS)] == 1).all()


def test_a_line_of_one_phone_cannot_change() -> None:
    lengths = np.array([10.0, 5.0, 4.0, 1.0], np.float32)
    assert (durations.fit(lengths, ("a", "."), 9) == durations.natural(lengths)).all()
    assert durations.slack(lengths, ("a", ".")) == 0


@given(
    st.lists(st.tuples(st.sampled_from("aeiptsk ,ˈː"), st.floats(0.6, 12)), min_size=4, max_size=60),
    st.integers(-40, 60),
)
def test_any_line_any_change(tokens: list[tuple[str, float]], change: int) -> None:
    symbols = tuple(symbol for symbol, _ in tokens)
    lengths = np.array([9.0, *(length for _, length in tokens), 1.0], np.float32)
    frames = durations.fit(lengths, symbols, change)
    free = ~durations.fixed(symbols)
    natural = durations.natural(lengths)
    assert (frames >= 1).all()
    if free.any():
        assert frames[free].sum() == max(natural[free].sum() + change, free.sum())
