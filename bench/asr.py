"""Transcription beside plain faster-whisper: errors, speed and memory, in one run on the same files.

    python -m bench.asr [--data FOLDER] [--minutes 10 60]

Prints three tables: word and character errors on the sample recordings, seconds of CPU and of wall time on the same
minutes of speech (as a ratio to plain faster-whisper), and peak memory for files of different length. Every
measurement runs in a process of its own. Errors follow the normaliser of ``pipelines.asr.scoring``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pipelines.asr import RECOGNIZERS, EngineContext, RecognitionOptions
from pipelines.asr.scoring import Score, score
from pipelines.backend.policy import Policy
from pipelines.media import ffmpeg_path, load_sound
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.weights import locate

SAID = {
    "en_jfk.flac": "And so my fellow Americans, ask not what your country can do for you, ask what you can do for your country.",
    "en_lj_0001.flac": "Printing, in the only sense with which we are at present concerned, differs from most if not from all"
    " the arts and crafts represented in the Exhibition",
    "en_lj_0003.flac": "For although the Chinese took impressions from wood blocks engraved in relief for centuries before the"
    " woodcutters of the Netherlands, by a similar process",
    "en_lj_0007.flac": 'the earliest book printed with movable types, the Gutenberg, or "forty-two line Bible" of about 1455,',
    "zh_asr_example.wav": "欢迎大家来体验达摩院推出的语音识别模型",
    "zh_hotword.wav": "大学生利用漏洞免费吃肯德基获刑",
}
WHO = ("ours", "torch", "plain")
MANDARIN_PROMPT = "以下是普通话的句子。"


def ours(path: Path, language: str, name: str = "whisper") -> str:
    """Our engine's text."""
    engine = RECOGNIZERS.get(name, EngineContext(Settings.load(), Policy(threads=2)))
    recognition = engine.recognize(path, RecognitionOptions(language=language), NullReport())
    return " ".join(segment.text for segment in recognition.segments)


def by_torch(path: Path, language: str) -> str:
    """The text of the engine for AMD cards and Apple chips, here on the CPU in 32 bits (the other two: int8)."""
    return ours(path, language, "whisper-torch")


def plain(path: Path, language: str) -> str:
    """faster-whisper by itself, the whole file at once, with the same model and settings."""
    from faster_whisper import WhisperModel

    settings = Settings.load()
    model = WhisperModel(
        str(locate(settings, "whisper-base")), device="cpu", compute_type="int8", cpu_threads=2
    )
    segments, _ = model.transcribe(
        load_sound(path, settings, sr=16_000).samples,
        language=language,
        condition_on_previous_text=False,
        word_timestamps=True,
        hotwords=MANDARIN_PROMPT if language == "zh" else None,
    )
    return " ".join(segment.text for segment in segments)


def measured(who: str, path: Path, language: str) -> dict[str, Any]:
    """Text, CPU and wall seconds, and peak memory in MB of one transcription in a process of its own."""
    command = [sys.executable, "-m", "bench.asr", "--one", who, str(path), language]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def one(who: str, path: Path, language: str) -> None:
    """The inside of ``measured``."""
    began, cpu = time.monotonic(), time.process_time()
    text = {"ours": ours, "torch": by_torch, "plain": plain}[who](path, language)
    facts = {
        "text": text,
        "wall": time.monotonic() - began,
        "cpu": time.process_time() - cpu,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(facts))


def repeated(source: Path, minutes: float, folder: Path) -> Path:
    """A recording repeated to a length."""
    path = folder / f"{source.stem} {minutes:g} min.flac"
    arguments = [
        "-v",
        "error",
        "-y",
        "-stream_loop",
        "-1",
        "-i",
        str(source),
        "-t",
        str(minutes * 60),
        str(path),
    ]
    subprocess.run([str(ffmpeg_path(Settings.load())), *arguments], check=True)
    return path


def errors(speech: Path) -> None:
    """The table of errors."""
    print(f"{'recording':22} {'units':>6}" + "".join(f" {who:>6}" for who in WHO))
    totals = {(who, language): Score(0, 0) for who in WHO for language in ("en", "zh")}
    for name, said in SAID.items():
        language = name[:2]
        scores = {who: score(said, measured(who, speech / name, language)["text"], language) for who in WHO}
        for who, found in scores.items():
            totals[who, language] += found
        print(f"{name:22} {scores['ours'].total:6}" + "".join(f" {scores[who].errors:6}" for who in WHO))
    for language, unit in (("en", "words"), ("zh", "characters")):
        counts = "".join(f" {totals[who, language].errors:6}" for who in WHO)
        print(f"{'all ' + language + ' ' + unit:22} {totals['ours', language].total:6}{counts}")


def speed(speech: Path, folder: Path, minutes: float) -> None:
    """All on the same minutes of a telephone talk with pauses."""
    path = repeated(speech / "en_two_speakers.wav", minutes, folder)
    found = {who: measured(who, path, "en") for who in ("plain", "torch", "ours")}
    print(f"\n{minutes:g} min of talk   {'CPU s':>8} {'CPU/s':>7} {'wall s':>8} {'RTF':>7} {'peak MB':>8}")
    for who, facts in found.items():
        seconds = minutes * 60
        print(
            f"{who:14} {facts['cpu']:10.1f} {facts['cpu'] / seconds:7.3f} {facts['wall']:8.1f}"
            f" {facts['wall'] / seconds:7.3f} {facts['megabytes']:8.0f}"
        )
    print(f"ratio of CPU, ours / plain: {found['ours']['cpu'] / found['plain']['cpu']:.2f}")


def memory(speech: Path, folder: Path, lengths: list[float]) -> None:
    """Peak memory of ours by length of the file."""
    print(f"\n{'minutes':>8} {'peak MB':>8} {'CPU s':>8} {'words':>7}")
    for minutes in lengths:
        facts = measured("ours", repeated(speech / "en_two_speakers.wav", minutes, folder), "en")
        print(f"{minutes:8g} {facts['megabytes']:8.0f} {facts['cpu']:8.1f} {len(facts['text'].split()):7}")


def main() -> None:
    """Read the command line and print the tables."""
    default = os.environ.get("DUBWRIGHT_TEST_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(default), help="folder of the sample recordings")
    parser.add_argument(
        "--minutes", type=float, nargs="*", default=[10, 60], help="lengths for the memory table"
    )
    parser.add_argument("--beside", type=float, default=3, help="minutes for the comparison of speed")
    parser.add_argument("--one", nargs=3, metavar=("WHO", "FILE", "LANGUAGE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        one(arguments.one[0], Path(arguments.one[1]), arguments.one[2])
        return
    speech = arguments.data / "speech"
    errors(speech)
    with tempfile.TemporaryDirectory() as folder:
        speed(speech, Path(folder), arguments.beside)
        memory(speech, Path(folder), arguments.minutes)


if __name__ == "__main__":
    main()
