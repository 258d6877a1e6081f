"""The line table: to rows and back without losing anything."""

from __future__ import annotations

import pytest

from pipelines.errors import OptionError
from pipelines.types import DubLine, DubPlan, Segment
from ui.lines import fill_from_cues, fit_text, lines_from, parse_time, rows, time_text
from ui.timeline import overruns, timeline_svg

PLAN = DubPlan(
    "en",
    "es",
    10.0,
    (
        DubLine(0, 0.123456, 2.0, "Good morning.", "Buenos días.", "A", 0.123456, 1.9, 0.95, state="spoken"),
        DubLine(1, 2.5, 4.0, "By train.", "", "B"),
        DubLine(
            2, 5.0, 6.0, "Shanghai.", "Shanghái, una ciudad grande.", "A", 5.0, 6.4, 0.71, state="spoken"
        ),
    ),
)


def test_rows_and_back_keep_exact_times_and_what_the_table_does_not_show() -> None:
    made = lines_from(rows(PLAN, "en"), PLAN)
    assert [(line["start"], line["speaker"], line["text"]) for line in made] == [
        (0.123456, "A", "Buenos días."),
        (2.5, "B", ""),
        (5.0, "A", "Shanghái, una ciudad grande."),
    ]


def test_edits_are_taken_and_new_rows_get_numbers_of_their_own() -> None:
    table = rows(PLAN, "en")
    table[1][4] = " En tren. "
    table[1][1] = "0:02,40"
    table.append(["", "8", "9.5", "Bye.", "Adiós.", ""])
    table.append(["", "", "", "", "", ""])
    made = lines_from(table, PLAN)
    assert made[1]["text"] == "En tren." and made[1]["start"] == pytest.approx(2.4)
    assert (made[3]["index"], made[3]["start"], made[3]["end"]) == (3, 8.0, 9.5)
    assert len(made) == 4


def test_a_deleted_row_is_gone() -> None:
    assert [line["index"] for line in lines_from(rows(PLAN, "en")[1:], PLAN)] == [1, 2]


@pytest.mark.parametrize(
    ("row", "column", "value", "said"),
    [
        (0, 1, "soon", "is not a time"),
        (1, 2, "0:02.00", "ends before it starts"),
        (1, 1, "0:01.00", "overlap"),
    ],
)
def test_impossible_times_are_refused_with_the_line(row: int, column: int, value: str, said: str) -> None:
    table = rows(PLAN, "en")
    table[row][column] = value
    with pytest.raises(OptionError, match=said):
        lines_from(table, PLAN)


def test_times_are_read_as_people_write_them() -> None:
    assert [parse_time(value) for value in ("62.35", "1:02.35", "0:01:02,35", 3)] == pytest.approx(
        [62.35, 62.35, 62.35, 3]
    )
    assert time_text(62.349) == "1:02.35" and time_text(59.999) == "1:00.00"


def test_fit_is_said_in_words() -> None:
    assert [fit_text(line, "en") for line in PLAN.lines] == ["good, 1.05×", "no words yet", "fast, 1.41×"]


def test_an_overrun_is_red_and_named() -> None:
    late = DubPlan("en", "es", 6.2, PLAN.lines)
    assert overruns(PLAN) == frozenset() and overruns(late) == {2}
    svg = timeline_svg(late, "en")
    assert svg.count('class="overrun"') == 1 and "runs into the next line" in svg and "⚠" in svg
    assert svg.count("<rect") == 5


def test_the_timeline_escapes_what_was_said() -> None:
    plan = DubPlan("en", "es", 2.0, (DubLine(0, 0.0, 2.0, "<script>&"),))
    assert "<script" not in timeline_svg(plan, "en") and "&lt;script&gt;&amp;" in timeline_svg(plan, "en")


def test_a_subtitle_file_is_laid_beside_the_lines_by_time() -> None:
    cues = [
        Segment(2.6, 3.9, "En tren,\nhoy."),
        Segment(0.0, 1.0, "Buenos"),
        Segment(1.1, 2.0, "días a todos."),
    ]
    filled, missing = fill_from_cues(rows(PLAN, "en"), cues)
    assert [row[4] for row in filled] == [
        "Buenos días a todos.",
        "En tren, hoy.",
        "Shanghái, una ciudad grande.",
    ]
    assert missing == "3" and [row[3] for row in filled] == [line.source for line in PLAN.lines]
    with pytest.raises(OptionError, match="stands at the time of a line"):
        fill_from_cues(rows(PLAN, "en"), [Segment(60.0, 62.0, "¿De otra película?")])
