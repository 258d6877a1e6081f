"""Counters over the jobs that ended since the page started, from their records: outcomes, stages, errors, steps taken.

The names are stable (dashboards use them); labels come from fixed sets: never a title, a file, a speaker or a job's id.
"""

from __future__ import annotations

import time
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram

from pipelines.doctor import registries
from pipelines.errors import EngineMissing
from pipelines.files import read_json
from pipelines.jobs.folder import JobFolder, read_state
from pipelines.jobs.record import JobRecord
from pipelines.jobs.spec import JobView, StageView
from pipelines.jobs.store import JobStore
from pipelines.jobs.worker import read_context
from pipelines.registry import EngineContext

OUTCOMES = {"done": "ok", "failed": "failed", "stopped": "cancelled"}
JOB_BUCKETS = (10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200)  # seconds
STAGE_BUCKETS = (0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)  # seconds
RATIO_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32)
NO_ENGINE = ("none", "cpu")
# Kind of job → stage → (family of engines, the option that names the engine).
ENGINES = {
    "dub": {
        "listen": ("transcription", "asr_engine"),
        "voice": ("voice", "voice_engine"),
        "speak": ("voice", "voice_engine"),
        "lips": ("lips", "lip_engine"),
    },
    "transcribe": {"listen": ("transcription", "engine")},
    "speak": {"voice": ("voice", "engine"), "speak": ("voice", "engine")},
    "sync": {
        "voice": ("voice", "voice_engine"),
        "speak": ("voice", "voice_engine"),
        "lips": ("lips", "engine"),
    },
}


class JobCounts:
    """Call ``catch_up`` before the counters are read; one thread at a time.

    A job that is resumed ends, and counts, anew; an attempt's stages and steps count once. Work that began before
    this object was made is not counted.
    """

    def __init__(self, store: JobStore, registry: CollectorRegistry) -> None:
        self._store = store
        self._since = time.time()
        self._seen: dict[str, float] = {}  # id → the end that was counted
        self._jobs = Counter("dub_jobs", "Jobs that ended", ["kind", "outcome"], registry=registry)
        self._duration = Histogram(
            "dub_job_duration_seconds",
            "Wall time of a job's last attempt",
            ["kind"],
            buckets=JOB_BUCKETS,
            registry=registry,
        )
        self._stage = Histogram(
            "dub_stage_duration_seconds",
            "Wall time of a stage in a job's last attempt",
            ["stage", "engine", "backend"],
            buckets=STAGE_BUCKETS,
            registry=registry,
        )
        self._ratio = Histogram(
            "dub_stage_realtime_ratio",
            "Processing seconds for a second of media, of jobs finished in one go",
            ["stage"],
            buckets=RATIO_BUCKETS,
            registry=registry,
        )
        self._media = Counter(
            "dub_media_seconds",
            "Seconds of media a stage worked on, of jobs finished in one go",
            ["stage"],
            registry=registry,
        )
        self._errors = Counter("dub_errors", "Jobs that failed", ["stage", "reason"], registry=registry)
        self._retries = Counter(
            "dub_retries", "Further attempts in a safer way", ["reason", "action"], registry=registry
        )

    def catch_up(self) -> None:
        """Count the jobs that ended since the last call."""
        for job_id, finished in self._store.ended_since(self._since):
            counted = self._seen.get(job_id, self._since)
            if job_id in self._seen and finished <= counted:
                continue
            record, view = self._store.record(job_id), self._store.view(job_id)
            if record is None or view is None or record.finished != finished:
                continue  # deleted, or resumed already
            self._seen[job_id] = finished
            self._jobs.labels(record.kind, OUTCOMES[record.state]).inc()
            if record.started is not None and record.started >= counted:
                self._count_attempt(record, view)

    def _count_attempt(self, record: JobRecord, view: JobView) -> None:
        self._duration.labels(record.kind).observe((record.finished or 0.0) - (record.started or 0.0))
        folder = JobFolder(view.folder)
        context = read_context(folder) if read_state(folder.run) else None
        for stage in view.stages:
            engine, backend = _engine(record, stage, context)
            self._stage.labels(stage.name, engine, backend).observe(stage.seconds)
        seconds = media_seconds(view) if record.state == "done" and record.attempts == 1 else 0.0
        for stage in view.stages if seconds else ():  # what a resumed job skips would look infinitely quick
            self._ratio.labels(stage.name).observe(stage.seconds / seconds)
            self._media.labels(stage.name).inc(seconds)
        if record.state == "failed":
            stage_name = str(read_state(folder.progress).get("current") or "none")
            self._errors.labels(stage_name, str((record.error or {}).get("code", "error"))).inc()
        for step in record.steps:
            self._retries.labels(str(step["trouble"]), str(step["action"])).inc()


def media_seconds(view: JobView) -> float:
    """Length in seconds of what a finished job worked on (speech made, for ``speak``); 0 where the job does not say."""
    found: Any = view.result.get("duration") or view.result.get("seconds")
    if found is None and isinstance(report := view.result.get("report"), dict):
        found = report.get("seconds")
    if found is None and (name := view.result.get("lines")):
        try:
            found = read_json(view.folder / str(name)).get("duration")
        except (OSError, ValueError):
            return 0.0
    return float(found) if isinstance(found, int | float) else 0.0


def _engine(record: JobRecord, stage: StageView, context: EngineContext | None) -> tuple[str, str]:
    """Name of the engine that a stage really used, and the kind of machine it computed on."""
    part, option = ENGINES.get(record.kind, {}).get(stage.name, ("", ""))
    if not part or context is None:
        return NO_ENGINE
    registry = registries()[part]
    try:
        name = registry.chosen(str(record.options.get(option) or registry.infos()[0].name), context)
        runs_on = registry.info(name).runs_on
    except EngineMissing:  # the name was given by a program and is nobody's
        return NO_ENGINE
    return name, context.policy.family if runs_on == "device" else "cpu"
