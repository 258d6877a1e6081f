"""A text that is known to be said, put on the sound: only its times are heard.

The recogniser's words say about where each word of the text is, the phone network when exactly (``align``). What is in the
text alone or in the sound alone is told and never hidden.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain, pairwise

import numpy as np

from pipelines.asr.align import align_each
from pipelines.asr.said import letter_times, letters_of, mapping, words_of
from pipelines.asr.scoring import normalised
from pipelines.asr.sentences import lines
from pipelines.errors import InputError, Message
from pipelines.languages import UNSPACED
from pipelines.phones import Heard
from pipelines.types import Phone, Segment, Word

Place = tuple[float, float] | None

LEAST_SAID = 0.3  # part of the text's words that must be heard in the sound
EDGE = 1.0  # seconds before the first and after the last heard word in which more may be said
ALIKE = 0.4  # share of letters that agree, from which a run of words is what was misheard
QUICKEST = 0.05  # seconds a letter takes at least; where there is less room, a run of words was not said
RUN = 4  # words in a row; fewer are what a recogniser overhears, or hears too much
_PIECES = re.compile(r"[A-Za-z0-9'’\-]+[^\w\s]*|\w[^\w\s]*", re.UNICODE)


@dataclass(frozen=True, slots=True)
class Laid:
    """Lines of the text with the times of their words; ``phones`` of the sound; ``unheard`` parts of the text that are not
    said, ``unwritten`` stretches of the sound that the text does not have."""

    segments: tuple[Segment, ...]
    phones: tuple[Phone, ...]
    unheard: tuple[str, ...]
    unwritten: tuple[Segment, ...]


def lay_over(text: str, found: Sequence[Segment], language: str, heard: Heard, offset: float = 0.0) -> Laid:
    """Put a text on a sound.

    Args:
        text: a line of it is never joined with the next; long ones are cut at the ends of sentences.
        found: what a recogniser heard, with words. heard: the sound as the phone network hears it, beginning at ``offset``
            seconds of the segments' clock.

    Raises:
        InputError: the text is not what is said here.
    """
    written = [words for line in text.splitlines() if (words := _written(line, language))]
    said = [piece for segment in found for word in words_of(segment) for piece in _pieces(word, language)]
    if not said or not written:
        return Laid((), (), tuple(text.split("\n")) if written else (), ())
    joint = "" if language in UNSPACED else " "
    places, unheard, unwritten = _match(list(chain(*written)), said, joint)
    rest = iter(places)
    rough = []
    for line in written:
        kept = [Word(*place, word) for word in line if (place := next(rest)) is not None]
        if kept:
            rough.append(_moved(_segment(kept, joint), -offset))
    segments: list[Segment] = []
    phones: list[Phone] = []
    clock = 0.0
    for row, found_there in zip(rough, align_each(rough, language, heard), strict=True):
        exact = _moved(_exact(row, found_there.words, clock), offset)
        clock = exact.end - offset
        segments += lines([exact], language)
        phones += (Phone(one.start + offset, one.end + offset, one.symbol) for one in found_there.phones)
    return Laid(tuple(segments), tuple(phones), unheard, unwritten)


def _written(line: str, language: str) -> list[str]:
    """The words of a line with their marks: those between spaces, or the characters of a language without any."""
    words: list[str] = []
    for word in _PIECES.findall(line) if language in UNSPACED else line.split():
        if words and not (letters_of(words[-1]) and letters_of(word)):
            words[-1] = f"{words[-1]} {word}"  # a dash between spaces goes with a word
        else:
            words.append(word)
    return [word for word in words if letters_of(word)]


def _pieces(word: Word, language: str) -> list[Word]:
    """A recognised word as what ``_written`` makes of it, its time in parts."""
    texts = _written(word.text, language)
    sizes = np.cumsum([0, *(len(letters_of(text)) for text in texts)])
    times = word.start + (word.end - word.start) * sizes / max(sizes[-1], 1)
    return [
        Word(float(start), float(end), text, word.prob)
        for text, (start, end) in zip(texts, pairwise(times), strict=True)
    ]


def _segment(words: Sequence[Word], joint: str) -> Segment:
    return Segment(words[0].start, words[-1].end, joint.join(word.text for word in words), tuple(words))


def _match(
    written: Sequence[str], said: Sequence[Word], joint: str
) -> tuple[list[Place], tuple[str, ...], tuple[Segment, ...]]:
    """Start and end of every written word (None: not said), the runs that are not said, the ones that are not written."""
    keys, ears = [normalised(word) for word in written], [normalised(word.text) for word in said]
    steps = SequenceMatcher(None, keys, ears, autojunk=False).get_opcodes()
    if sum(end - start for kind, start, end, *_ in steps if kind == "equal") < LEAST_SAID * len(keys):
        raise InputError(
            Message("This text is not what is said in the sound", "这段文字与音频内容不符"),
            Message("Choose the text that belongs to it, or leave it empty.", "请选择对应的文字,或留空。"),
        )
    places: list[Place] = []
    unheard: list[str] = []
    unwritten: list[Segment] = []
    for kind, first, last, begin, stop in steps:
        run, extra = written[first:last], said[begin:stop]
        if kind == "equal":
            places += [(word.start, word.end) for word in extra]
            continue
        start, until = _room(said, begin, stop)
        if len(run) >= RUN and not _fits(run, extra, until - start):
            unheard.append(joint.join(run))
            places += [None] * len(run)
            run = []
        places += _spread(run, start, until)
        if len(extra) - len(run) >= RUN:
            unwritten.append(_segment(extra, joint))
    return places, tuple(unheard), tuple(unwritten)


def _room(said: Sequence[Word], begin: int, stop: int) -> tuple[float, float]:
    """Seconds of the words from ``begin`` to ``stop``, or of the gap there."""
    if stop > begin:
        return said[begin].start, said[stop - 1].end
    start = said[begin - 1].end if begin else max(said[0].start - EDGE, 0.0)
    until = said[stop].start if stop < len(said) else said[-1].end + EDGE
    return start, max(start, until)


def _fits(run: Sequence[str], extra: Sequence[Word], room: float) -> bool:
    """Whether a run of written words can be what was heard, or was overheard, in so many seconds."""
    wanted = letters_of("".join(run))
    if not extra:
        return room >= QUICKEST * len(wanted)
    heard = letters_of("".join(word.text for word in extra))
    return SequenceMatcher(None, wanted, heard, autojunk=False).ratio() >= ALIKE


def _spread(run: Sequence[str], start: float, until: float) -> list[Place]:
    """The words over the time, by their letters."""
    sizes = np.cumsum([0, *(len(letters_of(word)) for word in run)])
    times = start + (until - start) * sizes / max(sizes[-1], 1)
    return [(float(one), float(other)) for one, other in pairwise(times)]


def _exact(line: Segment, aligned: Sequence[Word], clock: float) -> Segment:
    """The line's words with the times of the aligned ones, none before ``clock`` or the end of the word before it."""
    spelled, times = letter_times(aligned)
    place = mapping(letters_of(line.text), spelled)
    words: list[Word] = []
    position = 0
    for word in line.words:
        size = len(letters_of(word.text))
        first = min(place[position], len(times) - 1)
        last = min(max(place[position + size] - 1, first), len(times) - 1)
        position += size
        start = max(times[first][0], clock)
        clock = max(times[last][1], start)
        words.append(Word(start, clock, word.text))
    return dataclasses.replace(line, start=words[0].start, end=clock, words=tuple(words))


def _moved(segment: Segment, by: float) -> Segment:
    words = tuple(
        dataclasses.replace(word, start=word.start + by, end=word.end + by) for word in segment.words
    )
    return dataclasses.replace(segment, start=segment.start + by, end=segment.end + by, words=words)
