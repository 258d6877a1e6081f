"""Stages that are skipped when their work is already there: resume after a crash, re-make only what changed.

A stage leaves its files in the job folder and a stamp ``<name>.stage.json`` with the hash of what it was made from.
The stamp is written last, so a stage cut off in the middle has none and is made again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pipelines.files import read_json, write_json


def fingerprint(path: Path) -> str:
    """SHA-256 of a file's content, read in blocks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def options_key(**values: Any) -> str:
    """A stable hash of JSON-able options and input hashes."""
    text = json.dumps(values, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def finished(folder: Path, name: str, key: str, outputs: Sequence[str]) -> bool:
    """Whether stage ``name`` was finished from the same inputs and its files are still there."""
    stamp = folder / f"{name}.stage.json"
    if not stamp.is_file() or not all((folder / output).exists() for output in outputs):
        return False
    try:
        return bool(read_json(stamp)["key"] == key)
    except (ValueError, KeyError, TypeError):  # a stamp damaged by hand counts as absent
        return False


def run_stage(folder: Path, name: str, key: str, outputs: Sequence[str], make: Callable[[], None]) -> bool:
    """Run ``make`` unless the stage is finished; returns whether it ran. ``make`` writes ``outputs`` into ``folder``."""
    if finished(folder, name, key, outputs):
        return False
    (folder / f"{name}.stage.json").unlink(missing_ok=True)
    make()
    write_json(folder / f"{name}.stage.json", {"key": key, "outputs": list(outputs)})
    return True
