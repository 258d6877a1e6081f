"""Jobs on this computer: one at a time, each in a worker process, watched by a thread of the application."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from pipelines.backend.guard import Action, Step, Trouble, next_step
from pipelines.backend.policy import Policy
from pipelines.errors import Message, OptionError, PipelineError, Stopped, WorkerDied
from pipelines.flows import FLOWS
from pipelines.jobs.deaths import diagnose, oom_kills, trouble_of
from pipelines.jobs.folder import JobFolder, read_state, tail, write_private
from pipelines.jobs.locks import FileLock
from pipelines.jobs.process import identity, start_worker
from pipelines.jobs.record import JobRecord
from pipelines.jobs.report import keep_notes
from pipelines.jobs.spec import FINISHED, JobSpec, JobState, JobView
from pipelines.jobs.store import JobStore
from pipelines.jobs.views import build_view
from pipelines.jobs.watch import Limits, Watch
from pipelines.jobs.worker import write_context
from pipelines.settings import Settings

log = logging.getLogger(__name__)
LOOK = 0.1  # seconds between looks at the worker and at the queue
OLD_PART = 86400.0  # seconds


class LocalExecutor:
    """Runs the jobs submitted here one after the other, in order.

    Applications that share a jobs folder (the page and a command line) share one turn: of all their jobs one runs at a
    time. The process that queues a job holds the job's lock until it has ended, so no other one runs it too; when that
    process dies its worker dies with it and the lock is free.

    Args:
        store: where jobs live.
        settings: handed to the flows.
        policy: handed to the flows; its environment goes to the worker. A function is asked when a job begins, so
            that the user can choose anew between two jobs.
        flows: kind → ``module:function``.
        limits: how patient to be.
        fell_back: is told of every step down the ladder (``pipelines.backend.guard``).
    """

    def __init__(
        self,
        store: JobStore,
        settings: Settings,
        *,
        policy: Policy | Callable[[], Policy] | None = None,
        flows: Mapping[str, str] = FLOWS,
        limits: Limits | None = None,
        fell_back: Callable[[Step], None] = lambda step: None,
    ) -> None:
        self._store, self._settings, self._flows = store, settings, flows
        fixed = policy if isinstance(policy, Policy) else Policy()
        self._policy = policy if callable(policy) else lambda: fixed
        self._limits = limits or Limits()
        self._fell_back = fell_back
        self._queue: dict[str, FileLock] = {}  # in order
        self._running: str | None = None
        self._asked: set[str] = set()  # running jobs that were asked to stop
        self._unsaved: dict[str, JobRecord] = {}  # records the disk had no room for
        self._turn = FileLock(settings.jobs / ".turn.lock")
        self._guard = threading.RLock()
        self._wake = threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = None

    # ---- the protocol --------------------------------------------------------------------------------------------

    def submit(self, spec: JobSpec, private: Mapping[str, str] | None = None) -> str:
        """Queue a job; returns its id at once.

        Args:
            spec: what is asked.
            private: environment variables for the worker that no record or log may show (service keys).

        Raises:
            OptionError: no flow of that kind.
            DiskFull: no room for its folder.
        """
        if spec.kind not in self._flows:
            kinds = ", ".join(self._flows)
            raise OptionError(
                Message(f"There is no job of the kind {spec.kind!r}", f"没有 {spec.kind!r} 类型的任务"),
                Message(f"Choose one of: {kinds}.", f"请从中选择:{kinds}。"),
            )
        record, lock = self._store.create(spec, private)
        self._enqueue(record.id, lock)
        return record.id

    def stop(self, job_id: str) -> None:
        """Ask a job to stop, whichever application runs it; within 2 s it has ended and keeps what is finished."""
        with self._guard:
            record = self._record(job_id)
            if record is None or record.state in FINISHED:
                return
            lock = self._queue.pop(job_id, None) or self._store.claim(job_id)
            if lock is None:  # it runs, here or in another application
                self._asked.add(job_id)
                self._store.ask_to_stop(job_id)
            else:
                self._save(_ended(record, "stopped", error=Stopped()))
                lock.release()
        self._wake.set()

    def resume(
        self,
        job_id: str,
        options: Mapping[str, Any] | None = None,
        private: Mapping[str, str] | None = None,
    ) -> None:
        """Queue an ended job again; stages whose artifacts and options are unchanged are skipped.

        Args:
            job_id: unknown, or waiting or running here or elsewhere: nothing happens.
            options: these options are changed first (a line edited, another engine for one stage).
            private: takes the place of the secret variables given before; None keeps them.
        """
        with self._guard:
            record = self._record(job_id)
            lock = self._store.claim(job_id) if record and record.state in FINISHED else None
            if record is None or lock is None:
                return
            self._asked.discard(job_id)
            self._store.folder(job_id).stop.unlink(missing_ok=True)
            changed = {**record.options, **(options or {})}
            again = dataclasses.replace(
                record, state="queued", options=changed, finished=None, error=None, result={}
            )
            try:
                if changed != record.options:  # what was noted is about another wish
                    self._store.folder(job_id).progress.unlink(missing_ok=True)
                if private is not None:
                    write_private(self._store.folder(job_id).private, dict(private))
                self._store.save(again)
            except BaseException:
                lock.release()
                raise
            self._unsaved.pop(job_id, None)
            self._enqueue(job_id, lock)

    def view(self, job_id: str) -> JobView | None:
        """What can be seen of a job now, or None when there is no such job."""
        with self._guard:
            unsaved = self._unsaved.get(job_id)
            ahead = self._ahead(job_id)
        if unsaved is not None:
            return build_view(unsaved, self._store.folder(job_id))
        view = self._store.view(job_id)
        return view if view is None or ahead is None else dataclasses.replace(view, ahead=ahead)

    # ---- the life of the executor --------------------------------------------------------------------------------

    def adopt(self) -> tuple[str, ...]:
        """Take over waiting jobs whose application is gone (the page does so at its start); returns their ids."""
        taken = []
        for job_id in self._store.waiting():
            lock = self._store.claim(job_id)
            if lock is not None:
                self._enqueue(job_id, lock)
                taken.append(job_id)
        return tuple(taken)

    def close(self) -> None:
        """Stop the running job and end the thread; jobs that wait stay waiting for the next start."""
        with self._guard:
            self._closing = True
            running = self._running
        if running is not None:
            self._asked.add(running)
            self._store.ask_to_stop(running)
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        for lock in self._queue.values():
            lock.release()
        self._queue.clear()

    # ---- inside --------------------------------------------------------------------------------------------------

    def _enqueue(self, job_id: str, lock: FileLock) -> None:
        with self._guard:
            self._queue[job_id] = lock
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)
                self._thread.start()
        self._wake.set()

    def _ahead(self, job_id: str) -> int | None:
        waiting = list(self._queue)
        if job_id not in waiting:
            return None
        return waiting.index(job_id) + (self._running is not None)

    def _work(self) -> None:
        while not self._closing:
            self._wake.wait(LOOK if self._queue or self._unsaved else None)
            self._wake.clear()
            self._save_again()
            self._drop_stopped()
            if not self._queue or not self._take_turn():
                continue
            try:
                self._run_next()
            finally:
                self._turn.release()
                self._wake.set()

    def _take_turn(self) -> bool:
        try:
            self._turn.path.parent.mkdir(parents=True, exist_ok=True)
            return self._turn.take()
        except OSError as error:
            log.warning("the jobs folder cannot be used: %s", error)
            return False

    def _run_next(self) -> None:
        with self._guard:
            if not self._queue or self._closing:
                return
            job_id = next(iter(self._queue))
            lock = self._queue.pop(job_id)
            self._running = job_id
        record = self._record(job_id)
        try:
            record = self._run(record) if record else None
        finally:
            with self._guard:  # nobody sees the job ended before it can be resumed
                if record is not None:
                    self._save(record)
                self._running = None
                lock.release()

    def _run(self, record: JobRecord) -> JobRecord:
        """Run a job, and run it again in safer ways as long as there is one; returns the record of how it ended."""
        policy, taken = self._policy(), list[Action]()
        record = dataclasses.replace(record, steps=[])
        while True:
            record, trouble = self._attempt(record, policy)
            step = next_step(policy, trouble, taken) if trouble and not self._closing else None
            if step is None or record.id in self._asked:
                return record
            log.warning("job %s: %s", record.id, step.message.en)
            taken.append(step.action)
            policy = step.policy
            steps = [*record.steps, step.plain()]
            record = dataclasses.replace(record, steps=steps, finished=None, error=None)
            self._fell_back(step)

    def _attempt(self, record: JobRecord, policy: Policy) -> tuple[JobRecord, Trouble | None]:
        """Run one attempt; returns the record of how it ended, and what the guard may do something about."""
        folder = self._store.folder(record.id)
        record = dataclasses.replace(
            record, state="running", started=time.time(), attempts=record.attempts + 1
        )
        try:
            self._prepare(record, folder, policy)
            start, kills = folder.log.stat().st_size, oom_kills()
            process = start_worker(
                folder.path, self._flows[record.kind], folder.log, self._environment(folder, policy)
            )
        except PipelineError as error:
            return _ended(record, "failed", error=error), None
        except OSError as error:
            return _ended(record, "failed", error=_not_started(error)), None
        record = dataclasses.replace(record, worker=identity(process.pid))
        self._save(record)
        watch = Watch(process, folder, self._limits, lambda: record.id in self._asked)
        while process.poll() is None:
            watch.look()
            self._drop_stopped()
            self._wake.wait(LOOK)
            self._wake.clear()
        watch.look()
        returncode = watch.finish()
        shutil.rmtree(folder.scratch, ignore_errors=True)
        log_text = tail(folder.log, max(1, min(65536, _size(folder) - start)))
        death = diagnose(returncode, log_text, memory_ran_out=oom_kills() > kills)
        record = self._conclude(record, folder, watch, death)
        return record, trouble_of(record, watch.hung, log_text, returncode)

    def _prepare(self, record: JobRecord, folder: JobFolder, policy: Policy) -> None:
        """Clear away what an earlier attempt left and write what the worker reads."""
        for path in (folder.outcome, *folder.path.rglob(".*.part")):
            path.unlink(missing_ok=True)
        keep_notes(folder)
        self._clear_old_parts()
        shutil.rmtree(folder.scratch, ignore_errors=True)
        folder.scratch.mkdir()
        folder.heartbeat.touch()
        self._store.save(record)
        write_context(folder, self._settings, policy)
        with folder.log.open("a", encoding="utf-8") as file:
            file.write(f"--- attempt {record.attempts}, {time.strftime('%Y-%m-%d %H:%M:%S')}\n")

    def _clear_old_parts(self) -> None:
        """Remove what killed workers left half written in the cache, files and folders, a day ago or earlier."""
        limit = time.time() - OLD_PART
        for part in list(self._settings.cache.rglob(".*.part")):
            with contextlib.suppress(OSError):  # another process clears too
                inside = part.iterdir() if part.is_dir() else ()
                if max(path.stat().st_mtime for path in (part, *inside)) >= limit:
                    continue
                if part.is_dir():
                    shutil.rmtree(part)
                else:
                    part.unlink()

    def _environment(self, folder: JobFolder, policy: Policy) -> dict[str, str]:
        private = {str(key): str(value) for key, value in read_state(folder.private).items()}
        # A worker that is killed clears nothing away, and libraries leave copies of themselves behind: they lie where
        # the executor removes them.
        scratch = {"TMPDIR": str(folder.scratch)}
        return {**policy.environment, **private, **scratch}

    def _conclude(
        self, record: JobRecord, folder: JobFolder, watch: Watch, death: PipelineError
    ) -> JobRecord:
        """The outcome that the worker wrote, or else what its death means; after Stop anything but done is stopped."""
        outcome = read_state(folder.outcome)
        if outcome.get("state") == "done":
            return _ended(record, "done", result=outcome["result"])
        if watch.stop_asked or outcome.get("state") == "stopped":
            return _ended(record, "stopped", error=CLOSED if self._closing else Stopped())
        if outcome.get("state") == "failed":
            return dataclasses.replace(_ended(record, "failed"), error=outcome["error"])
        error = watch.reason or death
        log.warning("job %s: the worker died: %s", record.id, error)
        return _ended(record, "failed", error=error)

    def _record(self, job_id: str) -> JobRecord | None:
        return self._unsaved.get(job_id) or self._store.record(job_id)

    def _save(self, record: JobRecord) -> None:
        """Save, or keep in memory until there is room again."""
        try:
            self._store.save(record)
            self._unsaved.pop(record.id, None)
        except (PipelineError, OSError) as error:
            log.warning("job %s: record not written: %s", record.id, error)
            self._unsaved[record.id] = record

    def _save_again(self) -> None:
        for record in list(self._unsaved.values()):
            self._save(record)

    def _drop_stopped(self) -> None:
        """Waiting jobs that another application asked to stop."""
        with self._guard:
            asked = [job_id for job_id in self._queue if self._store.folder(job_id).stop.exists()]
        for job_id in asked:
            self.stop(job_id)


CLOSED = Stopped(Message("Dubwright was closed while this job ran", "任务运行时 Dubwright 已关闭"))


def _ended(
    record: JobRecord,
    state: JobState,
    *,
    result: dict[str, Any] | None = None,
    error: PipelineError | None = None,
) -> JobRecord:
    return dataclasses.replace(
        record,
        state=state,
        finished=time.time(),
        worker={},
        result=result or {},
        error=error.record() if error else None,
    )


def _not_started(error: OSError) -> WorkerDied:
    reason = os.strerror(error.errno) if error.errno else str(error)
    return WorkerDied(
        Message(f"The worker could not be started: {reason}", f"无法启动工作进程:{reason}"),
        Message("Close other programs and press Resume.", "请关闭其他程序后点击“继续”。"),
    )


def _size(folder: JobFolder) -> int:
    try:
        return folder.log.stat().st_size
    except OSError:
        return 0
