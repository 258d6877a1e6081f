"""A script spoken: who says what, each line a file, subtitles on their time line, and what did not fit is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import soundfile

from pipelines.errors import InputError
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.speak.recital import run
from pipelines.speak.script import ScriptLine, read_script

SRT = """1
00:00:01,000 --> 00:00:02,500
Good morning.

2
00:00:02,600 --> 00:00:03,000
This line is far too long for its time.

3
00:00:08,000 --> 00:00:09,000
😀
"""


def test_scripts_of_every_kind(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("Anna: Hi: you\n\n小明：你好\n", encoding="utf-8")
    assert read_script(text) == (ScriptLine("Hi: you", "Anna"), ScriptLine("你好", "小明"))
    text.write_text("Note: one\nplain line", encoding="utf-16")
    assert read_script(text) == (ScriptLine("Note: one"), ScriptLine("plain line"))
    table = tmp_path / "a.csv"
    table.write_bytes("Speaker;Text\nAnna;你好\n;Bye\n".encode("gb18030"))
    assert read_script(table) == (ScriptLine("你好", "Anna"), ScriptLine("Bye"))
    table.write_text("a,b\n1,2")
    with pytest.raises(InputError, match="no column called text"):
        read_script(table)
    text.write_text("\n \n")
    with pytest.raises(InputError, match="no lines to speak"):
        read_script(text)


def test_subtitles_keep_their_time_line_and_overruns_are_told(tmp_path: Path, context: EngineContext) -> None:
    path = tmp_path / "a.srt"
    path.write_text(SRT, encoding="utf-8")
    folder = tmp_path / "job"
    folder.mkdir()
    options = {"input": str(path), "language": "en", "voice": "am_michael"}
    result = run(folder, options, context, NullReport())
    assert (result["overruns"], result["failed"], list(result["files"])) == ([2], [3], ["0001", "0002"])
    first, second, third = json.loads((folder / "report.json").read_text(encoding="utf-8"))["lines"]
    assert first["start"] == 1.0 and 0.5 < first["seconds"] <= 1.5 + 0.001
    assert second["start"] == pytest.approx(max(2.6, first["end"])) and second["overrun"] > 0.5
    assert third["state"] == "failed" and third["error"]["what"][0].startswith("There is nothing to say")
    samples, sr = soundfile.read(folder / result["audio"])
    assert len(samples) / sr == pytest.approx(second["end"], abs=0.01)
    assert abs(samples[: sr - 10]).max() == 0, "silent until the first line"
    made = (folder / "lines" / "0001.wav").stat().st_mtime_ns
    path.write_text(SRT.replace("far too long", "too long"), encoding="utf-8")
    run(folder, options, context, NullReport())
    assert (folder / "lines" / "0001.wav").stat().st_mtime_ns == made, "only the changed line is said again"


def test_a_cast_speaks_a_dialogue(tmp_path: Path, context: EngineContext) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Anna: Yes.\nBob: No.")
    options = {
        "input": str(path),
        "language": "en",
        "cast": {"Anna": "af_heart", "Bob": "am_michael"},
        "format": "flac",
    }
    result = run(tmp_path, options, context, NullReport())
    lengths = [soundfile.info(tmp_path / name).duration for name in result["files"].values()]
    assert soundfile.info(tmp_path / result["audio"]).duration == pytest.approx(
        sum(lengths) + 0.25, abs=0.001
    )
    sounds = [soundfile.read(tmp_path / name)[0] for name in result["files"].values()]
    assert len(sounds) == 2 and result["failed"] == result["overruns"] == []
