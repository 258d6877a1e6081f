"""The transcription flow on a real file: what it leaves in the job folder, and what it does the second time."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipelines import subtitles
from pipelines.asr import EngineContext
from pipelines.backend.policy import Policy
from pipelines.errors import InputError, Message, OptionError
from pipelines.progress import NoteLevel, NullReport
from pipelines.records import load_transcript
from pipelines.settings import Settings
from pipelines.transcribe import run
from pipelines.weights import present
from tests.listen.conftest import RATE


@pytest.fixture
def context(settings: Settings) -> EngineContext:
    if not present(settings, "whisper-base"):
        pytest.skip("the Whisper model files are not on this computer")
    return EngineContext(settings, Policy(threads=2))


class Notes(NullReport):
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.stages: set[str] = set()

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        self.stages.add(stage)

    def note(self, message: Message, level: NoteLevel = "hint") -> None:
        self.notes.append(message.en)


def test_a_video_becomes_a_transcript(data: Path, tmp_path: Path, context: EngineContext) -> None:
    video = tmp_path / "a 视频 🎬.mp4"
    video.write_bytes((data / "video" / "talk_512_8s.mp4").read_bytes())
    options = {"input": str(video), "language": "en", "formats": ["json", "srt", "txt"], "itn": True}
    folder, report = tmp_path / "job", Notes()
    folder.mkdir()
    result = run(folder, options, context, report)

    transcript = load_transcript(folder / result["transcript"])
    assert (result["language"], transcript.language) == ("en", "en")
    assert result["files"] == {"json": "transcript.json", "srt": "transcript.srt", "txt": "transcript.txt"}
    cues = subtitles.read(folder / "transcript.srt")
    assert cues[0].text.replace("\n", " ").startswith("Congressional District, and I'm currently in D.C.")
    assert all(0 <= cue.start < cue.end <= result["duration"] + 0.001 for cue in cues)
    assert "orientation." in (folder / "transcript.txt").read_text(encoding="utf-8")
    assert result["duration"] == pytest.approx(7.94, abs=0.1)
    assert "D.C." in transcript.segments[0].text
    assert transcript.segments[0].text.endswith("orientation.")
    record = json.loads((folder / "transcript.json").read_text(encoding="utf-8"))
    assert all(entry["text"] and entry["normalised"] for entry in record["segments"])
    partial = [
        json.loads(line) for line in (folder / "partial.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [p["text"] for p in partial] == [s.text for s in transcript.segments]
    assert "listen" in report.stages

    again = Notes()
    assert run(folder, options, context, again) == result
    assert "listen" not in again.stages  # finished work is not done twice


def test_silence_is_an_empty_transcript_with_a_word_to_the_user(
    tmp_path: Path, context: EngineContext, wav: object
) -> None:
    path = wav(np.zeros(3 * RATE, np.float32))  # type: ignore[operator]
    report = Notes()
    result = run(tmp_path, {"input": str(path), "formats": ["json"]}, context, report)
    assert (result["segments"], result["speech_seconds"]) == (0, 0)
    assert load_transcript(tmp_path / "transcript.json").segments == ()
    assert any("Nobody speaks" in note for note in report.notes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"input": "nowhere.wav"}, "not there"),
        ({"formats": ["doc"]}, "doc"),
        ({"language": "klingon"}, "klingon"),
        ({"start": 5.0, "end": 5.0}, "empty"),
    ],
)
def test_bad_options_say_what_is_wrong(
    data: Path, tmp_path: Path, context: EngineContext, change: dict[str, object], words: str
) -> None:
    options = {"input": str(data / "speech" / "en_jfk.flac"), "formats": ["json"], **change}
    with pytest.raises((InputError, OptionError), match=words):
        run(tmp_path, options, context, NullReport())


def test_a_file_that_is_no_sound(tmp_path: Path, context: EngineContext) -> None:
    path = tmp_path / "text.mp3"
    path.write_text("this is no music")
    with pytest.raises(InputError):
        run(tmp_path, {"input": str(path)}, replace(context), NullReport())
