"""``job.json``: what was asked, the state, and how it ended."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from pipelines.jobs.spec import JobState

FORMAT = 1


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job's record; times are POSIX seconds, ``error`` is a ``PipelineError.record()``.

    ``worker`` holds the process id and start time of the running worker, so that a later start of the application can
    end one that outlived its parent. ``steps`` are the safer ways that were tried (``guard.Step.plain``).
    """

    id: str
    kind: str
    title: str
    options: dict[str, Any]
    created: float
    state: JobState = "queued"
    started: float | None = None
    finished: float | None = None
    attempts: int = 0
    worker: dict[str, float] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    steps: list[dict[str, Any]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """JSON for ``job.json``."""
        return {"format": FORMAT, **dataclasses.asdict(self)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> JobRecord | None:
        """The record, or None when ``value`` is not one (an empty, foreign or damaged file)."""
        names = {item.name for item in dataclasses.fields(cls)}
        known = {name: value[name] for name in value if name in names}
        if not {"id", "kind", "title", "options", "created", "state"} <= known.keys():
            return None
        return cls(**known)
