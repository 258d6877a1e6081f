"""History: listed, filtered, paged, kept over restarts and a lost index; deleted only when asked, and only what is ours."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from pathlib import Path

import pytest

from pipelines.errors import InputError
from pipelines.jobs.local import LocalExecutor
from pipelines.jobs.spec import JobSpec
from pipelines.jobs.store import JobStore
from pipelines.settings import Settings
from tests.jobs.conftest import ended, run, running_step
from tests.jobs.flows import FLOWS

DAY = 86400.0


def filled(
    store: JobStore, count: int, state: str = "done", kind: str = "dub", age: float = 0.0
) -> list[str]:
    """Jobs that ended ``age`` seconds ago, oldest first."""
    ids = []
    for number in range(count):
        record, lock = store.create(JobSpec(kind, {"n": number}, f"片 {number}.mp4"))
        path = store.folder(record.id).job
        when = time.time() - age + number
        change = {"state": state, "created": when, "started": when, "finished": when + 1}
        path.write_text(json.dumps(json.loads(path.read_text()) | change))
        lock.release()
        ids.append(record.id)
    return ids


def test_history_survives_a_restart_and_the_loss_of_the_index(
    executor: LocalExecutor, store: JobStore, settings: Settings
) -> None:
    done, failed = run(executor, "work", items=2), run(executor, "bad_input")
    for how in ("restart", "lost", "damaged", "other schema"):
        index = settings.jobs / "index.sqlite"
        if how == "lost":
            index.unlink()
        if how == "damaged":
            index.write_bytes(b"no database at all, but long enough to look like one" * 100)
        if how == "other schema":
            with sqlite3.connect(index) as base:
                base.executescript("DROP TABLE jobs; CREATE TABLE jobs (x); PRAGMA user_version = 99")
        again = JobStore(settings)
        assert again.list() == (failed, done), how
        assert again.list(states=["failed"]) == (failed,), how


def test_an_index_lost_while_the_page_runs_is_made_again(store: JobStore, settings: Settings) -> None:
    ids = filled(store, 3)
    (settings.jobs / "index.sqlite").unlink()
    assert [view.id for view in store.list()] == ids[::-1]
    (settings.jobs / "index.sqlite").write_bytes(b"x" * 5000)
    assert store.count() == 3


def test_a_jobs_folder_that_cannot_be_used_is_named_with_the_way_out(settings: Settings) -> None:
    settings.jobs.parent.mkdir(parents=True, exist_ok=True)
    settings.jobs.write_text("a file where the folder should be")
    with pytest.raises(InputError, match="DUBWRIGHT_JOBS"):
        JobStore(settings)
    settings.jobs.unlink()
    (settings.jobs / "index.sqlite").mkdir(parents=True)
    with pytest.raises(InputError, match="unable to open database file"):
        JobStore(settings)


def test_filters_and_pages(store: JobStore, settings: Settings) -> None:
    dubs, notes = filled(store, 5), filled(store, 3, "failed", "transcribe", age=10)
    store = JobStore(settings)
    assert [view.id for view in store.list(limit=3)] == dubs[::-1][:3]
    assert [view.id for view in store.list(limit=3, offset=3)] == dubs[::-1][3:] + notes[::-1][:1]
    assert [view.id for view in store.list(kinds=["transcribe"])] == notes[::-1]
    assert store.count(states=["done"]) == 5 and store.count() == 8 and store.count(states=["queued"]) == 0
    assert [view.title for view in store.list(text="片 4")] == ["片 4.mp4"]
    assert store.list(text="%") == () and store.list(text="' OR 1=1 --") == ()
    assert store.view("../outside") is None and store.view("") is None


def test_a_damaged_record_hides_one_job_not_the_history(store: JobStore, settings: Settings) -> None:
    ids = filled(store, 3)
    store.folder(ids[1]).job.write_text("{")
    (settings.jobs / "not a job").mkdir()
    assert {view.id for view in JobStore(settings).list()} == {ids[0], ids[2]}


def test_delete_takes_only_the_folder(executor: LocalExecutor, store: JobStore, tmp_path: Path) -> None:
    precious = tmp_path / "film.mp4"
    precious.write_bytes(b"precious")
    view = run(executor, "work")
    (view.folder / "source.mp4").symlink_to(precious)
    (view.folder / "films").symlink_to(tmp_path)
    store.delete(view.id)
    assert not view.folder.exists() and precious.read_bytes() == b"precious"
    assert store.list() == () and store.view(view.id) is None
    store.delete(view.id)
    store.delete("../..")
    assert precious.exists()


def test_a_running_or_waiting_job_is_not_deleted(executor: LocalExecutor, store: JobStore) -> None:
    first = executor.submit(JobSpec("work", {"items": 1000, "each": 0.05}, "clip.mp4"))
    second = executor.submit(JobSpec("work", {}))
    running_step(executor, first)
    for job_id in (first, second):
        with pytest.raises(InputError, match="Stop it first"):
            store.delete(job_id)
    executor.stop(second)
    executor.stop(first)
    ended(executor, first)
    store.delete(second)
    assert [view.id for view in store.list()] == [first]


def test_clean_up_keeps_the_new_the_newest_and_the_unfinished(store: JobStore, settings: Settings) -> None:
    old, recent = filled(store, 6, age=40 * DAY), filled(store, 2, "failed", age=DAY)
    waiting, lock = store.create(JobSpec("dub", {}))
    path = store.folder(waiting.id).job
    path.write_text(json.dumps(json.loads(path.read_text()) | {"created": time.time() - 50 * DAY}))
    store = JobStore(settings)
    assert store.clean_up(30 * DAY, keep=4) == tuple(old[:4][::-1])
    assert {view.id for view in store.list()} == {*old[4:], *recent, waiting.id}
    assert store.clean_up(0, keep=0) == (*recent[::-1], *old[4:][::-1])
    lock.release()


def test_disk_use_counts_blocks_of_the_folder_only(store: JobStore, tmp_path: Path) -> None:
    record, lock = store.create(JobSpec("dub", {}))
    before = store.disk_use(record.id)
    folder = store.folder(record.id).path
    (folder / "lines").mkdir()
    (folder / "lines" / "a.wav").write_bytes(os.urandom(1 << 20))
    (tmp_path / "film.mp4").write_bytes(os.urandom(1 << 20))
    (folder / "source.mp4").symlink_to(tmp_path / "film.mp4")
    assert 1 << 20 <= store.disk_use(record.id) - before <= (1 << 20) + 65536
    lock.release()


def test_a_deletion_cut_off_is_finished_at_the_next_start(store: JobStore, settings: Settings) -> None:
    job_id = filled(store, 1)[0]
    store.folder(job_id).path.rename(settings.jobs / f".deleted-{job_id}")
    assert JobStore(settings).list() == ()
    assert not (settings.jobs / f".deleted-{job_id}").exists()


def test_parts_of_a_killed_attempt_are_swept_before_the_next(store: JobStore, settings: Settings) -> None:
    executor = LocalExecutor(store, settings, flows=FLOWS)
    view = run(executor, "two_stages", bomb=9)
    (view.folder / ".big.1234.mp4.part").write_bytes(b"half")
    cached = [settings.cache / "proxies" / f".{name}.1234.mp4.part" for name in ("old", "new")]
    cached[0].parent.mkdir(parents=True)
    for path in cached:
        path.write_bytes(b"half")
    os.utime(cached[0], (time.time() - 2 * DAY,) * 2)
    executor.resume(view.id, {"bomb": None})
    assert ended(executor, view.id).state == "done"
    assert not list(view.folder.glob(".*.part"))
    assert [path.exists() for path in cached] == [False, True]  # the new one may be somebody's at work
    executor.close()
