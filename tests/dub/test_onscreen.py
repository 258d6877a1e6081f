"""Two people in one shot: each mouth says its own speaker's lines, and nobody says what is said off screen."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipelines import faces, media
from pipelines.dub import onscreen, picture
from pipelines.dub.options import DubOptions
from pipelines.dub.run import DubRun
from pipelines.errors import OptionError
from pipelines.faces.motion import Motion, who_speaks
from pipelines.progress import NullReport
from pipelines.records import save_speech_times
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.types import DubLine, DubPlan, Frame
from tests.lips.phones import SPANISH
from tests.lips.test_sync import Stages

FPS, TURN = 25, 2.4  # the woman talks for so many seconds, then the man


@pytest.fixture(scope="module")
def film(data: Path, tmp_path_factory: pytest.TempPathFactory, dub_context: EngineContext) -> Path:
    """She at the left, he at the right; each is still while the other talks."""
    path = tmp_path_factory.mktemp("two 两人") / "interview.mp4"
    frames = round(TURN * FPS)
    still = f"tpad=stop={frames}:stop_mode=clone"
    graph = (
        f"[0:v]fps={FPS},trim=end_frame={frames},setpts=PTS-STARTPTS,{still},scale=400:400,setsar=1[a];"
        f"[1:v]fps={FPS},trim=end_frame={frames},setpts=PTS-STARTPTS,crop=900:900:90:200,scale=400:400,"
        f"tpad=start={frames}:start_mode=clone,setsar=1[b];[a][b]hstack[v]"
    )
    clips = [
        part for name in ("talk_512_8s", "talk_room_20s") for part in ("-i", str(data / f"video/{name}.mp4"))
    ]
    command = [str(media.ffmpeg_path(dub_context.settings)), "-v", "error", *clips, "-filter_complex", graph]
    subprocess.run([*command, "-map", "[v]", "-c:v", "libx264", "-crf", "12", str(path)], check=True)
    return path


def a_run(film: Path, folder: Path, context: EngineContext, **given: int) -> tuple[DubRun, Stages]:
    report = Stages()
    (folder / "lines").mkdir()
    for number in (1, 2):
        save_speech_times(folder / "lines" / f"{number:04d}.json", [p for p in SPANISH if p.end < 1.8], ())
    return DubRun(folder, DubOptions(film, "es", **given), media.probe(film), context, report), report  # type: ignore[arg-type]


def a_plan(*speakers: str | None) -> DubPlan:
    """Two lines, one in each turn, spoken a little later than the original."""
    lines = tuple(
        DubLine(
            n, n * TURN, (n + 1) * TURN, "One.", "Uno.", who, n * TURN + 0.2, n * TURN + 2.1, state="spoken"
        )
        for n, who in enumerate(speakers)
    )
    return DubPlan("en", "es", 2 * TURN, lines)


def sides(one: Frame, other: Frame) -> tuple[bool, bool]:
    """Whether the left and the right half differ."""
    changed = (one != other).any(axis=(0, 2))
    return bool(changed[:400].any()), bool(changed[400:].any())


def test_each_mouth_says_its_own_lines(film: Path, tmp_path: Path, dub_context: EngineContext) -> None:
    run, report = a_run(film, tmp_path, dub_context)
    count = run.info.frames
    lips = picture.synchronise(run, a_plan("S1", "S2"), tuple(range(count)), film)
    assert count == 120 == lips.total
    left, right = np.zeros(count, bool), np.zeros(count, bool)
    for number, (drawn, plain) in enumerate(
        zip(lips.frames, media.read_frames(run.info, run.context.settings), strict=True)
    ):
        left[number], right[number] = sides(drawn, plain)
    turn = count // 2
    assert left[:turn].mean() > 0.8 and not left[turn + 1 :].any()
    assert right[turn:].mean() > 0.8 and not right[: turn - 1].any()
    assert lips.report.synthesised[0][0] <= 3 and lips.report.synthesised[-1][1] >= count - 3
    again = next(lips.draw(turn + 20, turn + 21))  # any stretch by itself is the same
    assert sides(
        again, next(media.read_frames(run.info, run.context.settings, start=turn + 20, count=1))
    ) == (False, True)
    assert lips.signature(0, 50) != lips.signature(70, 120) and report.notes == []


def test_one_speaker_is_the_one_whose_mouth_moves(
    film: Path, tmp_path: Path, dub_context: EngineContext
) -> None:
    run, report = a_run(film, tmp_path, dub_context)
    tracks = faces.analyse(run.info, run.context.settings, NullReport())
    assert len(tracks) == 2
    (his,) = [number for number, track in enumerate(tracks) if np.median(track.boxes[track.found, 0]) > 400]
    plan = a_plan(None, None)
    late = replace(plan, lines=plan.lines[1:])
    (part,) = onscreen.parts(run, late, tracks)
    assert part.track is tracks[his] and part.others == () and part.plan == late
    assert [note for note in report.notes if f"(number {his + 1} by size" in note]
    (tmp_path / "asked").mkdir()
    asked, _ = a_run(film, tmp_path / "asked", dub_context, who=2 - his)
    (part,) = onscreen.parts(asked, late, tracks)
    assert part.track is tracks[1 - his]
    with pytest.raises(OptionError, match="no person 3"):
        onscreen.parts(replace(asked, options=replace(asked.options, who=3)), late, tracks)


def motion(*parts: tuple[float, int]) -> Motion:
    """Steady motions, each for so many frames; below 0: not seen."""
    return np.concatenate(
        [np.full(count, np.nan if value < 0 else value, np.float32) for value, count in parts]
    )


def masks(*lengths: int) -> dict[str, np.ndarray]:
    """Speakers A, B… one after the other."""
    ends = np.cumsum((0, *lengths))
    where = np.arange(ends[-1])
    return {"ABC"[place]: (where >= ends[place]) & (where < ends[place + 1]) for place in range(len(lengths))}


@pytest.mark.parametrize(
    ("seen", "speech", "expected"),
    [
        ([motion((0.24, 100), (0.06, 50))], (100, 50), ["A"]),  # B is never in the picture
        ([motion((0.24, 100), (0.21, 50))], (100, 50), ["AB"]),  # one person taken for two
        ([motion((0.24, 50), (-1, 50)), motion((-1, 50), (0.22, 50))], (100,), ["A", "A"]),  # not known again
        ([motion((0.24, 50), (-1, 50)), motion((-1, 50), (0.06, 50))], (100,), ["A", ""]),  # cut to a listener
        ([motion((0.07, 60), (0.22, 60)), motion((0.25, 60), (0.08, 60))], (60, 60), ["B", "A"]),
        ([motion((0.24, 60)), motion((0.23, 60))], (60,), ["A", ""]),  # both laugh: the main one
        ([motion((0.05, 60), (0.24, 5)), motion((-1, 65))], (60, 5), ["A", ""]),  # too short to say
        ([motion((-1, 60))], (60,), [""]),
    ],
)  # fmt: skip
def test_who_speaks_by_motion(seen: list[Motion], speech: tuple[int, ...], expected: list[str]) -> None:
    found = who_speaks(seen, masks(*speech), 25.0)
    assert ["".join(sorted(names)) for names in found] == expected


def test_times_of_others_end_where_ones_own_begin() -> None:
    assert onscreen.without([(0, 2), (1.5, 3), (5, 6)], [(1, 1.2), (5.5, 9)]) == ((0, 1), (1.2, 3), (5, 5.5))
    assert onscreen.without([], [(1, 2)]) == ()


def test_real_mouths_move_in_speech_and_rest_without(data: Path, settings: Settings) -> None:
    """A talking woman beside a silent man who pulls faces: he moves less than half as much."""
    means = []
    for clip in ("talk_512_8s", "face_512_silent_3s"):
        info = media.probe(data / "video" / f"{clip}.mp4")
        (track,) = faces.analyse(info, settings, NullReport())
        means.append(float(np.nanmean(onscreen.mouth_motion(track, float(info.fps)))))
    assert means[1] < 0.45 * means[0]
