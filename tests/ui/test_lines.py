"""The line table: to rows and back without losing anything."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.dub.fitting import fitted
from pipelines.errors import OptionError
from pipelines.records import line_from
from pipelines.timing import LineWish, fit_lines
from pipelines.types import OWN_VOICE, DubLine, DubPlan, Segment
from ui.line_steps import spoken_by
from ui.lines import (
    FIT,
    KEEP,
    LOCKED,
    SPEAKER,
    VOICE,
    completed,
    fill_from_cues,
    fit_text,
    lines_from,
    parse_time,
    rows,
    time_text,
)  # fmt: skip
from ui.timeline import timeline_svg

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
    table.append(["", "8", "9.5", "Bye.", "Adiós.", "false", ""])
    table.append(["", "", "", "", "", None, ""])
    made = lines_from(table, PLAN)
    assert made[1]["text"] == "En tren." and made[1]["start"] == pytest.approx(2.4)
    assert (made[3]["index"], made[3]["start"], made[3]["end"]) == (3, 8.0, 9.5)
    assert len(made) == 4


@pytest.mark.parametrize(("ticked", "kept"), [(True, True), ("true", True), (False, False), ("", False)])
def test_a_line_can_be_left_in_its_original_sound(ticked: object, kept: bool) -> None:
    table = rows(PLAN, "en")
    table[2][KEEP] = ticked
    made = lines_from(table, PLAN)
    assert [line["keep"] for line in made] == [False, False, kept]
    assert line_from(made[2]).keep is kept, "what the flow reads"
    again = replace(PLAN, lines=tuple(line_from(line) for line in made))
    assert rows(again, "en")[2][KEEP] is kept
    assert (rows(again, "en")[2][FIT] == "original sound") is kept


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
    said = [fit_text(line, "es", "en") for line in PLAN.lines]
    assert said == ["good, 1.05×", "no words yet", "fast, 1.41×"]
    tight = replace(PLAN.lines[2], needed_speed=1.52, shorten_by=4)
    assert fit_text(tight, "es", "en") == "would need 1.5×: shorten it by about 4 words"
    assert fit_text(tight, "zh", "en") == "would need 1.5×: shorten it by about 4 characters"
    assert fit_text(tight, "zh", "zh") == "需要 1.5× 语速：请缩短约 4 个字"
    assert fit_text(replace(tight, shorten_by=1), "es", "en") == "would need 1.5×: shorten it a little"


def test_a_line_that_was_fitted_too_tightly_says_so_in_the_table_and_on_the_time_line() -> None:
    """Through the planner itself: what the table says is what the plan found."""
    wish = LineWish(
        0.0, 1.0, natural=3.0, shortest=2.1, longest=4.2, text="una frase demasiado larga para aquí"
    )
    (placed,) = fit_lines([wish], 1.5)
    line = fitted(DubLine(0, 0.0, 1.0, "Too long.", wish.text), placed)
    plan = DubPlan("en", "es", 1.5, (line,))
    assert rows(plan, "en")[0][FIT] == (
        f"would need {placed.needed_speed:.1f}×: shorten it by about {placed.shorten_by} words"
    )
    assert line.speak_end > plan.duration
    svg = timeline_svg(plan, "en")
    assert svg.count('class="overrun"') == 1 and "goes on after the video" in svg
    assert svg.count("stroke-dasharray") == 1, "where the video ends"
    within = timeline_svg(replace(plan, duration=10.0), "zh")
    assert (
        within.count('class="overrun"') == 1 and "对该时段过长" in within and "stroke-dasharray" not in within
    )


def test_lines_that_fit_are_marked_by_nothing() -> None:
    svg = timeline_svg(PLAN, "en")
    assert 'class="overrun"' not in svg and "⚠" not in svg and svg.count("<rect") == 5


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


def test_speaker_and_voice_of_a_line_are_edited_in_either_language() -> None:
    table = rows(PLAN, "en")
    assert [row[SPEAKER] for row in table] == ["A", "B", "A"] and [row[VOICE] for row in table] == [""] * 3
    table[0][SPEAKER], table[1][SPEAKER] = " B ", ""
    table[1][VOICE], table[2][VOICE] = " am_michael ", "本人的声音"
    made = lines_from(table, PLAN)
    assert [(line["speaker"], line["voice"]) for line in made] == [
        ("B", None),
        (None, "am_michael"),
        ("A", OWN_VOICE),
    ]
    again = replace(PLAN, lines=tuple(line_from(line) for line in made))
    assert [row[VOICE] for row in rows(again, "en")] == ["", "am_michael", "speaker's own"]
    assert [row[VOICE] for row in rows(again, "zh")] == ["", "am_michael", "本人的声音"]


def test_a_draft_of_an_earlier_version_gets_the_columns_it_lacks() -> None:
    old = [row[:9] for row in rows(PLAN, "en")] + [["", "8", "9", "Bye.", "Adiós.", False, "", False, ""]]
    whole = completed(old, PLAN, "en")
    assert [row[SPEAKER] for row in whole] == ["A", "B", "A", ""] and {len(row) for row in whole} == {11}


def test_another_voice_for_a_row_or_for_all_of_its_speaker() -> None:
    table = rows(PLAN, "en")
    assert [row[VOICE] for row in spoken_by(table, 0, "Me", whole_speaker=False)] == ["Me", "", ""]
    both = spoken_by(table, 0, "Me", whole_speaker=True)
    assert [row[VOICE] for row in both] == ["Me", "", "Me"] and [row[FIT] for row in both] == [
        "",
        table[1][FIT],
        "",
    ]
    table[2][LOCKED] = True
    assert [row[VOICE] for row in spoken_by(table, 0, "Me", whole_speaker=True)] == ["Me", "", ""]
    with pytest.raises(OptionError, match="Line 3 is locked"):
        spoken_by(table, 2, "Me", whole_speaker=False)
