"""Inverse text normalisation: spoken numbers, dates and units as they are written, with WeText's grammars (Apache-2.0).

The grammars for Chinese and English lie inside the ``wetext`` package; nothing is downloaded.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import cast

LANGUAGES = ("zh", "en")
_SPACE_BEFORE_MARK = re.compile(r" +(?=[,.;:!?%])")
# The Chinese grammar reads the twenty of "ten times twenty" as 210: what stands around the sign is converted by itself.
_TIMES = re.compile(r"(\u4e58\u4ee5|\u4e58)")


def normalised(text: str, language: str) -> str:
    """The text with its spoken numbers written in digits; other languages than ``LANGUAGES`` stay as they are."""
    if language not in LANGUAGES or not text.strip():
        return text
    convert = _grammar(language)
    if language == "zh":
        return "".join(
            part if _TIMES.fullmatch(part) or not part else convert(part) for part in _TIMES.split(text)
        )
    return _SPACE_BEFORE_MARK.sub("", convert(text))


@functools.cache
def _grammar(language: str) -> Callable[[str], str]:
    from wetext import Normalizer

    return cast("Callable[[str], str]", Normalizer(lang=language, operator="itn").normalize)
