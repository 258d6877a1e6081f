"""Frame orders, and frames read in them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pipelines import media
from pipelines.lipsync import frames as ordered
from pipelines.settings import Settings
from pipelines.sync.order import frame_order


def test_orders() -> None:
    assert frame_order("loop", 3, 8) == (0, 1, 2, 0, 1, 2, 0, 1)
    assert frame_order("pingpong", 4, 10) == (0, 1, 2, 3, 2, 1, 0, 1, 2, 3)
    assert frame_order("freeze", 3, 5) == (0, 1, 2, 2, 2)
    assert frame_order("trim", 3, 5) == (0, 1, 2)
    assert frame_order("trim", 9, 5) == (0, 1, 2, 3, 4)


@pytest.mark.parametrize("source", [1, 2, 5, 40])
def test_pingpong_has_period_2n_minus_2_and_neighbours_only(source: int) -> None:
    order = np.array(frame_order("pingpong", source, 200))
    period = max(2 * (source - 1), 1)
    assert (order[period:] == order[:-period]).all()
    assert order.min() == 0 and order.max() == source - 1
    assert (np.abs(np.diff(order)) == (1 if source > 1 else 0)).all()


@pytest.mark.parametrize("fit", ["loop", "pingpong", "freeze"])
def test_one_frame_stands_for_all(fit: str) -> None:
    assert frame_order(fit, 1, 4) == (0, 0, 0, 0)  # type: ignore[arg-type]


def test_segments_cover_the_order() -> None:
    order = (*frame_order("pingpong", 5, 23), 4, 4, 4, *frame_order("loop", 3, 7))
    parts = ordered.segments(order)
    assert parts[0][0] == 0 and parts[-1][1] == len(order)
    assert all(one[1] == other[0] for one, other in itertools.pairwise(parts))
    for first, last, step in parts:
        assert set(np.diff(order[first:last])) <= {0, step}


@pytest.mark.parametrize(
    "order",
    [
        frame_order("pingpong", 30, 75),
        frame_order("loop", 30, 40),
        (5, 5, 6, 9 - 2, 7, 7),
        (29, 28, 28, 27),
        (12,),
    ],
)
def test_frames_come_in_the_order_asked_for(
    order: tuple[int, ...], cut: Callable[..., Path], lips_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = media.probe(cut("talk_512_8s", 0, 1.2))
    frames = list(media.read_frames(info, lips_settings))
    monkeypatch.setattr(ordered, "BLOCK_BYTES", 512 * 512 * 3 * 8)  # eight frames at a time backwards
    got = list(ordered.ordered_frames(info, order, lips_settings))
    assert len(got) == len(order)
    assert all(np.array_equal(frame, frames[number]) for frame, number in zip(got, order, strict=True))
