"""Running jobs for a command: one after the other, watched, stopped by Ctrl-C, their results put where they belong."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from commands.console import Console
from commands.machine import choose_policy
from commands.outputs import check_goals, deliver
from commands.words import clock, language
from pipelines.errors import InternalError, Message, PipelineError, ResourceError, Stopped
from pipelines.jobs import Executor, JobSpec, JobView
from pipelines.jobs.local import LocalExecutor
from pipelines.jobs.store import JobStore
from pipelines.settings import Settings

AGAIN = Message("The same command again goes on from there.", "再次运行同一命令可从中断处继续。")
LOOK = 0.15  # seconds between looks at a job
Tell = Callable[[JobView], str]


@dataclass(frozen=True, slots=True)
class Task:
    """One job of a command.

    Attributes:
        spec: what is asked.
        goals: where its files go: role in the result (``video``, ``srt``…) → path. The first is the main one.
        sources: the user's files it reads, which must not be written over.
    """

    spec: JobSpec
    goals: Mapping[str, Path]
    sources: tuple[Path, ...] = ()


@dataclass(slots=True)
class Ending:
    """How one task ended: ``files`` are those written, by role."""

    task: Task
    job_id: str
    view: JobView | None = None
    files: dict[str, str] = field(default_factory=dict)
    error: PipelineError | None = None

    @property
    def exit_code(self) -> int:
        """0 or the error's."""
        return self.error.exit_code if self.error else 0

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        view = self.view
        return {
            "title": self.task.spec.title,
            "job": self.job_id,
            "folder": str(view.folder) if view else None,
            "state": view.state if view else None,
            "seconds": _seconds(view),
            "files": self.files,
            "result": view.result if view else {},
            "notes": [{"level": n.level, "en": n.en, "zh": n.zh} for n in view.notes] if view else [],
            "error": {**self.error.record(), "sentence": self.error.sentence("en", whole=True)}
            if self.error
            else None,
        }


Find = Callable[[JobView], Mapping[str, Path]]
Advise = Callable[[Task, JobView, PipelineError], str]


def run_tasks(
    arguments: argparse.Namespace,
    tasks: Sequence[Task],
    find: Find,
    tell: Tell,
    private: Mapping[str, str] | None = None,
    advise: Advise = lambda task, view, error: "",
) -> int:
    """Run tasks, deliver their files, say how it went; returns the exit code (the first failure's).

    Args:
        arguments: the command line, with ``overwrite`` and ``json``.
        tasks: what to do.
        find: the files that a finished job made, by role.
        tell: a few words about a finished job for the summary.
        private: secret environment variables for the worker.
        advise: one more sentence about a failed job, or nothing.

    Raises:
        PipelineError: before any work: an output that cannot be written, no room for a job.
    """
    check_goals(
        (path for task in tasks for path in task.goals.values()),
        (path for task in tasks for path in task.sources),
        arguments.overwrite,
    )
    settings = Settings.load()
    store = JobStore(settings)
    executor = LocalExecutor(store, settings, policy=choose_policy(arguments, settings))
    console = Console(sys.stderr)
    before = signal.signal(signal.SIGTERM, _interrupt)
    endings: list[Ending] = []
    try:
        for task in tasks:
            ending = Ending(task, _start(executor, store, task.spec, private, console))
            endings.append(ending)
            _watch(executor, ending, console)
            _finish(ending, find, arguments.overwrite, console)
            if ending.error and ending.view and (advice := advise(task, ending.view, ending.error)):
                console.say(advice)
            elif isinstance(ending.error, ResourceError | InternalError | Stopped):
                console.say(AGAIN.text(language()))
            if isinstance(ending.error, Stopped):
                break
    except KeyboardInterrupt:
        endings[-1].error = Stopped()
        console.say(f"{Stopped().sentence(language())} {AGAIN.text(language())}")
    finally:
        executor.close()
        signal.signal(signal.SIGTERM, before)
    return _report(arguments.json, tasks, endings, tell)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _start(
    executor: LocalExecutor,
    store: JobStore,
    spec: JobSpec,
    private: Mapping[str, str] | None,
    console: Console,
) -> str:
    """Submit a job; one that was asked for in the same words before and did not get to its end goes on instead."""
    for earlier in store.list(states=["stopped", "failed"], kinds=[spec.kind], limit=20):
        if earlier.options == spec.options:
            executor.resume(earlier.id, private=private)
            view = executor.view(earlier.id)
            if view is not None and view.state in ("queued", "running"):
                console.say(
                    Message(
                        f"{spec.title}: going on with an earlier job that did not end ({earlier.id})",
                        f"{spec.title}:继续之前未完成的任务({earlier.id})",
                    ).text(language())
                )
                return earlier.id
    return executor.submit(spec, private)


def _watch(executor: Executor, ending: Ending, console: Console) -> None:
    """Show a job until it has ended."""
    begun = time.monotonic()
    try:
        while True:
            ending.view = executor.view(ending.job_id)
            if ending.view is None:
                return
            console.show(ending.view, time.monotonic() - begun)
            if ending.view.ended:
                return
            time.sleep(LOOK)
    except KeyboardInterrupt:
        executor.stop(ending.job_id)
        while (view := executor.view(ending.job_id)) is not None and not view.ended:
            time.sleep(LOOK)
        ending.view = view
        raise


def _finish(ending: Ending, find: Find, overwrite: bool, console: Console) -> None:
    """Deliver the files, or keep the error and say it."""
    view = ending.view
    try:
        if view is None:
            raise InternalError(
                Message("The job's folder was deleted", "任务文件夹已被删除"), where=ending.job_id
            )
        if view.error is not None:
            raise PipelineError.from_record(view.error)
        made = find(view)
        for role, goal in ending.task.goals.items():
            if role in made:
                ending.files[role] = str(deliver(made[role], goal, overwrite))
    except PipelineError as error:
        ending.error = error
        console.say(f"{ending.task.spec.title}: {error.sentence(language(), whole=True)}")


def _seconds(view: JobView | None) -> float | None:
    if view is None or view.started is None or view.finished is None:
        return None
    return round(view.finished - view.started, 2)


def _report(as_json: bool, tasks: Sequence[Task], endings: Sequence[Ending], tell: Tell) -> int:
    """The one line (or the JSON) on stdout; returns the exit code."""
    failed = [ending for ending in endings if ending.error]
    code = next(
        (e.exit_code for e in failed if isinstance(e.error, Stopped)), failed[0].exit_code if failed else 0
    )
    if as_json:
        results = {"exit_code": code, "results": [ending.to_json() for ending in endings]}
        sys.stdout.write(json.dumps(results, ensure_ascii=False) + "\n")
    elif len(tasks) == 1 and not failed:
        ending = endings[0]
        where = ", ".join(_short(path) for path in ending.files.values())
        words = tell(ending.view) if ending.view else ""
        told = f"({words}{', ' if words else ''}{clock(_seconds(ending.view) or 0)})"
        sys.stdout.write(f"{where} {told}".lstrip() + "\n")
    elif len(tasks) > 1:
        good = len(endings) - len(failed)
        folder = _short(str(next(iter(tasks[0].goals.values())).parent))
        sys.stdout.write(f"{good} of {len(tasks)} done, in {folder}\n")
    sys.stdout.flush()
    return code


def _short(path: str) -> str:
    """Relative to where the user is, if that is shorter."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(path) else path
