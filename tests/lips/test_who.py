"""Two people in one shot, driven by a sound: the chosen mouth follows it, the other face stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from pipelines import faces, media
from pipelines.backend.policy import Policy
from pipelines.errors import OptionError
from pipelines.faces.motion import liveliest
from pipelines.lipsync import LIP_ENGINES, EngineContext, LipDrive, geometry
from pipelines.lipsync.articulation import targets
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.sync.options import SyncOptions
from pipelines.sync.picture import likely_speaker
from pipelines.types import FaceTrack, VideoInfo
from tests.lips.phones import SPANISH
from tests.lips.test_sync import Stages

Maker = Callable[..., Path]
SIDE, COUNT = 400, 60


@pytest.fixture(scope="module")
def pair(cut: Maker, join: Maker, lips_settings: Settings) -> tuple[VideoInfo, tuple[FaceTrack, ...]]:
    """A silent man at the left, larger; a talking woman at the right. 2.4 s."""
    silent = cut("face_512_silent_3s", 0, 2.4, f"fps=25,crop=400:400:56:40,scale={SIDE}:{SIDE},setsar=1")
    talking = cut("talk_512_8s", 0, 2.4, f"fps=25,scale={SIDE}:{SIDE},setsar=1")
    info = media.probe(join("two people", "[0:v][1:v]hstack[v]", silent, talking))
    return info, faces.analyse(info, lips_settings, NullReport())


def on_the_right(track: FaceTrack) -> bool:
    return bool(np.median(track.boxes[track.found, 0]) > SIDE * 0.9)


def test_the_one_who_talks_in_the_clip_is_suggested(
    pair: tuple[VideoInfo, tuple[FaceTrack, ...]],
) -> None:
    info, tracks = pair
    assert len(tracks) == 2 and on_the_right(tracks[1]) and not on_the_right(tracks[0])
    report = Stages()
    assert liveliest(tracks, float(info.fps)) == 1
    assert likely_speaker(tracks, float(info.fps), report) == 2 and "number 2" in report.notes[0]
    quiet = Stages()
    assert likely_speaker(tracks[:1], float(info.fps), quiet) == 1 and quiet.notes == []


@pytest.mark.parametrize("who", [1, 2])
def test_the_chosen_mouth_follows_and_the_other_face_stays(
    who: int, pair: tuple[VideoInfo, tuple[FaceTrack, ...]], lips_settings: Settings, tmp_path: Path
) -> None:
    info, tracks = pair
    context = EngineContext(lips_settings, Policy())
    drive = LipDrive(tuple(range(info.frames)), SPANISH, info.path)
    run = LIP_ENGINES.get("ownmouth", context).sync(info, faces.person(tracks, who), drive, NullReport())
    own, other = (slice(SIDE, None), slice(0, SIDE)) if who == 2 else (slice(0, SIDE), slice(SIDE, None))
    changed = 0
    film = tmp_path / "drawn.mp4"
    with media.FrameWriter(
        film, info.width, info.height, info.fps, lips_settings, color=info.color
    ) as writer:
        for drawn, plain in zip(run.draw(0, run.total), media.read_frames(info, lips_settings), strict=True):
            assert np.array_equal(drawn[:, other], plain[:, other])
            changed += bool((drawn[:, own] != plain[:, own]).any())
            writer.write(drawn)
    assert changed >= 0.8 * COUNT
    after = faces.analyse(media.probe(film), lips_settings, NullReport())
    (face,) = [track for track in after if on_the_right(track) == (who == 2)]
    opening: npt.NDArray[np.float64] = np.asarray(geometry.opening(np.asarray(face.landmarks)), np.float64)
    wanted = targets(SPANISH, len(opening), info.fps).opening
    assert np.corrcoef(opening, wanted)[0, 1] >= 0.7


@pytest.mark.parametrize("who", ["9", "-1", "her"])
def test_a_person_who_cannot_be_is_refused(who: str, pair: tuple[VideoInfo, tuple[FaceTrack, ...]]) -> None:
    asked = {"face": str(pair[0].path), "text": "Hello."}
    with pytest.raises(OptionError, match="no person"):
        SyncOptions.read({**asked, "who": who})
    assert SyncOptions.read({**asked, "who": "2"}).who == 2 and SyncOptions.read(asked).who == 0
