"""A single picture that speaks: the drawn inside of its mouth, blinking, head motion, and what stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from pipelines import faces, media
from pipelines.backend.policy import Policy
from pipelines.lipsync import LIP_ENGINES, EngineContext, LipDrive, LipRun, geometry
from pipelines.lipsync.articulation import targets
from pipelines.lipsync.portrait.eyes import LOWER, UPPER, eyes_of
from pipelines.lipsync.portrait.interior import shows_teeth
from pipelines.lipsync.portrait.life import life_of
from pipelines.lipsync.portrait.rhythm import rhythm
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.types import FaceTrack, Frame, VideoInfo
from tests.lips.phones import SPANISH
from tests.lips.test_ownmouth import face_mask

FRAMES = 75  # 3 s: the line, with a blink at 2 s
Portrait = tuple[VideoInfo, FaceTrack, Frame]


def portrait(path: Path, settings: Settings) -> Portrait:
    info = media.probe(path)
    (track, *_) = faces.analyse(info, settings, NullReport())
    return info, track, next(iter(media.read_frames(info, settings)))


@pytest.fixture(scope="module")
def save(data: Path, lips_home: Path, lips_settings: Settings) -> Callable[[str, int], Path]:
    """``save(clip, number)``: one frame of a sample clip as a picture."""

    def write(clip: str, number: int) -> Path:
        path = lips_home / f"{clip}-{number}.png"
        info = media.probe(data / "video" / f"{clip}.mp4")
        frame = next(iter(media.read_frames(info, lips_settings, start=number, count=1)))
        Image.fromarray(frame[..., ::-1]).save(path)
        return path

    return write


@pytest.fixture(scope="module")
def shut(save: Callable[[str, int], Path], lips_settings: Settings) -> Portrait:
    """Lips together, head half turned."""
    return portrait(save("talk_512_8s", 75), lips_settings)


@pytest.fixture(scope="module")
def smiling(save: Callable[[str, int], Path], lips_settings: Settings) -> Portrait:
    return portrait(save("face_512_silent_3s", 25), lips_settings)


def say(given: Portrait, settings: Settings, head_motion: bool, frames: int = FRAMES) -> LipRun:
    info, track, _ = given
    engine = LIP_ENGINES.get("ownmouth", EngineContext(settings, Policy()))
    drive = LipDrive((0,) * frames, SPANISH, info.path, head_motion=head_motion, blinking=True)
    return engine.sync(info, track, drive, NullReport())


def seen(frames: list[Frame], info: VideoInfo, path: Path, settings: Settings) -> np.ndarray:
    """Landmarks (T, 478, 2) detected on frames that were encoded."""
    with media.FrameWriter(path, info.width, info.height, info.fps, settings, color=info.color) as writer:
        for frame in frames:
            writer.write(frame)
    (track,) = faces.analyse(media.probe(path), settings, NullReport())
    return np.asarray(track.landmarks)


def lids(points: np.ndarray) -> np.ndarray:
    """(T,) how far both eyes are open, over the distance of their outer corners."""
    gaps = [
        np.linalg.norm(points[:, up[4]] - points[:, low[4]], axis=1)
        for up, low in zip(UPPER, LOWER, strict=True)
    ]
    return np.asarray(sum(gaps) / np.linalg.norm(points[:, 33] - points[:, 263], axis=1))


@pytest.mark.parametrize(("which", "lids_left"), [("shut", 0.8), ("smiling", 0.5)])
def test_a_portrait_speaks_blinks_and_moves(
    which: str, lids_left: float, request: pytest.FixtureRequest, tmp_path: Path, lips_settings: Settings
) -> None:
    given: Portrait = request.getfixturevalue(which)
    info, track, _ = given
    frames = list(say(given, lips_settings, head_motion=True).frames)
    points = seen(frames, info, tmp_path / "said.mp4", lips_settings)
    wanted = targets(SPANISH, FRAMES, info.fps)
    opening = geometry.opening(points)
    assert np.corrcoef(opening, wanted.opening)[0, 1] >= 0.9
    assert opening[wanted.shut].max() <= 0.04 < 0.1 <= opening[wanted.opening > 0.5].mean()
    blink = rhythm(FRAMES, 25, True).blink
    assert lids(points)[blink > 0.95].max() < lids_left * np.median(lids(points)[blink == 0])
    nose = points[:, geometry.NOSE_TIP] - points[0, geometry.NOSE_TIP]
    eyes = np.linalg.norm(track.landmarks[0, 33] - track.landmarks[0, 263])
    moved = np.linalg.norm(nose, axis=1) / eyes
    assert 0.01 < moved.max() < 0.12 and moved[:3].max() < 0.01
    assert np.linalg.norm(np.diff(nose, axis=0), axis=1).max() / eyes < 0.02, "no jumps"


def test_a_still_head_leaves_everything_but_mouth_and_lids(shut: Portrait, lips_settings: Settings) -> None:
    _, track, picture = shut
    run = say(shut, lips_settings, head_motion=False)
    mask = face_mask(track, 0, picture.shape)
    points = track.landmarks[0]
    for side in (0, 1):
        around = points[[*UPPER[side], *LOWER[side]]]
        wide = float(np.linalg.norm(around[0] - around[8]))
        grown = np.concatenate([around + np.array((x, y)) * wide for x in (-0.3, 0.3) for y in (-0.7, 0.3)])
        hull = cv2.convexHull(grown.astype(np.int32))
        mask |= cv2.fillConvexPoly(np.zeros(picture.shape[:2], np.uint8), hull, 1) > 0
    blink = rhythm(FRAMES, 25, False).blink
    for number in (0, 8, int(blink.argmax()), 60):
        (frame,) = run.draw(number, number + 1)
        assert np.array_equal(frame[~mask], picture[~mask]), number
        assert not np.array_equal(frame, picture)


def test_a_frame_looks_the_same_in_any_stretch_and_the_switch_is_part_of_the_signature(
    shut: Portrait, lips_settings: Settings
) -> None:
    run, longer = (say(shut, lips_settings, True, frames) for frames in (FRAMES, FRAMES + 40))
    whole = list(run.draw(40, 60))
    assert all(np.array_equal(a, b) for a, b in zip(whole[11:14], run.draw(51, 54), strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(whole[:3], longer.draw(40, 43), strict=True))
    assert run.signature(10, 60) == longer.signature(10, 60)
    assert run.signature(10, 60) != say(shut, lips_settings, False).signature(10, 60)


def test_teeth_are_drawn_where_the_picture_shows_none(
    shut: Portrait, smiling: Portrait, lips_settings: Settings
) -> None:
    assert shows_teeth(smiling[2], smiling[1].landmarks[0])
    assert not shows_teeth(shut[2], shut[1].landmarks[0])
    info, _, _ = shut
    widest = int(targets(SPANISH, FRAMES, info.fps).opening.argmax())
    run = say(shut, lips_settings, head_motion=False)
    (frame,) = run.draw(widest, widest + 1)
    (track,) = faces.analyse(portrait_file(frame, info), lips_settings, NullReport())
    top, bottom = track.landmarks[0][[geometry.LIP_TOP, geometry.LIP_BOTTOM]]
    line = [
        cv2.getRectSubPix(frame, (5, 1), tuple((top + (bottom - top) * t).tolist())).mean()
        for t in (0.3, 0.75)
    ]
    assert line[0] > 100 and line[0] > 1.6 * line[1], f"teeth above, depth below: {line}"


def portrait_file(frame: Frame, info: VideoInfo) -> VideoInfo:
    path = info.path.with_name("widest.png")
    Image.fromarray(frame[..., ::-1]).save(path)
    return media.probe(path)


def test_lids_come_down_over_the_eye_and_shut_eyes_stay(smiling: Portrait) -> None:
    _, track, picture = smiling
    landmarks = np.array(track.landmarks[0])
    eyes = eyes_of(picture, landmarks)
    assert len(eyes) == 2
    covered = []
    for amount in (0.0, 0.5, 1.0):
        frame = picture.copy()
        for eye in eyes:
            eye.close(frame, picture, amount)
        pupils = [frame[tuple(np.rint(landmarks[n][::-1]).astype(int))].mean() for n in (468, 473)]
        covered.append((float((frame != picture).mean()), min(pupils)))
    assert covered[0][0] == 0 < covered[1][0] < covered[2][0] < 0.06
    assert covered[0][1] < 70 and covered[2][1] > 110, f"skin, not pupil: {covered}"
    for up, low in zip(UPPER, LOWER, strict=True):
        landmarks[list(up)] = landmarks[list(low)]
    assert eyes_of(picture, landmarks) == ()


def test_blinks_come_at_human_intervals_and_the_head_eases_in() -> None:
    minute = rhythm(60 * 25, 25, True)
    begins = np.flatnonzero((minute.blink[1:] > 0) & (minute.blink[:-1] == 0)) / 25
    assert 10 <= len(begins) <= 25 and np.diff(begins).min() >= 1.0 and np.diff(begins).std() > 0.5
    assert np.abs(minute.sway).max() <= 1 and not minute.sway[0].any()
    assert not rhythm(100, 25, False).sway.any() and rhythm(100, 25, False).blink.any()
    assert np.array_equal(rhythm(100, 25, True).blink, minute.blink[:100])


def test_a_turned_photo_with_a_cut_out_background_speaks_upright(
    shut: Portrait, tmp_path: Path, lips_settings: Settings
) -> None:
    """EXIF rotation 6 and an alpha channel, odd height: white behind, the picture's own size."""
    picture = shut[2][:511, :, ::-1]
    alpha = np.zeros(picture.shape[:2], np.uint8)
    alpha[10:, 20:] = 255
    sideways = np.rot90(np.dstack([picture, alpha]))
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(np.ascontiguousarray(sideways)).save(tmp_path / "cut-out.png", exif=exif)
    given = portrait(tmp_path / "cut-out.png", lips_settings)
    (frame,) = say(given, lips_settings, head_motion=False).draw(20, 21)
    assert frame.shape == (511, 512, 3) and (frame[:10] == 255).all() and (frame[:, :20] == 255).all()
    assert not np.array_equal(frame, given[2])


def test_eyes_stay_open_unless_blinking_is_asked_for(shut: Portrait) -> None:
    _, track, picture = shut
    face = np.asarray(track.landmarks[0], np.float32)
    blinking, calm = (
        life_of(picture, face, FRAMES, 25.0, head_motion=False, blinking=wish) for wish in (True, False)
    )
    number = int(blinking.rhythm.blink.argmax())
    assert (blinking.lay(number, picture) != picture).any() and calm.lay(number, picture) is picture
