"""Workers that die, hang or lose the ground under their feet: the page lives on, says what happened, runs the next job."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipelines.errors import PipelineError
from pipelines.jobs.deaths import diagnose, oom_kills
from pipelines.jobs.local import LocalExecutor
from pipelines.jobs.spec import JobSpec, JobView
from pipelines.jobs.store import JobStore
from pipelines.jobs.watch import Limits
from pipelines.settings import Settings
from tests.jobs.conftest import alive, ended, pid_in, run, running_step, wait_for
from tests.jobs.flows import FLOWS
from tests.patience import patience


def sentence(view: JobView, language: str = "en") -> str:
    assert view.error is not None
    return PipelineError.from_record(view.error).sentence(language)


def worker_pid(view: JobView) -> int:
    return int(json.loads((view.folder / "job.json").read_text())["worker"]["pid"])


@pytest.mark.parametrize(
    ("number", "english", "chinese"),
    [
        (signal.SIGKILL, "killed from outside (SIGKILL)", "强制结束"),
        (signal.SIGSEGV, "crashed: it used memory that is not its own (SIGSEGV)", "无效内存"),
        (signal.SIGABRT, "gave up after a fatal error (SIGABRT)", "中止"),
        (signal.SIGBUS, "(SIGBUS)", "磁盘可能已满"),
        (signal.SIGILL, "instruction that this processor does not know", "不支持的指令"),
    ],
)
def test_a_killed_worker_is_named_and_its_finished_work_is_used_again(
    executor: LocalExecutor, number: signal.Signals, english: str, chinese: str
) -> None:
    waiting = []
    job_id = executor.submit(JobSpec("two_stages", {"bomb": int(number)}))
    waiting.append(executor.submit(JobSpec("work", {"items": 1})))
    view = ended(executor, job_id)
    assert view.state == "failed" and view.error is not None and view.error["code"] == "worker-died"
    assert english in sentence(view) and "Resume" in sentence(view)
    assert chinese in sentence(view, "zh")
    assert [ended(executor, other).state for other in waiting] == ["done"]
    executor.resume(job_id, {"bomb": None})
    view = ended(executor, job_id)
    assert view.state == "done" and view.result == {"first_ran": False}


def test_a_null_pointer_in_native_code_leaves_a_trace_in_the_log(executor: LocalExecutor) -> None:
    view = run(executor, "segfault")
    assert view.state == "failed" and "SIGSEGV" in sentence(view)
    log = (view.folder / "log.txt").read_text()
    assert "Segmentation fault" in log and "in segfault" in log
    assert (view.folder / "first.txt").is_file() and (view.folder / "first.stage.json").is_file()


def test_a_worker_killed_from_outside_takes_its_children_with_it(executor: LocalExecutor) -> None:
    job_id = executor.submit(JobSpec("children", {}))
    view = running_step(executor, job_id)
    pids = [pid_in(view.folder / "outer.pid"), pid_in(view.folder / "inner.pid")]
    os.kill(worker_pid(view), signal.SIGKILL)
    view = ended(executor, job_id)
    assert view.state == "failed" and "SIGKILL" in sentence(view)
    wait_for(lambda: not any(alive(pid) for pid in pids), "the end of the children")


@pytest.mark.parametrize("die", [False, True])
def test_temporary_files_are_gone_when_the_worker_is(executor: LocalExecutor, die: bool) -> None:
    view = run(executor, "littering", die=die)
    assert view.state == ("failed" if die else "done")
    left = Path((view.folder / "where.txt").read_text(encoding="utf-8"))
    assert left.is_relative_to(view.folder) and not left.exists()


def test_exhausted_memory(executor: LocalExecutor) -> None:
    view = run(executor, "hog")
    assert view.state == "failed" and view.error is not None
    assert view.error["code"] == "out-of-memory"
    assert sentence(view).startswith("The computer ran out of memory.")
    assert 0 < view.stages[0].done < 64


def test_a_mistake_of_ours_shows_no_traceback_but_the_log_has_it(executor: LocalExecutor) -> None:
    view = run(executor, "bug")
    assert view.state == "failed" and view.error is not None and view.error["code"] == "internal"
    assert "KeyError: 'missing'" in sentence(view) and "Traceback" not in sentence(view)
    assert 'return {"value": {}["missing"]}' in (view.folder / "log.txt").read_text()


def test_a_failure_known_by_its_log_ends_at_once_in_spite_of_a_running_thread(
    executor: LocalExecutor,
) -> None:
    view = run(executor, "threads")
    assert sentence(view).startswith("The installed PyTorch has no code for this graphics card.")


@pytest.mark.parametrize(
    ("kind", "limits"),
    [
        ("native_hang", Limits(heartbeat=8.0)),
        ("frozen", Limits(heartbeat=8.0)),
        ("stuck", Limits(silence=5.0)),
    ],
)
def test_a_hung_worker_is_ended_and_said(
    store: JobStore, settings: Settings, kind: str, limits: Limits
) -> None:
    executor = LocalExecutor(store, settings, flows=FLOWS, limits=limits)
    job_id = executor.submit(JobSpec(kind, {}))
    pid = worker_pid(running_step(executor, job_id))
    view = ended(executor, job_id)
    assert view.state == "failed" and view.error is not None and view.error["code"] == "worker-died"
    assert "The worker hung: no sign of life for" in sentence(view) and "无响应" in sentence(view, "zh")
    assert not alive(pid)
    if kind == "native_hang":  # where it hangs stands in the log
        assert "in native_hang" in (view.folder / "log.txt").read_text()
    assert run(executor, "work").state == "done"
    executor.close()


def test_a_slow_flow_with_heartbeats_is_left_alone(store: JobStore, settings: Settings) -> None:
    executor = LocalExecutor(store, settings, flows=FLOWS, limits=Limits(heartbeat=5.0))
    assert run(executor, "two_stages", pause=7).state == "done"
    executor.close()


DISK_SCRIPT = """
import json, sys, time
from pathlib import Path
from pipelines.errors import PipelineError
from pipelines.jobs.local import LocalExecutor
from pipelines.jobs.spec import JobSpec
from pipelines.jobs.store import JobStore
from pipelines.settings import Settings
from tests.jobs.flows import FLOWS

def finish(job_id):
    while not (view := executor.view(job_id)).ended:
        time.sleep(0.05)
    return view

home = Path(sys.argv[1])
settings = Settings.load({"DUBWRIGHT_HOME": str(home)})
executor = LocalExecutor(JobStore(settings), settings, flows=FLOWS)
failed = executor.submit(JobSpec("fill", {}))
view = finish(failed)
said = [PipelineError.from_record(view.error).sentence("en"), view.error["code"]]
parts = [path.name for path in view.folder.glob(".*.part")]
kept = (view.folder / "first.txt").is_file()

# Now somebody else fills the disk to the last byte while jobs run: the record and Stop must work all the same.
ballast = home / "ballast"
def run_full(kind, stop):
    job = executor.submit(JobSpec(kind, {"items": 1000000, "each": 0.2}))
    while not executor.view(job).stages:
        time.sleep(0.05)
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    begun = time.monotonic()
    if stop:
        executor.stop(job)
    view = finish(job)
    return view, view.error["code"], time.monotonic() - begun
view, stopped, stop_seconds = run_full("silent_child", True)
ballast.unlink()
view, second, _ = run_full("work", False)
full = executor.submit
try:
    for _ in range(20):
        full(JobSpec("work", {"filler": "x" * 20000}))
    refused = ""
except PipelineError as error:
    refused = error.code
ballast.unlink()
time.sleep(1)
record = json.loads((view.folder / "job.json").read_text())
after = finish(executor.submit(JobSpec("work", {"items": 1}))).state
executor.close()
print(json.dumps([said, parts, kept, stopped, stop_seconds, second, refused, record["state"], after]))
"""


@pytest.mark.may_skip
def test_full_disk(tmp_path: Path) -> None:
    """On a file system of 2 MB, in a mount namespace of its own."""
    command = f"mount -t tmpfs -o size=2m tmpfs {tmp_path} && exec {sys.executable} - {tmp_path}"
    probe = subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", str(tmp_path)], capture_output=True
    )
    if probe.returncode:
        pytest.skip(f"this user may not mount a small file system: {probe.stderr.decode().strip()}")
    output = subprocess.run(
        ["unshare", "-m", "sh", "-c", command],
        input=DISK_SCRIPT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert output.returncode == 0, output.stderr
    said, parts, kept, stopped, stop_seconds, second, refused, state, after = json.loads(
        output.stdout.splitlines()[-1]
    )
    assert said[0].startswith("There is no room left on the disk (") and "press Resume" in said[0]
    assert said[1] == "disk-full"
    assert parts == [] and kept
    assert stopped == "stopped" and stop_seconds <= 2.0 * patience()
    assert (second, refused) == ("disk-full", "disk-full")
    assert (state, after) == ("failed", "done")


def gone(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def test_folder_deleted_under_a_running_job(executor: LocalExecutor) -> None:
    job_id = executor.submit(JobSpec("children", {}, "clip"))
    view = running_step(executor, job_id)
    pids = [worker_pid(view), pid_in(view.folder / "outer.pid")]
    wait_for(lambda: gone(view.folder), "the folder's end")  # the worker may be writing into it just now
    wait_for(lambda: executor.view(job_id) is not None and executor.view(job_id).ended, "the end")  # type: ignore[union-attr]
    view = ended(executor, job_id)
    assert view.state == "failed" and view.title == "clip"
    assert sentence(view).startswith("The job's folder was deleted while it ran.")
    assert not any(alive(pid) for pid in pids)
    assert run(executor, "work").state == "done"


def test_folder_deleted_while_waiting_does_not_stop_the_queue(executor: LocalExecutor) -> None:
    first = executor.submit(JobSpec("work", {"items": 5, "each": 0.1}))
    second = executor.submit(JobSpec("work", {}))
    third = executor.submit(JobSpec("work", {}))
    shutil.rmtree(executor.view(second).folder)  # type: ignore[union-attr]
    assert ended(executor, first).state == "done"
    assert ended(executor, third).state == "done"
    assert executor.view(second) is None


APP = """
import sys, time
from pipelines.jobs.local import LocalExecutor
from pipelines.jobs.spec import JobSpec
from pipelines.jobs.store import JobStore
from pipelines.settings import Settings
from tests.jobs.flows import FLOWS
settings = Settings.load({"DUBWRIGHT_HOME": sys.argv[1]})
executor = LocalExecutor(JobStore(settings), settings, flows=FLOWS)
print(executor.submit(JobSpec(sys.argv[2], {"items": 10000, "each": 0.05, "pause": 600, "apart": True})), flush=True)
print(executor.submit(JobSpec("work", {"items": 1})), flush=True)
time.sleep(600)
"""


@pytest.fixture
def application(settings: Settings) -> subprocess.Popen[str]:
    """Another application on the same jobs folder, busy with a job."""
    return subprocess.Popen(
        [sys.executable, "-c", APP, str(settings.jobs.parent), "children"], stdout=subprocess.PIPE, text=True
    )


def test_the_application_killed_takes_the_worker_along_and_the_job_can_be_resumed(
    settings: Settings, application: subprocess.Popen[str]
) -> None:
    assert application.stdout is not None
    running, waiting = application.stdout.readline().strip(), application.stdout.readline().strip()
    folder = settings.jobs / running
    pids = [pid_in(folder / "outer.pid"), pid_in(folder / "inner.pid")]
    store = JobStore(settings)
    view = store.view(running)
    assert view is not None and view.state == "running"
    pids.append(worker_pid(view))
    application.kill()
    application.wait()
    wait_for(lambda: not any(alive(pid) for pid in pids), "the end of worker, child and grandchild")

    view = store.view(running)
    assert view is not None and view.state == "stopped"
    assert "Dubwright was closed while this job ran" in sentence(view)
    executor = LocalExecutor(JobStore(settings), settings, flows={**FLOWS, "children": FLOWS["work"]})
    assert executor.adopt() == (waiting,)
    executor.resume(running, {"items": 2, "each": 0})
    assert ended(executor, waiting).state == "done"
    assert ended(executor, running).state == "done"
    executor.close()


def test_two_applications_share_one_turn_and_never_one_job(
    settings: Settings, application: subprocess.Popen[str]
) -> None:
    assert application.stdout is not None
    theirs, theirs_waiting = application.stdout.readline().strip(), application.stdout.readline().strip()
    pid_in(settings.jobs / theirs / "inner.pid")
    executor = LocalExecutor(JobStore(settings), settings, flows=FLOWS)
    assert executor.adopt() == ()  # their waiting job is theirs
    mine = executor.submit(JobSpec("work", {"items": 1}))
    executor.resume(theirs)
    time.sleep(1)
    view = executor.view(mine)
    assert view is not None and view.state == "queued"
    executor.stop(theirs_waiting)
    wait_for(lambda: executor.view(theirs_waiting).state == "stopped", "their waiting job to be stopped")  # type: ignore[union-attr]
    pressed = time.monotonic()
    executor.stop(theirs)
    assert ended(executor, theirs).state == "stopped"
    assert time.monotonic() - pressed <= 2.0 * patience()
    assert ended(executor, mine).state == "done"
    executor.close()
    application.kill()
    application.wait()


def test_a_worker_that_outlived_its_application_is_ended_at_the_next_start(
    store: JobStore, settings: Settings, executor: LocalExecutor
) -> None:
    """The lifeline does not reach a process stuck in native code; the recorded identity does."""
    job_id = executor.submit(JobSpec("work", {"items": 1}))
    view = ended(executor, job_id)
    stray = subprocess.Popen(["sleep", "600"], start_new_session=True)
    record = json.loads((view.folder / "job.json").read_text())
    import psutil

    born = psutil.Process(stray.pid).create_time()
    record |= {"state": "running", "worker": {"pid": stray.pid, "born": born - 5}}
    (view.folder / "job.json").write_text(json.dumps(record))
    JobStore(settings)
    assert stray.poll() is None  # another process with that id: not ours
    record |= {"state": "running", "worker": {"pid": stray.pid, "born": born}}
    (view.folder / "job.json").write_text(json.dumps(record))
    JobStore(settings)
    assert stray.wait(10) == -signal.SIGKILL


def test_memory_is_named_only_when_linux_killed_for_it(tmp_path: Path) -> None:
    (tmp_path / "vmstat").write_text("pgfault 12\noom_kill 3\noom_kill_other 9\n")
    assert oom_kills(tmp_path / "vmstat") == 3 and oom_kills(tmp_path / "absent") == 0
    error = diagnose(-signal.SIGKILL, "", memory_ran_out=True)
    assert error.code == "out-of-memory" and "system ended the worker" in error.what.en
    assert diagnose(-signal.SIGSEGV, "", memory_ran_out=True).code == "worker-died"


@pytest.mark.skipif(
    not Path("/proc/self/oom_score_adj").exists(), reason="only Linux kills for want of memory"
)
def test_linux_would_end_the_worker_before_the_application(executor: LocalExecutor) -> None:
    job_id = executor.submit(JobSpec("children", {}))
    view = running_step(executor, job_id)
    pids = [os.getpid(), worker_pid(view), pid_in(view.folder / "outer.pid")]
    ours, worker, child = (int(Path(f"/proc/{pid}/oom_score_adj").read_text()) for pid in pids)
    assert worker == child == 500 and ours < worker
    executor.stop(job_id)
    assert ended(executor, job_id).state == "stopped"


@pytest.mark.parametrize(
    ("returncode", "log", "code", "begins"),
    [
        (137, "", "worker-died", "The worker was killed from outside (SIGKILL)"),
        (74, "", "disk-full", "There is no room left on the disk"),
        (
            -6,
            "Memory access fault by GPU node-1 (Agent handle: 0x55) on address 0x7f.",
            "worker-died",
            "The graphics card or",
        ),
        (
            -6,
            "terminate called after throwing an instance of 'std::bad_alloc'",
            "out-of-memory",
            "The computer ran",
        ),
        (
            70,
            "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 978.00 MiB.",
            "out-of-memory",
            "The graphics card ran",
        ),
        (
            70,
            "RuntimeError: CUDA driver version is insufficient for CUDA runtime",
            "worker-died",
            "The graphics driver",
        ),
        (3, "", "worker-died", "The worker ended without a result (exit status 3)"),
    ],
)
def test_what_a_death_means(returncode: int, log: str, code: str, begins: str) -> None:
    error = diagnose(returncode, log)
    assert error.code == code and error.what.en.startswith(begins) and error.what.zh
