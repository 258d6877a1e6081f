"""Word times that follow an edited text: words a person left alone keep their times, new ones share the room between.

A token is a word with the punctuation and space that belong to it, or one Chinese or Japanese character.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from pipelines.cues import CLOSING, OPENING, width
from pipelines.types import Word

_WIDE = r"\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
_OPEN, _CLOSE = re.escape(OPENING), re.escape(CLOSING)
TOKEN = re.compile(rf"\s*[{_OPEN}]*(?:[{_WIDE}]|[^\s{_WIDE}]+?(?=[{_WIDE}]|\s|$))[{_CLOSE}]*|\s*\S+")


def tokens(text: str) -> list[str]:
    """A text cut into tokens that join to it again, but for space at its end."""
    return TOKEN.findall(text.rstrip())


def bare(token: str) -> str:
    """What tells one word from another: its letters and digits in lower case (or the token itself if it has none)."""
    return "".join(letter.lower() for letter in token if letter.isalnum()) or token.strip()


def reworded(words: Sequence[Word], text: str, start: float, end: float) -> tuple[Word, ...]:
    """Words that spell ``text``, timed by the ``words`` it had before.

    Tokens that are still there keep their times and confidence; new ones share the time of those they replace, by
    their width, and are certain (1.0): a person wrote them.

    Args:
        words: the words before, in order; empty: there were no word times, so there are none now.
        start, end: of the whole cue, seconds; no word lies outside.
    """
    if not words:
        return ()
    old = [piece for word in words for piece in _pieces(word)]
    new = tokens(text)
    found: list[Word] = []
    matcher = SequenceMatcher(None, [bare(word.text) for word in old], [bare(token) for token in new], False)
    for kind, first, last, begin, stop in matcher.get_opcodes():
        if kind == "equal":
            found += [
                Word(word.start, word.end, token, word.prob)
                for word, token in zip(old[first:last], new[begin:stop], strict=True)
            ]
        elif begin < stop:
            before = found[-1].end if found else start
            after = old[last].start if last < len(old) else end
            room = (old[first].start, old[last - 1].end) if first < last else (before, max(before, after))
            found += _shared(new[begin:stop], *room)
    return tuple(
        Word(_within(w.start, start, end), _within(w.end, start, end), w.text, w.prob) for w in found
    )


def _pieces(word: Word) -> list[Word]:
    """A recognised word as tokens: one that holds several (a Chinese word) is parted by width."""
    parts = tokens(word.text)
    if len(parts) < 2:
        return [word] if word.text.strip() else []
    return [
        Word(piece.start, piece.end, piece.text, word.prob) for piece in _shared(parts, word.start, word.end)
    ]


def _shared(parts: Sequence[str], start: float, end: float) -> list[Word]:
    """Words for ``parts`` that share the time from ``start`` to ``end`` by their width."""
    weights = [max(width(bare(part)), 1) for part in parts]
    scale, at, shared = max(end - start, 0.0) / sum(weights), start, []
    for part, weight in zip(parts, weights, strict=True):
        shared.append(Word(at, at + weight * scale, part))
        at += weight * scale
    return shared


def _within(time: float, start: float, end: float) -> float:
    return min(max(time, start), end)
