"""Flows that really run in the worker and do, one each, what can happen to a job."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.artifacts import options_key, run_stage
from pipelines.backend.outputs import check_sound
from pipelines.errors import MediaError, Message
from pipelines.files import write_text
from pipelines.progress import Report, tracked
from pipelines.registry import EngineContext
from pipelines.types import Audio

HERE = "tests.jobs.flows"
FLOWS = {
    name: f"{HERE}:{name}"
    for name in (
        *(
            "work",
            "two_stages",
            "sleepy",
            "secret",
            "linger",
            "bad_input",
            "bug",
            "threads",
            "segfault",
            "hog",
            "littering",
            "fill",
            "fragile",
        ),
        *("spin", "stuck", "frozen", "native_hang", "children", "silent_child"),
    )
}


def work(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Count slowly: ``items`` items of ``each`` seconds."""
    for item in tracked(range(options.get("items", 3)), report, "counting", options.get("items", 3), "items"):
        time.sleep(options.get("each", 0.01))
        write_text(folder / f"item{item}.txt", str(item))
    report.note(Message("counted", "已数完"))
    return {"pid": os.getpid(), "title": options.get("title"), "threads": context.policy.threads}


def bad_input(
    folder: Path, options: dict[str, Any], context: EngineContext, report: Report
) -> dict[str, Any]:
    """Fail as a flow should."""
    raise MediaError(
        Message("The file is not a video", "文件不是视频"), Message("Choose another.", "请另选。"), "x.mp4"
    )


def bug(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Fail as nobody expects."""
    return {"value": {}["missing"]}


def segfault(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Follow a null pointer in native code after one finished stage."""
    _first_stage(folder, report)
    ctypes.string_at(0)
    return {}


def littering(
    folder: Path, options: dict[str, Any], context: EngineContext, report: Report
) -> dict[str, Any]:
    """Leave temporary files behind, as libraries do and as every killed worker must."""
    left = Path(tempfile.mkdtemp(prefix="left-"))
    (left / "big.bin").write_bytes(bytes(1000))
    write_text(folder / "where.txt", str(left))
    if options.get("die"):
        os.kill(os.getpid(), signal.SIGKILL)
    return {}


def hog(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Take more memory than the process may have."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    hoard = []
    for block in tracked(range(64), report, "eating", 64):
        hoard.append(bytearray(64 << 20))
        hoard[-1][0] = block
    return {}


def fragile(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """A kept stage, then one that goes wrong as ``how`` says unless the policy is one of ``well``."""
    ran = _first_stage(folder, report)
    policy = context.policy
    report.step("second", 0, 1)
    seen = (policy.family, policy.precision, os.environ.get("HSA_ENABLE_SDMA", ""))
    with (folder / "tries.txt").open("a") as file:
        file.write(f"{'|'.join(seen)}\n")
    if not {"cpu": policy.family == "cpu", "fp32": policy.precision == "float32", "sdma": seen[2] == "0"}[
        options["well"]
    ]:
        _go_wrong(options["how"])
    report.step("second", 1, 1)
    return {"first_ran": ran, "pid": os.getpid()}


def _go_wrong(how: str) -> None:
    if how == "segfault":
        ctypes.string_at(0)
    if how == "hang":
        ctypes.PyDLL(None).sleep(3600)
    if how == "nan":
        check_sound(Audio(np.full(100, np.nan, np.float32), 16_000), "words")
    if how == "memory":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        bytearray(2 << 30)
    raise RuntimeError(how)


def fill(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Write until the disk is full."""
    from pipelines.files import part_file

    _first_stage(folder, report)
    with part_file(folder / "big.bin") as part, part.open("wb") as file:
        for _ in tracked(range(1000), report, "writing", 1000):
            file.write(b"\0" * 65536)
    return {}


def spin(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Work without ever reporting, deaf to SIGTERM besides."""
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    write_text(folder / "spinning", "")
    while True:
        time.sleep(0.01)


def stuck(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Report once and then wait for ever, while the process itself is alive."""
    report.step("waiting", 0, 1)
    time.sleep(3600)
    return {}


def native_hang(
    folder: Path, options: dict[str, Any], context: EngineContext, report: Report
) -> dict[str, Any]:
    """Hang in native code with the interpreter's lock held: not even a heartbeat gets through."""
    report.step("waiting", 0, 1)
    ctypes.PyDLL(None).sleep(3600)
    return {}


def frozen(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Stop the whole process, as a debugger or a stuck driver does."""
    import signal

    report.step("waiting", 0, 1)
    os.kill(os.getpid(), signal.SIGSTOP)
    return {}


def children(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Start a process that starts another one, both of which ignore SIGTERM, and report while they run."""
    nested = (
        "import signal,subprocess,sys,time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "inner=subprocess.Popen([sys.executable,'-c',"
        "'import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)']);"
        "open(sys.argv[1],'w').write(str(inner.pid)); time.sleep(600)"
    )
    outer = subprocess.Popen(
        [sys.executable, "-c", nested, str(folder / "inner.pid")],
        start_new_session=options.get("apart", False),
    )
    write_text(folder / "outer.pid", str(outer.pid))
    for _ in tracked(range(10_000), report, "waiting", 10_000):
        time.sleep(0.05)
    return {}


def silent_child(
    folder: Path, options: dict[str, Any], context: EngineContext, report: Report
) -> dict[str, Any]:
    """Block on a program that takes long, without reporting."""
    report.step("waiting", 0, 1)
    child = subprocess.Popen(["sleep", "600"])
    write_text(folder / "outer.pid", str(child.pid))
    child.wait()
    return {}


def secret(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Use a key from the environment; its length comes back, not the key."""
    return {"length": len(os.environ["DUBWRIGHT_ENDPOINT_KEY"])}


def two_stages(
    folder: Path, options: dict[str, Any], context: EngineContext, report: Report
) -> dict[str, Any]:
    """A stage that is kept, then one that kills the process as long as a file ``bomb`` lies in the folder."""
    ran = _first_stage(folder, report, options.get("words", "a"))
    report.step("second", 0, 1)
    if options.get("bomb"):
        os.kill(os.getpid(), options["bomb"])
    time.sleep(options.get("pause", 0))
    report.step("second", 1, 1)
    return {"first_ran": ran}


def linger(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Leave a program behind when all is done."""
    child = subprocess.Popen(["sleep", "600"])
    write_text(folder / "outer.pid", str(child.pid))
    return {"pid": child.pid}


def threads(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Fail while a thread of ours would keep the process for ever."""
    import threading

    threading.Thread(target=time.sleep, args=(3600,)).start()
    raise RuntimeError("HIP error: invalid device function")


def sleepy(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Two stages of known length."""
    report.step("short", 0, 2)
    time.sleep(0.2)
    report.step("short", 1, 2)
    time.sleep(0.2)
    report.step("short", 2, 2)
    report.step("long", 0, 1)
    time.sleep(0.8)
    report.step("long", 1, 1)
    return {}


def _first_stage(folder: Path, report: Report, words: str = "a") -> bool:
    def make() -> None:
        report.step("first", 0, 1)
        write_text(folder / "first.txt", f"{words} {time.time_ns()}")
        report.note(Message(f"made {words}", f"已做 {words}"))

    return run_stage(folder, "first", options_key(words=words), ["first.txt"], make)
