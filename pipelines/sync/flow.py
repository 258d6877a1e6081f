"""The flow: listen (or speak), find the face, move the lips, join picture and sound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipelines import media
from pipelines.artifacts import options_key, run_stage
from pipelines.errors import InputError, Message
from pipelines.progress import Report
from pipelines.registry import EngineContext
from pipelines.sync.options import SyncOptions
from pipelines.sync.picture import LIPS, PICTURE, draw
from pipelines.sync.speech import hear, speak

RESULT = "synced.mp4"
COUNTING_RATE = 48_000


def run(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Make ``synced.mp4`` in the job's folder.

    Args:
        options: ``face``, ``audio``, ``engine``, ``fit``, ``offset``, ``text``, ``reference``; also ``language`` and
            ``voice_engine``.

    Returns:
        ``{"video": "synced.mp4", "report": {...}}``.

    Raises:
        InputError, OptionError: the options. NoFace, NoSoundTrack, MediaError: the files. Stopped: the user asked.
    """
    asked = SyncOptions.read(options)
    if asked.audio is None:
        sound, phones = speak(folder, asked, context, report)
    else:
        sound, phones = asked.audio, hear(folder, asked, asked.audio, context, report)
    seconds = _length(sound, context, report)
    if not phones:
        report.note(
            Message("Nobody speaks in this sound: the mouth stays shut", "声音中没有人说话:嘴将保持闭合"),
            "warning",
        )
    record = draw(folder, asked, sound, seconds, phones, context, report)
    key = options_key(stage=(folder / "video.stage.json").read_text(encoding="utf-8"))
    run_stage(
        folder,
        "mux",
        key,
        [RESULT],
        lambda: media.mux(folder / PICTURE, sound, folder / RESULT, context.settings, report=report),
    )
    return {
        "video": RESULT,
        "report": {**record, "seconds": round(seconds, 3), "phones": len(phones), "file": LIPS},
    }


def _length(sound: Path, context: EngineContext, report: Report) -> float:
    """Exact length in seconds: headers round, so the samples are counted."""
    count = 0
    for block in media.read_sound(sound, context.settings, sr=COUNTING_RATE):
        count += len(block)
        report.step("listen", count / COUNTING_RATE, None, "s")
    if count == 0:
        raise InputError(
            Message("The sound is empty", "声音是空的"),
            Message("Choose another file.", "请换一个文件。"),
            str(sound),
        )
    return count / COUNTING_RATE
