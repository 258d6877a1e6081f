"""Faces found, followed, smoothed and remembered: on real clips, put together to make the hard cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipelines import faces, media
from pipelines.errors import Stopped
from pipelines.faces import analysis, cache, detection
from pipelines.faces.smoothing import bridge, smooth
from pipelines.faces.tracking import CutFinder
from pipelines.lipsync import geometry
from pipelines.progress import NullReport
from pipelines.settings import Settings

Maker = Callable[..., Path]


def test_a_cached_clip_is_not_looked_at_again(
    cut: Maker, lips_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = media.probe(cut("talk_512_8s", 0, 4.0))
    first = faces.analyse(info, lips_settings, NullReport())

    def never(*_: object) -> None:
        raise AssertionError("the picture was looked at")

    monkeypatch.setattr(detection.MeshPool, "analyse", never)
    monkeypatch.setattr(detection.Searcher, "_detect", never)
    monkeypatch.setattr(media, "read_frames", never)
    second = faces.analyse(replace(info, path=info.path), lips_settings, NullReport())
    assert len(first) == len(second) == 1
    assert np.array_equal(first[0].landmarks, second[0].landmarks)
    assert isinstance(second[0].landmarks, np.memmap)


def test_the_track_of_a_close_up(cut: Maker, lips_settings: Settings) -> None:
    info = media.probe(cut("talk_512_8s", 0, 4.0))
    (track,) = faces.analyse(info, lips_settings, NullReport())
    assert track.found.all() and len(track.found) == info.frames == 100
    assert track.landmarks.shape == (100, 478, 2) and track.boxes.shape == (100, 4)
    inside = (track.landmarks > -40) & (track.landmarks < 552)
    assert inside.mean() > 0.999
    opening = geometry.opening(np.asarray(track.landmarks))
    assert opening.min() < 0.03 and opening.max() > 0.2  # she shuts and opens her mouth


def test_the_result_does_not_depend_on_the_number_of_threads(cut: Maker, settings: Settings) -> None:
    info = media.probe(cut("talk_512_8s", 0, 4.0))
    one = faces.analyse(info, replace(settings, threads=1, cache=settings.cache / "1"), NullReport())
    four = faces.analyse(info, replace(settings, threads=4, cache=settings.cache / "4"), NullReport())
    assert np.array_equal(one[0].landmarks, four[0].landmarks)


def test_two_people_a_title_card_and_a_cut(cut: Maker, join: Maker, settings: Settings) -> None:
    """40 frames two people, 20 frames grey, 30 frames the same woman alone and larger: two tracks, hers over both."""
    woman, man = cut("talk_512_8s", 0, 1.6), cut("face_512_silent_3s", 0, 1.6)
    later = cut("talk_512_8s", 4, 1.2, "crop=400:400:56:80,scale=1024:512")
    graph = (
        "[0:v]scale=512:512[a];[1:v]scale=512:512[b];[a][b]hstack,setsar=1[both];"
        "color=gray:size=1024x512:rate=25:duration=0.8[card];[2:v]setsar=1[late];"
        "[both][card][late]concat=n=3:v=1[v]"
    )
    info = media.probe(join("two people", graph, woman, man, later))
    assert info.frames == 90
    first, second = faces.analyse(info, settings, NullReport())
    assert first.found[:40].all() and not first.found[40:60].any() and first.found[62:].all()
    assert second.found[:40].sum() >= 38 and not second.found[40:].any()
    assert first.boxes[:40, 2].max() < 512 < second.boxes[:40, 0].min()


def test_a_small_face_in_a_wide_picture(cut: Maker, join: Maker, settings: Settings) -> None:
    """A face 45 px wide in 1920×1080: found on a crop, and as exactly as on the original."""
    clip = cut("talk_512_8s", 0, 1.0)
    graph = "[0:v]scale=96:96:flags=area,pad=1920:1080:1500:700:color=0x506070[v]"
    info = media.probe(join("small face", graph, clip))
    (track,) = faces.analyse(info, settings, NullReport())
    assert track.found.mean() > 0.9
    (large,) = faces.analyse(media.probe(clip), settings, NullReport())
    expected = np.asarray(large.landmarks)[:, [33, 263, 1, 152]] * (96 / 512) + np.array((1500, 700))
    away = np.abs(np.asarray(track.landmarks)[:, [33, 263, 1, 152]] - expected)[track.found & large.found]
    assert np.median(away) < 1.0


def test_no_face_is_a_fact(
    join: Maker, cut: Maker, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = media.probe(cut("talk_512_8s", 0, 0.8, "crop=120:120:0:0,scale=640:360"))
    assert faces.analyse(info, settings, NullReport()) == ()
    monkeypatch.setattr(analysis, "_look_through", None)
    assert faces.analyse(info, settings, NullReport()) == ()  # remembered as well


def test_stop_leaves_nothing_behind(cut: Maker, settings: Settings) -> None:
    class Stopping(NullReport):
        def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
            assert stage == "faces"
            if done >= 40:
                raise Stopped

    info = media.probe(cut("talk_512_8s", 0, 4.0))
    with pytest.raises(Stopped):
        faces.analyse(info, settings, Stopping())
    assert list((settings.cache / "faces").iterdir()) == []


def test_a_damaged_cache_is_made_again_and_forget_forgets(cut: Maker, settings: Settings) -> None:
    info = media.probe(cut("talk_512_8s", 0, 1.0))
    before = np.array(faces.analyse(info, settings, NullReport())[0].landmarks)
    place = cache.folder(info, settings)
    (place / "0-landmarks.npy").write_bytes(b"cut off")
    after = faces.analyse(info, settings, NullReport())[0].landmarks
    assert np.array_equal(before, after)
    assert cache.forget(info, settings) and not place.exists() and not cache.forget(info, settings)


def test_smoothing_removes_jitter_and_does_not_lag() -> None:
    time = np.arange(200) / 25
    path = np.stack([40 * np.sin(2 * np.pi * 0.7 * time), 30 * time], axis=1)[:, None].repeat(478, axis=1)
    noise = np.random.default_rng(1).normal(0, 0.5, path.shape)
    points = (path + noise).astype(np.float32)
    smooth(points, np.ones(200, np.bool_), 25.0, frozenset())
    head = [1, 33, 234, 152]
    error = points[:, head] - path[:, head]
    assert error[5:-5].std() < 0.75 * 0.5
    speed = np.gradient(path[:, head], axis=0)
    lag = float((error * speed).sum() / (speed * speed).sum())  # frames; negative: behind
    assert abs(lag) < 0.02


def test_smoothing_in_blocks_equals_smoothing_at_once() -> None:
    points = np.random.default_rng(2).normal(0, 1, (1300, 478, 2)).astype(np.float32)
    blocks, found = points.copy(), np.ones(1300, np.bool_)
    smooth(blocks, found, 25.0, frozenset())
    from scipy.signal import savgol_filter

    whole = savgol_filter(points[:, 1], 5, 2, axis=0)
    assert np.allclose(blocks[:, 1], whole, atol=1e-4)


def test_short_gaps_are_bridged_long_ones_and_cuts_are_not() -> None:
    points = np.arange(60, dtype=np.float32)[:, None, None].repeat(478, axis=1).repeat(2, axis=2)
    truth, seen = points.copy(), np.ones(60, np.bool_)
    for gap in (slice(10, 13), slice(20, 30), slice(40, 42)):
        seen[gap], points[gap] = False, -99
    found = bridge(points, seen, 25.0, frozenset({41}))
    assert found[10:13].all() and not found[20:30].any() and not found[40:42].any()
    assert np.allclose(points, truth, atol=1e-4)


def test_cuts_are_seen_and_movement_is_not(cut: Maker, settings: Settings) -> None:
    def count(*paths: Path) -> int:
        finder = CutFinder()
        frames = (frame for path in paths for frame in media.read_frames(media.probe(path), settings))
        return sum(finder.is_cut(frame) for frame in frames)

    woman, man = cut("talk_512_8s", 0, 4.0), cut("face_512_silent_3s", 0, 1.6)
    assert count(woman) == 0
    assert count(man, woman, man) == 2
