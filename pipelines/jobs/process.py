"""Starting the worker process and ending it with everything it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import psutil

CODE = Path(__file__).resolve().parents[2]  # where the packages lie: `python -m` finds them from there
GRACE = 0.5  # seconds between asking the group to end and killing it


def start_worker(
    folder: Path, flow: str, log: Path, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start ``python -m pipelines.jobs.worker`` in a session and process group of its own.

    A new interpreter rather than a fork: a forked process inherits locks and device contexts it cannot use. Its
    standard input is a lifeline: it never carries data, and its end tells the worker that this process is gone.

    Raises:
        OSError: the process or its log could not be made.
    """
    argv = [sys.executable, "-m", "pipelines.jobs.worker", str(folder), "--flow", flow, "--attached"]
    with log.open("ab") as output:
        return subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            cwd=CODE,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1", **environment},
            start_new_session=True,
        )


def identity(pid: int) -> dict[str, float]:
    """Process id and start time: together they name a process for good, a bare id may be used again."""
    try:
        return {"pid": pid, "born": psutil.Process(pid).create_time()}
    except psutil.Error:
        return {}


def descendants(pid: int) -> list[psutil.Process]:
    """All living processes below ``pid``, also those that left its process group."""
    try:
        return list(psutil.Process(pid).children(recursive=True))
    except psutil.Error:
        return []


def resident(worker: Mapping[str, float]) -> int:
    """Bytes of memory that a recorded worker and the programs it started occupy now; 0 when it does not run."""
    total = 0
    if worker and identity(int(worker["pid"])) == worker:
        pids = (int(worker["pid"]), *(process.pid for process in descendants(int(worker["pid"]))))
        for pid in pids:
            with contextlib.suppress(psutil.Error):  # it may end meanwhile
                total += psutil.Process(pid).memory_info().rss
    return total


def signal_group(pid: int, number: signal.Signals) -> None:
    """Send a signal to a worker's whole group; a group that is gone is fine."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def kill_all(pid: int, others: list[psutil.Process]) -> None:
    """Kill a worker's group and the given processes at once (SIGKILL); the group last, for it may be our own."""
    for process in others:
        with contextlib.suppress(psutil.Error):
            process.kill()  # psutil checks the start time: never a stranger with the same id
    signal_group(pid, signal.SIGKILL)


def end_leftover(worker: Mapping[str, float]) -> None:
    """Kill a recorded worker that outlived the application, if that very process still runs."""
    if worker and identity(int(worker["pid"])) == worker:
        kill_all(int(worker["pid"]), descendants(int(worker["pid"])))
