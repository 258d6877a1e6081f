"""Transcripts as files: what the rows say now, in the formats asked for, under names that are free; or all in one ZIP."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from pipelines import files, subtitles
from pipelines.editing.table import paragraphs
from pipelines.errors import InputError, Message
from pipelines.types import Segment
from ui.results import file_name
from ui.transcript.documents import Opened

SENTENCES = frozenset({"txt"})  # formats for reading, where a cue's end is no line's end


def written(opened: Opened, form: str, path: Path) -> Path:
    """Write the rows as they are in one format."""
    rows: Sequence[Segment] = opened.edits.table.segments()
    if form in SENTENCES:
        rows = paragraphs(rows)
    subtitles.write(path, rows, subtitles.format_of(Path(f"x.{EXTENSIONS.get(form, form)}")))
    return path


EXTENSIONS = {"textgrid": "TextGrid"}


def save(opened: Opened, forms: Sequence[str], folder: Path) -> list[Path]:
    """Write the rows into a folder in several formats, all under one free name.

    Raises:
        InputError: no format was chosen, or there are no rows. DiskFull.
    """
    if not forms or not opened.edits.table.segments():
        raise InputError(
            Message("There is nothing to save yet", "没有可保存的内容"),
            Message(
                "Choose a format, and have at least one row with text.", "请选择格式，并至少保留一行文字。"
            ),
        )
    stem = file_name(Path(opened.document.name).stem) or "transcript"
    names = [EXTENSIONS.get(form, form) for form in forms]
    free = free_stem(stem, lambda name: any((folder / f"{name}.{extension}").exists() for extension in names))
    folder.mkdir(parents=True, exist_ok=True)
    return [written(opened, form, folder / f"{free}.{name}") for form, name in zip(forms, names, strict=True)]


def free_stem(stem: str, taken: Callable[[str], bool]) -> str:
    """``stem``, ``stem (2)``, ``stem (3)``…: the first that is not taken."""
    name, number = stem, 2
    while taken(name):
        name, number = f"{stem} ({number})", number + 1
    return name


def zipped(documents: Sequence[Opened], forms: Sequence[str], path: Path) -> Path:
    """One archive with the rows of all documents; files of the same name get numbers, none is lost.

    Raises:
        InputError: nothing is finished. DiskFull.
    """
    if not documents:
        raise InputError(
            Message("No file is finished yet", "还没有完成的文件"),
            Message("Wait for the first one.", "请等待第一个文件完成。"),
        )
    taken: set[str] = set()
    path.parent.mkdir(parents=True, exist_ok=True)
    with files.part_file(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for opened in documents:
            stem = file_name(Path(opened.document.name).stem) or "transcript"
            name = free_stem(stem, lambda wanted: wanted.casefold() in taken)
            taken.add(name.casefold())
            for form in forms:
                extension = EXTENSIONS.get(form, form)
                made = written(opened, form, path.with_name(f"one.{extension}"))
                archive.write(made, f"{name}.{extension}")
                made.unlink()
    return path
