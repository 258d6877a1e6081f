"""Words and phones laid over the sound itself: a recogniser's times say about where, the phone network exactly when.

The text is cut at its rests into stretches of some seconds; the phones of each are aligned with what the network hears
there (``pipelines.phones``). Where sound and text do not belong together, and in languages nobody here can pronounce,
words keep their rough times and phones are those that are heard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pipelines.asr.said import Item, in_phones, items, words_of
from pipelines.phones import STEP, Heard, Span, align, decode
from pipelines.types import Phone, Segment, Word

REST = 3.0  # seconds between words, by the rough times, at which a stretch ends
SHORT_REST = 0.2  # the same when it is long
LONG, LONGEST = 15.0, 30.0  # seconds after which a stretch ends at a short rest, or between any two words
AROUND = 0.5  # seconds of sound taken before and after a stretch: recognisers' times are off by as much
NEIGHBOUR = 0.1  # seconds of that which may lie within the next stretch, by its rough times
DOUBTFUL = 0.03  # mean likelihood of a stretch's phones below which it is not what is said there


@dataclass(frozen=True, slots=True)
class Alignment:
    """Words as they are written and the phones of the sound, both in order of time.

    A word's ``prob`` is how well the sound agrees with it, 0 where its time is the recogniser's.
    """

    words: tuple[Word, ...]
    phones: tuple[Phone, ...]


def align_segments(segments: Iterable[Segment], language: str, heard: Heard) -> Alignment:
    """Exact times for segments in order of time whose times are about right; ``heard`` is the whole sound."""
    each = align_each(tuple(segments), language, heard)
    words = tuple(word for one in each for word in one.words)
    return Alignment(words, _in_order(phone for one in each for phone in one.phones))


def align_each(segments: Sequence[Segment], language: str, heard: Heard) -> list[Alignment]:
    """Like ``align_segments``, for every segment by itself."""
    said = [items(segment, language) for segment in segments]
    words: list[list[Word]] = [[] for _ in segments]
    phones: list[list[Phone]] = [[] for _ in segments]
    for place, segment in enumerate(segments):
        if not said[place]:
            words[place] += [Word(word.start, word.end, word.text, 0.0) for word in words_of(segment)]
            phones[place] += decode(_part(heard, segment.start, segment.end), _grid(segment.start))
    # A word may be on the other side of a pause than the recogniser has it: stretches know no segments.
    owners = iter([place for place, own in enumerate(said) for _ in own])
    for stretch, start, end in _stretches([item for own in said for item in own]):
        for word, own in _aligned(stretch, heard, start, end):
            place = next(owners)
            words[place].append(word)
            phones[place] += own
    return [Alignment(tuple(one), _in_order(own)) for one, own in zip(words, phones, strict=True)]


def align_text(text: str, language: str, heard: Heard) -> Alignment:
    """A text laid over a sound that says it all and nothing else, some minutes of it at most."""
    said = items(Segment(0.0, heard.seconds, text), language)
    if not said:
        return Alignment((), decode(heard))
    pairs = _aligned(said, heard, 0.0, heard.seconds)
    return Alignment(
        tuple(word for word, _ in pairs), _in_order([phone for _, own in pairs for phone in own])
    )


def _stretches(said: Sequence[Item]) -> Iterator[tuple[list[Item], float, float]]:
    """Items between two rests, with the seconds of the sound that are theirs."""
    held: list[Item] = []
    earliest = 0.0
    for item, following in pairwise((*said, None)):
        if item is None:  # pairwise ends before it
            return
        held.append(item)
        start = max(held[0].start - AROUND, earliest)
        if following is None:
            yield held, start, item.end + AROUND
        elif _parts(following.start - item.end, item.end - held[0].start):
            earliest = item.end - NEIGHBOUR
            yield held, start, min(item.end + AROUND, following.start + NEIGHBOUR)
            held = []


def _parts(rest: float, length: float) -> bool:
    """Whether a stretch of ``length`` seconds ends at a rest."""
    return rest >= REST or (length >= LONG and rest >= SHORT_REST) or length >= LONGEST


def _grid(seconds: float) -> float:
    """The start of the frame a time lies in."""
    return int(max(seconds, 0.0) / STEP) * STEP


def _part(heard: Heard, start: float, end: float) -> Heard:
    """The frames from that of ``start`` to that of ``end``."""
    first, last = int(max(start, 0.0) / STEP), int(end / STEP) + 1
    return Heard(heard.scores[first:last])


def _aligned(said: Sequence[Item], heard: Heard, start: float, end: float) -> list[tuple[Word, list[Phone]]]:
    """Each item as a word with its phones, within ``start`` and ``end`` seconds."""
    letters = [in_phones(item.symbols) for item in said]
    part = _part(heard, start, end)
    spans = align(letters, part, _grid(start))
    if spans is not None and _likelihood(spans) >= DOUBTFUL:
        return [_word(item, own, times) for item, own, times in zip(said, letters, spans, strict=True)]
    rough = [(Word(item.start, item.end, item.text, 0.0), list[Phone]()) for item in said]
    rough[0][1].extend(decode(part, _grid(start)))
    return rough


def _word(item: Item, symbols: Sequence[str], spans: Sequence[Span]) -> tuple[Word, list[Phone]]:
    said = [(symbol, span) for symbol, span in zip(symbols, spans, strict=True) if span.end > span.start]
    if not said:
        return Word(item.start, item.end, item.text, 0.0), []
    phones = [Phone(span.start, span.end, symbol) for symbol, span in said]
    return Word(phones[0].start, phones[-1].end, item.text, _likelihood([spans])), phones


def _likelihood(spans: Sequence[Sequence[Span]]) -> float:
    """Mean likelihood of the phones that were said, by their time."""
    said = [span for own in spans for span in own if span.end > span.start]
    seconds = sum(span.end - span.start for span in said)
    return sum(span.score * (span.end - span.start) for span in said) / seconds if seconds else 0.0


def _in_order(found: Iterable[Phone]) -> tuple[Phone, ...]:
    """No phone begins before the one before it has ended."""
    ordered: list[Phone] = []
    clock = 0.0
    for phone in sorted(found, key=lambda phone: phone.start):
        start, end = max(phone.start, clock), max(phone.end, clock)
        if end - start > 0.005:
            ordered.append(Phone(start, end, phone.symbol))
            clock = end
    return tuple(ordered)
