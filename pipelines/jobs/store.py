"""All jobs of this computer: their folders, found and filtered through an index, deleted only when asked.

The clean-up rule, stated to the user by ``CLEAN_UP_RULE``: nothing is deleted by itself. On request, jobs that ended
longer ago than a given time are deleted, the newest few of them excepted. Waiting and running jobs are never touched,
nor anything outside the job folders: results copied to ``outputs/`` and the user's own files stay.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import shutil
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pipelines.errors import InputError, Message, Stopped
from pipelines.files import write_json
from pipelines.jobs.folder import JobFolder, read_state, write_private
from pipelines.jobs.index import Filter, JobIndex
from pipelines.jobs.locks import FileLock, held
from pipelines.jobs.process import end_leftover
from pipelines.jobs.record import JobRecord
from pipelines.jobs.spec import FINISHED, JobSpec, JobState, JobView
from pipelines.jobs.views import build_view
from pipelines.settings import Settings

log = logging.getLogger(__name__)
T = TypeVar("T")

DELETED = ".deleted-"
KEPT = 20  # jobs that a clean-up leaves in any case
CLEAN_UP_RULE = Message(
    "No job is deleted by itself. Clean up deletes jobs that ended longer ago than the days chosen, except the"
    f" newest {KEPT}; results in the outputs folder and your own files stay.",
    f"不会自动删除任何任务。“清理”只删除结束时间早于所选天数的任务,并保留最近的 {KEPT} 个;"
    "outputs 文件夹中的结果和您自己的文件不受影响。",
)
INTERRUPTED = Stopped(
    Message("Dubwright was closed while this job ran", "任务运行时 Dubwright 已关闭"),
    Message("What was finished is kept: press Resume.", "已完成的部分会保留,请点击“继续”。"),
)


class JobStore:
    """The job folders below ``settings.jobs`` and their index. Safe to use from several threads and processes.

    Raises:
        InputError: the folder cannot be made or written, with the reason.
    """

    def __init__(self, settings: Settings) -> None:
        self.root = settings.jobs
        self._index = JobIndex(self.root / "index.sqlite")
        self._stale: set[str] = set()
        self._guard = threading.Lock()
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            self._index.prepare()
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(
                Message(f"The jobs folder cannot be used: {reason}", f"任务文件夹无法使用:{reason}"),
                Message(
                    "Make it writable, or name another one in DUBWRIGHT_JOBS.",
                    "请设为可写,或用 DUBWRIGHT_JOBS 指定其他文件夹。",
                ),
                str(self.root),
            ) from error
        self._sweep()
        self._synchronise()
        self.recover()

    # ---- one job -------------------------------------------------------------------------------------------------

    def folder(self, job_id: str) -> JobFolder:
        """Where a job lives, whether or not it exists."""
        return JobFolder(self.root / Path(job_id).name)

    def create(self, spec: JobSpec, private: Mapping[str, str] | None = None) -> tuple[JobRecord, FileLock]:
        """Make the folder of a new job, waiting to be run by the caller, who holds its lock from the first moment.

        Args:
            spec: what is asked.
            private: environment variables for the worker that no record may show (service keys).

        Raises:
            DiskFull: there is no room for it.
        """
        now = time.time()
        job_id = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}-{spec.kind}-{uuid.uuid4().hex[:6]}"
        folder = self.folder(job_id)
        folder.path.mkdir(parents=True)
        lock = FileLock(folder.lock)
        lock.take()
        if private:
            write_private(folder.private, dict(private))
        record = JobRecord(job_id, spec.kind, spec.title, dict(spec.options), now)
        try:
            self.save(record)
        except BaseException:
            lock.release()
            shutil.rmtree(folder.path, ignore_errors=True)
            raise
        return record, lock

    def claim(self, job_id: str) -> FileLock | None:
        """Become the one process that answers for a job; None when another one does or there is no such job."""
        lock = FileLock(self.folder(job_id).lock)
        return lock if self.folder(job_id).job.is_file() and lock.take() else None

    def record(self, job_id: str) -> JobRecord | None:
        """The record of a job, or None when there is no such job."""
        return JobRecord.from_json(read_state(self.folder(job_id).job))

    def save(self, record: JobRecord) -> None:
        """Write a record; its folder is made again if somebody deleted it.

        Raises:
            DiskFull: there is no room; the old record stays.
        """
        write_json(self.folder(record.id).job, record.to_json())
        with self._guard:
            self._stale.add(record.id)
        self._renew()

    def view(self, job_id: str) -> JobView | None:
        """What can be seen of a job; one whose application died under it is found out here and becomes resumable."""
        record = self.record(job_id)
        if record is None:
            return None
        folder = self.folder(job_id)
        if record.state == "running" and not held(folder.lock):
            record = self._interrupt(job_id) or record
        return build_view(record, folder)

    def ask_to_stop(self, job_id: str) -> None:
        """Leave the wish to stop in the job's folder, for the process that runs it, whichever that is."""
        if self.folder(job_id).job.is_file():
            with contextlib.suppress(
                OSError
            ):  # a full disk takes no new file; the executor has its other ways
                self.folder(job_id).stop.touch()

    # ---- many jobs -----------------------------------------------------------------------------------------------

    def list(
        self,
        *,
        states: Sequence[JobState] = (),
        kinds: Sequence[str] = (),
        text: str = "",
        limit: int = 50,
        offset: int = 0,
    ) -> tuple[JobView, ...]:
        """A page of matching jobs, newest first; ``states`` and ``kinds`` empty mean all, a negative limit means all."""
        self._renew()
        wanted = Filter(tuple(states), tuple(kinds), text)
        ids = self._ask(lambda index: index.ids(wanted, limit, offset))
        views = {job_id: self.view(job_id) for job_id in ids}
        gone = [job_id for job_id, view in views.items() if view is None]
        if gone:
            self._ask(lambda index: index.remove(gone))
        return tuple(view for view in views.values() if view is not None)

    def count(self, *, states: Sequence[JobState] = (), kinds: Sequence[str] = (), text: str = "") -> int:
        """How many jobs match."""
        self._renew()
        wanted = Filter(tuple(states), tuple(kinds), text)
        return self._ask(lambda index: index.count(wanted))

    def ended_since(self, moment: float) -> tuple[tuple[str, float], ...]:
        """Id and time of the end of jobs that ended at ``moment`` (POSIX seconds) or later, in order."""
        self._renew()
        return tuple(self._ask(lambda index: index.ended_since(moment)))

    def disk_use(self, job_id: str) -> int:
        """Bytes that the job's folder takes on the disk; links count as links, not as what they point at."""
        total = 0
        for place, _, names in os.walk(self.folder(job_id).path):
            for name in names:
                try:
                    total += (Path(place) / name).lstat().st_blocks * 512
                except FileNotFoundError:  # a running job renames its files
                    continue
        return total

    def delete(self, job_id: str) -> None:
        """Delete an ended job's folder and its row. What it saved elsewhere stays. Unknown: nothing happens.

        Raises:
            InputError: the job is waiting or running.
        """
        record, folder = self.record(job_id), self.folder(job_id)
        if record is None:
            return
        lock = self.claim(job_id)
        if lock is None or record.state not in FINISHED:
            if lock is not None:
                lock.release()
            raise InputError(
                Message("The job is still waiting or running", "任务仍在等待或运行"),
                Message("Stop it first, then delete it.", "请先停止任务,再删除。"),
                record.title or job_id,
            )
        doomed = self.root / f"{DELETED}{job_id}"
        folder.path.rename(doomed)  # one step: a crash in the middle leaves no half a job
        lock.release()
        shutil.rmtree(doomed, ignore_errors=True)
        self._ask(lambda index: index.remove([job_id]))

    def clean_up(self, older_than: float, keep: int = KEPT) -> tuple[str, ...]:
        """Delete jobs by ``CLEAN_UP_RULE``; returns the ids deleted.

        Args:
            older_than: seconds since the end of a job.
            keep: so many of the newest ended jobs stay in any case.
        """
        ended = self.list(states=tuple(FINISHED), limit=-1)
        limit = time.time() - older_than
        doomed = [view.id for view in ended[keep:] if (view.finished or view.created) < limit]
        for job_id in doomed:
            self.delete(job_id)
        return tuple(doomed)

    def waiting(self) -> tuple[str, ...]:
        """Waiting jobs that no living process answers for, oldest first: an executor may take them over."""
        self._renew()
        ids = self._ask(lambda index: index.ids(Filter(("queued",)), -1, 0))
        return tuple(job_id for job_id in reversed(ids) if not held(self.folder(job_id).lock))

    def recover(self) -> None:
        """Find jobs whose application died while they ran: they become ``stopped``, with the reason, to be resumed."""
        for job_id in self._index.ids(Filter(("running",)), -1, 0):
            if not held(self.folder(job_id).lock):
                self._interrupt(job_id)

    # ---- inside --------------------------------------------------------------------------------------------------

    def _interrupt(self, job_id: str) -> JobRecord | None:
        lock = self.claim(job_id)
        if lock is None:
            return None
        try:
            record = self.record(job_id)
            if record is None or record.state != "running":
                return record
            end_leftover(record.worker)
            record = dataclasses.replace(
                record, state="stopped", finished=time.time(), error=INTERRUPTED.record(), worker={}
            )
            self.save(record)
            return record
        finally:
            lock.release()

    def _renew(self) -> None:
        """Write the rows that are due; what cannot be written now stays due, for the folder has it anyway."""
        with self._guard:
            ids, self._stale = self._stale, set()
        rows = [row for row in map(self._row, ids) if row is not None]
        if not rows:
            return
        try:
            self._ask(lambda index: index.put(rows))
        except sqlite3.Error as error:
            log.warning("job index not updated: %s", error)
            with self._guard:
                self._stale |= ids

    def _ask(self, question: Callable[[JobIndex], T]) -> T:
        """Use the index; a lost or damaged one is made again from the folders first."""
        try:
            return question(self._index)
        except sqlite3.DatabaseError as error:
            log.warning("the job index is made again: %s", error)
            self._index.prepare()
            self._synchronise()
            return question(self._index)

    def _row(self, job_id: str) -> tuple[JobRecord, int] | None:
        try:
            stamp = self.folder(job_id).job.stat().st_mtime_ns
        except OSError:
            return None
        record = self.record(job_id)
        return None if record is None else (record, stamp)

    def _synchronise(self) -> None:
        """Make the index agree with the folders."""
        known = self._index.stamps()
        found: dict[str, int] = {}
        for path in self.root.glob("*/job.json"):
            if not path.parent.name.startswith("."):
                found[path.parent.name] = path.stat().st_mtime_ns
        changed = [job_id for job_id, stamp in found.items() if known.get(job_id) != stamp]
        rows = [row for row in map(self._row, changed) if row is not None]
        self._index.put(rows)
        self._index.remove([job_id for job_id in known if job_id not in found])

    def _sweep(self) -> None:
        """Finish deletions that were cut off."""
        for path in self.root.glob(f"{DELETED}*"):
            shutil.rmtree(path, ignore_errors=True)
