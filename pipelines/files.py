"""Writing files so that nothing is ever half there: to ``*.part`` first, then renamed; never over a user's file."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipelines.errors import DiskFull, Message


@contextlib.contextmanager
def part_file(path: Path) -> Iterator[Path]:
    """Give a ``*.part`` name beside ``path`` (same extension kept before it) to write; rename it when all went well.

    On any exception the part is removed and ``path`` stays as it was.

    Raises:
        DiskFull: the disk had no room left.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.stem}.{uuid.uuid4().hex[:8]}{path.suffix}.part")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        if error.errno == errno.ENOSPC:
            raise DiskFull(
                Message("There is no room left on the disk", "磁盘空间已满"),
                Message("Free some space and press Resume.", "请释放空间后点击“继续”。"),
                str(path.parent),
            ) from error
        raise
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text in one step: a reader sees the old file or the new one, a crash leaves one of them."""
    with part_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def write_json(path: Path, value: Any) -> None:
    """Write JSON in one step, readable by people (UTF-8, indented)."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def free_name(path: Path) -> Path:
    """The path itself, or ``name (2).ext``, ``name (3).ext``… when something stands there already."""
    candidate, number = path, 2
    while candidate.exists():
        candidate = path.with_name(f"{path.stem} ({number}){path.suffix}")
        number += 1
    return candidate
