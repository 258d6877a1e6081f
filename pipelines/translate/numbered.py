"""Numbered lines: out to any translator and back in, by a person's clipboard or a language model.

Written strictly (``1. text``), read tolerantly: full-width digits and marks, ``1)``, ``[1]``, bold numbers, empty lines,
lines broken in two, words before and after, and text without any numbers when the count is right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pipelines.errors import InputError, Message

_NUMBER = re.compile(
    r"^[\s>*_#`-]*[\[(\uff08\u3010]?\s*(?:line|\u7b2c)?\s*(\d{1,6})\s*(?:\u884c)?"
    r"(?:\*{1,2}|_{1,2})?\s*(?:[\])\uff09\u3011]\s*[.:\uff0e\uff1a\u3001]?|[.:\uff0e\uff1a\u3001]|\uff5c|\||\t|\s-\s|\s\u2013\s)"
    r"(?:\*{1,2}|_{1,2})?[ \t\u3000]*(.*)$",
    re.IGNORECASE,
)
_FULL_WIDTH_DIGITS = {0xFF10 + digit: str(digit) for digit in range(10)}
_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^\s*```\w*\s*$")


def render(lines: Sequence[str] | Mapping[int, str]) -> str:
    """``1. first line`` and so on, one a row; a mapping gives its own numbers (from 1)."""
    numbered = lines.items() if isinstance(lines, Mapping) else enumerate(lines, start=1)
    return "\n".join(f"{number}. {' '.join(text.split())}" for number, text in numbered)


def read_numbered(text: str, wanted: Sequence[int]) -> dict[int, str]:
    """The lines found in an answer by number; numbers that were not asked for are part of the text around them.

    Text without any number is taken in order when it has exactly as many rows as were asked for. The first of two
    lines with the same number counts, unless it was empty.
    """
    rows = [row.rstrip() for row in _THINKING.sub("", text).splitlines() if not _FENCE.match(row)]
    asked, found = set(wanted), dict[int, str]()
    current: int | None = None
    ended = True  # an empty row ends a line, so that closing remarks do not become part of it
    for row in rows:
        match = _NUMBER.match(_digits_of(row))
        number = int(match[1]) if match else None
        if match and number in asked and not (found.get(number) and number != current):
            current, ended = number, False
            found[number] = match[2].strip()
        elif not row.strip():
            ended = True
        elif match and number in asked:
            current = None
        elif current is not None and (not ended or not found[current]):
            found[current] = f"{found[current]} {row.strip()}".strip()
            ended = False
    bare = [row.strip() for row in rows if row.strip()]
    if not found and len(bare) == len(wanted):
        return dict(zip(wanted, bare, strict=True))
    return {number: line for number, line in found.items() if line}


def parse(text: str, count: int) -> list[str]:
    """All ``count`` lines of a translation that was pasted back.

    Raises:
        InputError: lines are missing; the message names their numbers.
    """
    found = read_numbered(text, range(1, count + 1))
    missing = [number for number in range(1, count + 1) if number not in found]
    if missing:
        named = spans(missing)
        raise InputError(
            Message(
                f"The pasted text lacks line {named} of {count}",
                f"粘贴的内容缺少第 {named} 行(共 {count} 行)",
            ),
            Message(
                "Keep the number at the start of every line and paste all of them.",
                "请保留每行开头的编号,并粘贴全部行。",
            ),
        )
    return [found[number] for number in range(1, count + 1)]


def spans(numbers: Sequence[int]) -> str:
    """Numbers as a person lists them: ``2, 5-8, 11``."""
    groups: list[list[int]] = []
    for number in numbers:
        if groups and number == groups[-1][-1] + 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    return ", ".join(str(g[0]) if len(g) == 1 else f"{g[0]}-{g[-1]}" for g in groups)


def _digits_of(row: str) -> str:
    """Full-width digits as plain ones, at the start of the row only: the text keeps what its writer wrote."""
    head = row[:12].translate(_FULL_WIDTH_DIGITS)
    return head + row[12:]
