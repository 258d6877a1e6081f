"""When the phones of recognised speech are said, roughly: each word's pronunciation spread over the word's own time.

Good enough to move lips by, for speech that did not come from a voice engine of ours (which knows its phones exactly).
The pronunciation is that of the voice engines for the languages they speak, espeak-ng's for about a hundred others,
and the letters themselves where nothing better is known.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from importlib.util import find_spec

from pipelines.errors import Message
from pipelines.g2p.symbols import MODIFIERS, STRESS, SYMBOLS, VOWELS
from pipelines.languages import language_name
from pipelines.progress import Report
from pipelines.pronunciation import PUNCTUATION, pronounce, speakable_languages
from pipelines.types import Phone, Segment, Word

# Seconds of a phone at an even pace: our own round figures, of which only the proportions matter much.
DIPHTHONG, VOWEL, REDUCED, FRICATIVE, STOP, SONORANT = 0.13, 0.095, 0.05, 0.09, 0.065, 0.06
_CLASSES = (
    ("AIOQWY", DIPHTHONG),
    ("əɨᵊᵻ", REDUCED),
    ("fvszʃʒθðhxçʂɕɣχβɸʝʦʣʧʤʨʥꭧ", FRICATIVE),
    ("pbtdkɡʔqcɟʈɖT", STOP),
)
SLOWEST = 2.2  # a word this many times longer than its phones' natural length has a pause in it
LONG, STRESSED = 1.5, 1.2

_Said = tuple[str, tuple[str, ...]]  # what is written, its symbols


def phones(segments: Iterable[Segment], language: str, report: Report | None = None) -> tuple[Phone, ...]:
    """Phones of recognised segments in order of time, in IPA (Kokoro's symbols), inside the times of their words.

    Segments without words are spread evenly over their own time. Never raises for a language: letters stand in, with
    a note in ``report``.
    """
    found: list[Phone] = []
    by_letters = False
    for segment in segments:
        words = segment.words or (Word(segment.start, segment.end, segment.text),)
        said, lettered = _pronounced(segment.text, language)
        by_letters = by_letters or lettered
        for text_times, symbols in _timed(said, words):
            found += _spread(symbols, *text_times)
    if by_letters and report:
        name = language_name(language)
        report.note(
            Message(
                f"There is no pronunciation for {name.en} here: lips follow the letters, roughly.",
                f"本机没有{name.zh}的发音规则:口型按字母近似生成。",
            )
        )
    return _in_order(found)


def _pronounced(text: str, language: str) -> tuple[list[_Said], bool]:
    """Written words with their symbols, and whether letters had to stand in."""
    if language in speakable_languages():
        return [(word.text, word.symbols) for word in pronounce(text, language) if not word.mark], False
    if find_spec("phonemizer") and find_spec("espeakng_loader"):
        from pipelines.g2p import espeak

        if espeak.reads(language):
            units = espeak.units(text, language)
            return [(unit.text, unit.symbols) for unit in units if not unit.mark], False
    return [(word, by_letter(word)) for word in text.split() if any(map(str.isalnum, word))], True


def by_letter(word: str) -> tuple[str, ...]:
    """A guess at a word's phones from its letters alone: the base letter, or the letter's name in other scripts."""
    guessed: list[str] = []
    for letter in unicodedata.normalize("NFKD", word.lower()):
        if not letter.isalpha():
            continue
        if letter.isascii():
            sounds = letter
        else:
            name = unicodedata.name(letter, "LETTER A").split()
            sounds = name[-1].lower() if "SYLLABLE" in name else name[-1][:1].lower()
        guessed += [_LETTERS.get(sound, sound) for sound in sounds]
    return tuple(symbol for symbol in guessed if symbol in SYMBOLS)


_LETTERS = {"g": "ɡ", "x": "s", "q": "k", "c": "k", "y": "i", "r": "ɹ"}


def _timed(said: Sequence[_Said], words: Sequence[Word]) -> list[tuple[tuple[float, float], tuple[str, ...]]]:
    """Start and end of every pronounced item: where its letters stand in the recogniser's words."""
    spoken = "".join(_letters(text) for text, _ in said)
    heard, clock = _letter_times(words)
    if not heard or not spoken:
        return _evenly(said, words)
    place = _mapping(spoken, heard)
    timed, position = [], 0
    for text, symbols in said:
        size = len(_letters(text))
        first, last = place[position], max(place[position + size] - 1, place[position])
        position += size
        if size and first < len(clock):
            timed.append(((clock[first][0], clock[min(last, len(clock) - 1)][1]), symbols))
    return timed


def _evenly(
    said: Sequence[_Said], words: Sequence[Word]
) -> list[tuple[tuple[float, float], tuple[str, ...]]]:
    symbols = tuple(symbol for _, part in said for symbol in part)
    return [((words[0].start, words[-1].end), symbols)] if symbols else []


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def _letter_times(words: Sequence[Word]) -> tuple[str, list[tuple[float, float]]]:
    """All letters of the words, and the time of each: a word's time in equal parts."""
    letters, times = "", []
    for word in words:
        own = _letters(word.text)
        step = (word.end - word.start) / max(len(own), 1)
        times += [(word.start + i * step, word.start + (i + 1) * step) for i in range(len(own))]
        letters += own
    return letters, times


def _mapping(one: str, other: str) -> list[int]:
    """Place in ``other`` for every place in ``one`` (and its end), straight lines between the parts that agree."""
    place = [0] * len(one) + [len(other)]
    if one == other:
        return list(range(len(one) + 1))
    for _, start, end, begin, stop in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        for index in range(start, end):
            place[index] = begin + (index - start) * (stop - begin) // (end - start)
    return place


def _spread(symbols: tuple[str, ...], start: float, end: float) -> list[Phone]:
    """One word's phones over its time, in proportion to their natural lengths; a long rest stays silent."""
    grouped = in_phones(symbols)
    natural = [natural_length(phone) for phone in grouped]
    if not grouped or end <= start:
        return []
    scale = min((end - start) / sum(natural), SLOWEST)
    made, now = [], start
    for phone, length in zip(grouped, natural, strict=True):
        made.append(Phone(now, now + length * scale, phone))
        now += length * scale
    return made


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


def natural_length(phone: str) -> float:
    """Seconds a phone lasts at an even pace."""
    letter = next((c for c in phone if c not in STRESS and c not in MODIFIERS), "")
    length = next(
        (length for letters, length in _CLASSES if letter in letters), VOWEL if letter in VOWELS else SONORANT
    )
    if "ː" in phone:
        length *= LONG
    if phone[0] in STRESS and letter in VOWELS:
        length *= STRESSED
    return length


def _in_order(found: list[Phone]) -> tuple[Phone, ...]:
    """No phone begins before the one before it has ended."""
    ordered: list[Phone] = []
    clock = 0.0
    for phone in sorted(found, key=lambda phone: phone.start):
        start, end = max(phone.start, clock), max(phone.end, clock)
        if end - start > 0.005:
            ordered.append(Phone(start, end, phone.symbol))
            clock = end
    return tuple(ordered)
