"""What lies in a job's folder besides the flow's artifacts, and who writes it.

====================  ==========================  ==================================================================
file                  written by                  meaning
====================  ==========================  ==================================================================
``job.json``          the store                   what was asked, the state and how it ended: the truth about a job
``run.json``          the executor                settings and policy for the worker
``progress.json``     the worker, replaced whole  stages and notes
``outcome.json``      the worker, once            result or error of the attempt
``heartbeat``         the worker, touched         its time says that the worker process is alive
``stop``              anyone                      its presence asks the job to stop
``private.json``      the executor, mode 600      environment variables that no record or log may show (keys)
``log.txt``           the worker, appended        its output and error streams
``scratch``           the worker                  its temporary files; gone when the attempt has ended, however it ended
``.lock``             the executor                held (flock) by the one process that answers for the job
====================  ==========================  ==================================================================

Every file has one writer, so no two processes edit the same one. Progress is a small file replaced whole rather than a
growing list of events: a three-hour job writes it tens of thousands of times, its reader wants only the newest state,
and the rename makes sure that nobody sees half of it.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class JobFolder:
    """The names of a job's own files below ``path``."""

    path: Path

    @property
    def job(self) -> Path:
        """The record."""
        return self.path / "job.json"

    @property
    def run(self) -> Path:
        """Settings and policy of the attempt."""
        return self.path / "run.json"

    @property
    def progress(self) -> Path:
        """Stages and notes."""
        return self.path / "progress.json"

    @property
    def outcome(self) -> Path:
        """Result or error of the attempt."""
        return self.path / "outcome.json"

    @property
    def heartbeat(self) -> Path:
        """Touched every second by the worker."""
        return self.path / "heartbeat"

    @property
    def stop(self) -> Path:
        """The wish to stop."""
        return self.path / "stop"

    @property
    def private(self) -> Path:
        """Secret environment variables."""
        return self.path / "private.json"

    @property
    def log(self) -> Path:
        """The worker's output."""
        return self.path / "log.txt"

    @property
    def scratch(self) -> Path:
        """Folder of the worker's temporary files."""
        return self.path / "scratch"

    @property
    def lock(self) -> Path:
        """Held by the process that answers for the job."""
        return self.path / ".lock"


def read_state(path: Path) -> dict[str, Any]:
    """A JSON object that another process may be about to write, or may have lost; empty when it cannot be read."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def replace_state(path: Path, value: dict[str, Any]) -> None:
    """Replace a small JSON file in one step, without waiting for the disk: what a power cut loses here can be lost.

    Raises:
        OSError: the folder is gone or the disk is full; the old file stays.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
        part.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def write_private(path: Path, variables: dict[str, str]) -> None:
    """Write secrets so that no other user of the computer can read them at any moment."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(variables, file, ensure_ascii=False)


def tail(path: Path, size: int = 65536) -> str:
    """The last ``size`` bytes of a log as text; empty when there is none."""
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - size))
            return file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
