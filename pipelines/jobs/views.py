"""From a job's files to what can be seen of it."""

from __future__ import annotations

import time
from typing import Any

from pipelines.jobs.folder import JobFolder, read_state
from pipelines.jobs.record import JobRecord
from pipelines.jobs.spec import JobState, JobView, NoteView, StageView


def build_view(record: JobRecord, folder: JobFolder, ahead: int | None = None) -> JobView:
    """Join record and progress; ``ahead`` is the number of jobs that run before a waiting one, if known."""
    progress = {} if record.state == "queued" else read_state(folder.progress)
    return JobView(
        id=record.id,
        kind=record.kind,
        title=record.title,
        state=_state(record, folder),
        folder=folder.path,
        created=record.created,
        started=record.started,
        finished=record.finished,
        stages=_stages(progress, record.state == "running"),
        notes=(
            *(NoteView("warning", step["en"], step["zh"]) for step in record.steps),
            *(NoteView(n["level"], n["en"], n["zh"]) for n in progress.get("notes", ())),
        ),
        options=record.options,
        result=record.result,
        error=record.error,
        ahead=ahead if record.state == "queued" else None,
    )


def _state(record: JobRecord, folder: JobFolder) -> JobState:
    if record.state in ("queued", "running") and folder.stop.exists():
        return "stopping"
    return record.state


def _stages(progress: dict[str, Any], running: bool) -> tuple[StageView, ...]:
    """Stages in the order they began; the clock of the one at work goes on between its reports."""
    since = max(0.0, time.time() - float(progress.get("at", 0.0))) if running and progress else 0.0
    return tuple(
        StageView(
            name=stage["name"],
            done=stage["done"],
            total=stage["total"],
            unit=stage["unit"],
            seconds=stage["seconds"] + (since if stage["name"] == progress.get("current") else 0.0),
        )
        for stage in progress.get("stages", ())
    )
