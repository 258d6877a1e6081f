"""A transcript without punctuation, for those who want the bare words; numbers, times and contractions stay whole."""

from __future__ import annotations

import dataclasses
import re
import unicodedata

from pipelines.types import Segment

_JOINS_LETTERS = "'\u2019.-@/_&"  # don't, forty-two, a@b.c: part of a word between two letters or digits
_JOINS_DIGITS = ",:"  # 1,000 and 10:30
_KEPT = "%\u2030\u00b0$\u20ac\u00a3\u00a5+=#"
_FIRST_WIDE = "\u2e80"  # Chinese and Japanese from here on


def without_marks(text: str) -> str:
    """The text with marks taken out that separate words, clauses and sentences."""
    kept = []
    for place, letter in enumerate(text):
        if unicodedata.category(letter)[0] not in "PS" or letter in _KEPT or _inside(text, place):
            kept.append(letter)
        else:
            kept.append(" " if letter >= _FIRST_WIDE or letter in "\u2014\u2013-\u2026" else "")
    return re.sub(r" {2,}", " ", "".join(kept)).strip()


def _inside(text: str, place: int) -> bool:
    """Whether a mark stands within a word or a number."""
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if text[place] in _JOINS_DIGITS:
        return before.isdigit() and after.isdigit()
    narrow = max(before, after) < _FIRST_WIDE
    return text[place] in _JOINS_LETTERS and before.isalnum() and after.isalnum() and narrow


def unpunctuated(segment: Segment) -> Segment:
    """A segment without punctuation, its words too."""
    words = tuple(dataclasses.replace(word, text=without_marks(word.text)) for word in segment.words)
    return dataclasses.replace(
        segment,
        text=without_marks(segment.text),
        words=tuple(word for word in words if word.text),
        normalised=without_marks(segment.normalised),
    )
