"""The worker: runs one job in a process of its own (``python -m pipelines.jobs.worker FOLDER --flow module:function``).

A new process for each job, not a warm one: loading the default engines costs a few seconds, and in exchange no job
meets the memory, the device state or the library settings that another one left behind, and a crash or a Stop ends one
job and nothing else.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import errno
import faulthandler
import importlib
import json
import logging
import os
import signal
import sys
import threading
import time
import warnings
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NoReturn

import psutil

from pipelines.backend.guard import fallen_operator
from pipelines.backend.policy import Policy
from pipelines.errors import Message, OutOfMemory, PipelineError, Stopped
from pipelines.files import write_json
from pipelines.jobs.deaths import DISK_FULL, EXIT_DISK_FULL, EXIT_UNEXPECTED, MEMORY
from pipelines.jobs.folder import JobFolder, read_state
from pipelines.jobs.process import descendants, kill_all
from pipelines.jobs.report import FolderReport
from pipelines.registry import EngineContext
from pipelines.settings import Settings

BEAT = 1.0  # seconds between heartbeats
FIRST_TO_GO = "500"  # of 1000, see proc_pid_oom_score_adj(5)
ORPHANED = 600.0  # seconds a process may be stuck in native code before it ends itself


def run_job(folder: JobFolder, flow: str, report: FolderReport) -> dict[str, Any]:
    """Run the flow; returns the outcome: how it ended, and its result or its error.

    Exceptions that no flow should raise go through: they are mistakes of ours and end up in the log.
    """
    record = read_state(folder.job)
    try:
        result = _load(flow)(folder.path, record["options"], read_context(folder), report)
        json.dumps(result)
    except Stopped as error:
        return {"state": "stopped", "error": error.record()}
    except PipelineError as error:
        logging.getLogger(__name__).info("%s", error, exc_info=True)
        return {"state": "failed", "error": error.record()}
    except MemoryError as error:
        logging.getLogger(__name__).error("%s", error, exc_info=True)
        lack = OutOfMemory(Message("The computer ran out of memory", "内存不足"), MEMORY)
        return {"state": "failed", "error": lack.record()}
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        return {"state": "failed", "error": DISK_FULL.record()}
    return {"state": "done", "result": result}


def write_context(folder: JobFolder, settings: Settings, policy: Policy) -> None:
    """Leave settings and policy for the worker in ``run.json``."""
    plain = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in ((f.name, getattr(settings, f.name)) for f in dataclasses.fields(settings))
    }
    write_json(folder.run, {"settings": plain, "policy": dataclasses.asdict(policy)})


def read_context(folder: JobFolder) -> EngineContext:
    """What ``write_context`` left."""
    run = read_state(folder.run)
    paths = {field.name for field in dataclasses.fields(Settings) if "Path" in str(field.type)}
    values: dict[str, Any] = {
        name: Path(value) if name in paths and value is not None else value
        for name, value in run["settings"].items()
    }
    return EngineContext(Settings(**values), Policy(**run["policy"]))


def _load(flow: str) -> Any:
    module, _, name = flow.partition(":")
    return getattr(importlib.import_module(module), name)


def _beat(folder: JobFolder) -> NoReturn:
    """Show that this process lives and can run Python; leave a trace of where it hangs when it cannot for long."""
    while True:
        with contextlib.suppress(OSError, RuntimeError, MemoryError):  # short of memory the beat goes on
            os.utime(folder.heartbeat)  # the executor made it: a folder deleted under us is not made again
            faulthandler.dump_traceback_later(ORPHANED, exit=True)
        time.sleep(BEAT)


def _follow_parent(lifeline: int) -> None:
    """End this process and all it started when the application is gone, however it went."""
    os.read(lifeline, 1)
    kill_all(os.getpid(), descendants(os.getpid()))


def _attach() -> None:
    """Take standard input as the lifeline and keep it from the programs started here."""
    lifeline = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=_follow_parent, args=(lifeline,), daemon=True).start()


def _offer_itself() -> None:
    """When memory runs out, Linux is to end this process rather than the application (children inherit this)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(FIRST_TO_GO)


def _listen_to_signals(report: FolderReport) -> None:
    """SIGTERM is the second, firmer way to say Stop: it reaches a flow that does not report."""

    def stop(number: int, frame: FrameType | None) -> None:
        if not report.stopping:  # while it is stopping anyway, its clean-up is left alone
            report.stopping = True
            raise Stopped

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _tell_of_fallbacks(report: FolderReport) -> None:
    """Say in the job's report which operators leave the card: the library only warns, once each."""
    shown = warnings.showwarning

    def show(message: Warning | str, *rest: Any, **more: Any) -> None:
        if operator := fallen_operator(str(message)):
            what = Message(
                f"The operator {operator} runs on the CPU: this card has none; with many of them --cpu may be quicker",
                f"算子 {operator} 在 CPU 上运行:该显卡不支持;若数量较多,使用 --cpu 可能更快",
            )
            report.note(what, "warning")
        shown(message, *rest, **more)

    warnings.showwarning = show


def _die(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Log an unexpected exception and end."""
    sys.__excepthook__(kind, error, trace)
    _leave(EXIT_UNEXPECTED)


def main(argv: list[str] | None = None) -> NoReturn:
    """Run the job of a folder and leave with status 0 once ``outcome.json`` says how it ended."""
    parser = argparse.ArgumentParser(prog="python -m pipelines.jobs.worker")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--flow", required=True, help="module:function")
    parser.add_argument("--attached", action="store_true", help="end with the process at standard input")
    arguments = parser.parse_args(argv)
    if arguments.attached:
        _attach()
    _offer_itself()
    faulthandler.enable()
    sys.excepthook = _die
    level = logging.DEBUG if os.environ.get("DUBWRIGHT_DEBUG") else logging.INFO
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    folder = JobFolder(arguments.folder)
    threading.Thread(target=_beat, args=(folder,), daemon=True).start()
    report = FolderReport(folder)
    _listen_to_signals(report)
    _tell_of_fallbacks(report)
    outcome = run_job(folder, arguments.flow, report)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    report.close()
    try:
        write_json(folder.outcome, outcome)
    except (PipelineError, OSError):
        _leave(EXIT_DISK_FULL)
    _leave(0)


def _leave(status: int) -> NoReturn:
    """End at once, with the programs started here: threads that a flow left must not keep the process, and native
    libraries are known to crash while they are taken down.
    """
    for program in descendants(os.getpid()):
        with contextlib.suppress(psutil.Error):
            program.kill()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
