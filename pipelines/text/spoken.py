"""From written to spoken, clause by clause: each clause by the rules of its own language."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from pipelines.text.chinese import prepare_chinese, prepare_japanese, simplified
from pipelines.text.cleaning import clean
from pipelines.text.english import finish_english, prepare_english
from pipelines.text.numbers import SPELLINGS, spell_out
from pipelines.text.scripts import SPEAKABLE, Clause, clauses

if TYPE_CHECKING:
    from wetext import Normalizer

SIGNS = re.compile(r"[^\w\s]|_")


@cache
def _grammar(language: str) -> Normalizer:
    """WeText's text-normalisation grammar (wetext, Apache-2.0; the grammars lie inside the package)."""
    from wetext import Normalizer

    return Normalizer(lang=language, operator="tn", remove_erhua=False)


def _by_grammar(text: str, language: str) -> str:
    """What the grammar says; where it has no way through a text ("-5 to +3"), word by word, then without signs."""
    if not SPEAKABLE.search(text):
        return text
    try:
        return str(_grammar(language).normalize(text))
    except AssertionError:  # of wetext, which has no error for this
        words = text.split()
        if len(words) > 1:
            return " ".join(_by_grammar(word, language) for word in words)
        plain = SIGNS.sub("", text)
        return _by_grammar(plain, language) if plain != text else text


def spoken_clause(clause: Clause) -> str:
    """One clause spelled out in its own language."""
    text, language = clause.text, clause.language
    if language == "zh":
        return _by_grammar(prepare_chinese(simplified(text)), "zh")
    if language == "ja":
        return _by_grammar(prepare_japanese(text), "ja")
    if language == "en":
        return finish_english(_by_grammar(prepare_english(text), "en"))
    if language in SPELLINGS:
        return spell_out(text, SPELLINGS[language])
    return text


def normalise(text: str, language: str) -> str:
    """What a speaker of ``language`` would say for ``text``; empty when nothing in it can be spoken.

    Numbers, dates, times, money and units are spelled out in the language of their clause; emoji and stray signs are
    dropped; hyphenated words and contractions stay whole; traditional characters become simplified for zh.
    """
    cleaned = clean(text)
    if not SPEAKABLE.search(cleaned):
        return ""
    return " ".join(spoken_clause(clause).strip() for clause in clauses(cleaned, language)).strip()
