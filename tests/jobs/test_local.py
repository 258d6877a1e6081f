"""Jobs that end as they should: results, progress, order, Stop, resume, secrets."""

from __future__ import annotations

import itertools
import json
import os
import signal
import stat
import time
from pathlib import Path

import pytest

from pipelines.backend.policy import Policy
from pipelines.errors import DiskFull, InputError, MediaError, Message, NoFace, OptionError, PipelineError
from pipelines.jobs.local import LocalExecutor
from pipelines.jobs.spec import JobSpec
from pipelines.jobs.store import JobStore
from pipelines.settings import Settings
from tests.jobs.conftest import alive, ended, pid_in, run, running_step, wait_for
from tests.jobs.flows import FLOWS

STOP_WITHIN = 2.0  # the promise of Executor.stop


def test_result_progress_and_notes_come_back(executor: LocalExecutor) -> None:
    view = run(executor, "work", items=4, title="片子 🎬")
    assert view.state == "done" and view.error is None
    assert view.result["title"] == "片子 🎬" and view.result["pid"] > 0
    assert [(s.name, s.done, s.total, s.unit) for s in view.stages] == [("counting", 4, 4, "items")]
    assert [(n.level, n.en, n.zh) for n in view.notes] == [("hint", "counted", "已数完")]
    assert view.started is not None and view.finished is not None
    assert view.created <= view.started <= view.finished
    assert not alive(view.result["pid"])


def test_time_is_counted_for_the_stage_that_spent_it(executor: LocalExecutor) -> None:
    view = run(executor, "sleepy")
    seconds = {stage.name: stage.seconds for stage in view.stages}
    assert seconds["short"] >= 0.4 and seconds["long"] >= 0.8
    assert view.started is not None and view.finished is not None
    assert sum(seconds.values()) <= view.finished - view.started


def test_settings_policy_and_environment_reach_the_flow(store: JobStore, settings: Settings) -> None:
    policy = Policy(threads=7, environment={"DUBWRIGHT_ENDPOINT_KEY": "12345"})
    executor = LocalExecutor(store, settings, policy=policy, flows=FLOWS)
    assert run(executor, "work").result["threads"] == 7
    assert run(executor, "secret").result == {"length": 5}
    executor.close()


def test_jobs_run_one_at_a_time_in_order(executor: LocalExecutor) -> None:
    ids = [executor.submit(JobSpec("work", {"items": 3, "each": 0.1}, str(n))) for n in range(3)]
    wait_for(lambda: executor.view(ids[0]).state == "running", "the first one's start")  # type: ignore[union-attr]
    waiting = [executor.view(job_id) for job_id in ids[1:]]
    assert [(view.state, view.ahead) for view in waiting if view] == [("queued", 1), ("queued", 2)]
    views = [ended(executor, job_id) for job_id in ids]
    assert [view.state for view in views] == ["done"] * 3
    for before, after in itertools.pairwise(views):
        assert before.finished is not None and after.started is not None
        assert before.finished <= after.started


def test_an_expected_failure_keeps_its_words_in_both_languages(executor: LocalExecutor) -> None:
    view = run(executor, "bad_input")
    assert view.state == "failed" and view.error is not None
    error = PipelineError.from_record(view.error)
    assert (error.code, error.exit_code) == ("media", 2)
    assert error.sentence("en") == "The file is not a video (x.mp4). Choose another."
    assert error.sentence("zh") == "文件不是视频 (x.mp4)。请另选。"


@pytest.mark.parametrize("kind", [InputError, MediaError, NoFace])
def test_a_file_is_named_without_its_folders_but_whole_in_the_log(kind: type[InputError]) -> None:
    where = f"/home/me/my cache/uploads/{'ab' * 32}/my talk 你好.mp4, line 3"
    error = PipelineError.from_record(
        kind(Message("It is empty", "文件为空"), Message("", ""), where).record()
    )
    assert error.sentence("en") == "It is empty (my talk 你好.mp4, line 3)."
    assert error.sentence("zh") == "文件为空 (my talk 你好.mp4, line 3)。"
    assert error.sentence("en", whole=True).count(where) == str(error).count(where) == 1
    folder = DiskFull(Message("No room", "没有空间"), where="/home/me/outputs")
    assert folder.sentence("en") == "No room (/home/me/outputs)."


def test_times_and_lines_are_named_as_they_are() -> None:
    assert NoFace(Message("No face", "没有人脸"), where="0:00–0:03").place == "0:00–0:03"


def test_unknown_kind_is_refused(executor: LocalExecutor) -> None:
    with pytest.raises(OptionError, match="work"):
        executor.submit(JobSpec("juggle", {}))


@pytest.mark.parametrize(
    ("kind", "apart"),
    [("work", False), ("silent_child", False), ("spin", False), ("children", False), ("children", True)],
)
def test_stop_ends_everything_within_two_seconds(executor: LocalExecutor, kind: str, apart: bool) -> None:
    """Polite flow, flow that blocks, flow deaf to SIGTERM, flow with children and grandchildren deaf to SIGTERM, in
    the worker's process group or in one of their own.
    """
    job_id = executor.submit(JobSpec(kind, {"items": 1000, "each": 0.05, "apart": apart}))
    folder = executor.view(job_id).folder  # type: ignore[union-attr]
    pids = []
    if kind == "spin":
        wait_for((folder / "spinning").exists, "start")
    else:
        running_step(executor, job_id)
    if kind == "children":
        pids = [pid_in(folder / "outer.pid"), pid_in(folder / "inner.pid")]
    if kind == "silent_child":
        pids = [pid_in(folder / "outer.pid")]
    pids.append(int(json.loads((folder / "job.json").read_text())["worker"]["pid"]))
    assert all(alive(pid) for pid in pids)
    pressed = time.monotonic()
    executor.stop(job_id)
    assert executor.view(job_id).state in ("stopping", "stopped")  # type: ignore[union-attr]
    view = ended(executor, job_id)
    wait_for(lambda: not any(alive(pid) for pid in pids), "the end of all processes")
    assert time.monotonic() - pressed <= STOP_WITHIN
    assert view.state == "stopped" and view.error is not None and view.error["code"] == "stopped"
    if kind == "work":
        assert (folder / "item0.txt").read_text() == "0"  # what was finished is kept
        assert not list(folder.glob(".*.part"))


def test_a_waiting_job_is_stopped_without_running(executor: LocalExecutor) -> None:
    first = executor.submit(JobSpec("work", {"items": 1000, "each": 0.05}))
    second = executor.submit(JobSpec("work", {}))
    running_step(executor, first)
    executor.stop(second)
    view = executor.view(second)
    assert view is not None and view.state == "stopped" and view.started is None
    executor.stop(first)
    assert ended(executor, first).state == "stopped"
    executor.stop("no-such-job")


def test_resume_skips_what_is_finished_and_changed_options_do_not(executor: LocalExecutor) -> None:
    job_id = executor.submit(JobSpec("two_stages", {"pause": 60}))
    wait_for(lambda: len(executor.view(job_id).stages) == 2, "second stage")  # type: ignore[union-attr]
    executor.resume(job_id)  # it runs: nothing happens
    executor.stop(job_id)
    folder = ended(executor, job_id).folder
    first = (folder / "first.txt").read_text()
    blocker = executor.submit(JobSpec("work", {"items": 3, "each": 0.1}))
    executor.resume(job_id, {"pause": 0})
    view = executor.view(job_id)
    assert view is not None and (view.state, view.stages, view.error) == ("queued", (), None)
    assert ended(executor, blocker).state == "done"
    assert ended(executor, job_id).result == {"first_ran": False}
    assert (folder / "first.txt").read_text() == first
    executor.resume(job_id, {"words": "b"})
    view = ended(executor, job_id)
    assert view.result == {"first_ran": True} and view.options == {"pause": 0, "words": "b"}
    assert (folder / "first.txt").read_text().startswith("b ")


def test_notes_of_a_stage_that_is_not_run_again_stay(executor: LocalExecutor) -> None:
    """What was said while listening matters as much after Stop and Resume, or after a crash."""
    job_id = executor.submit(JobSpec("two_stages", {"bomb": int(signal.SIGSEGV)}))
    view = ended(executor, job_id)  # tried twice; the second attempt skips the first stage
    assert view.state == "failed" and [note.en for note in view.notes if note.level == "hint"] == ["made a"]
    executor.resume(job_id)
    assert [note.en for note in ended(executor, job_id).notes if note.level == "hint"] == ["made a"]
    executor.resume(job_id, {"bomb": 0, "words": "b"})
    view = ended(executor, job_id)
    assert view.state == "done" and [note.en for note in view.notes] == ["made b"]


def test_a_key_is_used_but_never_written_down_for_others(executor: LocalExecutor) -> None:
    key = "sk-very-secret"
    job_id = executor.submit(JobSpec("secret", {}), private={"DUBWRIGHT_ENDPOINT_KEY": key})
    view = ended(executor, job_id)
    assert view.result == {"length": len(key)}
    holders = [path for path in view.folder.iterdir() if key.encode() in path.read_bytes()]
    assert [path.name for path in holders] == ["private.json"]
    assert stat.S_IMODE(holders[0].stat().st_mode) == 0o600
    executor.resume(job_id)
    assert ended(executor, job_id).result == {"length": len(key)}
    executor.resume(job_id, private={"DUBWRIGHT_ENDPOINT_KEY": "other"})
    assert ended(executor, job_id).result == {"length": len("other")}
    assert stat.S_IMODE(holders[0].stat().st_mode) == 0o600


def test_programs_left_behind_by_a_finished_flow_are_ended(executor: LocalExecutor) -> None:
    view = run(executor, "linger")
    assert view.state == "done"
    wait_for(lambda: not alive(view.result["pid"]), "the end of the program")


def test_closing_leaves_the_running_job_resumable_and_the_waiting_one_waiting(
    store: JobStore, settings: Settings
) -> None:
    executor = LocalExecutor(store, settings, flows=FLOWS)
    first = executor.submit(JobSpec("work", {"items": 1000, "each": 0.05}))
    second = executor.submit(JobSpec("work", {"items": 1}))
    running_step(executor, first)
    executor.close()
    later = LocalExecutor(JobStore(settings), settings, flows=FLOWS)
    view = later.view(first)
    assert view is not None and view.state == "stopped" and view.error is not None
    assert "closed" in view.error["what"][0]
    assert later.adopt() == (second,)
    assert ended(later, second).state == "done"
    later.resume(first, {"items": 2})
    assert ended(later, first).state == "done"
    later.close()


def test_the_page_process_loads_nothing_heavy(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys, pipelines.jobs.local, pipelines.jobs.store;"
        "print([m for m in ('torch','cv2','mediapipe','onnxruntime','gradio','fastapi','av') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_what_killed_workers_left_in_the_cache_goes_after_a_day(
    executor: LocalExecutor, settings: Settings
) -> None:
    """Half a face track or half a clip's mouths is a folder and may take a gigabyte."""
    long_ago = time.time() - 2 * 24 * 3600
    mouths = settings.cache / "mouths"
    for name in (".old.ab12.part", ".written.cd34.part", "kept"):
        (mouths / name).mkdir(parents=True)
        (mouths / name / "crops.u8").write_bytes(bytes(100))
        if name != ".written.cd34.part":  # its folder is old, what is in it is new
            os.utime(mouths / name / "crops.u8", (long_ago, long_ago))
        os.utime(mouths / name, (long_ago, long_ago))
    file = settings.cache / ".proxy.ef56.mp4.part"
    file.write_bytes(bytes(10))
    os.utime(file, (long_ago, long_ago))
    assert run(executor, "work", items=1).state == "done"
    assert sorted(path.name for path in mouths.iterdir()) == [".written.cd34.part", "kept"]
    assert not file.exists()
