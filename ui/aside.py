"""Short work that the page waits for and that must not wait behind a running dub: a flow in a worker process of its own."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipelines.errors import Message, PipelineError
from pipelines.files import write_json
from pipelines.flows import FLOWS
from pipelines.jobs.deaths import diagnose
from pipelines.jobs.folder import JobFolder, read_state, tail
from pipelines.jobs.process import descendants, kill_all, start_worker
from pipelines.jobs.worker import write_context
from ui.services import Services

PATIENCE = 120.0  # seconds
LOOK = 0.05


def run_aside(
    services: Services, flow: str, options: Mapping[str, Any], place: Path, patience: float = PATIENCE
) -> dict[str, Any]:
    """Run a flow in ``place`` (emptied first) and return its result; ``patience`` in seconds.

    Raises:
        PipelineError: what the flow raised, how its process died, or that it takes too long.
    """
    shutil.rmtree(place, ignore_errors=True)
    folder = JobFolder(place)
    folder.scratch.mkdir(parents=True)
    folder.heartbeat.touch()
    write_json(folder.job, {"options": dict(options)})
    policy = services.machine.policy
    write_context(folder, services.settings, policy)
    environment = {**policy.environment, "TMPDIR": str(folder.scratch)}
    process = start_worker(place, FLOWS[flow], folder.log, environment)
    try:
        end = time.monotonic() + patience
        while process.poll() is None and time.monotonic() < end:
            time.sleep(LOOK)
        if process.poll() is None:
            raise PipelineError(
                Message("This takes too long", "用时过长"),
                Message("Try a shorter file.", "请使用较短的文件。"),
            )
    finally:
        if process.poll() is None:
            kill_all(process.pid, descendants(process.pid))
        process.wait()
        if process.stdin:
            process.stdin.close()
    return _result(folder, process.returncode)


def _result(folder: JobFolder, returncode: int) -> dict[str, Any]:
    outcome = read_state(folder.outcome)
    if outcome.get("error"):
        raise PipelineError.from_record(outcome["error"])
    if outcome.get("state") != "done":
        raise diagnose(returncode, tail(folder.log))
    result: dict[str, Any] = outcome["result"]
    return result
