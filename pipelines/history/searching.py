"""Full text search over Chinese and English alike: characters of Chinese are words of their own, Latin words match by prefix.

SQLite's own tokenisers either take a Chinese sentence for one word or find nothing shorter than three characters. So text is
indexed with a space around every Chinese, Japanese and Korean character, and a word that is looked for becomes a phrase.
"""

from __future__ import annotations

import re

_CJK = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_LETTER = re.compile(rf"([{_CJK}])")
_TERM = re.compile(r'"([^"]+)"|(\S+)')
_WORDS = re.compile(r"[^\W_]+", re.UNICODE)
LEFT, RIGHT = "\u27e6", "\u27e7"  # around what was found, in a snippet


def indexed(text: str) -> str:
    """The text as the index takes it."""
    return " ".join(_LETTER.sub(r" \1 ", text).split())


def match_expression(query: str) -> str:
    """An FTS5 expression for what somebody typed; empty when there is nothing to look for.

    Words are all wanted, in any order; quotation marks keep words together; no sign has a meaning of its own.
    """
    terms = []
    for quoted, bare in _TERM.findall(query):
        words = _WORDS.findall(indexed(quoted or bare))
        if words:
            prefix = "" if quoted or _LETTER.fullmatch(words[-1]) else "*"
            terms.append(f'"{" ".join(words)}"{prefix}')
    return " AND ".join(terms)


def readable(snippet: str) -> str:
    """A snippet of indexed text as it was written: without the spaces that were put between characters."""
    beside = rf"(?<=[{_CJK}{LEFT}{RIGHT}]) (?=[{_CJK}{LEFT}{RIGHT}\uff00-\uffef\u3000-\u303f])"
    marks = r" (?=[\uff00-\uff0f\uff1a-\uff20\u3000-\u303f])|(?<=[\uff00-\uff0f\uff1a-\uff20\u3000-\u303f]) "
    joined = re.sub(marks, "", re.sub(beside, "", snippet))
    return joined.replace(f"{RIGHT}{LEFT}", "")
