"""How a text is said: every written word with its IPA symbols, all of them in Kokoro's symbol set.

Each clause goes through the grapheme-to-phoneme part of its own language (``pipelines.g2p``); numbers and signs are
spelled out first, so a written ``25`` carries the symbols of *twenty-five*.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from pipelines.errors import Message, OptionError
from pipelines.g2p import ENGINES, Unit, units
from pipelines.g2p.given import emphasised, given_symbols
from pipelines.g2p.symbols import PUNCTUATION
from pipelines.g2p.tokens import CJK, KANA, tokens
from pipelines.text import clauses, clean, normalise
from pipelines.text.marks import Part, parts

__all__ = ["PUNCTUATION", "Pronounced", "pronounce", "reading", "speakable_languages"]

PAUSE = "…"  # what a pause mark becomes inside a line: about half a second


@dataclass(frozen=True, slots=True)
class Pronounced:
    """A written word, or a punctuation mark, with its symbols.

    ``symbols`` are single characters of Kokoro's vocabulary: IPA letters, stress (ˈˌ), length (ː) and tone (→↗↘↓)
    marks, and blanks where several spoken words stand for one written (*25*); a mark has itself as its only symbol.
    """

    text: str
    symbols: tuple[str, ...]

    @property
    def mark(self) -> bool:
        """Whether this is punctuation: a pause, not a word."""
        return all(symbol in PUNCTUATION for symbol in self.symbols)


def speakable_languages() -> tuple[str, ...]:
    """ISO 639-1 codes whose grapheme-to-phoneme packages are installed."""
    return tuple(
        language
        for language, (_, packages) in ENGINES.items()
        if all(importlib.util.find_spec(package) is not None for package in packages)
    )


def pronounce(text: str, language: str) -> tuple[Pronounced, ...]:
    """Words and marks of ``text`` in order, with the written words as the reader sees them.

    Words of another script are said by that script's language. Empty when nothing can be spoken.

    Raises:
        OptionError: the language cannot be spoken here.
    """
    if language not in speakable_languages():
        known = ", ".join(speakable_languages())
        raise OptionError(
            Message(f"Speech in {language!r} is not available", f"无法合成语言 {language!r} 的语音"),
            Message(f"Languages that can be spoken now: {known}.", f"目前可合成的语言:{known}。"),
        )
    return tuple(item for part in parts(text) for item in _part(part, language))


def reading(text: str, language: str) -> str:
    """What will be said for a text, as words: numbers and signs spelled out, marks followed; for the writer to check."""
    said: list[str] = []
    for part in parts(text):
        if part.pause:
            said.append(f"[{part.pause:g} s]")
        elif part.says:
            plain = given_symbols(part.says, language) is None
            said.append(normalise(part.says, language) if plain else f"‹{part.says}›")
        else:
            said.append(normalise(part.text, language))
    return " ".join(words for words in said if words)


def _part(part: Part, language: str) -> tuple[Pronounced, ...]:
    """One stretch between marks, and what the marks ask for."""
    if part.pause:
        return (Pronounced(PAUSE, (PAUSE,)),)
    if part.says:
        symbols = given_symbols(part.says, language)
        return (Pronounced(part.text, _spoken_symbols(part.says, language) if symbols is None else symbols),)
    found = _plain(part.text, language)
    if not part.emphasis:
        return found
    return tuple(item if item.mark else Pronounced(item.text, emphasised(item.symbols)) for item in found)


def _plain(text: str, language: str) -> tuple[Pronounced, ...]:
    spoken = normalise(text, language)
    said = [unit for clause in clauses(spoken, language) for unit in units(clause.text, clause.language)]
    return _as_written(tokens(clean(text)), said)


def _spoken_symbols(words: str, language: str) -> tuple[str, ...]:
    """Symbols of words that stand for one written word, blanks between them."""
    found: list[str] = []
    for item in _plain(words, language):
        found += ([" "] if found and not item.mark else []) + list(item.symbols)
    return tuple(found)


def _as_written(written: Sequence[str], said: Sequence[Unit]) -> tuple[Pronounced, ...]:
    """Give spoken units the words that were written: alike parts pair up, the rest goes together as one."""
    match = SequenceMatcher(None, _letters(written), _letters([unit.text for unit in said]), autojunk=False)
    owner = _owners([unit.text for unit in said])
    places = _owners(written)
    found: list[Pronounced] = []
    spent = used = 0
    for one, two, size in match.get_matching_blocks():
        # A cut is made only where a written token and a spoken unit begin together, in or right after what agrees.
        for step in range(size + 1):
            left = places[one + step] if one + step < len(places) else (len(written), True)
            right = owner[two + step] if two + step < len(owner) else (len(said), True)
            if left[1] and right[1] and right[0] > used and left[0] >= spent:
                found.extend(_group(written[spent : left[0]], said[used : right[0]]))
                spent, used = left[0], right[0]
    return tuple(found)


def _letters(words: Sequence[str]) -> str:
    return "".join(word.casefold() for word in words)


def _owners(words: Sequence[str]) -> list[tuple[int, bool]]:
    """For each character of the joined words: number of its word, and whether it is the word's first."""
    return [
        (number, place == 0) for number, word in enumerate(words) for place in range(len(word.casefold()))
    ]


def _group(written: Sequence[str], said: Sequence[Unit]) -> list[Pronounced]:
    """One pair where written and spoken are one word; else marks stand alone and the words between become one."""
    if not said:
        return []
    if all(unit.mark for unit in said):
        return [Pronounced(unit.text, unit.symbols) for unit in said]
    tail = [Pronounced(unit.text, unit.symbols) for unit in _trailing_marks(said)]
    body = said[: len(said) - len(tail)]
    symbols: list[str] = []
    for unit in body:
        if symbols and not unit.mark:
            symbols.append(" ")
        symbols.extend(unit.symbols)
    words = [word for word in written if any(map(str.isalnum, word))]
    text = _joined(words or [unit.text for unit in body])
    return [Pronounced(text, tuple(symbols)), *tail]


def _joined(words: Sequence[str]) -> str:
    """Words with blanks between them, except between Chinese or Japanese characters."""
    text = " ".join(words)
    return re.sub(rf"(?<=[{CJK}{KANA}]) | (?=[{CJK}{KANA}])", "", text)


def _trailing_marks(said: Sequence[Unit]) -> Sequence[Unit]:
    start = len(said)
    while start and said[start - 1].mark:
        start -= 1
    return said[start:]
