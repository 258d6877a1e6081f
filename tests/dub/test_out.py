"""What a finished dub can be had as besides its video: tracks, drawn subtitles, stems, project, report."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import soundfile

from pipelines import media
from pipelines.backend.policy import Policy
from pipelines.dub import captions, outcome, soundtrack
from pipelines.dub.check import LineCheck
from pipelines.dub.options import DubOptions
from pipelines.dub.report_page import report_page
from pipelines.dub.run import DubRun
from pipelines.errors import OptionError
from pipelines.lipsync import LipReport
from pipelines.progress import NullReport
from pipelines.records import save_plan, save_speech_times, save_transcript
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.types import DubLine, DubPlan, Segment, Transcript, Word
from tests.dub.conftest import Dubbed

CLIP = Path(__file__).parents[2] / "examples" / "talker.mp4"


ASKED = {
    "input": str(CLIP),
    "target_language": "es",
    "soft_subtitles": "both",
    "burned_subtitles": "both",
    "subtitle_formats": ["vtt", "ass"],
    "original_track": True,
    "mkv": True,
    "stems": True,
    "project": True,
}
PLAN = DubPlan(
    "en",
    "es",
    8.0,
    (
        DubLine(0, 1.0, 2.4, "Good morning.", "Buenos días.", None, 1.0, 2.2, 0.9, state="spoken"),
        DubLine(1, 4.0, 5.5, "We're going.", "Nos vamos.", None, 4.0, 5.2, 1.1, state="spoken"),
    ),
)


@dataclass(frozen=True)
class Exported:
    """A dub whose lines are tones and whose picture is the source's, put together as everything there is."""

    run: DubRun
    result: dict[str, Any]

    def path(self, *keys: str) -> Path:
        """A file that the result names."""
        found: Any = self.result
        for key in keys:
            found = found[key]
        return self.run.folder / str(found)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    folder = tmp_path_factory.mktemp("dub to put together")
    context = EngineContext(Settings.load({"DUBWRIGHT_HOME": str(folder / "home")}), Policy(threads=2))
    run = DubRun(folder, DubOptions.from_json(ASKED), media.probe(CLIP), context, NullReport())
    (folder / "lines").mkdir()
    for line in PLAN.lines:
        tone = 0.2 * np.sin(np.arange(round(1.2 * 24_000)) * 0.05 * (line.index + 1))
        soundfile.write(soundtrack.line_file(run, line.index), tone, 24_000)
        words = line.text.split()
        times = [Word(0.6 * n, 0.6 * n + 0.6, f" {word}") for n, word in enumerate(words)]
        save_speech_times(folder / "lines" / f"{line.index + 1:04d}.json", (), times)
    save_plan(folder / "lines.json", PLAN)
    save_transcript(folder / "transcript.json", Transcript("en", ()))
    made = outcome.assemble(run, PLAN, CLIP, soundtrack.mix(run, PLAN))
    lips = LipReport((), ((0, run.info.frames),), (), {})
    checks = [LineCheck(0, "Buenos días", 0.0), LineCheck(1, "Nos damos", 0.5)]
    measured = {"loudness": {"lufs": -16.0, "true_peak_db": -1.2}, "frames": run.info.frames}
    return Exported(run, outcome.finish(run, PLAN, made, outcome.Findings(checks, lips, measured)))


def streams(path: Path) -> list[tuple[str, str, bool]]:
    """Kind, language and default flag of every track."""
    with av.open(str(path)) as container:
        return [
            (
                one.type,
                one.metadata.get("language", "und"),
                bool(one.disposition & av.stream.Disposition.default),
            )
            for one in container.streams
        ]


@pytest.mark.parametrize("kind", ["video", "mkv"])
def test_the_dub_is_the_default_track_and_everything_else_can_be_switched_on(
    exported: Exported, kind: str
) -> None:
    path = exported.path(kind)
    assert streams(path)[1:] == [
        ("audio", "spa", True),
        ("audio", "eng", False),
        ("subtitle", "spa", kind == "video"),  # an mp4's first track of a kind is always enabled
        ("subtitle", "eng", False),
    ]
    with av.open(str(path)) as container:
        tags = {name.lower(): value for name, value in container.metadata.items()}
    assert tags["comment"] == "AI-dubbed by Dubwright, en to es"
    info = media.probe(path)
    assert (info.frames, info.fps, info.codec) == (exported.run.info.frames, exported.run.info.fps, "h264")


def white_rows(path: Path, exported: Exported, at: float) -> set[int]:
    """Rows of a frame that hold something purely white: letters."""
    info = media.probe(path)
    frames = media.read_frames(info, exported.run.context.settings, start=round(at * info.fps), count=1)
    return set(np.flatnonzero(next(iter(frames)).min(axis=2).max(axis=1) > 245).tolist())


def test_both_languages_are_drawn_the_dub_below_and_the_original_above(exported: Exported) -> None:
    height = exported.run.info.height
    film = exported.path("video")
    written = white_rows(film, exported, 1.5) - white_rows(CLIP, exported, 1.5)
    assert [row for row in written if row < 0.2 * height] and [row for row in written if row > 0.8 * height]
    silent = white_rows(film, exported, 3.4) - white_rows(CLIP, exported, 3.4)
    assert not silent
    events = (exported.run.folder / "burned.ass").read_text(encoding="utf-8")
    assert events.count("Dialogue:") == 4 and "Original,,0,0,0,,Good morning." in events


def test_one_language_alone_is_drawn_in_the_usual_style() -> None:
    alone = captions.styled_subtitles({"source": (Segment(0.0, 1.0, "Hi."),)})
    assert "Default,,0,0,0,,Hi." in alone and "Style: Original" not in alone


def test_subtitles_are_written_in_the_formats_asked_for(exported: Exported) -> None:
    assert exported.result["subtitles"] == {"target": "target.srt", "source": "source.srt"}
    assert set(exported.result["more_subtitles"]) == {"target.vtt", "target.ass", "source.vtt", "source.ass"}
    assert exported.path("more_subtitles", "target.vtt").read_text(encoding="utf-8") == (
        "WEBVTT\n\n00:00:01.000 --> 00:00:02.200\nBuenos días.\n\n00:00:04.000 --> 00:00:05.200\nNos vamos.\n"
    )


def test_stems_are_as_long_as_the_picture_and_hold_one_thing_each(exported: Exported) -> None:
    voice, rate = soundfile.read(exported.path("stems", "voice"))
    original, _ = soundfile.read(exported.path("stems", "original"))
    length = round(exported.run.duration * 48_000)
    assert (rate, voice.shape, original.shape) == (48_000, (length, 2), (length, 2))
    source = media.load_sound(CLIP, exported.run.context.settings, sr=48_000).samples
    count = min(len(source), length)
    assert np.corrcoef(original[:count].mean(axis=1), source[:count])[0, 1] > 0.99
    assert not voice[: round(0.95 * rate)].any() and not voice[round(2.4 * rate) : round(3.9 * rate)].any()
    assert np.abs(voice[round(1.2 * rate) : round(2.0 * rate)]).max() > 0.05


def test_the_project_holds_everything_but_the_source(exported: Exported) -> None:
    with zipfile.ZipFile(exported.path("project")) as archive:
        assert archive.testzip() is None
        names = set(archive.namelist())
        asked = json.loads(archive.read("asked.json"))
        lines = json.loads(archive.read("lines.json"))["lines"]
    assert names == {
        *(
            "dubbed.mp4",
            "dubbed.mkv",
            "voice.wav",
            "original.wav",
            "lines.json",
            "transcript.json",
            "asked.json",
        ),
        *(f"{role}.{form}" for role in ("target", "source") for form in ("srt", "vtt", "ass")),
        *("report.json", "report.html", "lines/0001.wav", "lines/0002.wav"),
    }
    assert (asked["input"], asked["target_language"]) == ("talker.mp4", "es")
    assert [line["text"] for line in lines] == ["Buenos días.", "Nos vamos."]


def test_the_report_page_says_what_the_report_says(exported: Exported) -> None:
    page = exported.path("report_page").read_text(encoding="utf-8")
    for words in (
        "Buenos días.",
        "We&#x27;re going.",
        "Nos damos",
        '<td class="look">50 %</td>',
        "0.91×",
        "-16.0 LUFS",
    ):
        assert words in page, words
    assert "AI-dubbed by Dubwright" in page and "http" not in page


@pytest.mark.slow
def test_nothing_of_the_dub_itself_is_made_again_for_an_export(spanish: Dubbed) -> None:
    names = ("dub.wav", "picture.mp4", "heard.json", "dubbed.mp4")
    made = {name: (spanish.folder / name).stat().st_mtime_ns for name in names}
    more = spanish.again(subtitle_formats=["vtt"], stems=True, project=True)
    assert made == {name: (spanish.folder / name).stat().st_mtime_ns for name in names}
    assert (spanish.folder / more.result["project"]).is_file()


def test_the_report_page_shows_what_to_listen_to_and_escapes_what_was_said() -> None:
    line = {
        "index": 0, "start": 1.0, "end": 2.0, "source": "<b>Hi</b>", "text": "Hola", "keep": False, "state": "spoken",
        "speed": 1.2, "start_shift": -0.05, "heard": "Bola", "error_rate": 1.0,
    }  # fmt: skip
    said = report_page({"source_language": "en", "target_language": "es", "lines": [line]}, "a & b.mp4")
    assert '<td class="look">100 %</td>' in said and "&lt;b&gt;Hi&lt;/b&gt;" in said and "<b>" not in said
    assert "a &amp; b.mp4: English → Spanish" in said and "-0.05 s" in said


def test_choices_that_cannot_be_are_refused() -> None:
    asked = {"input": str(CLIP), "target_language": "es"}
    assert DubOptions.from_json({**asked, "soft_subtitles": True}).soft_subtitles == "both"
    with pytest.raises(OptionError, match="cannot be in"):
        DubOptions.from_json({**asked, "burned_subtitles": "french"})
    with pytest.raises(OptionError, match="cannot be written as"):
        DubOptions.from_json({**asked, "subtitle_formats": ["docx"]})
