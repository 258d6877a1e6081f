"""Flows that behave like the real ones in a second: the page cannot tell, and the worker process is the real one."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipelines.errors import MediaError, Message, NoFace, TranslatorMissing
from pipelines.files import read_json, write_json, write_text
from pipelines.history import Entry, History
from pipelines.progress import Report
from pipelines.records import line_from, save_plan, segment_from
from pipelines.registry import EngineContext
from pipelines.types import DubLine, DubPlan, VoiceProfile
from pipelines.voice.library import save_voice

FLOWS = {
    "dub": "tests.ui.flows:dub",
    "speak": "tests.ui.flows:speak",
    "enrol": "tests.ui.flows:enrol",
    "transcribe": "tests.ui.flows:transcribe",
    "caption": "pipelines.caption:run",
    "sync": "tests.ui.flows:sync",
    "weights": "tests.ui.flows:weights",
}
STAGES = ("listen", "translate", "speak", "lips", "video")
LINES = (DubLine(0, 0.0, 1.2, "Good morning."), DubLine(1, 1.4, 2.8, "We went by <train> & bus."))


def clip(path: Path, seconds: float = 3.0, codec: str = "libx264") -> Path:
    """A small moving picture with a tone, made by ffmpeg."""
    from imageio_ffmpeg import get_ffmpeg_exe

    sources = ["-f", "lavfi", "-i", f"testsrc2=s=192x108:r=25:d={seconds}"]
    sources += ["-f", "lavfi", "-i", f"sine=220:d={seconds}"]
    coded = ["-c:v", codec, "-pix_fmt", "yuv420p", "-c:a", "aac", "-movflags", "+faststart"]
    subprocess.run(
        [get_ffmpeg_exe(), "-v", "error", "-y", *sources, *coded, str(path)],
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return path


def _work(report: Report, stage: str, steps: int, seconds: float, unit: str) -> None:
    for done in range(steps + 1):
        report.step(stage, done, steps, unit)
        time.sleep(seconds / steps)


def dub(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Japanese has no translator; a file called ``slow`` takes a minute, one called ``faceless`` has no face."""
    name, target = Path(options["input"]).stem, options["target_language"]
    write_json(folder / "asked.json", {**options, "times": _asked(folder) + 1})
    _work(report, "listen", 4, 0.2, "s")
    given = options.get("lines")
    lines = tuple(line_from(line) for line in given) if given else LINES
    if target == "ja" and not given:
        save_plan(folder / "lines.json", DubPlan("en", target, 3.0, lines))
        raise TranslatorMissing(Message("No translator", "没有翻译器"), Message("Type it.", "请手动输入。"))
    _work(report, "translate", 2, 0.1, "lines")
    if name == "faceless":
        raise NoFace(
            Message("No face was found", "没有找到人脸"),
            Message("Choose another clip.", "请换一个视频。"),
            "0:00–0:03",
        )
    _work(report, "speak", 2, 0.2, "lines")
    _work(report, "lips", 300, 60.0 if "slow" in name else 0.5, "frames")
    report.note(Message("Line 1 is fast", "第 1 行偏快"), "warning")
    spoken = tuple(
        replace(line, state="kept")
        if line.keep
        else replace(line, text=line.text or f"[{target}] {line.source}", state="spoken", speak_start=line.start,
                     speak_end=line.start + 1.3, factor=0.9)
        for line in lines
    )  # fmt: skip
    save_plan(folder / "lines.json", DubPlan("en", target, 3.0, spoken))
    clip(folder / "dubbed.mp4")
    told = [
        {
            "index": line.index,
            "state": "spoken",
            "speed": 1.11,
            "heard": line.text,
            "error_rate": 0.2 * line.index,
        }
        for line in spoken
    ]
    write_json(
        folder / "report.json",
        {"lines": told, "lips": {"synthesised": [[0, 50]]}, "frames": 75, "seconds": {"lips": 2}},
    )
    for role in ("source", "target"):
        write_text(folder / f"{role}.srt", "1\n00:00:00,000 --> 00:00:01,200\nGood morning.\n")
    _work(report, "video", 2, 0.1, "frames")
    return {
        "video": "dubbed.mp4",
        "subtitles": {"source": "source.srt", "target": "target.srt"},
        "report": "report.json",
        "lines": "lines.json",
    }


def _asked(folder: Path) -> int:
    path = folder / "asked.json"
    return int(read_json(path)["times"]) if path.is_file() else 0


def speak(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """One second of tone."""
    _work(report, "speak", 2, 0.2, "lines")
    _tone(folder / "speech.wav")
    write_text(folder / "speech.srt", "said")
    write_json(folder / "provenance.json", {})
    write_json(folder / "wave.json", {"duration": 1.0, "spans": [[0.1, 0.4]], "peaks": [0.1, 0.5]})
    pieces = options.get("pieces") or [{"text": options["text"], "speed": 1.0, "pause": None}]
    return {
        "audio": "speech.wav",
        "files": {"srt": "speech.srt", "json": "provenance.json"},
        "wave": "wave.json",
        "pieces": [{**piece, "start": float(number)} for number, piece in enumerate(pieces)],
        "seconds": 1.0,
        "similarity": 0.71,
        "language": options["language"] or "es",
    }


def enrol(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """A voice of one number, with a tone for its preview."""
    import numpy as np

    facts = {name: options[name] for name in ("language", "tags", "consent")}
    profile = VoiceProfile("kokoro", options["name"], {"style": np.ones(1, np.float32)}, facts)
    place = save_voice(context.settings.outputs / "voices", profile)
    _work(report, "voice", 5, 0.2, "steps")
    for where in (folder, place):
        _tone(where / "preview.wav")
    return {"voice": place.name, "audio": "preview.wav", "similarity": 0.7}


def _tone(path: Path) -> None:
    import numpy as np
    import soundfile

    soundfile.write(path, 0.1 * np.sin(np.arange(24000) * 0.05), 24000)


HEARD = (
    {"start": 0.0, "end": 1.2, "text": "Good morning.", "words": [
        {"start": 0.0, "end": 0.5, "text": "Good", "prob": 0.9}, {"start": 0.6, "end": 1.2, "text": " morning.", "prob": 0.3}]},
    {"start": 1.4, "end": 2.8, "text": "By train <to> Rome & back.", "speaker": "S1"},
)  # fmt: skip


def transcribe(
    folder: Path, options: dict[str, Any], context: EngineContext, report: Report
) -> dict[str, Any]:
    """Two known sentences, one after the other; a file called ``broken`` cannot be read until it is renamed."""
    name = Path(options["input"]).stem
    if "broken" in name:
        raise MediaError(
            Message("This is no sound", "这不是音频"), Message("Choose another file.", "请换一个文件。"), name
        )
    write_json(folder / "speech.json", {"duration": 3.0, "start": 0.0, "spans": [[0.0, 1.2], [1.4, 2.8]],
                                        "peaks": [0.1, 0.8, 0.4], "speech": [0.9, 0.8, 0.1]})  # fmt: skip
    with (folder / "partial.jsonl").open("w", encoding="utf-8") as file:
        for number, segment in enumerate(HEARD):
            file.write(json.dumps(segment) + "\n")
            file.flush()
            report.step("listen", 1.4 * (number + 1), 2.8, "s")
            # A held one goes on when whoever looks has seen the row, however long that takes.
            for _ in range(300 if "slow" in name or "held" in name else 12):
                report.step("listen", 1.4 * (number + 1), 2.8, "s")
                if (folder / f"seen-{number + 1}").exists():
                    break
                time.sleep(0.1)
    write_json(folder / "transcript.json", {"language": "en", "segments": HEARD})
    files = {}
    for form in options["formats"]:
        write_text(folder / f"transcript.{form}", "Good morning. By train.")
        files[form] = f"transcript.{form}"
    kept = _remembered(folder, options, context) if options.get("history") else None
    return {
        "transcript": "transcript.json", "language": "en", "duration": 3.0, "files": files, "speech": "speech.json",
        "history": kept,
    }  # fmt: skip


def _remembered(folder: Path, options: dict[str, Any], context: EngineContext) -> int:
    source = Path(options["input"])
    segments = tuple(segment_from(segment) for segment in HEARD)
    entry = Entry(str(source), source.name, "en", "whisper", 3.0, segments, options, str(folder), time.time())
    with History.open(context.settings) as history:
        return history.add(entry)


def sync(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """A test picture."""
    _work(report, "lips", 2, 0.2, "frames")
    clip(folder / "talking.mp4")
    return {"video": "talking.mp4", "report": {}}


def weights(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Pretends to fetch."""
    _work(report, "download", 10, 0.5, "MB")
    return {"items": options["items"]}
