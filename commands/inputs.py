"""Which inputs a command works on: files, the media in folders, or the rows of a table."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from commands.parsing import existing_file, refuse
from pipelines.errors import InputError, Message
from pipelines.text.encodings import decoded

VIDEO = frozenset(
    {".mp4", ".mov", ".mkv", ".webm", ".avi", ".m4v", ".flv", ".wmv", ".mpg", ".mpeg", ".ts", ".mts", ".3gp"}
)
SOUND = frozenset({".wav", ".mp3", ".flac", ".m4a", ".aac", ".ogg", ".opus", ".wma", ".aiff", ".aif"})
PICTURE = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp"})


def expand(names: Sequence[str], kinds: frozenset[str]) -> list[Path]:
    """The files named, in order; a folder stands for the files of these kinds directly in it, sorted by name.

    Raises:
        InputError: a file is not there, or a folder holds none of them.
    """
    found: list[Path] = []
    for name in names:
        folder = Path(name).expanduser().absolute()
        if not folder.is_dir():
            found.append(existing_file(name))
            continue
        inside = sorted(
            path
            for path in folder.iterdir()
            if path.suffix.lower() in kinds and not path.name.startswith(".")
        )
        if not inside:
            raise InputError(
                Message("No fitting file in this folder", "该文件夹中没有合适的文件"),
                Message(f"Fitting are: {' '.join(sorted(kinds))}", f"可用类型:{' '.join(sorted(kinds))}"),
                str(name),
            )
        found += inside
    return found


def read_table(path: Path, allowed: Sequence[str], required: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a CSV table (comma, semicolon or tab; UTF-8 or GB18030); empty cells are left out.

    Args:
        path: the table; its first row names the columns.
        allowed: column names that make sense. required: those that every row must fill.

    Raises:
        InputError: no such file, no rows, a column without meaning, or a missing value, with its row.
    """
    raw = existing_file(path).read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("gb18030", errors="replace")
    head = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.DictReader(text.splitlines(), delimiter=delimiter)
    columns = [(name or "").strip().lower() for name in reader.fieldnames or []]
    strange = [name for name in columns if name not in allowed]
    if strange or not columns:
        refuse(
            f"The table has a column {strange[0]!r} without meaning; it may have: {', '.join(allowed)}"
            if strange
            else "The table is empty",
            f"表格中的列 {strange[0]!r} 无法识别;可用列:{', '.join(allowed)}" if strange else "表格为空",
            path.name,
        )
    rows = []
    for number, values in enumerate(reader, start=2):
        cells = {
            k.strip().lower(): v.strip() for k, v in values.items() if k and isinstance(v, str) and v.strip()
        }
        for name in required:
            if cells and name not in cells:
                refuse(
                    f"Row {number} of the table has no {name}", f"表格第 {number} 行缺少 {name}", path.name
                )
        if cells:
            rows.append(cells)
    if not rows:
        refuse("The table has no rows", "表格没有内容", path.name)
    return rows


def paired(first: list[Path], second: list[Path], names: tuple[str, str]) -> list[tuple[Path, Path]]:
    """One with many, many with one, or one by one in order.

    Raises:
        OptionError: the numbers do not fit.
    """
    if len(first) == 1 or len(second) == 1:
        return [(a, b) for a in first for b in second]
    if len(first) != len(second):
        refuse(
            f"{len(first)} {names[0]} and {len(second)} {names[1]} do not pair up: give one of either, or as many of both",
            f"{len(first)} 个 {names[0]} 与 {len(second)} 个 {names[1]} 无法配对:请任一方只给一个,或数量相同",
        )
    return list(zip(first, second, strict=True))


def beside(source: Path, folder: Path, language: str) -> Path | None:
    """The subtitle file in ``folder`` that belongs to a video: ``talk.es.srt``, ``talk-es.srt`` or ``talk.srt``."""
    for stem in (f"{source.stem}.{language}", f"{source.stem}-{language}", source.stem):
        for suffix in (".srt", ".vtt", ".ass"):
            candidate = folder / f"{stem}{suffix}"
            if candidate.is_file():
                return candidate.absolute()
    return None


def text_of(path: Path) -> str:
    """What is written in a text file, in whatever encoding.

    Raises:
        InputError: it is no text, or nothing is written in it.
    """
    text = decoded(path.read_bytes())
    if text is None or not text.strip():
        refuse("There is no text in this file", "该文件中没有文字", path.name)
    return text
