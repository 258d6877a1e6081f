"""The steps of a transcription: listen once, then write the files that are asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipelines.asr import EngineContext
from pipelines.progress import Report
from pipelines.records import load_transcript
from pipelines.transcribe.files import wanted_files, write_files
from pipelines.transcribe.listening import SPEECH, TRANSCRIPT, listen


def run(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Transcribe ``options["input"]`` into ``folder``; see the package's first lines.

    Raises:
        InputError, OptionError, NoSoundTrack, MediaError, EngineMissing, WeightsMissing.
    """
    wanted = wanted_files(options)
    facts = listen(folder, options, context, report)
    transcript = load_transcript(folder / TRANSCRIPT)
    ends = float(options.get("start") or 0.0) + facts["duration"]
    files = write_files(folder, Path(options["input"]), transcript, wanted, ends, context.settings, report)
    return {"transcript": TRANSCRIPT, **facts, "speech": SPEECH, "files": files}
