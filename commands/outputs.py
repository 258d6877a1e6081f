"""Where results go: checked before the work begins, written whole, never over a file unless asked."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from commands.parsing import refuse
from pipelines.errors import InputError, Message
from pipelines.files import free_name, part_file


def is_folder(name: str) -> bool:
    """Whether ``-o`` means a folder: it is one, or ends in a slash, or has no extension."""
    path = Path(name).expanduser()
    return path.is_dir() or name.endswith(("/", os.sep)) or not path.suffix


def goal(name: str, several: bool, default_name: str, kinds: tuple[str, ...]) -> Path:
    """The file to be written.

    Args:
        name: what ``-o`` says.
        several: more than one result is to be written, so it must be a folder.
        default_name: the file's name in a folder.
        kinds: extensions (without dot) that can be written.

    Raises:
        OptionError: a file for several results, or an extension that cannot be written.
    """
    path = Path(name).expanduser().absolute()
    if is_folder(name):
        return path / default_name
    if several:
        refuse("Several inputs need a folder after -o", "多个输入时,-o 后应为文件夹", name)
    if path.suffix.lower().lstrip(".") not in kinds:
        refuse(
            f"The output must end in {' or '.join('.' + kind for kind in kinds)}",
            f"输出文件的扩展名应为 {' / '.join('.' + kind for kind in kinds)}",
            path.name,
        )
    return path


def check_goals(goals: Iterable[Path], sources: Iterable[Path], overwrite: bool) -> None:
    """Refuse before any work is done what could not be delivered afterwards.

    Raises:
        OptionError: a file exists, two results have one name, or a result would replace its source.
        InputError: the folder cannot be written.
    """
    originals = {source.resolve() for source in sources}
    seen: set[Path] = set()
    for path in goals:
        if path.resolve() in originals:
            refuse(
                "The output would replace the input: choose another name",
                "输出会覆盖输入:请换一个文件名",
                str(path),
            )
        if path in seen:
            refuse("Two results would get the same name", "两个结果会使用同一文件名", str(path))
        seen.add(path)
        if path.exists() and not overwrite:
            refuse(
                "The output file exists already: choose another name, or add --overwrite to replace it",
                "输出文件已存在:请换一个文件名,或加上 --overwrite 覆盖",
                str(path),
            )
        _check_writable(path)


def _check_writable(path: Path) -> None:
    folder = path.parent
    while not folder.exists():
        folder = folder.parent
    try:  # what the permissions say is not enough: the medium may be read-only, or no disk at all
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            Message("This folder cannot be written to", "该文件夹不可写"),
            Message("Choose another one after -o.", "请在 -o 后选择其他文件夹。"),
            str(folder),
        ) from error


def deliver(made: Path, path: Path, overwrite: bool) -> Path:
    """Copy a result to its place; if a file has appeared there meanwhile, under the next free name. Returns the place.

    Raises:
        DiskFull: there is no room. InputError: the place has become unwritable. The result stays in the job's folder.
    """
    place = path if overwrite else free_name(path)
    try:
        with part_file(place) as part:
            shutil.copyfile(made, part)
    except OSError as error:
        raise InputError(
            Message("The result could not be written there", "无法将结果写到该位置"),
            Message(f"It is kept as {made}: copy it from there.", f"结果保存在 {made},请从那里复制。"),
            str(place),
        ) from error
    return place
