"""Stand-ins for the flows, run by the real worker: they read their input and write real files of the agreed shape."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.artifacts import options_key, run_stage
from pipelines.errors import EngineMissing, MediaError, Message, TranslatorMissing
from pipelines.files import write_json, write_text
from pipelines.progress import Report, tracked
from pipelines.records import save_plan
from pipelines.registry import EngineContext
from pipelines.types import DubLine, DubPlan, VoiceProfile
from pipelines.voice.library import save_voice

FLOWS = {
    name: f"tests.commands.flows:{name}"
    for name in ("transcribe", "speak", "script", "enrol", "sync", "dub", "weights")
}


def transcribe(
    folder: Path, options: dict[str, Any], context: EngineContext, report: Report
) -> dict[str, Any]:
    """One file a format, holding the options that arrived; an input that says ``broken`` is refused."""
    source = Path(options["input"])
    if b"broken" in source.read_bytes():
        raise MediaError(Message("The file cannot be read", "无法读取文件"), None, source.name)
    if options["engine"] == "nowhere":
        raise EngineMissing(Message("There is no engine nowhere", "没有引擎 nowhere"))
    write_json(folder / "transcript.json", options)
    for kind in options["formats"]:
        write_text(folder / f"out.{kind}", f"{kind} of {source.name}")
    videos = [
        name for name, asked in (("burned", "burn_in"), ("subtitled", "soft_subtitles")) if options[asked]
    ]
    for name in videos:
        write_text(folder / f"{name}.video", name)
    report.note(Message("It was loud", "声音很大"), "warning")
    files = {kind: f"out.{kind}" for kind in options["formats"]}
    return {
        "transcript": "transcript.json",
        "language": options["language"] or "en",
        "files": files | {name: f"{name}.video" for name in videos},
    }


def speak(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """A file with the text; three slow steps, so that progress is seen."""
    for _ in tracked(range(3), report, "speak", 3, "lines"):
        time.sleep(0.3)
    name = f"speech.{options['format']}"
    write_text(folder / name, options["text"])
    write_text(folder / "speech.srt", "said")
    write_json(folder / "provenance.json", {"loudness": options["loudness"]})
    beside = {"srt": "speech.srt", "json": "provenance.json"}
    return {
        "audio": name,
        "files": beside,
        "seconds": options["seconds"] or 1.5,
        "similarity": 0.71,
        "language": "en",
    }


def script(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Two lines, of which the second fails."""
    (folder / "lines").mkdir(exist_ok=True)
    write_text(folder / "lines" / "0001.wav", "one")
    write_text(folder / "all.mp3", "all")
    write_json(folder / "report.json", options["cast"])
    files = {"0001": "lines/0001.wav"}
    return {
        "audio": "all.mp3",
        "lines": "report.json",
        "files": files,
        "count": 2,
        "overruns": [1],
        "failed": [2],
    }


def enrol(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """A voice of one number."""
    facts = {name: options[name] for name in ("language", "tags", "consent")}
    voice = VoiceProfile("kokoro", options["name"], {"style": np.ones(1, np.float32)}, facts)
    place = save_voice(context.settings.outputs / "voices", voice)
    return {"voice": place.name, "audio": "preview.wav", "similarity": 0.7}


def sync(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Works, as long as it is let, in two stages."""

    def first() -> None:
        write_text(folder / "track.txt", str(time.time_ns()))

    ran = run_stage(folder, "track", options_key(face=options["face"]), ["track.txt"], first)
    if not options["audio"]:
        wanted = (
            "text",
            "reference",
            "language",
            *(["who"] if options["who"] else []),
            *([] if options.get("head_motion", True) else ["head_motion"]),
        )
        write_text(folder / "synced.mp4", " | ".join(str(options[name]) for name in wanted))
        return {"video": "synced.mp4", "report": {"first_ran": ran}}
    while b"slow" in Path(options["audio"]).read_bytes():
        report.step("lips", 1, 100, "frames")
        time.sleep(0.05)
    write_text(folder / "synced.mp4", f"{Path(options['face']).name}+{Path(options['audio']).name}")
    return {"video": "synced.mp4", "report": {"first_ran": ran}}


def dub(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Without translation it stops before speaking."""
    lines = tuple(DubLine(n, n, n + 1.0, text) for n, text in enumerate(("One word.", "Two words.")))
    save_plan(folder / "lines.json", DubPlan("en", options["target_language"], 3.0, lines))
    if options["translation"] is None and options["translator"] == "none":
        raise TranslatorMissing(Message("2 lines have no translation yet", "还有 2 行没有译文"))
    words = Path(options["translation"]).name if options["translation"] else "machine"
    for name in ("dubbed.mp4", "source.srt", "target.srt"):
        write_text(folder / name, f"{options['target_language']} {words} {options['keep_background']}")
    return {
        "video": "dubbed.mp4",
        "subtitles": {"source": "source.srt", "target": "target.srt"},
        "report": "report.json",
    }


def weights(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Pretend that everything was there."""
    return {"fetched": options["items"]}
