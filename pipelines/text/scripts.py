"""Which language a clause is in, told from its script: numbers follow their clause, Latin words in Chinese stay Latin."""

from __future__ import annotations

import re
from dataclasses import dataclass

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ffff]")
KANA = re.compile(r"[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
DEVANAGARI = re.compile(r"[\u0900-\u097f]")
LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
SPEAKABLE = re.compile(r"\w")
# A Latin mark ends a clause before a blank or Chinese (not inside 1,000 or 10:05); a Chinese mark always does.
CLAUSE_END = re.compile(r"(?<=[,;:!?.])(?:\s+|$|(?=[\u3040-\u9fff]))|(?<=[，。；：！？…])\s*")
WORDS = re.compile(r"[A-Za-z\u00c0-\u024f]{2,}")
LATIN_LANGUAGES = frozenset({"en", "es", "fr", "it", "pt"})


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of text read by the rules of one language (ISO 639-1)."""

    text: str
    language: str


def language_of(text: str, language: str) -> str | None:
    """Language that a clause's letters ask for in a text of ``language``; None without any letter."""
    if KANA.search(text):
        return "ja"
    if HAN.search(text):
        return language if language in ("zh", "ja") else "zh"
    if DEVANAGARI.search(text):
        return "hi"
    if language in LATIN_LANGUAGES:
        return language if LATIN.search(text) else None
    # A lone name such as "iPhone 15" between two Chinese clauses is no English clause.
    return "en" if len(WORDS.findall(text)) > 1 else None


def clauses(text: str, language: str) -> tuple[Clause, ...]:
    """Cut at punctuation and say for each clause which language its numbers and signs are read in.

    Latin words inside a clause of another script do not make it English; a clause without letters (``2132;``) goes
    with the clause before it, at the start with the text's own language. Neighbours of one language are joined.
    """
    parts = [part for part in CLAUSE_END.split(text) if part]
    found: list[Clause] = []
    for part in parts:
        here = language_of(part, language) or (found[-1].language if found else language)
        if found and found[-1].language == here:
            glue = "" if here in ("zh", "ja") and not LATIN.search(found[-1].text[-2:]) else " "
            found[-1] = Clause(found[-1].text + glue + part, here)
        else:
            found.append(Clause(part, here))
    return tuple(found)
