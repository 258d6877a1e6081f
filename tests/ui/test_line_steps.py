"""The line table while it is edited: rows split and joined, locks, speed limits, and the draft that a reload finds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.dub.fitting import within_speeds
from pipelines.errors import OptionError
from pipelines.records import line_from
from pipelines.types import OWN_VOICE, DubLine, DubPlan
from pipelines.voice import LineLength
from tests.ui.conftest import asking, dub_values, ended
from tests.ui.flows import clip
from ui import drafts
from ui.drafts import Draft, locks_kept
from ui.dub_editing import EditingHandlers
from ui.dubbing import DubHandlers
from ui.line_steps import cut_of, merge, split
from ui.lines import FIT, LOCKED, SPEED, TEXT, VOICE, fill, lines_from, parse_speeds, rows
from ui.services import Services

PLAN = DubPlan(
    "en",
    "es",
    20.0,
    (
        DubLine(
            0, 0.0, 4.0, "Good morning. How are you?", "Buenos días. ¿Cómo está usted?", "A", state="spoken"
        ),
        DubLine(1, 4.5, 6.0, "By train.", "En tren.", "B", slowest=0.9, fastest=1.2),
        DubLine(2, 7.0, 8.0, "Bye.", "Adiós.", "A", locked=True),
    ),
)


def test_a_row_is_cut_after_its_sentence_and_so_is_its_translation() -> None:
    made = split(rows(PLAN, "en"), 0)
    assert [row[3] for row in made[:2]] == ["Good morning.", "How are you?"]
    assert [row[4] for row in made[:2]] == ["Buenos días.", "¿Cómo está usted?"]
    assert made[0][2] == made[1][1] and made[0][1] == "0:00.00" and made[1][2] == "0:04.00"
    asked = lines_from(made, PLAN)
    assert [line["index"] for line in asked] == [0, 3, 1, 2]
    assert 1.8 < asked[0]["end"] < 2.4 and asked[1]["start"] == asked[0]["end"]
    assert made[0][FIT] == made[1][FIT] == ""


def test_joining_undoes_splitting() -> None:
    table = rows(PLAN, "en")
    assert [row[1:6] for row in merge(split(table, 0), 0)] == [row[1:6] for row in table]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("one two three four", "one two "),
        ("first clause, and then the rest of it", "first clause, "),
        ("我们去上海。你呢？", "我们去上海。"),
        ("word", ""),
    ],
)
def test_a_text_is_cut_where_it_can_be_read(text: str, cut: str) -> None:
    assert text[: cut_of(text)] == cut


@pytest.mark.parametrize(("step", "place"), [(split, 2), (merge, 1), (merge, 2)])
def test_locked_rows_and_the_last_are_not_changed(step, place: int) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(OptionError, match=r"is locked|no row after"):
        step(rows(PLAN, "en"), place)


def test_one_row_that_keeps_its_sound_is_not_joined_with_one_that_does_not() -> None:
    table = rows(replace(PLAN, lines=(replace(PLAN.lines[0], keep=True), *PLAN.lines[1:])), "en")
    with pytest.raises(OptionError, match="Only one of the two"):
        merge(table, 0)


def test_an_edited_locked_row_is_put_back_and_unlocking_is_allowed() -> None:
    before = rows(PLAN, "en")
    after = [list(row) for row in before]
    after[1][TEXT], after[2][TEXT] = "En bus.", "Hasta luego."
    kept, put_back = locks_kept(before, after)
    assert put_back and kept[1][TEXT] == "En bus." and kept[2][TEXT] == "Adiós."
    after[2][LOCKED] = "false"
    kept, put_back = locks_kept(before, after)
    assert not put_back and kept[2][TEXT] == "Hasta luego."


def test_a_pasted_translation_leaves_locked_rows_alone() -> None:
    filled, missing = fill(rows(PLAN, "en"), "1. Uno\n2. Dos\n3. Tres")
    assert [row[TEXT] for row in filled] == ["Uno", "Dos", "Adiós."] and missing == ""


@pytest.mark.parametrize(
    ("written", "limits"),
    [("0.9–1.2", (0.9, 1.2)), ("0,9 - 1,2×", (0.9, 1.2)), ("0.95-", (0.95, None)), ("–1.1", (None, 1.1)),
     ("1", (1.0, 1.0)), ("", (None, None)), (None, (None, None))],
)  # fmt: skip
def test_speed_limits_are_read_as_people_write_them(
    written: object, limits: tuple[float | None, ...]
) -> None:
    assert parse_speeds(written) == limits


@pytest.mark.parametrize("written", ["fast", "1.2–0.9", "3–4", "0.1"])
def test_impossible_speeds_are_refused(written: str) -> None:
    with pytest.raises(OptionError, match="no range of speeds"):
        parse_speeds(written)


def test_speed_limits_and_locks_travel_with_the_line() -> None:
    table = rows(PLAN, "en")
    assert [row[SPEED] for row in table] == ["", "0.9–1.2", ""] and [row[LOCKED] for row in table] == [
        False,
        False,
        True,
    ]
    made = [line_from(line) for line in lines_from(table, PLAN)]
    assert [(line.slowest, line.fastest, line.locked) for line in made] == [
        (None, None, False),
        (0.9, 1.2, False),
        (None, None, True),
    ]


def test_a_line_is_spoken_within_its_speeds_and_never_beyond_the_voice() -> None:
    length = LineLength(2.0, 1.4, 2.8)
    assert within_speeds(PLAN.lines[0], length) == (1.4, 2.8)
    assert within_speeds(PLAN.lines[1], length) == pytest.approx((2.0 / 1.2, 2.0 / 0.9))
    assert within_speeds(replace(PLAN.lines[1], slowest=None, fastest=0.5), length) == (2.8, 2.8)
    assert within_speeds(replace(PLAN.lines[1], slowest=1.9, fastest=None), length) == (1.4, 1.4)


def test_steps_are_remembered_and_taken_back_one_by_one(tmp_path: Path) -> None:
    table = rows(PLAN, "en")
    same = [[str(cell).lower() if isinstance(cell, bool) else cell for cell in row] for row in table]
    draft = Draft(table)
    assert draft.done(same) is draft, "the browser's way to write a row is no edit"
    edited = draft.done(split(table, 0))
    drafts.save(tmp_path, edited)
    found = drafts.load(tmp_path)
    assert found == edited and found is not None and len(found.rows) == 4
    assert found.undone().rows == table and found.undone().undone().rows == table


def test_edits_are_found_again_undone_and_end_when_they_are_dubbed(
    services: Services, tmp_path: Path
) -> None:
    handlers, editing, page = DubHandlers(services), EditingHandlers(services), asking()
    job = handlers.submit(page, **dub_values(file=str(clip(tmp_path / "talk.mp4"))))
    view = ended(services, job)
    table = handlers.show(view, "en")["table"].value["data"]
    table[0][TEXT] = "Muy buenas."
    editing.keep_edits(job, table, page)
    again = DubHandlers(services).show(view, "en")["table"].value["data"]
    assert again[0][TEXT] == "Muy buenas.", "what a reload shows"
    assert editing.undo(job, page).value["data"][0][TEXT] == "[es] Good morning."
    editing.keep_edits(job, table, page)
    joined = editing.merge(job, 0, table, page).value["data"]
    assert len(joined) == 1 and joined[0][TEXT] == "Muy buenas. [es] We went by <train> & bus."
    voiced = editing.voice_of_row(job, 0, "am_adam", joined, page).value["data"]
    assert voiced[0][VOICE] == "am_adam" and voiced[0][FIT] == ""
    own = editing.voice_of_speaker(job, 0, OWN_VOICE, joined, page).value["data"]
    assert own[0][VOICE] == "speaker's own"
    assert editing.undo(job, page).value["data"][0][VOICE] == "am_adam"
    assert handlers.again(job, voiced) == job
    assert not (view.folder / drafts.NAME).exists()
    asked = ended(services, job).options["lines"]
    assert [(line["text"], line["voice"]) for line in asked] == [(joined[0][TEXT], "am_adam")]
