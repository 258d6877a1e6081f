"""The steps of a transcription: listen once, then write the files that are asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipelines.asr import RECOGNIZERS, EngineContext
from pipelines.history import Entry, History
from pipelines.progress import Report
from pipelines.records import load_transcript
from pipelines.transcribe.files import wanted_files, write_files
from pipelines.transcribe.listening import SPEECH, TRANSCRIPT, listen
from pipelines.types import Transcript


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
    kept = _remember(folder, options, transcript, facts, context) if options.get("history") else None
    return {"transcript": TRANSCRIPT, **facts, "speech": SPEECH, "files": files, "history": kept}


def _remember(
    folder: Path,
    options: dict[str, Any],
    transcript: Transcript,
    facts: dict[str, Any],
    context: EngineContext,
) -> int:
    """Put the transcript into the history, once for a job; returns the entry's number."""
    source = Path(options["input"])
    entry = Entry(
        source=str(source),
        name=source.name,
        language=transcript.language,
        engine=options.get("engine") or RECOGNIZERS.infos()[0].name,
        duration=facts["duration"],
        segments=transcript.segments,
        settings=options,
        folder=str(folder),
    )
    with History.open(context.settings) as history:
        return history.add(entry)
