"""The flow ``sample``: a recording looked over before a voice is learnt from it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipelines.media import choose_track, save_audio
from pipelines.progress import Report
from pipelines.registry import EngineContext
from pipelines.sample.diagnosis import diagnose
from pipelines.sample.learning import load_sample

USED = "used.wav"


def run(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Look a recording over and write the speech that would be used to ``used.wav`` in ``folder``.

    Options: input (a sound or video file), start and end (seconds of it, or None).

    Returns:
        ``audio`` (the file's name), ``facts`` (a ``Diagnosis`` as JSON), ``remarks`` (level, en, zh).

    Raises:
        NoSpeech: less than 3 s of one person's speech. MediaError: it cannot be read.
    """
    path = Path(str(options["input"]))
    report.step("voice", 0, None, "steps")
    track = choose_track(path, None)
    sample = load_sample(path, context.settings, float(options.get("start") or 0.0), options.get("end"))
    found, used = diagnose(sample, track.channels, track.sr)
    save_audio(folder / USED, used.audio)
    remarks = [{"level": level, "en": said.en, "zh": said.zh} for level, said in found.remarks()]
    return {"audio": USED, "facts": asdict(found), "remarks": remarks}
