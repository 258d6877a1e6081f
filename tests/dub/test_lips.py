"""Lips of whole dubs, measured on the finished video: landmarks are detected again on what was rendered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.sheet import contact_sheet
from pipelines import faces, media
from pipelines.dub.picture import report_from
from pipelines.files import read_json
from pipelines.lipsync import evaluation, geometry
from pipelines.lipsync.shape import speaker_range
from pipelines.progress import NullReport
from pipelines.records import load_speech_times
from pipelines.types import Phone
from tests.dub.conftest import ROOT, Dubbed

pytestmark = pytest.mark.slow
RESULTS = ROOT / "test-results"


def dubbed_phones(dub: Dubbed) -> list[Phone]:
    found: list[Phone] = []
    for line in dub.plan.lines:
        phones, _ = load_speech_times(dub.folder / "lines" / f"{line.index + 1:04d}.json")
        found += [Phone(p.start + line.speak_start, p.end + line.speak_start, p.symbol) for p in phones]
    return found


@pytest.mark.parametrize("name", ["spanish", "chinese"])
def test_the_rendered_mouth_says_the_dub(name: str, request: pytest.FixtureRequest) -> None:
    dub: Dubbed = request.getfixturevalue(name)
    settings = dub.context.settings
    source = media.probe(Path(dub.options["input"]))
    own = faces.analyse(source, settings, NullReport())[0]
    seen = np.asarray(own.landmarks)[own.found]
    span = speaker_range(geometry.opening(seen), geometry.width(seen))
    passed = report_from(read_json(dub.folder / "lips.json")).passed
    film = media.probe(dub.folder / "dubbed.mp4")
    track = faces.analyse(film, settings, NullReport())[0]
    phones = dubbed_phones(dub)
    sheet = contact_sheet(film, track, phones, settings)
    RESULTS.mkdir(exist_ok=True)
    sheet.save(RESULTS / f"lips-{dub.plan.target_language}.png")  # for a person to look at
    sync = evaluation.compare(track, span, phones, film.fps, passed=passed)
    backwards = [Phone(film.duration - p.end, film.duration - p.start, p.symbol) for p in reversed(phones)]
    reversed_sound = evaluation.compare(track, span, backwards, film.fps, passed=passed)
    assert sync.opening_r >= 0.5, sync
    assert reversed_sound.opening_r <= sync.opening_r - 0.25, (sync, reversed_sound)
    assert sync.reversed_r <= sync.opening_r - 0.25, sync
    assert sync.closed >= 0.9 and sync.closures >= 8, sync
    assert not sync.silence_moving > 0.02, sync  # not a number where the lines leave no pause
    assert abs(sync.lag) <= 1, sync
