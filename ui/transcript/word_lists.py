"""Hotword lists by name, one for each project: text files in the jobs folder that a person can read and copy."""

from __future__ import annotations

from pathlib import Path

from pipelines import files
from pipelines.errors import InputError, Message
from pipelines.settings import Settings
from ui.results import file_name


def _folder(settings: Settings) -> Path:
    return settings.jobs / "hotwords"


def names(settings: Settings) -> list[str]:
    """All lists, sorted."""
    return sorted(path.stem for path in _folder(settings).glob("*.txt"))


def keep(settings: Settings, name: str, words: str) -> None:
    """Keep the words under a name; a list of that name is replaced, and without words it goes.

    Raises:
        InputError: the name is empty. DiskFull.
    """
    stem = file_name(name)
    if not stem:
        raise InputError(
            Message("The list has no name", "词表没有名称"),
            Message("Write the project's name into the box beside the button.", "请在按钮旁填写项目名称。"),
        )
    path = _folder(settings) / f"{stem}.txt"
    if words.strip():
        files.write_text(path, words.strip() + "\n")
    else:
        path.unlink(missing_ok=True)


def words(settings: Settings, name: str) -> str | None:
    """The words of a list, one a line; None when there is no such list."""
    path = _folder(settings) / f"{file_name(name)}.txt"
    return path.read_text(encoding="utf-8").strip() if file_name(name) and path.is_file() else None
