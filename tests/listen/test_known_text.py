"""A text that is known to be said, put on real recordings: its words as written, exact times, and what does not fit told."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pipelines import subtitles
from pipelines.asr import EngineContext
from pipelines.asr.known_text import lay_over
from pipelines.backend.policy import Policy
from pipelines.errors import InputError, OptionError
from pipelines.phones import Heard
from pipelines.phones.classes import NAMES
from pipelines.records import load_transcript
from pipelines.settings import Settings
from pipelines.transcribe import run
from pipelines.types import Segment, Word
from tests.listen.test_align import MARKS
from tests.listen.test_transcribe import Notes

JFK = """And so, my fellow Americans: ask not what your country can do for you —
ask what you can do for your country."""


@pytest.fixture
def context(settings: Settings) -> EngineContext:
    return EngineContext(settings, Policy(threads=2))


def starts(clip: str) -> list[tuple[int, float]]:
    rows = [line.split("\t") for line in MARKS.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [(int(place), float(start)) for name, place, _, start in rows if name == clip]


def test_the_words_stay_as_written_and_start_when_they_are_said(
    data: Path, tmp_path: Path, context: EngineContext
) -> None:
    text, report = f"{JFK}\nNobody ever said this sentence here.", Notes()
    options = {
        "input": str(data / "speech" / "en_jfk.flac"), "language": "en", "text": text, "itn": True,
        "punctuation": False, "formats": ["srt", "textgrid"],
    }  # fmt: skip
    result = run(tmp_path, options, context, report)
    lines = load_transcript(tmp_path / "transcript.json").segments
    assert " ".join(line.text for line in lines) == JFK.replace("\n", " ")
    assert lines[-1].text == JFK.partition("\n")[2]
    words = [word for line in lines for word in line.words]
    off = [abs(words[place].start - start) for place, start in starts("en_jfk")]
    assert len(off) == 19 and np.median(off) <= 0.06 and np.percentile(off, 95) <= 0.17
    assert all(one.end <= other.start + 1e-9 for one, other in itertools.pairwise(words))
    assert report.notes == ["Not heard in the sound: Nobody ever said this sentence here."]
    assert "align" in report.stages
    grid = (tmp_path / result["files"]["textgrid"]).read_text(encoding="utf-8")
    assert 'name = "words"' in grid and 'name = "phones"' in grid and '"Americans:"' in grid
    phones = json.loads((tmp_path / "phones.json").read_text(encoding="utf-8"))["phones"]
    assert 55 < len(phones) < 90 and phones[0]["start"] < 0.6 and phones[-1]["end"] > 9.8
    shown = subtitles.read(tmp_path / result["files"]["srt"])
    assert shown[0].text.startswith("And so, my fellow Americans:") and 0.2 < shown[0].start < 0.45


def test_a_part_of_the_file_keeps_the_files_clock_and_mandarin_its_characters(
    data: Path, tmp_path: Path, context: EngineContext
) -> None:
    source = str(data / "speech" / "zh_asr_example.wav")
    text = "达摩院\n推出的语音识别模型。"
    report = Notes()
    options = {"input": source, "language": "zh", "text": text, "start": 2.3, "formats": ["json"]}
    run(tmp_path, options, context, report)
    lines = load_transcript(tmp_path / "transcript.json").segments
    assert [line.text for line in lines] == text.split("\n")
    assert [word.text for word in lines[0].words] == list("达摩院")
    assert 2.3 <= lines[0].start < 2.6 and 2.8 < lines[1].start < 3.2 and 4.9 < lines[1].end < 5.5
    assert report.notes == []


def test_nobody_says_the_text(
    tmp_path: Path, context: EngineContext, wav: Callable[[np.ndarray], Path]
) -> None:
    """And the second time nothing is listened to again; without the text its phones are gone."""
    options = {"input": str(wav(np.zeros(32_000, np.float32))), "text": "Hello.", "formats": ["srt"]}
    report, again = Notes(), Notes()
    assert run(tmp_path, options, context, report)["segments"] == 0 and (tmp_path / "phones.json").is_file()
    run(tmp_path, options, context, again)
    assert "search" in report.stages and not again.stages
    run(tmp_path, {**options, "text": ""}, context, Notes())
    assert not (tmp_path / "phones.json").exists()


def test_another_text_is_refused(data: Path, tmp_path: Path, context: EngineContext) -> None:
    options = {"input": str(data / "speech" / "zh_asr_example.wav"), "language": "zh", "formats": ["srt"]}
    with pytest.raises(InputError, match="not what is said"):
        run(tmp_path, {**options, "text": "今天天气很好,我们去公园散步吧。"}, context, Notes())
    with pytest.raises(OptionError, match="one sound"):
        run(tmp_path, {**options, "text": "欢迎", "channel": "each"}, context, Notes())


SILENCE = np.full((2000, len(NAMES)), -20.0, np.float32)  # 40 s in which nothing can be made out


def heard_words(*texts: str) -> list[Segment]:
    """Half a second for every word."""
    found, clock = [], 0.0
    for text in texts:
        words = tuple(Word(clock + n / 2, clock + n / 2 + 0.5, word) for n, word in enumerate(text.split()))
        found.append(Segment(clock, words[-1].end, text, words))
        clock = words[-1].end
    return found


def test_what_was_misheard_is_kept_and_what_was_added_is_told() -> None:
    found = heard_words(
        "Our new recks dryer arrives", "um by the way I forgot my keys", "in twenty twenty six at noon"
    )
    laid = lay_over("Our new Rex Dryer arrives\nin 2026 – at noon.", found, "en", Heard(SILENCE))
    assert [line.text for line in laid.segments] == ["Our new Rex Dryer arrives", "in 2026 – at noon."]
    first, second = laid.segments
    assert [word.start for word in first.words] == pytest.approx([0.0, 0.5, 1.0, 1.5, 2.0], abs=0.01)
    assert second.words[1].text == "2026 –" and second.words[1].start == pytest.approx(7.0, abs=0.01)
    assert second.words[1].end == pytest.approx(8.5, abs=0.01)
    assert laid.unheard == ()
    assert [(part.text, part.start) for part in laid.unwritten] == [("um by the way I forgot my keys", 2.5)]


def test_a_sentence_that_was_said_otherwise_is_told_on_both_sides() -> None:
    found = heard_words("We start at nine", "please bring a warm coat along", "See you there")
    laid = lay_over("We start at nine.\nNo dogs, however small!\nSee you there.", found, "en", Heard(SILENCE))
    assert [line.text for line in laid.segments] == ["We start at nine.", "See you there."]
    assert laid.unheard == ("No dogs, however small!",)
    assert [part.text for part in laid.unwritten] == ["please bring a warm coat along"]
    assert lay_over("Hello.", [], "en", Heard(SILENCE)).unheard == ("Hello.",)


def test_a_long_text_is_laid_in_a_moment() -> None:
    """A quarter of an hour, every word of it heard in a hundred other places as well."""
    sentence = "the quick brown fox number {} jumps over the lazy dog and the cat"
    texts = [sentence.format(n) for n in range(150)]
    found = heard_words(*texts)
    heard = Heard(np.full((int(found[-1].end * 50), len(NAMES)), -20.0, np.float32))
    laid = lay_over("\n".join(f"{text}." for text in texts), found, "en", heard)
    assert len(laid.segments) == 150 and laid.unheard == laid.unwritten == ()
    assert laid.segments[-1].start == pytest.approx(found[-1].start, abs=0.01)
