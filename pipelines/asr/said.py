"""What of a text is said when, roughly: every written word with its symbols and the time a recogniser gives it.

The pronunciation is that of the voice engines for the languages they speak, espeak-ng's for about a hundred others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from importlib.util import find_spec

from pipelines.g2p.symbols import MODIFIERS, STRESS
from pipelines.pronunciation import PUNCTUATION, pronounce, speakable_languages
from pipelines.types import Segment, Word

_Said = tuple[str, tuple[str, ...]]  # what is written, its symbols


@dataclass(frozen=True, slots=True)
class Item:
    """A written word with its symbols and about when it is said, in seconds."""

    start: float
    end: float
    text: str
    symbols: tuple[str, ...]


def items(segment: Segment, language: str) -> list[Item]:
    """The words of a segment that can be pronounced; none where nobody here knows how to say the language."""
    return _timed(_pronounced(segment.text, language), words_of(segment))


def words_of(segment: Segment) -> tuple[Word, ...]:
    """The segment's words, or the whole of it as one."""
    return segment.words or (Word(segment.start, segment.end, segment.text),)


def _pronounced(text: str, language: str) -> list[_Said]:
    """Written words with their symbols."""
    if language in speakable_languages():
        return [(word.text, word.symbols) for word in pronounce(text, language) if not word.mark]
    if find_spec("phonemizer") and find_spec("espeakng_loader"):
        from pipelines.g2p import espeak

        if espeak.reads(language):
            return [(unit.text, unit.symbols) for unit in espeak.units(text, language) if not unit.mark]
    return []


def _timed(said: Sequence[_Said], words: Sequence[Word]) -> list[Item]:
    """Start and end of every pronounced item: where its letters stand in the recogniser's words."""
    spoken = "".join(letters_of(text) for text, _ in said)
    heard, clock = letter_times(words)
    if not heard or not spoken:
        return _as_one(said, words)
    place = mapping(spoken, heard)
    found, position = [], 0
    for text, symbols in said:
        size = len(letters_of(text))
        first, last = place[position], max(place[position + size] - 1, place[position])
        position += size
        if size and first < len(clock):
            found.append(Item(clock[first][0], clock[min(last, len(clock) - 1)][1], text, symbols))
    return found


def _as_one(said: Sequence[_Said], words: Sequence[Word]) -> list[Item]:
    symbols = tuple(symbol for _, part in said for symbol in part)
    text = " ".join(text for text, _ in said)
    return [Item(words[0].start, words[-1].end, text, symbols)] if symbols else []


def letters_of(text: str) -> str:
    """Letters and digits, in small letters."""
    return "".join(c for c in text.casefold() if c.isalnum())


def letter_times(words: Sequence[Word]) -> tuple[str, list[tuple[float, float]]]:
    """All letters of the words, and the time of each: a word's time in equal parts."""
    letters, times = "", []
    for word in words:
        own = letters_of(word.text)
        step = (word.end - word.start) / max(len(own), 1)
        times += [(word.start + i * step, word.start + (i + 1) * step) for i in range(len(own))]
        letters += own
    return letters, times


def mapping(one: str, other: str) -> list[int]:
    """Place in ``other`` for every place in ``one`` (and its end), straight lines between the parts that agree."""
    place = [0] * len(one) + [len(other)]
    if one == other:
        return list(range(len(one) + 1))
    for _, start, end, begin, stop in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        for index in range(start, end):
            place[index] = begin + (index - start) * (stop - begin) // (end - start)
    return place


def in_phones(symbols: Iterable[str]) -> list[str]:
    """Symbols put together into phones: stress before, length and tone after the letter they belong to."""
    made: list[str] = []
    stress = ""
    for symbol in symbols:
        if symbol in STRESS:
            stress = symbol
        elif symbol in MODIFIERS and made:
            made[-1] += symbol
        elif symbol not in PUNCTUATION and not symbol.isspace() and symbol not in MODIFIERS:
            made.append(stress + symbol)
            stress = ""
    return made
