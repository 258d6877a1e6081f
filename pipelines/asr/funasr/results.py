"""FunASR's answers as words with times: tags taken off, lists of different length never zipped, marks put on words."""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.types import Word

TAG = re.compile(r"<\|[^|]*\|>|<unk>")
TOKEN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff]|[^\s\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff]+")


def words_of(answer: Mapping[str, Any], seconds: float) -> tuple[Word, ...]:
    """The words of one answer, in seconds from the beginning of its sound of ``seconds``.

    Each Chinese or Japanese character is a word. Where times and words are not equally many, the words are spread over the
    time that is known. Marks belong to the word before.
    """
    text = TAG.sub("", str(answer.get("text") or "")).strip()
    tokens = _with_marks(TOKEN.findall(text))
    times = [(start / 1000, end / 1000) for start, end in answer.get("timestamp") or ()]
    if len(times) != len(tokens):
        times = _spread(tokens, times, seconds)
    words, clock = [], 0.0
    for token, (start, end) in zip(tokens, times, strict=True):
        begin = min(max(start, clock), seconds)
        clock = min(max(end, begin), seconds)
        words.append(Word(begin, clock, token))
    return tuple(words)


def _with_marks(tokens: Sequence[str]) -> list[str]:
    """Marks alone joined to the word before them."""
    joined: list[str] = []
    for token in tokens:
        if joined and is_mark(token):
            joined[-1] += token
        elif not is_mark(token):
            joined.append(token)
    return joined


def is_mark(text: str) -> bool:
    """Whether a text has no letter and no digit."""
    return not any(unicodedata.category(letter)[0] in "LNM" for letter in text)


def _spread(
    tokens: Sequence[str], times: Sequence[tuple[float, float]], seconds: float
) -> list[tuple[float, float]]:
    """Even times for tokens, by their length, over what is known of the whole."""
    first, last = (times[0][0], times[-1][1]) if times else (0.0, seconds)
    whole = sum(len(token) for token in tokens) or 1
    spread, at = [], first
    for token in tokens:
        length = (last - first) * len(token) / whole
        spread.append((at, at + length))
        at += length
    return spread


def punctuated(words: Sequence[Word], text: str) -> tuple[Word, ...]:
    """The words with the marks of ``text``, the same words as a punctuation model returned them.

    Of its text the marks alone are taken: such models cut words apart ("I nt er view") and put spaces where none are.
    """
    if not words:
        return ()
    marks, place, letters = [""] * len(words), 0, 0
    sizes = [sum(not is_mark(letter) for letter in word.text) for word in words]
    for letter in TAG.sub("", text):
        if not is_mark(letter):
            letters += 1
            while place < len(words) - 1 and letters > sizes[place]:
                letters -= sizes[place]
                place += 1
        elif not letter.isspace() and letters == sizes[place]:
            marks[place] += letter
    return tuple(
        dataclasses.replace(word, text=word.text + mark) for word, mark in zip(words, marks, strict=True)
    )
