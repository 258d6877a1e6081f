"""The engine ``ownmouth`` on real faces: what it changes, what it leaves alone, and whether the mouth says the line."""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from pipelines import faces, media
from pipelines.backend.policy import Policy
from pipelines.errors import NoFace, Stopped
from pipelines.lipsync import (
    LIP_ENGINES,
    EngineContext,
    LipDrive,
    dictionary,
    evaluation,
    geometry,
    selection,
)
from pipelines.lipsync.mouths import study
from pipelines.lipsync.plan import make_plan
from pipelines.lipsync.shape import speaker_range
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.types import FaceTrack, VideoInfo
from tests.lips.conftest import Result, changed, source_frames
from tests.lips.phones import SPANISH

Maker = Callable[..., Path]
Say = Callable[..., Result]
Encode = Callable[[Result, str], VideoInfo]


def face_mask(track: FaceTrack, number: int, shape: tuple[int, ...]) -> np.ndarray:
    """The face below the eyes, grown by a third of the eye distance: the neck gives way under the chin."""
    points = np.asarray(track.landmarks[number])
    reach = int(0.32 * np.linalg.norm(points[33] - points[263])) + 4
    x0, y0 = np.maximum(points.min(0).astype(int) - 2 * reach, 0)
    x1, y1 = points.max(0).astype(int) + 2 * reach
    mask = np.zeros(shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, cv2.convexHull(points.astype(np.int32)), 1)
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    mask[y0:y1, x0:x1] = cv2.dilate(mask[y0:y1, x0:x1], disc)
    mask[: int(points[[33, 263], 1].max())] = 0
    return mask > 0


def span_of(track: FaceTrack):  # type: ignore[no-untyped-def]
    points = np.asarray(track.landmarks)[np.asarray(track.found)]
    return speaker_range(geometry.opening(points), geometry.width(points))


def test_the_mouth_says_the_line(spoken: Result, encode: Encode, lips_settings: Settings) -> None:
    """Landmarks detected again on the encoded video follow the targets; backwards they do not."""
    rendered = encode(spoken, "spoken")
    sync = evaluation.evaluate(rendered, span_of(spoken.track), SPANISH, lips_settings, NullReport())
    assert sync.frames == 100
    assert sync.opening_r >= 0.8 and sync.width_r >= 0.6, sync
    assert sync.reversed_r <= sync.opening_r - 0.25, sync
    assert abs(sync.lag) <= 1, sync
    assert sync.closures >= 4 and sync.closed >= 0.9, sync
    assert sync.silence_moving <= 0.02, sync
    original = evaluation.compare(spoken.track, span_of(spoken.track), SPANISH, spoken.info.fps)
    assert original.opening_r < 0.5  # her own words are others: the measure can fail


def test_it_does_not_flicker(spoken: Result, encode: Encode, lips_settings: Settings) -> None:
    rendered = encode(spoken, "spoken")
    (track,) = faces.analyse(rendered, lips_settings, NullReport())
    after = evaluation.flicker(rendered, track, lips_settings, NullReport())
    before = evaluation.flicker(spoken.info, spoken.track, lips_settings, NullReport())
    assert after < 1.35 * before


def test_outside_the_face_nothing_changes(spoken: Result, lips_settings: Settings) -> None:
    sources = source_frames(spoken, lips_settings)
    touched = 0
    for number, (before, after) in enumerate(zip(sources, spoken.frames, strict=True)):
        assert after.shape == before.shape and after.dtype == np.uint8
        where = changed(before, after)
        assert not where[~face_mask(spoken.track, number, before.shape)].any(), number
        touched += int(where.any())
    assert touched >= 95


def test_no_edge_shows_at_the_seam(spoken: Result, lips_settings: Settings) -> None:
    """Along the feather the new picture's fine gradients are no stronger than the source's."""
    sources = source_frames(spoken, lips_settings)
    mesh = geometry.build_mesh(geometry.reference_shape(np.asarray(spoken.track.landmarks)))
    cheek = np.flatnonzero(
        (mesh.alpha[: len(mesh.vertices)] > 0.05) & (mesh.alpha[: len(mesh.vertices)] < 0.6)
    )
    before, after = 0.0, 0.0
    for number in range(5, 95, 10):
        points = np.asarray(spoken.track.landmarks[number])[mesh.vertices[cheek]].astype(int)
        for picture in (sources[number], spoken.frames[number]):
            grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY).astype(np.float32)
            edges = np.hypot(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1))
            value = float(np.percentile([edges[y - 3 : y + 4, x - 3 : x + 4].max() for x, y in points], 90))
            if picture is sources[number]:
                before += value
            else:
                after += value
    assert after < 1.3 * before


def test_the_jaw_moves_with_the_mouth(spoken: Result, encode: Encode, lips_settings: Settings) -> None:
    (track,) = faces.analyse(encode(spoken, "spoken"), lips_settings, NullReport())
    points = np.asarray(track.landmarks)
    eyes = np.linalg.norm(points[:, 33] - points[:, 263], axis=1)
    face = np.linalg.norm(points[:, 152] - points[:, 168], axis=1) / eyes
    opening = geometry.opening(points)
    pose = np.stack([np.ones(len(face)), geometry.turn(points), geometry.turn(points) ** 2], axis=1)
    rest = face - pose @ np.linalg.lstsq(pose, face, rcond=None)[0]
    assert np.corrcoef(rest, opening)[0, 1] > 0.3


def test_twice_the_same(spoken: Result, say: Say) -> None:
    again = say(spoken.info.path)
    assert all(np.array_equal(one, two) for one, two in zip(spoken.frames, again.frames, strict=True))
    assert spoken.report == again.report


def test_frames_without_a_face_and_kept_lines_pass_untouched(
    cut: Maker, join: Maker, say: Say, lips_settings: Settings
) -> None:
    clip = cut("talk_512_8s", 0, 1.2)
    card = "color=0x404850:size=512x512:rate=25:duration=0.4"
    graph = f"[0:v]split[a][b];{card}[c];[a]setsar=1[a1];[b]setsar=1[b1];[c]setsar=1[c1];[a1][c1][b1]concat=n=3:v=1[v]"
    result = say(join("card between", graph, clip), keep=((2.0, 2.4),))
    sources = source_frames(result, lips_settings)
    same = [np.array_equal(one, two) for one, two in zip(sources, result.frames, strict=True)]
    assert all(same[30:40]) and all(same[50:60])
    assert not any(same[3:24])
    assert result.report.passed == ((30, 40), (50, 60))
    assert result.report.synthesised == ((0, 30), (40, 50), (60, 70))
    assert any("No face" in note.en for note in result.report.notes)
    strength = [np.abs(one.astype(int) - two).sum() for one, two in zip(sources, result.frames, strict=True)]
    assert strength[29] < strength[24] and strength[40] < strength[45]  # eased in and out


def test_a_still_picture_speaks(
    spoken: Result, say: Say, encode: Encode, lips_home: Path, lips_settings: Settings
) -> None:
    picture = lips_home / "portrait.png"
    shut = int(geometry.opening(np.asarray(spoken.track.landmarks)).argmin())
    Image.fromarray(source_frames(spoken, lips_settings)[shut][..., ::-1]).save(picture)
    result = say(picture, order=(0,) * 100)
    rendered = encode(result, "portrait")
    (track,) = faces.analyse(rendered, lips_settings, NullReport())
    sync = evaluation.compare(track, span_of(result.track), SPANISH, rendered.fps)
    assert sync.opening_r >= 0.7 and sync.closed >= 0.9 and sync.silence_moving <= 0.02, sync


def test_a_mouth_that_never_shuts_learns_to(
    cut: Maker, say: Say, encode: Encode, lips_settings: Settings
) -> None:
    """Eleven frames of a wide smile, played to and fro: lips still meet on p, b, m and in pauses."""
    result = say(cut("talk_512_8s", 1.6, 0.44), order=tuple(min(n % 20, 20 - n % 20) for n in range(100)))
    (track,) = faces.analyse(encode(result, "smile"), lips_settings, NullReport())
    sync = evaluation.compare(track, span_of(result.track), SPANISH, result.info.fps)
    assert sync.closed >= 0.9 and sync.opening_r >= 0.7 and sync.silence_moving <= 0.02, sync


@pytest.mark.parametrize(("size", "clip"), [("1080:1920", "talk_outdoor_10s"), ("333:591", "talk_room_20s")])
def test_any_size(size: str, clip: str, cut: Maker, say: Say, lips_settings: Settings) -> None:
    width, height = map(int, size.split(":"))
    even = f"scale={width // 2 * 2}:{height // 2 * 2}"
    result = say(cut(clip, 2, 0.4, even))
    assert result.frames[0].shape == (result.info.height, result.info.width, 3)
    sources = source_frames(result, lips_settings)
    for number, (before, after) in enumerate(zip(sources, result.frames, strict=True)):
        assert not changed(before, after)[~face_mask(result.track, number, before.shape)].any(), number


def test_nothing_is_left_behind(
    spoken: Result, lips_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither after a whole run, nor when it is dropped half-way, nor when the preparation is stopped."""

    class Stopping(NullReport):
        def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
            if done >= 50:
                raise Stopped

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    settings = replace(lips_settings, cache=tmp_path / "cache")
    engine = LIP_ENGINES.get("ownmouth", EngineContext(settings, Policy()))
    with pytest.raises(Stopped):
        engine.sync(spoken.info, spoken.track, spoken.drive, Stopping())
    gc.collect()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    run = engine.sync(spoken.info, spoken.track, spoken.drive, NullReport())
    frames = run.frames
    next(frames)
    assert list(tmp_path.glob("mouths-*"))
    del run, frames
    gc.collect()
    assert list(tmp_path.glob("mouths-*")) == []


def test_a_frame_looks_the_same_in_whatever_stretch_it_is_drawn(
    spoken: Result, lips_settings: Settings
) -> None:
    engine = LIP_ENGINES.get("ownmouth", EngineContext(lips_settings, Policy()))
    run = engine.sync(spoken.info, spoken.track, spoken.drive, NullReport())
    for first, last in ((0, 3), (41, 60), (97, 100)):
        alone = list(run.draw(first, last))
        assert len(alone) == last - first
        assert all(
            np.array_equal(one, two) for one, two in zip(alone, spoken.frames[first:last], strict=True)
        )


def test_another_word_changes_the_frames_around_it_and_no_others(data: Path, lips_settings: Settings) -> None:
    """On eight seconds that say the line twice, a word of the first is replaced."""
    info = media.probe(data / "video" / "talk_512_8s.mp4")
    (track, *_) = faces.analyse(info, lips_settings, NullReport())
    period = 3.6
    twice = tuple(
        replace(phone, start=phone.start + shift, end=phone.end + shift)
        for shift in (0.0, period)
        for phone in SPANISH
    )
    edited = tuple(
        replace(phone, symbol={"m": "a", "a": "m"}.get(phone.symbol, phone.symbol))
        if 1.5 < phone.start < 2.1
        else phone
        for phone in twice
    )
    engine = LIP_ENGINES.get("ownmouth", EngineContext(lips_settings, Policy()))
    order = tuple(range(info.frames))
    before, after = (
        engine.sync(info, track, LipDrive(order, phones, info.path), NullReport())
        for phones in (twice, edited)
    )
    tens = [(first, first + 10) for first in range(0, info.frames, 10)]
    told = [part for part in tens if before.signature(*part) != after.signature(*part)]
    assert told and told[0][0] >= 20 and told[-1][1] <= 70, told  # 1.5 - 2.1 s are frames 37 - 53
    frames = zip(before.draw(0, 110), after.draw(0, 110), strict=True)
    differ = [number for number, (one, two) in enumerate(frames) if not np.array_equal(one, two)]
    assert differ and {(number // 10) * 10 for number in differ} <= {first for first, _ in told}


def test_the_mouths_of_a_clip_are_collected_once(
    spoken: Result, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("collected again")

    monkeypatch.setattr(dictionary, "collect", never)
    again = say(spoken.info.path)
    assert np.array_equal(again.frames[50], spoken.frames[50])


def test_kept_mouths_make_room_for_others_the_longest_unused_first(tmp_path: Path) -> None:
    for name, used in {"old": 2000, "older": 1000, "new": 3000, "used": 500}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "crops.u8").write_bytes(bytes(100))
        os.utime(tmp_path / name, (used, used))
    dictionary.make_room(tmp_path, 200, tmp_path / "used")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "used"]


def test_the_path_between_posts_is_the_cheapest_of_all(
    spoken: Result, lips_settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Deciding at posts from their surroundings alone costs nothing: the whole clip at once chooses the same."""
    motion = study(spoken.track, 25.0, tmp_path, NullReport())
    mouths = dictionary.mouths_of(spoken.info, spoken.track, motion, lips_settings, NullReport())
    plan = make_plan(spoken.info, spoken.track, motion, mouths.frame_odd, spoken.drive)
    parts = selection.select(plan.wanted, motion, mouths, NullReport())
    monkeypatch.setattr(selection, "POST", 10**6)
    whole = selection.select(plan.wanted, motion, mouths, NullReport())
    assert (parts == whole).mean() >= 0.98 and len(np.unique(parts)) > 20


def test_a_track_without_a_face_is_refused(spoken: Result, lips_settings: Settings) -> None:
    engine = LIP_ENGINES.get("ownmouth", EngineContext(lips_settings, Policy()))
    nobody = replace(spoken.track, found=np.zeros(100, np.bool_))
    with pytest.raises(NoFace):
        engine.sync(spoken.info, nobody, LipDrive((0, 1), (), spoken.info.path), NullReport())
