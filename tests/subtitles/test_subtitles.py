"""Subtitle files as people have them: every encoding, every sloppiness; what is written is read back the same."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as tries
from hypothesis import strategies as st

from pipelines.errors import InputError, OptionError
from pipelines.subtitles import format_of, one_line, read, without_overlaps, write
from pipelines.types import Segment, Word

PLAIN = """1
00:00:01,000 --> 00:00:02,500
Hello there.

2
00:00:03,250 --> 00:00:05,000
I have two lines:
this is the second.

3
01:02:03,004 --> 01:02:04,000
In
1984
"""


def _shown(segments: tuple[Segment, ...]) -> list[tuple[float, float, str]]:
    return [(segment.start, segment.end, segment.text) for segment in segments]


EXPECTED = [
    (1.0, 2.5, "Hello there."),
    (3.25, 5.0, "I have two lines: this is the second."),
    (3723.004, 3724.0, "In 1984"),
]


def _file(folder: Path, data: bytes | str, name: str = "字幕 🎬.srt") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize(
    "data",
    [
        PLAIN.encode(),
        codecs.BOM_UTF8 + PLAIN.encode(),
        PLAIN.replace("\n", "\r\n").encode(),
        PLAIN.replace("\n", "\r").encode(),
        PLAIN.encode("utf-16"),
        codecs.BOM_UTF16_BE + PLAIN.encode("utf-16-be"),
        PLAIN.encode("utf-16-le"),
        PLAIN.encode("utf-16-be"),
        PLAIN.replace("\n\n", "\n").encode(),  # no blank lines between cues
        PLAIN.replace("\n\n", "\n\n\n\n").encode(),
        PLAIN.replace("\n\n", "\n  \n").encode(),
        PLAIN.replace(",", ".").replace("Hello there.", "Hello there.").encode(),
        PLAIN.replace(" --> ", "-->").encode(),
        PLAIN.replace("Hello there.", "<i>Hello</i> {\\an8}<font color=\"#ff0000\">there.</font>").encode(),
        PLAIN.rstrip().encode(),
    ],
)  # fmt: skip
def test_srt_as_people_have_it(data: bytes, tmp_path: Path) -> None:
    assert _shown(read(_file(tmp_path, data))) == EXPECTED


def test_lines_are_kept_when_asked(tmp_path: Path) -> None:
    path = _file(tmp_path, PLAIN)
    assert read(path, keep_lines=True)[1].text == "I have two lines:\nthis is the second."


@pytest.mark.parametrize(
    ("encoding", "lines"),
    [
        (
            "gb18030",
            ["欢迎大家来体验语音识别模型。", "今天天气很好,我们去公园散步。", "你说什么?我没有听清楚。"],
        ),
        (
            "big5",
            ["歡迎大家來體驗語音識別模型。", "今天天氣很好,我們去公園散步。", "你說什麼?我沒有聽清楚。"],
        ),
        ("shift_jis", ["こんにちは、世界。", "これは日本語の字幕です。", "東京へ行きましょう。"]),
        ("cp1251", ["Всем привет, я снова рада вас видеть.", "Сегодня хорошая погода.", "Пойдём в парк?"]),
        (
            "cp1252",
            ["¿Cómo estás? Mañana será otro día.", "L'été dernier, à la plage.", "Das ist schön für mich."],
        ),
    ],
)
def test_old_encodings(encoding: str, lines: list[str], tmp_path: Path) -> None:
    text = "".join(
        f"{number}\n00:00:{number:02d},000 --> 00:00:{number:02d},900\n{line}\n\n"
        for number, line in enumerate(lines * 3, start=1)
    )
    assert [segment.text for segment in read(_file(tmp_path, text.encode(encoding)))] == lines * 3


def test_hours_missing_out_of_order_and_without_length(tmp_path: Path) -> None:
    text = """3
00:20,000 --> 00:19,000
ends before it begins

1
00:01 --> 00:03
no fractions

2
00:05,5 --> 00:05,5
no length

00:06.000 --> 00:07.000
no number
"""
    assert _shown(read(_file(tmp_path, text))) == [
        (1.0, 3.0, "no fractions"),
        (5.5, 6.0, "no length"),
        (6.0, 7.0, "no number"),
        (20.0, pytest.approx(21.0, abs=0.4), "ends before it begins"),
    ]


def test_webvtt_with_everything(tmp_path: Path) -> None:
    text = """\ufeffWEBVTT - a title

STYLE
::cue { color: red }

NOTE
00:00:00.000 is not a cue

intro
00:01.000 --> 00:02.000 align:start position:10%
<v.loud Mary Ann>Fish &amp; <b>chips</b> &lt;3 --&gt; <00:01.500>you

NOTE between

00:00:03.000 --> 00:00:04.000
- One.
- Two.

NOTE after
"""
    first, second = read(_file(tmp_path, text, "talk.vtt"), keep_lines=True)
    assert (first.text, first.speaker) == ("Fish & chips <3 --> you", "Mary Ann")
    assert (second.text, second.start, second.end) == ("- One.\n- Two.", 3.0, 4.0)


def test_ass_with_styles_and_comments(tmp_path: Path) -> None:
    text = """[Script Info]
Title: test
ScriptType: v4.00+

[V4+ Styles]
Format: Name, Fontname, Fontsize
Style: Default,Arial,20

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Comment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,not shown
Dialogue: 0,0:00:05.50,0:00:06.00,Default,Bob,0,0,0,,{\\pos(10,20)\\i1}Well,{\\i0} hello\\Nyou
Dialogue: 0,0:00:01.00,0:00:02.25,Default,,0,0,0,,First
Dialogue: 0,0:00:01.00,0:00:02.25,Default,,0,0,0,,{\\p1}m 0 0 l 100 0{\\p0}
"""
    first, second = read(_file(tmp_path, text, "a.ass"))
    assert (first.start, first.end, first.text, first.speaker) == (1.0, 2.25, "First", None)
    assert (second.start, second.end, second.text, second.speaker) == (5.5, 6.0, "Well, hello you", "Bob")


@pytest.mark.parametrize(
    ("data", "says", "where"),
    [
        (
            "1\n00:00:01,000 --> 00:00:02,000\nHi\n\n2\n00:00:03,000 --> 00:0x:04,000\nYou\n",
            "line 6",
            "line 6",
        ),
        ("Dear Sir or Madam\n", "not a subtitle file", "srt"),
        (b"\x00\x01\x02\x03" * 100, "not a subtitle file", "srt"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "not a subtitle file", "srt"),
        ("", "not a subtitle file", "srt"),
        ("1\n00:00:01,000 --> 00:00:02,000\n\n", "no text", "srt"),
    ],
)
def test_what_cannot_be_read_is_said_plainly(
    data: bytes | str, says: str, where: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read(_file(tmp_path, data))
    assert where in caught.value.where
    assert "字幕 🎬.srt" in caught.value.sentence("zh")
    with pytest.raises(InputError, match="cannot be opened"):
        read(tmp_path / "missing.srt")


def test_broken_json_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 3"):
        read(_file(tmp_path, '{"segments": [\n{"start": 0, "end": 1, "text": "a"},\n{"start"}\n]}', "a.json"))
    with pytest.raises(InputError, match="no segments"):
        read(_file(tmp_path, '{"segments": [{"text": "a"}]}', "a.json"))


def test_chinese_lines_are_joined_without_a_space() -> None:
    assert one_line("欢迎大家\n来体验") == "欢迎大家来体验"
    assert one_line("我用\nPython 写") == "我用 Python 写"
    assert one_line(" one \n\n two ") == "one two"


def test_overlaps_are_cut_only_when_asked(tmp_path: Path) -> None:
    cues = (Segment(0, 5, "a"), Segment(3, 4, "b"), Segment(3.02, 6, "c"), Segment(7, 8, "d"))
    write(tmp_path / "a.srt", cues)
    assert [segment.end for segment in read(tmp_path / "a.srt")] == [5, 4, 6, 8]
    assert _shown(without_overlaps(cues)) == [(0, 3, "a"), (3, 6, "b\nc"), (7, 8, "d")]


LETTERS = st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), exclude_characters="\ufeff")
TEXTS = (
    st.lists(st.text(LETTERS, min_size=1, max_size=30), min_size=1, max_size=3)
    .map(lambda lines: "\n".join(" ".join(line.split()) for line in lines))
    .map(lambda text: "\n".join(line for line in text.split("\n") if line))
    .filter(lambda text: bool(text.strip()))
)


def _segments(words: bool = False) -> st.SearchStrategy[list[Segment]]:
    def build(parts: list[tuple[int, int, str, str | None]]) -> list[Segment]:
        at, made = 0, []
        for gap, length, text, speaker in parts:
            at += gap
            spoken = (Word(at / 1000, (at + length) / 1000, text.split()[0], 0.5),) if words else ()
            made.append(Segment(at / 1000, (at + length) / 1000, text, spoken, speaker))
            at += length
        return made

    part = st.tuples(
        st.integers(0, 5_000_000),
        st.integers(100, 20_000),
        TEXTS,
        st.none() | st.sampled_from(["Ann", "王 五", "A&B <c>"]),
    )
    return st.lists(part, min_size=1, max_size=6).map(build)


@tries(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(segments=_segments())
def test_webvtt_round_trip(segments: list[Segment], tmp_path: Path) -> None:
    """Any text at all, & < > --> and entities among them, comes back as it was."""
    write(tmp_path / "a.vtt", segments)
    assert list(read(tmp_path / "a.vtt", keep_lines=True)) == _visible(segments)


def _visible(segments: list[Segment]) -> list[Segment]:
    """No-break spaces come back as spaces and direction marks are dropped: the only change."""
    cleaned = []
    for segment in segments:
        text = segment.text.replace("\xa0", " ").replace("\u200e", "").replace("\u200f", "").strip()
        if text:
            cleaned.append(Segment(segment.start, segment.end, text, (), segment.speaker))
    return cleaned


@tries(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(segments=_segments(words=True))
def test_json_round_trip(segments: list[Segment], tmp_path: Path) -> None:
    write(tmp_path / "a.json", segments)
    assert list(read(tmp_path / "a.json", keep_lines=True)) == segments


@tries(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(segments=_segments())
def test_srt_and_ass_keep_times_and_order(segments: list[Segment], tmp_path: Path) -> None:
    plain = [
        Segment(segment.start, segment.end, f"line {number}: 50 % of “it”, здесь 你好\n{number}")
        for number, segment in enumerate(segments)
    ]
    write(tmp_path / "a.srt", plain)
    assert list(read(tmp_path / "a.srt", keep_lines=True)) == plain
    write(tmp_path / "a.ass", plain)
    back = read(tmp_path / "a.ass", keep_lines=True)
    assert [segment.text for segment in back] == [segment.text for segment in plain]
    for one, other in zip(back, plain, strict=True):
        assert one.start == pytest.approx(other.start, abs=0.0101)
        assert one.end == pytest.approx(other.end, abs=0.0101)


def test_what_players_read(tmp_path: Path) -> None:
    cues = [
        Segment(0.5, 1.2345, "a < b & c --> d\n\n\nx", speaker="Ann"),
        Segment(3599.9996, 3601, "{\\an8}brace"),
    ]
    for name in ("a.srt", "a.vtt", "a.ass", "a.txt", "a.json"):
        write(tmp_path / name, cues)
    assert (tmp_path / "a.srt").read_text() == (
        "1\n00:00:00,500 --> 00:00:01,234\na < b & c → d\nx\n\n2\n01:00:00,000 --> 01:00:01,000\n{\\an8}brace\n"
    )
    assert (tmp_path / "a.vtt").read_text() == (
        "WEBVTT\n\n00:00:00.500 --> 00:00:01.234\n<v Ann>a &lt; b &amp; c --&gt; d\nx\n\n"
        "01:00:00.000 --> 01:00:01.000\n{\\an8}brace\n"
    )
    assert "0:00:00.50,0:00:01.23,Default,Ann,0,0,0,,a < b & c --> d\\Nx" in (tmp_path / "a.ass").read_text()
    assert "｛＼an8｝brace" in (tmp_path / "a.ass").read_text()
    assert (tmp_path / "a.txt").read_text() == "a < b & c --> d x\n{\\an8}brace\n"
    assert json.loads((tmp_path / "a.json").read_text())["segments"][0]["speaker"] == "Ann"


def test_format_from_the_name() -> None:
    assert [format_of(Path(name)) for name in ("a.SRT", "b.vtt", "c.ssa", "d.json", "e.txt")] == [
        *("srt", "vtt", "ass", "json", "txt"),
    ]
    with pytest.raises(OptionError, match=r"a\.docx"):
        format_of(Path("a.docx"))
