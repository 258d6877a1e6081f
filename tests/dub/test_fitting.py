"""Lines of a dub placed with the lengths a real voice gives them; nothing is spoken here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipelines import media
from pipelines.backend.policy import Policy
from pipelines.dub.casting import Cast
from pipelines.dub.fitting import fit
from pipelines.dub.options import DubOptions
from pipelines.dub.run import DubRun
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.types import DubLine, DubPlan
from pipelines.voice import VOICES, StockVoices

CLIP = Path(__file__).parents[2] / "examples" / "talker.mp4"
SAID = (
    (0.5, 2.4, "We travelled to the new building today."),
    (2.6, 4.6, "The professor told us about the tunnels."),
    (4.8, 6.4, "They are older than the city itself."),
    (9.0, 11.0, "Tomorrow we are going to see them again."),
)
PLAN = DubPlan("es", "en", 12.0, tuple(DubLine(n, *times, "", text) for n, (*times, text) in enumerate(SAID)))


@pytest.fixture
def stage(tmp_path: Path, settings: Settings) -> tuple[DubRun, Cast]:
    """A job's folder with a film of 12 s, and a voice of the engine's own for every line."""
    options = DubOptions(CLIP, "en", source_language="es")
    info = replace(media.probe(CLIP), frames=300, duration=12.0)
    run = DubRun(tmp_path, options, info, EngineContext(settings, Policy(threads=2)), NullReport())
    engine = VOICES.get("kokoro", run.context)
    assert isinstance(engine, StockVoices)
    voice = engine.stock(None, "en")
    return run, Cast({line.index: voice for line in PLAN.lines})


def said(plan: DubPlan, index: int, text: str) -> DubPlan:
    return replace(
        plan, lines=tuple(replace(line, text=text) if line.index == index else line for line in plan.lines)
    )


def test_an_edited_line_is_placed_anew_and_no_other_moves(stage: tuple[DubRun, Cast]) -> None:
    run, cast = stage
    before = fit(run, PLAN, cast)
    assert [before[n].start for n in range(4)] == [times[0] for times in SAID]
    longer = said(PLAN, 1, "The old professor told us about the dark tunnels.")
    after = fit(run, longer, cast)
    assert after[1].factor < before[1].factor - 0.1 and after[1].start == pytest.approx(
        before[1].start, abs=0.2
    )
    assert [after[n] for n in (0, 2, 3)] == [before[n] for n in (0, 2, 3)]


def test_a_line_pushed_away_comes_back_when_the_one_before_it_is_shortened(
    stage: tuple[DubRun, Cast],
) -> None:
    run, cast = stage
    crowded = said(
        PLAN, 0, "We travelled all the way to the very new and rather large building today at noon."
    )
    pushed = fit(run, crowded, cast)
    assert pushed[1].start > SAID[1][0] + 0.2 and pushed[0].needed_speed is not None
    back = fit(run, PLAN, cast)
    assert back[1].start == SAID[1][0] and back[0].needed_speed is None
    assert back[3] == pushed[3]


def test_a_line_kept_in_the_original_parts_the_lines_around_it(stage: tuple[DubRun, Cast]) -> None:
    run, cast = stage
    crowded = said(PLAN, 2, "They are so much older than the city itself that nobody knows who dug them.")
    lines = tuple(replace(line, keep=line.index == 3) for line in crowded.lines)
    placed = fit(run, replace(crowded, lines=lines), cast)
    assert 3 not in placed and placed[2].end <= SAID[3][0] - 0.08 + 1e-6
