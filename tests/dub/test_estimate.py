"""How long a dub will take: a first guess, then this machine's own pace."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from pipelines.estimate import FIRST_GUESS, FIXED, Work, estimate, rates, remember, stage_seconds
from pipelines.settings import Settings
from pipelines.types import VideoInfo


def film(seconds: float, size: tuple[int, int] = (512, 512)) -> VideoInfo:
    return VideoInfo(
        Path("a.mp4"), seconds, Fraction(25), *size, frames=round(25 * seconds), rotation=0, vfr=False, audio=(),
        codec="h264", pixel_format="yuv420p", hdr=False, alpha=False, still=False,
    )  # fmt: skip


def test_a_short_video_costs_what_loading_and_learning_cost(settings: Settings) -> None:
    short, long = estimate(settings, film(1.0)), estimate(settings, film(60.0))
    assert sum(FIXED.values()) < short < sum(FIXED.values()) + 6
    assert long > 3 * short
    assert estimate(settings, film(60.0), lips=False) < long - 10
    assert estimate(settings, film(60.0, (1080, 1920))) > long + 60


def test_the_machine_s_own_pace_takes_the_guess_s_place_and_then_moves_half_way(settings: Settings) -> None:
    info = film(20.0)
    work = Work.of(info)
    remember(settings, "speak", work, FIXED["speak"] + 40.0)
    assert rates(settings)["speak"] == pytest.approx(2.0)
    assert stage_seconds(settings, info)["speak"] == pytest.approx(FIXED["speak"] + 40.0)
    remember(settings, "speak", work, FIXED["speak"] + 80.0)
    assert rates(settings)["speak"] == pytest.approx(3.0)
    assert rates(settings)["lips"] == FIRST_GUESS["lips"]
    remember(settings, "lips", work, 0.1)
    assert rates(settings)["lips"] == FIRST_GUESS["lips"], "skipped: its work was there"


def test_a_damaged_memory_counts_as_none(settings: Settings) -> None:
    remember(settings, "listen", Work.of(film(20.0)), 30.0)
    (path,) = settings.cache.glob("speed.json")
    path.write_text('{"listen": "fast"}', encoding="utf-8")
    assert rates(settings) == FIRST_GUESS
