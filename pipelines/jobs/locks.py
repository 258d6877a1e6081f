"""Locks between processes, given back by the kernel when their holder dies (flock(2))."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path

ATTEMPTS = 3  # a look at the lock by another process (``held``) takes it for an instant
PAUSE = 0.02


class FileLock:
    """An exclusive lock on a file. Two objects exclude each other within one process, too."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Take the lock without waiting; False when someone else has it or its folder is gone."""
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        except FileNotFoundError:
            return False
        for _ in range(ATTEMPTS):
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._descriptor = descriptor
                return True
            time.sleep(PAUSE)
        os.close(descriptor)
        return False

    def release(self) -> None:
        """Give it back; twice is once."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def held(path: Path) -> bool:
    """Whether some living process has the lock."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)
