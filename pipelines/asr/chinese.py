"""Mandarin as it is written: the asked characters, full-width punctuation, one rule for spaces."""

from __future__ import annotations

import functools
import re
from typing import Literal, Protocol, cast

from pipelines.text.chinese import simplified

Script = Literal["simplified", "traditional", "heard"]

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
def _converter(scheme: str) -> _Converter:
    import opencc

    return cast("_Converter", opencc.OpenCC(scheme))


def in_script(text: str, script: Script) -> str:
    """Chinese in the asked characters, phrase by phrase (OpenCC's ``tw2s`` and ``s2t``); ``heard`` changes nothing."""
    if script == "heard":
        return text
    return simplified(text) if script == "simplified" else _converter("s2t").convert(text)


def tidy(text: str, script: Script = "simplified") -> str:
    """The asked characters; full-width marks beside Chinese; no spaces between Chinese, one beside a Latin word."""
    text = in_script(text.strip(), script)
    text = _MARK.sub(lambda found: _WIDE[found[0].strip()], text)
    text = _STOP.sub(_WIDE["."], text)
    text = _BRACKETS.sub(rf"{_WIDE['(']}\1{_WIDE[')']}", text)
    return _GLUED.sub(" ", _SPACE.sub("", text))
