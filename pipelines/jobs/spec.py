"""A job as data: what is asked for, and what can be seen of it while it runs and afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

JobState = Literal["queued", "running", "stopping", "done", "failed", "stopped"]
FINISHED: frozenset[JobState] = frozenset({"done", "failed", "stopped"})


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A request: page, command line and API all make one of these; it travels as JSON.

    Attributes:
        kind: a key of ``pipelines.flows.FLOWS`` (``dub``, ``transcribe``, ``speak``, ``sync``, ``weights``).
        options: the flow's options, JSON values only; paths are strings.
        title: what a person calls it (usually the input's file name).
    """

    kind: str
    options: dict[str, Any]
    title: str = ""


@dataclass(frozen=True, slots=True)
class StageView:
    """Progress of one stage; ``seconds`` is wall time spent in it so far, ``total`` None while it is unknown."""

    name: str
    done: float
    total: float | None
    unit: str
    seconds: float


@dataclass(frozen=True, slots=True)
class NoteView:
    """A sentence a flow left for the user, in both languages."""

    level: Literal["hint", "warning"]
    en: str
    zh: str


@dataclass(frozen=True, slots=True)
class JobView:
    """All that can be seen of a job: rebuilt from its folder, so it survives a restart of the page.

    ``result`` is what the flow returned (paths as strings relative to the job folder or absolute, measures);
    ``error`` is a ``PipelineError.record()``; times are POSIX seconds. ``ahead`` counts the jobs that run before a
    waiting one, where the executor knows.
    """

    id: str
    kind: str
    title: str
    state: JobState
    folder: Path
    created: float
    started: float | None
    finished: float | None
    stages: tuple[StageView, ...] = ()
    notes: tuple[NoteView, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    ahead: int | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in FINISHED
