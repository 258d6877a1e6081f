"""A store and an executor in a folder of their own, and ways to wait for what really happens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from pipelines.jobs.local import LocalExecutor
from pipelines.jobs.spec import JobSpec, JobView
from pipelines.jobs.store import JobStore
from pipelines.settings import Settings
from tests.jobs.flows import FLOWS

PATIENCE = 60.0  # seconds until a wait in a test counts as a failure


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings whose folders, with a space and Chinese in their name, belong to the test."""
    return Settings.load({"DUBWRIGHT_HOME": str(tmp_path / "数据 home")})


@pytest.fixture
def store(settings: Settings) -> JobStore:
    """An empty store."""
    return JobStore(settings)


@pytest.fixture
def executor(store: JobStore, settings: Settings) -> Iterator[LocalExecutor]:
    """An executor of the test flows."""
    executor = LocalExecutor(store, settings, flows=FLOWS)
    yield executor
    executor.close()


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited {PATIENCE:.0f} s in vain for: {what}"
        time.sleep(0.02)


def ended(executor: LocalExecutor, job_id: str) -> JobView:
    """Wait for the end of a job."""
    view = executor.view(job_id)
    end = time.monotonic() + PATIENCE
    while view is not None and not view.ended:
        assert time.monotonic() < end, f"the job does not end: {view}"
        time.sleep(0.02)
        view = executor.view(job_id)
    assert view is not None
    return view


def run(executor: LocalExecutor, kind: str, **options: object) -> JobView:
    """Run a job to its end."""
    return ended(executor, executor.submit(JobSpec(kind, options, title=kind)))


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def pid_in(path: Path) -> int:
    """The process id in a file, once it is there."""
    wait_for(lambda: path.is_file() and path.read_text(), f"{path.name}")
    return int(path.read_text())


def running_step(executor: LocalExecutor, job_id: str) -> JobView:
    """Wait until a job has reported a step."""
    found: list[JobView] = []

    def stepped() -> bool:
        view = executor.view(job_id)
        assert view is not None
        found.append(view)
        return view.state == "running" and bool(view.stages)

    wait_for(stepped, "first step")
    return found[-1]
