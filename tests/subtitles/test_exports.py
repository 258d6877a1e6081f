"""Every format that can be written, cue checks, and subtitles in a video: files that other programs take."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path

import av
import imageio_ffmpeg
import numpy as np
import pysubs2
import pytest

from pipelines.cue_checks import check_cues
from pipelines.cues import CueRules, cue_rules
from pipelines.errors import OptionError
from pipelines.exports import export, rows_for
from pipelines.media import SubtitleTrack, add_soft, burn_in, frame_at, probe
from pipelines.settings import Settings
from pipelines.subtitles import EXPORT_FORMATS, AssStyle, ass_style, read, write
from pipelines.types import Segment, Word

ROWS = (
    Segment(
        0.5,
        2.0,
        "twenty five, please",
        (Word(0.5, 0.9, "twenty"), Word(0.9, 2.0, "five,", 0.3)),
        "Ann",
        "25, please",
    ),
    Segment(2.0, 3.5, '他说"你好"', (Word(2.0, 3.5, '他说"你好"'),), "王五"),
    Segment(6.0, 7.25, "The end", (), None),
)


def test_csv_opens_in_a_table_with_both_texts(tmp_path: Path) -> None:
    export(tmp_path / "a.csv", ROWS)
    assert (tmp_path / "a.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    with (tmp_path / "a.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["start", "end", "speaker", "text", "normalised"],
        ["0.500", "2.000", "Ann", "twenty five, please", "25, please"],
        ["2.000", "3.500", "王五", '他说"你好"', ""],
        ["6.000", "7.250", "", "The end", ""],
    ]


def test_lyrics_have_a_line_at_its_start_and_clear_in_pauses(tmp_path: Path) -> None:
    export(tmp_path / "a.lrc", ROWS)
    assert (tmp_path / "a.lrc").read_text(encoding="utf-8") == (
        '[00:00.50]25, please\n[00:02.00]他说"你好"\n[00:03.50]\n[00:06.00]The end\n[00:07.25]\n'
    )
    export(tmp_path / "b.lrc", [Segment(3599.996, 3725.0, "late")])
    assert (tmp_path / "b.lrc").read_text(encoding="utf-8") == "[60:00.00]late\n[62:05.00]\n"


def test_textgrid_has_a_tier_for_every_speaker_and_no_holes(tmp_path: Path) -> None:
    export(tmp_path / "a.TextGrid", ROWS)
    text = (tmp_path / "a.TextGrid").read_text(encoding="utf-8")
    assert text.startswith('File type = "ooTextFile"\nObject class = "TextGrid"\n\nxmin = 0\nxmax = 7.250\n')
    assert [line.split("= ")[1] for line in text.splitlines() if "name =" in line] == [
        '"Ann"',
        '"王五"',
        '"lines"',
        '"words"',
    ]
    ann = text.partition("item [1]:")[2].partition("item [2]:")[0].split()
    assert " ".join(ann[12:]) == (
        'intervals: size = 3 intervals [1]: xmin = 0.000 xmax = 0.500 text = "" intervals [2]: xmin = 0.500 xmax = 2.000'
        ' text = "25, please" intervals [3]: xmin = 2.000 xmax = 7.250 text = ""'
    )
    assert '"他说""你好"""' in text


def test_json_keeps_everything_and_reads_back(tmp_path: Path) -> None:
    export(tmp_path / "a.json", ROWS)
    first = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["segments"][0]
    assert first["text"] == "twenty five, please" and first["normalised"] == "25, please"
    assert first["words"][1] == {"start": 0.9, "end": 2.0, "text": "five,", "prob": 0.3}
    assert read(tmp_path / "a.json", keep_lines=True) == ROWS


def test_ass_has_the_style_and_a_colour_for_a_speaker(tmp_path: Path) -> None:
    style = AssStyle(
        font="Noto Sans CJK SC",
        size=72,
        colour="#FFEE00",
        position="top",
        speaker_colours={"王五": "#00FF80"},
    )
    export(tmp_path / "a.ass", ROWS, style=style)
    file = pysubs2.load(str(tmp_path / "a.ass"))
    default, second = file.styles["Default"], file.styles["Speaker 1"]
    assert (default.fontname, default.fontsize, default.alignment) == ("Noto Sans CJK SC", 72, 8)
    assert default.primarycolor == pysubs2.Color(255, 238, 0) and second.primarycolor == pysubs2.Color(
        0, 255, 128
    )
    assert [(event.style, event.name, event.text) for event in file] == [
        ("Default", "Ann", "25, please"),
        ("Speaker 1", "王五", '他说"你好"'),
        ("Default", "", "The end"),
    ]


@pytest.mark.parametrize(
    "wrong", [{"colour": "red"}, {"position": "left"}, {"size": 0}, {"font": "a,b"}, {"weight": 3}]
)
def test_a_style_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        ass_style(wrong)


def test_edited_rows_stay_as_they_are_unless_recut() -> None:
    long = Segment(
        0.0,
        9.0,
        "This is a very long row that somebody has joined from three, and it needs two cues at least, or more.",
    )
    assert [row.text for row in rows_for([long], "srt", recut=False)] == [long.text]
    recut = rows_for([long], "srt", CueRules(), recut=True)
    assert len(recut) >= 2 and all(line_fits(row) for row in recut)
    assert " ".join(" ".join(row.text.split()) for row in recut) == long.text
    assert rows_for([long], "csv", recut=True) == (long,)


def line_fits(row: Segment) -> bool:
    return all(len(line) <= 42 for line in row.text.split("\n")) and row.text.count("\n") <= 1


def test_every_format_of_an_empty_transcript_is_a_valid_file(tmp_path: Path) -> None:
    for form in EXPORT_FORMATS:
        write(tmp_path / f"empty.{form}", [], form)
    assert (tmp_path / "empty.vtt").read_text() == "WEBVTT\n"
    assert (tmp_path / "empty.srt").read_text() == ""
    assert "size = 1" in (tmp_path / "empty.textgrid").read_text()


# ------------------------------------------------------------------------------------------------- cue checks


def kinds(*rows: Segment, duration: float | None = None) -> list[tuple[int, str]]:
    return [(issue.index, issue.kind) for issue in check_cues(rows, duration=duration)]


def test_good_cues_have_no_faults() -> None:
    assert kinds(Segment(0, 2, "Hello there, you"), Segment(2.08, 4, "欢迎大家来体验"), duration=4.0) == []


def test_every_fault_is_named_on_its_row() -> None:
    assert kinds(Segment(0, 2, "  "), Segment(3, 3, "a")) == [(0, "empty"), (1, "no-length")]
    assert kinds(Segment(0, 5, "one here"), Segment(1, 2.5, "two"), Segment(4, 6, "three")) == [
        (1, "overlap"),
        (2, "overlap"),
    ]
    assert kinds(Segment(0, 1, "thirty characters in a second!")) == [(0, "too-fast")]
    assert kinds(Segment(0, 1, "十三个汉字一秒钟读不完的啊")) == [(0, "too-fast")]
    assert kinds(Segment(0, 8, "slow")) == [(0, "too-long")]
    assert kinds(Segment(0, 0.5, "hi")) == [(0, "too-short")]
    assert kinds(Segment(0, 7, "a\nb\nc")) == [(0, "too-wide")]
    assert kinds(Segment(0, 7, f"{'x' * 43}\nb")) == [(0, "too-wide")]
    assert kinds(Segment(0, 2, "late"), duration=1.5) == [(0, "past-end")]


def test_a_fault_is_said_with_its_size_in_both_languages() -> None:
    (issue,) = check_cues([Segment(0, 3, "a b c"), Segment(2.5, 4, "d e f")])
    assert issue.message.en == "begins 0.50 s before the one above ends"
    assert issue.message.zh == "与前面的字幕重叠 0.50 秒"


def test_cue_rules_from_a_form() -> None:
    assert cue_rules({"columns": "36", "gap": 0, "longest": 6}) == CueRules(columns=36, gap=0.0, longest=6.0)
    for wrong in ({"colums": 3}, {"lines": 0}, {"speed": "fast"}, {"longest": float("nan")}):
        with pytest.raises(OptionError):
            cue_rules(wrong)


# ------------------------------------------------------------------------------------------- subtitles in a video

PLACE = "it's a [test], 100% 字幕: x"  # every sign that means something to ffmpeg's filters


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds of grey with a tone, in a folder with an awkward name."""
    folder = tmp_path_factory.mktemp("film") / PLACE
    folder.mkdir()
    path = folder / "a b.mp4"
    sources = ["-f", "lavfi", "-i", "color=0x505050:s=640x360:r=25:d=2", "-f", "lavfi", "-i", "sine=d=2"]
    subprocess.run(
        [
            imageio_ffmpeg.get_ffmpeg_exe(),
            "-v",
            "error",
            *sources,
            "-c:a",
            "aac",
            "-metadata:s:a:0",
            "language=eng",
            str(path),
        ],
        check=True,
    )
    return path


def test_burned_subtitles_are_seen_while_they_are_spoken(film: Path, settings: Settings) -> None:
    ass, out = film.parent / "s.ass", film.parent / "burned.mp4"
    export(ass, [Segment(0.5, 1.5, "Hello 你好")], style=AssStyle(colour="#FF0000", size=150))
    burn_in(film, ass, out, settings)
    info = probe(out)
    assert (info.frames, info.width, info.height, len(info.audio)) == (50, 640, 360, 1)
    before, during, after = (frame_at(info, second, settings) for second in (0.3, 1.0, 1.7))
    lower = (slice(240, 360), slice(None))
    assert np.ptp(before[lower]) < 12 and np.ptp(after[lower]) < 12
    red = (during[..., 2] > 180) & (during[..., 1] < 90)
    assert red[lower].sum() > 300 and red[:180].sum() == 0


@pytest.mark.parametrize("kind", ["mp4", "mkv"])
def test_soft_subtitles_are_a_track_beside_untouched_picture_and_sound(
    film: Path, settings: Settings, kind: str
) -> None:
    srt, out = film.parent / "s.srt", film.parent / f"soft.{kind}"
    export(srt, ROWS[:1])
    add_soft(film, [SubtitleTrack(srt, "zh", "中文")], out, settings)
    with av.open(str(out)) as made, av.open(str(film)) as original:
        assert [stream.type for stream in made.streams] == ["video", "audio", "subtitle"]
        assert made.streams[2].language in ("zho", "chi")
        pictures = [[bytes(p) for p in c.demux(video=0) if p.size] for c in (made, original)]
        assert pictures[0] == pictures[1]  # copied, not encoded again
    with av.open(str(out)) as made:
        shown = [packet for packet in made.demux(subtitles=0) if packet.size > 2]
        assert b"25, please" in bytes(shown[0])
        assert float(shown[0].pts * shown[0].time_base) == pytest.approx(0.5, abs=0.002)


def test_soft_subtitles_go_into_mp4_and_mkv_only(film: Path, settings: Settings) -> None:
    with pytest.raises(OptionError, match=r"out\.avi"):
        add_soft(film, [], film.parent / "out.avi", settings)
