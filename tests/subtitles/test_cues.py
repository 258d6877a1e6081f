"""Cues that can be read: the rules hold for any speech, all text is kept, breaks are where a person would break."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

from pipelines.cues import CueRules, reading_time, width
from pipelines.subtitles import cues
from pipelines.types import Segment, Word

ENGLISH = (
    "And so my fellow Americans, ask not what your country can do for you, "
    "ask what you can do for your country. My fellow citizens of the world: ask not what America will do for you, "
    "but what together we can do for the freedom of man."
)
CHINESE = (
    "欢迎大家来体验达摩院推出的语音识别模型,今天我们要讲的是口型同步。首先,请大家看一下这个视频,里面有一位"
    "老师在讲 Python 3.11 的新功能;然后我们再来讨论它的优点和缺点。"
)  # fmt: skip


def _words(text: str, start: float, rate: float) -> tuple[Word, ...]:
    """Words (or Chinese characters) spoken at ``rate`` letters a second."""
    at, words = start, []
    for piece in re.findall(r"[\u4e00-\u9fff]|[^\s\u4e00-\u9fff]+", text):
        length = len(piece) / rate
        words.append(Word(at, at + length * 0.9, piece))
        at += length
    return tuple(words)


def _segment(text: str, start: float = 0.0, rate: float = 12.0) -> Segment:
    words = _words(text, start, rate)
    return Segment(words[0].start, words[-1].end, text, words)


def _bare(text: str) -> str:
    return re.sub(r"\s", "", text)


def test_english_breaks_at_clauses() -> None:
    shown = cues([_segment(ENGLISH)])
    texts = [cue.text for cue in shown]
    assert " ".join(" ".join(text.split("\n")) for text in texts) == ENGLISH
    assert [text[-1] for text in texts[:-1]].count(".") + [text[-1] for text in texts[:-1]].count(",") == len(
        texts
    ) - 1
    assert all(len(line) <= 42 for text in texts for line in text.split("\n"))
    assert "ask not what your country can do for you,\nask what you can do for your country." in texts


def test_chinese_counts_two_columns_and_keeps_punctuation_with_its_word() -> None:
    shown = cues([_segment(CHINESE, rate=5.0)])
    lines = [line for cue in shown for line in cue.text.split("\n")]
    assert _bare("".join(lines)) == _bare(CHINESE)
    assert all(width(line) <= 42 for line in lines)
    assert not any(line[0] in ",。;、?!" for line in lines)
    assert any("Python 3.11" in line for line in lines)
    assert " " not in "".join(lines).replace("讲 Python 3.11 的", "")


def test_times_come_from_the_words() -> None:
    segment = _segment(ENGLISH, start=10.0)
    shown = cues([segment])
    assert tuple(word for cue in shown for word in cue.words) == segment.words
    for cue in shown:
        assert cue.start == pytest.approx(cue.words[0].start, abs=1e-6)
        assert cue.end >= min(cue.words[-1].end, cue.start + 7.0) - 0.09


def test_edited_text_is_timed_by_its_letters() -> None:
    """The words of the recogniser no longer spell the text: the segment's own times are shared out."""
    segment = Segment(2.0, 12.0, ENGLISH[:120], _words("something quite different", 2.0, 12.0))
    shown = cues([segment])
    assert shown[0].start == 2.0
    assert all(cue.words == () for cue in shown)
    assert " ".join(cue.text.replace("\n", " ") for cue in shown) == ENGLISH[:120].strip()
    assert 2.0 < shown[1].start < 12.0


def test_short_words_stay_long_enough_and_leave_a_gap() -> None:
    shown = cues(
        [Segment(1.0, 1.2, "Yes."), Segment(4.0, 4.3, "No."), Segment(4.9, 7.0, "I do not know yet.")]
    )
    assert [(cue.start, cue.end) for cue in shown[:1]] == [(1.0, 2.0)]
    assert " ".join(cue.text for cue in shown) == "Yes. No. I do not know yet."
    for one, other in itertools.pairwise(shown):
        assert other.start - one.end >= 0.08 - 1e-9


def test_fast_speech_stays_until_it_can_be_read() -> None:
    (cue,) = cues([Segment(0.0, 1.0, "This was said in hardly any time at all.")])
    assert cue.end - cue.start == pytest.approx(reading_time(cue.text, CueRules()), abs=1e-6)


def test_no_cue_stays_longer_than_the_film() -> None:
    fast = Segment(6.5, 7.6, "This was said in hardly any time at all, just before the end.")
    assert cues([fast])[0].end > 8.5
    assert cues([fast], until=8.0)[0].end == 8.0
    assert cues([fast], until=6.0)[0].end == 6.5, "never before it begins"


def test_a_long_pause_is_not_bridged() -> None:
    words = (*_words("I went to the shop", 0.0, 12.0), *_words("and came back", 9.0, 12.0))
    shown = cues([Segment(0.0, words[-1].end, "I went to the shop and came back", words)])
    assert [cue.text for cue in shown] == ["I went to the shop", "and came back"]
    assert shown[1].start == 9.0


def test_two_speakers_never_share_a_cue() -> None:
    shown = cues([Segment(0, 0.4, "Hi.", speaker="A"), Segment(0.5, 0.9, "Hello.", speaker="B")])
    assert [(cue.text, cue.speaker) for cue in shown] == [("Hi.", "A"), ("Hello.", "B")]
    assert shown[1].start >= shown[0].end + 0.08 - 1e-9


def test_an_address_wider_than_the_screen_is_cut() -> None:
    address = "https://example.org/" + "a" * 90
    shown = cues([Segment(0.0, 8.0, f"See {address} now")])
    assert _bare("".join(cue.text for cue in shown)) == f"See{address}now"
    assert all(width(line) <= 42 for cue in shown for line in cue.text.split("\n"))


WORDS = st.lists(
    st.sampled_from(
        ["I", "am", "going", "to", "the", "extraordinarily", "market,", "today.", "Why?", "«Да»", "здесь",
         "你好", "世界。", "模型,", "(GPU)", "3.14", "“quoted", "text”", "日本語の字幕", "한국어", "🎬", "été", "x" * 60]
    ),
    min_size=1,
    max_size=60,
)  # fmt: skip


@tries(max_examples=60, deadline=None)
@given(
    parts=st.lists(
        st.tuples(WORDS, st.floats(2.0, 30.0), st.floats(-0.5, 4.0), st.booleans()), min_size=1, max_size=5
    )
)
def test_rules_hold_for_any_speech(parts: list[tuple[list[str], float, float, bool]]) -> None:
    segments, at = [], 0.0
    for words, rate, pause, timed in parts:
        text = " ".join(words)
        at = max(at + pause, 0.0)
        spoken = _segment(text, at, rate)
        segments.append(spoken if timed else Segment(spoken.start, spoken.end, text))
        at = spoken.end
    shown = cues(segments)
    assert sorted(_bare("".join(cue.text for cue in shown))) == sorted(
        _bare("".join(segment.text for segment in segments))
    )
    for cue in shown:
        lines = cue.text.split("\n")
        assert len(lines) <= 2
        assert all(line and line == line.strip() and width(line) <= 42 for line in lines)
        assert 0.3 - 1e-9 <= cue.end - cue.start <= 7.0 + 1e-9
    for one, other in itertools.pairwise(shown):
        assert other.start - one.end >= 0.08 - 1e-9
