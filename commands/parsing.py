"""Flags that all commands share, and values checked with a plain sentence."""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path
from typing import Any, NoReturn

from pipelines.errors import InputError, Message, OptionError
from pipelines.faces import MOST_PEOPLE


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaint is one sentence."""

    def error(self, message: str) -> NoReturn:
        """Leave with exit code 2."""
        sentence = message[:1].upper() + message[1:].rstrip(".")
        self.exit(2, f"{sentence}. See `{self.prog} --help`.\n")


def common_flags(*, after_command: bool = False) -> argparse.ArgumentParser:
    """Flags that may stand before or after a command; after it, absent ones must not reset what stood before."""

    def unless(value: Any) -> Any:
        return argparse.SUPPRESS if after_command else value

    flags = argparse.ArgumentParser(add_help=False)
    machine = flags.add_argument_group("machine")
    machine.add_argument(
        "--device",
        metavar="DEVICE",
        default=unless("auto"),
        help="auto, cpu, cuda:N or mps: where engines run",
    )
    machine.add_argument(
        "--cpu",
        dest="device",
        action="store_const",
        const="cpu",
        default=unless("auto"),
        help="short for --device cpu",
    )
    machine.add_argument(
        "--safe-mode",
        action=argparse.BooleanOptionalAction,
        default=unless(None),
        help="cautious mode: full precision and small working sizes (on by itself on AMD cards)",
    )
    machine.add_argument(
        "--no-half", action="store_true", default=unless(False), help="full precision, sizes as they are"
    )
    machine.add_argument(
        "--compile", action="store_true", default=unless(False), help="compile networks (NVIDIA cards)"
    )
    machine.add_argument(
        "--graphs",
        action="store_true",
        default=unless(False),
        help="record networks as CUDA graphs (NVIDIA cards)",
    )
    flags.add_argument("--debug", action="store_true", default=unless(False), help="verbose log, tracebacks")
    return flags


def output_flags(parser: argparse.ArgumentParser, what: str) -> None:
    """Where results go and how the command reports."""
    parser.add_argument(
        "-o", "--output", required=True, metavar="OUT", help=f"{what}, or a folder for several inputs"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace existing files")
    parser.add_argument(
        "--table", type=Path, metavar="FILE.csv", help="one job a row; the columns are named like the flags"
    )
    parser.add_argument("--json", action="store_true", help="the result as JSON on stdout")


def person_number(text: str) -> int:
    """A flag's person, counted from 1."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST_PEOPLE:
        raise argparse.ArgumentTypeError(f"{text!r} is not a person from 1 to {MOST_PEOPLE}")
    return int(text)


def number(low: float, high: float, name: str) -> Any:
    """A flag's number within [low, high]."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a {name} between {low:g} and {high:g}")
        return value

    return parse


def moment(text: str) -> float:
    """A time as seconds, ``m:ss`` or ``h:mm:ss``."""
    if not re.fullmatch(r"(\d+:)?(\d{1,2}:)?\d+(\.\d+)?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 95, 1:35 or 1:02:03.5")
    seconds = 0.0
    for part in text.split(":"):
        seconds = seconds * 60 + float(part)
    return seconds


def language_code(text: str) -> str:
    """An ISO 639-1 code: ``es``, also written ``ES`` or ``es-MX``."""
    code = re.split(r"[-_]", text.strip().lower())[0]
    if not re.fullmatch(r"[a-z]{2,3}", code):
        raise argparse.ArgumentTypeError(f"{text!r} is not a language code such as en, es or zh")
    return code


def known_code(text: str) -> str:
    """The language code in a cell of a table, or one that was checked already.

    Raises:
        OptionError: it is none.
    """
    try:
        return language_code(text)
    except argparse.ArgumentTypeError as error:
        refuse(f"In the table: {error}", f"表格中:{error}")


def listed(text: str) -> list[str]:
    """Words separated by commas (also full-width ones)."""
    return [word.strip() for word in re.split(r"[,,、]", text) if word.strip()]


def existing_file(name: str | Path, base: Path | None = None) -> Path:
    """The absolute path of a file the user named.

    Raises:
        InputError: it is not there, or is a folder.
    """
    path = Path(name).expanduser()
    path = (base / path if base else path).absolute()
    if path.is_dir():
        raise InputError(
            Message("This is a folder, not a file", "这是文件夹,不是文件"),
            Message("Name the file in it.", "请指定其中的文件。"),
            str(name),
        )
    if not path.exists():
        raise InputError(
            Message("There is no such file", "文件不存在"),
            Message("Check the name.", "请检查文件名。"),
            str(name),
        )
    return path


def refuse(en: str, zh: str, where: str = "") -> NoReturn:
    """Refuse a combination of options in one sentence."""
    raise OptionError(Message(en, zh), where=where)
