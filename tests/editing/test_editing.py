"""The editor's operations: exact texts, times and words; nothing is lost and everything can be undone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

from pipelines.editing import Edits, Table, opened, table
from pipelines.editing.file import load, save
from pipelines.editing.wording import reworded, tokens
from pipelines.errors import OptionError
from pipelines.types import Segment, Word

WORDS = (
    Word(1.0, 1.4, "We", 0.9),
    Word(1.5, 2.0, " went", 0.3),
    Word(2.0, 2.4, " by", 0.8),
    Word(2.6, 3.0, " train.", 0.95),
)
ENGLISH = Segment(1.0, 3.0, "We went by train.", WORDS, "S1")
CHINESE = Segment(
    4.0,
    6.0,
    "我们坐火车。",
    (Word(4.0, 4.6, "我们", 0.9), Word(4.6, 5.0, "坐", 0.4), Word(5.0, 6.0, "火车。", 0.8)),
    "S2",
)
LAST = Segment(7.0, 9.0, "Goodbye.", (), "S1")


def made() -> Table:
    return opened([LAST, ENGLISH, CHINESE])


def texts(of: Table) -> list[str]:
    return [row.text for row in of.rows]


def test_a_table_is_in_order_of_time_with_words_that_spell_its_text() -> None:
    opened_ = made()
    assert texts(opened_) == ["We went by train.", "我们坐火车。", "Goodbye."]
    assert [row.key for row in opened_.rows] == [0, 1, 2] and opened_.following == 3
    assert [word.text for word in opened_.rows[1].words] == ["我", "们", "坐", "火", "车。"]
    assert [word.start for word in opened_.rows[1].words] == [4.0, 4.3, 4.6, 5.0, 5.5]
    assert [word.prob for word in opened_.rows[1].words] == [0.9, 0.9, 0.4, 0.8, 0.8]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("We went, “by train”.", ["We", " went,", " “by", " train”."]),
        ("我们用Python 3.11。", ["我", "们", "用", "Python", " 3.11。"]),
        ("「你好」,hi", ["「你", "好」,", "hi"]),
        ("one\ntwo – three", ["one", "\ntwo", " –", " three"]),
        ("", []),
    ],
)
def test_tokens(text: str, pieces: list[str]) -> None:
    assert tokens(text) == pieces and "".join(pieces) == text.rstrip()


@tries(max_examples=200, deadline=None)
@given(st.text(alphabet="ab ,.我们“”\n-é1", max_size=30))
def test_no_text_is_lost_in_tokens_or_words(text: str) -> None:
    assert "".join(tokens(text)) == text.rstrip()
    words = reworded(WORDS, text, 1.0, 3.0)
    assert "".join(word.text for word in words) == text.rstrip()
    assert all(1.0 <= word.start <= word.end <= 3.0 for word in words)


def test_an_edited_word_takes_the_time_of_the_one_it_replaces_and_is_certain() -> None:
    edited = table.with_text(made(), 0, " We drove  \n\n by train. ").rows[0]
    assert edited.text == "We drove\nby train."
    assert edited.words == (
        WORDS[0],
        Word(1.5, 2.0, " drove", 1.0),
        Word(2.0, 2.4, "\nby", 0.8),
        WORDS[3],
    )
    longer = table.with_text(made(), 0, "We went by fast train.").rows[0]
    assert longer.words[3] == Word(2.4, 2.6, " fast", 1.0)
    assert longer.words[4] == WORDS[3]
    assert table.with_text(made(), 0, "").rows[0].words == ()


def test_times_are_checked_and_rows_stay_in_order() -> None:
    moved = table.with_times(made(), 0, 6.5, 6.9)
    assert [row.key for row in moved.rows] == [1, 0, 2]
    assert moved.rows[1].words[0] == Word(6.5, 6.5, "We", 0.9)
    for start, end in ((2.0, 2.0), (-0.1, 2.0)):
        with pytest.raises(OptionError, match="must end after it starts"):
            table.with_times(made(), 0, start, end)


def test_a_row_is_split_where_the_next_word_is_spoken() -> None:
    parted = table.split(made(), 0, len("We went "))
    one, two = parted.rows[:2]
    assert (one.key, one.text, one.start, one.end) == (0, "We went", 1.0, 2.0)
    assert (two.key, two.text, two.start, two.end, two.speaker) == (3, "by train.", 2.0, 3.0, "S1")
    assert one.words == WORDS[:2]
    assert two.words == (Word(2.0, 2.4, "by", 0.8), WORDS[3])
    assert parted.following == 4
    chinese = table.split(made(), 1, 2)
    assert [(row.text, row.start, row.end) for row in chinese.rows[1:3]] == [
        ("我们", 4.0, 4.6),
        ("坐火车。", 4.6, 6.0),
    ]
    without = table.split(opened([Segment(0.0, 4.0, "abcd efgh")]), 0, 4)
    assert without.rows[0].end == pytest.approx(4 * 4 / 9)
    for place in (0, 17):
        with pytest.raises(OptionError, match="nothing to split"):
            table.split(made(), 0, place)


def test_split_and_merge_are_inverse_for_one_speaker() -> None:
    again = table.merge(table.split(made(), 0, len("We went ")), 0)
    assert again.rows == made().rows


def test_rows_of_two_speakers_are_merged_with_a_dash_each() -> None:
    joined = table.merge(made(), 0)
    assert texts(joined) == ["- We went by train.\n- 我们坐火车。", "Goodbye."]
    assert (joined.rows[0].start, joined.rows[0].end) == (1.0, 6.0)
    assert joined.rows[0].words[1] == Word(1.0, 1.4, " We", 0.9) and joined.rows[0].words[-1].end == 6.0
    with pytest.raises(OptionError, match="no row after"):
        table.merge(made(), 2)


def test_insert_and_delete() -> None:
    new = table.insert(made(), 0).rows[1]
    assert (new.key, new.start, new.end, new.text, new.speaker) == (3, 3.0, 4.0, "", "S1")
    assert table.insert(made(), 2).rows[-1].end == 11.0
    assert table.insert(made(), None).rows[0].end == 1.0
    tight = table.insert(opened([Segment(0, 1, "a"), Segment(1, 2, "b")]), 0)
    assert (tight.rows[1].text, tight.rows[1].start, tight.rows[1].end) == ("", 1.0, 1.1)
    assert texts(table.delete(made(), [0, 2, 99])) == ["我们坐火车。"]
    assert [cue.text for cue in table.insert(made(), 0).segments()] == texts(made()), (
        "empty rows are not exported"
    )


def test_all_rows_are_shifted_with_their_words_or_those_from_one_on() -> None:
    later = table.shift(made(), 0.5)
    assert [row.start for row in later.rows] == [1.5, 4.5, 7.5] and later.rows[0].words[0].start == 1.5
    assert [row.start for row in table.shift(made(), 0.5, 1).rows] == [1.0, 4.5, 7.5]
    assert table.shift(made(), -1.0).rows[0].start == 0.0
    with pytest.raises(OptionError, match="before the file does"):
        table.shift(made(), -1.1)


def test_find_and_replace_keep_the_times_of_other_words() -> None:
    assert table.find(made(), "WE") == (0,) and table.find(made(), "WE", match_case=True) == ()
    assert table.find(made(), " ") == () and table.find(made(), "火车") == (1,)
    changed, count = table.replace_all(made(), "train", "bus \\1")
    assert count == 1 and changed.rows[0].text == "We went by bus \\1."
    assert changed.rows[0].words[:3] == WORDS[:3]
    assert table.replace_all(made(), "", "x") == (made(), 0)
    folded = table.with_text(made(), 0, "We went\nby train.")
    assert table.replace_all(folded, "went by", "took a")[0].rows[0].text == "We took a train."


def test_speakers_are_renamed_merged_and_their_rows_joined() -> None:
    assert made().speakers() == ("S1", "S2")
    anna = table.rename_speaker(made(), "S1", " Anna ")
    assert [row.speaker for row in anna.rows] == ["Anna", "S2", "Anna"]
    assert table.rename_speaker(anna, "S2", "Anna").speakers() == ("Anna",)
    assert table.with_speaker(made(), 1, "").rows[1].speaker is None
    rows = [
        Segment(0.0, 1.0, "One", (), "A"),
        Segment(1.2, 2.0, "two.", (), "A"),
        Segment(2.1, 3.0, "Three.", (), "B"),
        Segment(5.0, 6.0, "Four.", (), "B"),
    ]
    assert texts(table.join_speakers_rows(opened(rows))) == ["One two.", "Three.", "Four."]
    assert texts(table.join_speakers_rows(opened(rows), columns=7)) == texts(opened(rows))
    assert len(table.join_speakers_rows(opened(rows), longest=1.9).rows) == 4


def test_plain_text_has_whole_sentences() -> None:
    rows = [
        Segment(0.0, 1.0, "One\nhalf", (), "A"),
        Segment(1.0, 2.0, "of it.", (), "A"),
        Segment(2.0, 3.0, "火车", (), "A"),
        Segment(3.0, 4.0, "来了。", (), "A"),
        Segment(4.0, 5.0, "Who", (), "A"),
        Segment(5.0, 6.0, "me", (), "B"),
    ]
    assert [part.text for part in table.paragraphs(rows)] == ["One half of it.", "火车来了。", "Who", "me"]


def test_every_step_can_be_undone_and_done_again() -> None:
    edits = Edits(made())
    steps = [
        lambda t: table.split(t, 0, 3),
        lambda t: table.delete(t, [1]),
        lambda t: table.replace_all(t, "We", "They")[0],
    ]
    seen = [edits.table.rows]
    for step in steps:
        edits = edits.done(step(edits.table))
        seen.append(edits.table.rows)
    assert edits.done(edits.table) is edits, "nothing changed, nothing to undo"
    for rows in reversed(seen[:-1]):
        edits = edits.undone()
        assert edits.table.rows == rows
    assert edits.undone() is edits and edits.table.following == 4, "no key is given twice"
    for rows in seen[1:]:
        edits = edits.redone()
        assert edits.table.rows == rows
    assert edits.redone() is edits
    assert edits.undone().done(table.insert(edits.undone().table, 0)).future == ()


def test_a_key_that_is_gone_is_said() -> None:
    with pytest.raises(OptionError, match="not there any more"):
        table.with_text(made(), 77, "x")


def test_an_edited_table_is_kept_in_the_jobs_folder(tmp_path: Path) -> None:
    assert load(tmp_path) is None
    edited = table.insert(table.with_text(made(), 1, "我们坐汽车。"), 1)
    save(tmp_path, edited)
    assert load(tmp_path) == edited
