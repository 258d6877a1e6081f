"""What Dubwright keeps in its cache folder only to be quicker the next time: how much it is, and a way to be rid of it.

Face tracks and mouth pictures, preview copies, learnt voices and the parts of the voice graph are made again when they
are needed.
Uploads, links for the page and what was measured of this machine are not among them.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from pipelines.errors import InputError, Message
from pipelines.jobs.locks import FileLock
from pipelines.settings import Settings

FOLDERS = ("faces", "mouths", "proxies", "voices", "accents", "kokoro")


def size(settings: Settings) -> int:
    """Bytes on the disk."""
    return sum(_disk_use(path) for path in _files(settings))


def empty(settings: Settings) -> int:
    """Delete it all; returns the bytes freed. No job can begin meanwhile.

    Raises:
        InputError: a job is running, here or in another Dubwright with the same jobs folder; it may be reading there.
    """
    turn = FileLock(settings.jobs / ".turn.lock")
    settings.jobs.mkdir(parents=True, exist_ok=True)
    if not turn.take():
        raise InputError(
            Message("A job is running and uses these files", "有任务正在运行并使用这些文件"),
            Message("Wait until it has ended, or stop it.", "请等它结束,或先停止它。"),
        )
    try:
        freed = size(settings)
        for name in FOLDERS:
            shutil.rmtree(settings.cache / name, ignore_errors=True)
        return freed - size(settings)
    finally:
        turn.release()


def _files(settings: Settings) -> Iterator[Path]:
    for name in FOLDERS:
        for path in (settings.cache / name).rglob("*"):
            if not path.is_dir():
                yield path


def _disk_use(path: Path) -> int:
    with contextlib.suppress(FileNotFoundError):  # renamed while we look
        return path.lstat().st_blocks * 512
    return 0
