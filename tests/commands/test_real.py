"""``python app.py`` as a user types it, with real engines on short real recordings."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines import subtitles, weights
from pipelines.settings import Settings

ROOT = Path(__file__).parents[2]
App = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def app(tmp_path: Path) -> App:
    """Run ``app.py`` in a folder of its own with the weights of this computer."""
    real = Settings.load()
    lacking = [item for item in ("whisper-base", "kokoro") if not weights.present(real, item)]
    if lacking:
        pytest.skip(f"model files are not in {real.weights}: {', '.join(lacking)}")
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG"))},
        "DUBWRIGHT_HOME": str(tmp_path / "home"),
        "DUBWRIGHT_WEIGHTS": str(real.weights),
        "LANG": "C.UTF-8",
    }

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(ROOT / "app.py"), *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.slow
def test_transcribe(app: App, data: Path, tmp_path: Path) -> None:
    done = app(
        "transcribe", str(data / "speech" / "en_jfk.flac"), "-o", "texts/", "--format", "srt,vtt,ass,json,txt"
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(
        r"(texts/en_jfk\.\w+, ){4}texts/en_jfk\.txt \(\d+ lines, language en, \d:\d\d\)\n", done.stdout
    )
    for kind in ("srt", "vtt", "ass"):
        cues = subtitles.read(tmp_path / "texts" / f"en_jfk.{kind}")
        words = re.sub(r"[^a-z ]", "", " ".join(cue.text for cue in cues).lower())
        assert "ask not what your country can do for you ask what you can do for your country" in words
        assert 0.0 <= cues[0].start < 1.0 and 9.5 < cues[-1].end <= 11.1
    again = app("transcribe", str(data / "speech" / "en_jfk.flac"), "-o", "texts/en_jfk.srt")
    assert again.returncode == 2 and "--overwrite" in again.stderr


@pytest.mark.slow
def test_dub_without_a_translator_leaves_the_lines_to_translate(app: App, data: Path, tmp_path: Path) -> None:
    video = str(data / "video" / "talk_512_8s.mp4")
    done = app("dub", video, "--to", "ja", "--translator", "none", "-o", "out.mp4", "--json")
    assert done.returncode == 3, done.stderr
    assert not (tmp_path / "out.mp4").exists()
    (result,) = json.loads(done.stdout)["results"]
    assert result["error"]["code"] == "translator-missing" and result["state"] == "failed"
    lines = tmp_path / "out.lines.srt"
    assert str(lines.name) in done.stderr and "--translation" in done.stderr
    heard = " ".join(cue.text for cue in subtitles.read(lines)).lower()
    assert len(heard.split()) >= 10


@pytest.mark.slow
def test_speak_to_the_asked_length(app: App, tmp_path: Path) -> None:
    import soundfile

    words = ("--text", "We need to travel to Shanghai by train.", "--language", "en", "--seconds", "2.6")
    done = app("speak", *words, "-o", "line.wav", "--json")
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    assert result["files"] == {"audio": str(tmp_path / "line.wav")}
    assert soundfile.info(tmp_path / "line.wav").duration == pytest.approx(2.6, abs=0.15)
    assert result["result"]["seconds"] == pytest.approx(2.6, abs=0.15)


def test_a_known_text_in_its_own_encoding_is_put_on_the_sound(app: App, tmp_path: Path, data: Path) -> None:
    (tmp_path / "稿.txt").write_bytes("欢迎大家来体验\r\n达摩院推出的语音识别模型。".encode("gb18030"))
    sound = str(data / "speech" / "zh_asr_example.wav")
    done = app("transcribe", sound, "--language", "zh", "--text-file", "稿.txt", "-o", "out.txt")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.txt").read_text("utf-8").split() == [
        "欢迎大家来体验",
        "达摩院推出的语音识别模型。",
    ]
    (tmp_path / "empty.txt").write_text(" \n")
    refused = app("transcribe", sound, "--text-file", "empty.txt", "-o", "none.srt")
    assert refused.returncode == 2 and "no text" in refused.stderr and not (tmp_path / "none.srt").exists()
