"""Mandarin as it is written on the mainland: simplified characters, full-width punctuation, one rule for spaces."""

from __future__ import annotations

import functools
import re
from typing import Protocol, cast

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WIDE = {
    ",": "\uff0c", "?": "\uff1f", "!": "\uff01", ";": "\uff1b", ":": "\uff1a", "(": "\uff08", ")": "\uff09", ".": "\u3002"
}  # fmt: skip
_WIDE_MARKS = "".join(_WIDE.values()) + "\u3001\u300a\u300b\u201c\u201d\u2026"
_BESIDE = rf"[{_HAN}{_WIDE_MARKS}]"
_MARK = re.compile(rf"(?<={_BESIDE})\s*[,?!;:](?!\d)|[,?!;:](?=\s*[{_HAN}])")
_STOP = re.compile(rf"(?<={_BESIDE})\s*\.(?![.\w])")
_BRACKETS = re.compile(rf"\(([^()]*[{_HAN}][^()]*)\)")
_SPACE = re.compile(
    rf"(?<={_BESIDE})\s+(?=[{_HAN}{_WIDE_MARKS}\d])|(?<=\d)\s+(?=[{_HAN}])|\s+(?=[{_WIDE_MARKS}])|(?<=[{_WIDE_MARKS}])\s+"
)
_GLUED = re.compile(rf"(?<=[{_HAN}])(?=[A-Za-z]{{2}})|(?<=[A-Za-z]{{2}})(?=[{_HAN}])")


class _Converter(Protocol):
    def convert(self, text: str) -> str: ...


@functools.cache
def _converter() -> _Converter:
    import opencc

    return cast("_Converter", opencc.OpenCC("t2s"))


def simplified(text: str) -> str:
    """Traditional characters as simplified ones, phrase by phrase (OpenCC's ``t2s``); the rest stays as it is."""
    return _converter().convert(text)


def tidy(text: str) -> str:
    """Simplified characters; full-width marks beside Chinese; no spaces between Chinese, one beside a Latin word."""
    text = simplified(text.strip())
    text = _MARK.sub(lambda found: _WIDE[found[0].strip()], text)
    text = _STOP.sub(_WIDE["."], text)
    text = _BRACKETS.sub(rf"{_WIDE['(']}\1{_WIDE[')']}", text)
    return _GLUED.sub(" ", _SPACE.sub("", text))
