"""Watching one worker: is it alive, does it get on, is it asked to stop; and ending it when it must end."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from signal import SIGABRT, SIGTERM

from pipelines.errors import Message, PipelineError, WorkerDied
from pipelines.jobs.deaths import hung
from pipelines.jobs.folder import JobFolder
from pipelines.jobs.process import descendants, kill_all, signal_group

FOLDER_GONE = WorkerDied(
    Message("The job's folder was deleted while it ran", "任务运行时其文件夹被删除"),
    Message("Press Resume to run it from the start.", "点击“继续”可从头运行。"),
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How patient the executor is, in seconds.

    Attributes:
        heartbeat: without a heartbeat, which comes every second from a thread of its own, the process is stuck.
        silence: without a report of progress. Generous: loading a large model or tuning GPU kernels for the first
            time reports nothing for many minutes.
        polite: after Stop, until the worker gets SIGTERM.
        firm: after Stop, until everything is killed.
        leave: after the outcome is written, until a process that does not go is killed.
    """

    heartbeat: float = 120.0
    silence: float = 1800.0
    polite: float = 0.6
    firm: float = 1.1
    leave: float = 5.0


class _Change:
    """How long a file's time has stood still, on a clock that neither jumps nor runs while the computer sleeps."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp = 0
        self._since = time.monotonic()

    def age(self) -> float:
        try:
            stamp = self._path.stat().st_mtime_ns
        except OSError:
            stamp = 0
        if stamp != self._stamp:
            self._stamp, self._since = stamp, time.monotonic()
        return time.monotonic() - self._since


class Watch:
    """Look after a worker: call ``look`` several times a second until the process has ended, then ``finish``.

    Attributes:
        reason: why the worker was ended from here, if it was.
        hung: the worker gave no sign of life.
        stop_asked: whether Stop was pressed.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        folder: JobFolder,
        limits: Limits,
        stop_asked: Callable[[], bool],
    ) -> None:
        self._process, self._folder, self._limits, self._asked = process, folder, limits, stop_asked
        self._beat, self._progress = _Change(folder.heartbeat), _Change(folder.progress)
        self._stop_at: float | None = None
        self._leave_at: float | None = None
        self._terminated = False
        self.reason: PipelineError | None = None
        self.hung = False

    @property
    def stop_asked(self) -> bool:
        """Whether Stop was pressed while the worker ran."""
        return self._stop_at is not None

    def look(self) -> None:
        """Do what is due: pass on Stop, end a worker that hangs, lost its folder or does not leave."""
        now = time.monotonic()
        if not self._folder.job.exists():
            self._end(FOLDER_GONE)
        elif self._folder.outcome.exists():
            self._leave_at = self._leave_at or now + self._limits.leave
            if now >= self._leave_at:
                self._end(None)
        elif self._stop_at is not None or self._folder.stop.exists() or self._asked():
            self._stop_at = self._stop_at or now
            self._press(now - self._stop_at)
        elif self._beat.age() > self._limits.heartbeat:
            self._give_up(self._limits.heartbeat)
        elif self._progress.age() > self._limits.silence:
            self._give_up(self._limits.silence)

    def finish(self) -> int:
        """Collect the ended process and whatever it left running; returns its exit status (negative: a signal)."""
        kill_all(self._process.pid, [])
        returncode = self._process.wait()
        if self._process.stdin:
            self._process.stdin.close()
        return returncode

    def _press(self, waited: float) -> None:
        if waited >= self._limits.firm:
            self._end(None)
        elif waited >= self._limits.polite and not self._terminated:
            self._terminated = True
            signal_group(self._process.pid, SIGTERM)

    def _give_up(self, silent: float) -> None:
        """SIGABRT first: the worker's fault handler writes to the log where it hangs, even inside native code."""
        self.hung = True
        self._process.send_signal(SIGABRT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        self._end(hung(silent))

    def _end(self, reason: PipelineError | None) -> None:
        self.reason = self.reason or reason
        kill_all(self._process.pid, descendants(self._process.pid))
