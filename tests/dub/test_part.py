"""Only a part of a video is dubbed: what is cut out is exact, what is kept is untouched, and times mean what they meant."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipelines import media
from pipelines.backend.policy import Policy
from pipelines.dub import run
from pipelines.dub.lines import within
from pipelines.dub.options import DubOptions
from pipelines.dub.part import only_outside, outside, taken
from pipelines.dub.picture import keep_ranges
from pipelines.dub.run import DubRun
from pipelines.errors import OptionError
from pipelines.files import read_json
from pipelines.progress import NullReport
from pipelines.records import load_plan
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.subtitles import write as write_subtitles
from pipelines.types import DubLine, DubPlan, Segment

CLIP = Path(__file__).parents[2] / "examples" / "talker.mp4"
RATE = 48_000


def a_run(folder: Path, settings: Settings, film: Path = CLIP, **given: object) -> DubRun:
    options = DubOptions(film, "es", **given)  # type: ignore[arg-type]
    return DubRun(
        folder, options, media.probe(film), EngineContext(settings, Policy(threads=2)), NullReport()
    )


def test_the_part_and_what_lies_outside_it(tmp_path: Path, settings: Settings) -> None:
    whole, part = a_run(tmp_path, settings), a_run(tmp_path, settings, start=2.0, end=5.0)
    length = whole.duration
    assert whole.whole and whole.span == (0.0, length) and outside(whole) == () and taken(whole) is whole
    assert part.span == (2.0, 5.0) and taken(part) is part and outside(part) == ((0.0, 2.0), (5.0, length))
    assert outside(a_run(tmp_path, settings, end=1e6)) == ()
    plan = DubPlan("en", "es", length, (DubLine(0, 3.0, 4.0, "A.", keep=True), DubLine(1, 4.0, 5.0, "B.")))
    assert keep_ranges(part, plan) == ((0.0, 2.0), (3.0, 4.0), (5.0, length))
    cues = [Segment(1.5, 2.5, "one"), Segment(2.0, 3.0, "two"), Segment(5.0, 6.0, "three")]
    assert [cue.text for cue in within(part, cues)] == ["two"]
    assert within(replace(whole, begins=2.0), cues)[0] == Segment(0.0, 1.0, "two")
    for start, end in ((5.0, 2.0), (length + 1, None), (3.0, 3.5)):
        with pytest.raises(OptionError, match="nothing to dub between"):
            taken(a_run(tmp_path, settings, start=start, end=end))
    with pytest.raises(OptionError, match="cannot be 'drop'"):
        DubOptions.from_json({"input": str(CLIP), "target_language": "es", "rest": "drop"})


def test_the_sound_outside_comes_and_goes_at_the_edges(tmp_path: Path, settings: Settings) -> None:
    part = a_run(tmp_path, settings, start=2.0, end=5.0)
    blocks = (np.ones((1000, 2), np.float32) for _ in range(7))
    heard = np.concatenate(list(only_outside(blocks, part, 1000)))
    assert heard.shape == (7000, 2)
    assert heard[:1980].min() == 1 and heard[5020:].min() == 1 and heard[2000:5001].max() == 0
    assert 0.4 < heard[1990, 0] < 0.6 and 0.4 < heard[5010, 1] < 0.6
    first = a_run(tmp_path, settings, end=5.0)
    kept = np.concatenate(list(only_outside(iter([np.ones(7000, np.float32)]), first, 1000)))
    assert kept[:5001].max() == 0 and kept[5020:].min() == 1


def test_a_part_that_is_cut_out_is_the_video_at_that_time(
    data: Path, tmp_path: Path, settings: Settings
) -> None:
    film = data / "video/talk_512_8s.mp4"
    given = a_run(tmp_path, settings, film, start=2.0, end=4.0, rest="cut")
    cut = taken(given)
    assert cut.options.input == tmp_path / "part.mp4" and cut.whole and cut.begins == 2.0
    assert cut.name == film.name and (cut.info.frames, cut.info.fps) == (50, 25)
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix in (".mp4", ".wav")) == ["part.mp4"]
    for number in (0, 49):
        made = media.frame_at(cut.info, number / 25, settings).astype(int)
        true = media.frame_at(given.info, 2.0 + number / 25, settings).astype(int)
        beside = media.frame_at(given.info, 2.0 + (number + 3) / 25, settings).astype(int)
        off, otherwise = np.abs(made - true).mean(), np.abs(made - beside).mean()
        assert off < 2.0 and off < 0.7 * otherwise, (off, otherwise)
    sounds = [
        media.load_sound(path, settings, sr=16_000, start=start, end=start + 1.9).samples
        for path, start in ((cut.options.input, 0.0), (film, 2.0))
    ]
    assert np.corrcoef(*sounds)[0, 1] > 0.98
    stamp = cut.options.input.stat().st_mtime_ns
    assert taken(given).options.input.stat().st_mtime_ns == stamp, "made once"


@pytest.mark.slow
def test_the_rest_of_the_video_keeps_its_sound(
    data: Path, dub_context: EngineContext, tmp_path: Path
) -> None:
    film, srt = data / "video/talk_512_8s.mp4", tmp_path / "lines.srt"
    cues = [Segment(0.2, 4.4, "No se oye."), Segment(5.1, 7.6, "También aprendo a usar los túneles.")]
    write_subtitles(srt, cues, "srt")
    options = {
        "input": str(film), "target_language": "es", "translation": str(srt), "voice": "ef_dora", "lips": False,
        "start": 4.8, "end": 8.0,
    }  # fmt: skip
    result = run(tmp_path, options, dub_context, NullReport())
    (line,) = load_plan(tmp_path / "lines.json").lines
    assert line.text == cues[1].text and "tunnel" in line.source and 4.8 <= line.speak_start < 5.6
    made, true = (
        media.load_sound(path, dub_context.settings, sr=16_000).samples
        for path in (tmp_path / result["video"], film)
    )
    before, inside = (
        slice(3_200, 75_000),
        slice(round(line.speak_start * 16_000), round(line.speak_end * 16_000)),
    )
    assert np.corrcoef(made[before], true[before])[0, 1] > 0.99
    assert abs(np.corrcoef(made[inside], true[inside])[0, 1]) < 0.2 and np.abs(made[inside]).max() > 0.1
    (told,) = read_json(tmp_path / "report.json")["lines"]
    assert told["error_rate"] <= 0.35 and media.probe(tmp_path / result["video"]).frames == 200
