"""The flow ``survey``: picture and sound are looked at side by side, a few seconds each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipelines.media import probe
from pipelines.progress import Report
from pipelines.registry import EngineContext
from pipelines.survey.picture import Faces, find_faces
from pipelines.survey.sound import Heard, hear
from pipelines.types import VideoInfo


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of a video after a look; ``sound`` is None where there is none."""

    faces: Faces
    sound: Heard | None


def survey(info: VideoInfo, stream: int | None, context: EngineContext, report: Report) -> Survey:
    """Look and listen at once: decoding, the detector and the recogniser wait for each other otherwise.

    Raises:
        MediaError: picture or sound cannot be decoded.
    """
    with ThreadPoolExecutor(1) as beside:
        faces = beside.submit(find_faces, info)
        sound = hear(info.path, info.duration, stream, context, report) if info.audio else None
        return Survey(faces.result(), sound)


def run(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """The flow; options: ``input``, ``stream``. Returns the ``Survey`` as JSON."""
    report.step("survey", 0, None, "s")
    return asdict(survey(probe(Path(str(options["input"]))), options.get("stream"), context, report))
