"""Hotwords: names and words a recogniser should expect, from a form or a text file, with weights where someone gave any.

One a line, or with commas between them. A weight stands after a tab or a colon (``Dubwright: 20``), and after a Chinese
word behind a space too, as FunASR's own lists have it (``获刑 20``); "Apollo 11" stays a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pipelines.errors import InputError, Message
from pipelines.text.encodings import decoded

MOST_BYTES = 1_000_000
PLAIN = 1.0  # the weight of a word without one

_SEPARATORS = re.compile(r"[,\uff0c\u3001;\uff1b\n]")
_WEIGHTED = re.compile(r"^(?P<word>.+?)\s*(?:\t|[:\uff1a|])\s*(?P<weight>\d+(?:\.\d+)?)$")
_WEIGHTED_HAN = re.compile(r"^(?P<word>[\u3400-\u9fff\uf900-\ufaff]+)\s+(?P<weight>\d+(?:\.\d+)?)$")


@dataclass(frozen=True, slots=True)
class Hotword:
    """A word to expect; ``weight`` above 0, 1 where none was given."""

    text: str
    weight: float = PLAIN


def parse_hotwords(value: str | Iterable[str] | None) -> tuple[Hotword, ...]:
    """Hotwords from a text or a list, in their order; a word named twice counts once, with its larger weight."""
    parts = _SEPARATORS.split(value) if isinstance(value, str) else list(value or ())
    found: dict[str, Hotword] = {}
    for part in parts:
        word = _hotword(part.strip())
        if word is None:
            continue
        before = found.get(word.text)
        found[word.text] = word if before is None or word.weight > before.weight else before
    return tuple(found.values())


def _hotword(text: str) -> Hotword | None:
    if not text or text.startswith("#"):
        return None
    weighted = _WEIGHTED.match(text) or _WEIGHTED_HAN.match(text)
    if weighted is None:
        return Hotword(text)
    weight = float(weighted["weight"])
    return Hotword(weighted["word"].strip(), weight) if weight > 0 else None


def by_weight(hotwords: Iterable[Hotword]) -> tuple[str, ...]:
    """The words, heaviest first, equal ones in their order."""
    return tuple(word.text for word in sorted(hotwords, key=lambda word: -word.weight))


def read_hotwords(path: Path) -> tuple[Hotword, ...]:
    """Hotwords from a text file of any usual encoding.

    Raises:
        InputError: it cannot be opened, is too large, or is no text.
    """
    try:
        data = path.read_bytes() if path.stat().st_size <= MOST_BYTES else None
    except OSError as error:
        raise InputError(
            Message("The list of hotwords cannot be opened", "无法打开热词文件"),
            Message("Check the name, or choose the file again.", "请检查文件名或重新选择文件。"),
            str(path),
        ) from error
    text = decoded(data) if data is not None else None
    if text is None:
        raise InputError(
            Message("This is not a list of hotwords", "这不是热词文件"),
            Message("Use a text file with one word a line.", "请使用每行一个热词的文本文件。"),
            str(path),
        )
    return parse_hotwords(text)
