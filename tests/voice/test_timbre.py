"""Colour of a voice frame by frame: what the map does to spectra, what it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest

from pipelines.types import Audio
from pipelines.voice import pitch
from pipelines.voice.kokoro import spectrum, timbre
from pipelines.voice.kokoro.timbre import Colour
from pipelines.voice.reference import to_mono


@pytest.fixture(scope="module")
def she(woman: Audio) -> np.ndarray:  # type: ignore[type-arg]
    return to_mono(woman, 24000)


@pytest.fixture(scope="module")
def he(man: Audio) -> np.ndarray:  # type: ignore[type-arg]
    return to_mono(man, 24000)


def apart(one: Colour, other: Colour) -> float:
    """Squared Wasserstein distance of two colours' shapes, dB²."""
    root = timbre._root(one.spread)
    cross = timbre._root(root @ other.spread @ root)
    moved = np.sum((one.centre - other.centre) ** 2)
    return float(moved + np.trace(one.spread + other.spread - 2 * cross))


def test_a_voice_recoloured_to_itself_stays_as_it_is(she: np.ndarray) -> None:  # type: ignore[type-arg]
    own = timbre.colour(she)
    change = timbre.recolouring(own, own, 11000, 12, 1.0)
    assert np.abs(change.gain).max() < 1e-3 and np.abs(change.matrix).max() < 1e-3
    again = timbre.recoloured(she, change)
    assert len(again) == len(she)
    assert np.abs(again - she).max() < 1e-3 * np.abs(she).max()


def test_transport_turns_one_covariance_into_another() -> None:
    rng = np.random.default_rng(3)
    one, other = (np.cov(rng.normal(size=(8, 40)) * np.arange(1, 9)[:, None]) for _ in range(2))
    ridge = timbre.RIDGE * np.eye(8)
    matrix = timbre._transport(one, other)
    assert np.allclose(matrix, matrix.T, atol=1e-8)
    assert np.allclose(matrix @ (one + ridge) @ matrix, other + ridge, atol=1e-6)


def test_recoloured_speech_is_nearer_in_mean_and_variety(she: np.ndarray, he: np.ndarray) -> None:  # type: ignore[type-arg]
    target = timbre.colour(he)
    whole = timbre.recolouring(timbre.colour(she), target, 11000, 12, 1.0)
    plain = timbre.recolouring(timbre.colour(she), target, 11000, 12, 0.0)
    before = apart(timbre.colour(she), target)
    filtered = apart(timbre.colour(timbre.recoloured(she, plain)), target)
    after = apart(timbre.colour(timbre.recoloured(she, whole)), target)
    assert filtered < 0.7 * before
    assert after < 0.7 * filtered


def test_pitch_level_and_length_stay(she: np.ndarray, he: np.ndarray) -> None:  # type: ignore[type-arg]
    change = timbre.recolouring(timbre.colour(she), timbre.colour(he), 11000, 12, 1.0)
    out = timbre.recoloured(she, change)
    assert len(out) == len(she)
    assert np.mean(out**2) == pytest.approx(np.mean(she**2), rel=1e-3)
    one, other = pitch.measure(Audio(she, 24000)), pitch.measure(Audio(out, 24000))
    assert one and other
    assert abs(12 * np.log2(other.median / one.median)) < 0.5


def test_nothing_is_added_above_what_the_reference_holds(she: np.ndarray) -> None:  # type: ignore[type-arg]
    import soxr

    thin = soxr.resample(soxr.resample(she, 24000, 8000), 8000, 24000)[: len(she)]
    change = timbre.recolouring(timbre.colour(she), timbre.colour(thin), 4000, 12, 1.0)
    above = spectrum.centres() > 4500
    gains = timbre._moves(timbre._bands(timbre._frames(she)), change)
    assert gains[:, above].max() <= 1e-6


def test_a_click_of_a_line_is_handled(she: np.ndarray) -> None:  # type: ignore[type-arg]
    change = timbre.recolouring(timbre.colour(she), timbre.colour(she[::-1].copy()), 11000, 12, 1.0)
    short = timbre.recoloured(she[:300], change)
    assert len(short) == 300 and np.isfinite(short).all()
    silent = timbre.recoloured(np.zeros(5000, np.float32), change)
    assert not silent.any()
