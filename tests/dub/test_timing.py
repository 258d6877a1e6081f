"""Lines in their slots: the cases a person can check by hand, and what must hold for any plan."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.dub.fitting import fitted, too_long, unfitted
from pipelines.errors import Message
from pipelines.timing import FitLimits, LineFit, LineWish, count_words, fit_lines
from pipelines.types import DubLine

GAP = FitLimits().gap


def wish(start: float, end: float, natural: float, text: str = "one two three four five six") -> LineWish:
    return LineWish(start, end, natural, 0.7 * natural, 1.4 * natural, text)


def test_a_line_that_nearly_fits_takes_exactly_the_original_time() -> None:
    (fit,) = fit_lines([wish(1.0, 4.0, 2.8)], 10)
    assert (fit.start, fit.seconds) == (1.0, pytest.approx(3.0))


def test_a_short_line_is_not_drawn_out_beyond_the_fill_limit() -> None:
    (fit,) = fit_lines([wish(1.0, 6.0, 2.0)], 10)
    assert fit.seconds == pytest.approx(2.3)


def test_a_long_line_speeds_up_to_the_preferred_limit_then_borrows_the_pause() -> None:
    first, second = fit_lines([wish(0.0, 3.0, 4.5), wish(5.0, 7.0, 2.0)], 10)
    assert first.factor == pytest.approx(0.8) and first.end == pytest.approx(3.6)
    assert first.needed_speed is None and second.start == 5.0


def test_beyond_the_pause_it_speeds_up_to_the_hard_limit() -> None:
    first, second = fit_lines([wish(0.0, 3.0, 4.0), wish(3.0, 5.0, 2.0)], 10)
    assert first.end == pytest.approx(3.0 - GAP) and 0.7 <= first.factor < 0.8
    assert second.start == 3.0 and first.needed_speed is None


def test_what_cannot_fit_is_said_and_delays_the_next_line() -> None:
    text = "one two three four five six seven eight nine ten"
    first, second = fit_lines([wish(0.0, 3.0, 6.0, text), wish(3.0, 6.0, 2.0)], 10)
    assert first.factor == pytest.approx(0.7) and first.end == pytest.approx(4.2)
    assert first.needed_speed == pytest.approx(6.0 / (3.0 - GAP))
    assert first.shorten_by == math.ceil(10 * (1 - (3.0 - GAP) / 4.8))
    assert second.start == pytest.approx(4.2 + GAP)


def test_a_line_at_the_end_moves_into_the_pause_before_it() -> None:
    first, last = fit_lines([wish(0.0, 2.0, 2.0), wish(8.0, 10.0, 4.0)], 10)
    assert last.end == pytest.approx(10.0) and last.start == pytest.approx(7.2)
    assert last.factor == pytest.approx(0.7) and first.start == 0.0


def test_lines_that_cannot_be_spoken_in_the_video_at_all_run_past_its_end_in_order() -> None:
    first, second = fit_lines([wish(0.0, 1.0, 10.0), wish(1.0, 2.0, 10.0)], 2.0)
    assert first.start == 0.0 and second.start == pytest.approx(first.end + GAP)
    assert second.end == pytest.approx(14.0 + GAP)


def test_nothing_is_spoken_before_a_kept_line_has_ended() -> None:
    (fit,) = fit_lines([wish(2.0, 4.0, 4.0)], 6.0, begin=3.0)
    assert fit.start == 3.0 and fit.end <= 6.0
    (late,) = fit_lines([wish(5.0, 6.0, 4.0)], 6.0, begin=4.0)
    assert late.start == 4.0 and late.factor == pytest.approx(0.7)


def test_words_are_counted_in_every_script() -> None:
    assert count_words("We need to travel.") == 4
    assert count_words("我们去上海 by train") == 7
    assert count_words("") == 0


@st.composite
def plans(draw: st.DrawFn) -> tuple[list[LineWish], float]:
    wishes, clock = [], 0.0
    for _ in range(draw(st.integers(0, 12))):
        clock += draw(st.floats(0, 4))
        end = clock + draw(st.floats(0.3, 6))
        wishes.append(wish(clock, end, draw(st.floats(0.3, 9))))
        clock = end
    return wishes, clock + draw(st.floats(0.0, 3))


def fits_inside(wishes: list[LineWish], duration: float) -> bool:
    return sum(w.shortest for w in wishes) + GAP * max(len(wishes) - 1, 0) <= duration


@settings(max_examples=400, deadline=None)
@given(plans())
def test_any_plan_keeps_order_limits_and_neighbours(plan: tuple[list[LineWish], float]) -> None:
    wishes, duration = plan
    fits = fit_lines(wishes, duration)
    assert len(fits) == len(wishes)
    for earlier, later in itertools.pairwise(fits):
        assert later.start >= earlier.end + GAP - 1e-6
    for w, fit in zip(wishes, fits, strict=True):
        check_limits(w, fit)
    if fits and fits_inside(wishes, duration) and not any(f.needed_speed for f in fits):
        assert fits[-1].end <= duration + 1e-6
        assert all(fit.start == w.start for w, fit in zip(wishes, fits, strict=True))


@settings(max_examples=300, deadline=None)
@given(plans())
def test_a_start_moves_only_where_it_cannot_be_kept(plan: tuple[list[LineWish], float]) -> None:
    """Later: the line before fills the time although it is as short as can be. Earlier: so are all that follow."""
    wishes, duration = plan
    fits = fit_lines(wishes, duration)
    for number, (w, fit) in enumerate(zip(wishes, fits, strict=True)):
        if fit.start > w.start + 1e-6:
            before = fits[number - 1]
            assert number and before.end + GAP == pytest.approx(fit.start)
            assert before.seconds == pytest.approx(wishes[number - 1].shortest)
        elif fit.start < w.start - 1e-6:
            rest = list(zip(wishes, fits, strict=True))[number:]
            assert all(f.seconds == pytest.approx(v.shortest) for v, f in rest)
            assert all(b.start == pytest.approx(a.end + GAP) for a, b in itertools.pairwise(fits[number:]))
            assert fits[-1].end >= duration - 1e-6


def test_the_line_before_the_last_is_shortened_before_its_start_moves() -> None:
    first, last = fit_lines([wish(5.0, 7.5, 2.5), wish(7.5, 9.0, 3.0)], 9.0)
    assert last.end == pytest.approx(9.0) and last.start == pytest.approx(6.9)
    assert first.start == 5.0 and first.end == pytest.approx(6.9 - GAP) and first.factor < 0.8


def test_a_line_too_long_for_its_time_is_named_with_speed_and_words() -> None:
    text = "one two three four five six seven eight nine ten"
    first, _ = fit_lines([wish(0.0, 3.0, 4.38, text), wish(3.0, 6.0, 2.0)], 10)
    assert too_long(6, first, "es") == Message(
        "Line 7 would need 1.5×: shorten it by about 2 words", "第 7 行需要 1.5× 语速:请缩短约 2 个词"
    )
    chinese, _ = fit_lines([wish(0.0, 1.0, 2.0, "我们要去上海看朋友"), wish(1.0, 2.0, 1.0)], 10)
    assert too_long(0, chinese, "zh").zh == "第 1 行需要 2.2× 语速:请缩短约 4 个字"
    assert "about 4 characters" in too_long(0, chinese, "zh").en
    hopeless = LineFit(0.0, 1.0, 0.7, math.inf, 1)
    assert too_long(0, hopeless, "en").en == "Line 1 would need more than 10×: shorten it by about 1 word"
    line = fitted(DubLine(0, 0.0, 1.0, ""), hopeless)
    assert (line.needed_speed, line.shorten_by) == (10.0, 1)
    assert (unfitted(line).needed_speed, unfitted(line).shorten_by, unfitted(line).state) == (
        1.0,
        0,
        "translated",
    )


def check_limits(w: LineWish, fit: LineFit) -> None:
    assert w.shortest - 1e-9 <= fit.seconds <= w.longest + 1e-9
    assert fit.factor == pytest.approx(fit.seconds / w.natural)
    assert fit.start >= 0
    assert (fit.needed_speed is None) == (fit.shorten_by == 0)
