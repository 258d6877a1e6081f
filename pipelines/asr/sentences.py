"""Recognised words regrouped into lines that can be translated, spoken and read: sentences, parted at pauses.

A recogniser's own segments end where its 30 s window or its breath ends, often in the middle of a sentence. Lines end
at a sentence's mark or a long pause; a sentence that is too long is parted at its best comma or pause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pipelines.asr.words import line_text
from pipelines.languages import UNSPACED
from pipelines.types import Segment, Word

LONGEST = 10.0  # seconds of a line
LONGEST_TEXT, LONGEST_TEXT_UNSPACED = 160, 60  # characters of a line
PAUSE = 0.8  # seconds between words that part two lines whatever the marks say
SHORT_LINE, SHORT_PAUSE, SHORT_TOTAL = 1.0, 0.4, 6.0  # "Oh." joins its neighbour when it follows at once
LEAST_PART = 1.0  # seconds of a part of a long sentence

_CLOSERS = "\"'\u201d\u2019\u300d\u300f)\uff09]"
_END = re.compile(r"[.!?\u2026\u3002\uff01\uff1f\u0964\u061f][" + re.escape(_CLOSERS) + r"]*$")
_CLAUSE = re.compile(r"[,;:\u2014\u3001\uff0c\uff1b\uff1a\u060c][" + re.escape(_CLOSERS) + r"]*$")
_TITLE = re.compile(
    r"^\W*(?:mrs?|ms|dr|prof|st|sr|jr|sra|srta|dra|mme|mlle|hr|fr|no|vs|fig|gen|col|lt|capt|sen|rep|gov|e\.g|i\.e|z\.b)\.$",
    re.IGNORECASE,
)
_INITIALS = re.compile(r"^\W*(?:[^\W\d_]\.)+$")


def lines(segments: Iterable[Segment], language: str) -> Iterator[Segment]:
    """Regroup segments into lines as they come; start and end are those of the first and last word.

    A segment without words is a line as it stands. Lines never overlap and keep the order of their words.
    """
    held: Segment | None = None
    for sentence in _sentences(segments, language):
        for line in _parted(sentence, language):
            joined = _with(held, line, language) if held else None
            if held and joined is None:
                yield held
            held = joined or line
    if held:
        yield held


def _sentences(segments: Iterable[Segment], language: str) -> Iterator[Segment]:
    words: list[Word] = []
    speaker: str | None = None
    for segment in segments:
        if words and (segment.speaker != speaker or not segment.words):
            yield _line(words, language, speaker)
            words = []
        speaker = segment.speaker
        if not segment.words:
            yield segment
        for word in segment.words:
            if words and _ends(words[-1], word):
                yield _line(words, language, speaker)
                words = []
            words.append(word)
    if words:
        yield _line(words, language, speaker)


def _ends(word: Word, following: Word) -> bool:
    """Whether a line ends between two words."""
    pause = following.start - word.end
    if pause >= PAUSE:
        return True
    if not _END.search(word.text) or _TITLE.match(word.text):
        return False
    begins = following.text.lstrip("\"'\u201c\u2018\u00bf\u00a1(")[:1]
    if _INITIALS.match(word.text):
        return pause >= 0.25 and not begins.islower()
    if word.text.endswith(("...", "\u2026")):
        return not begins.islower() or pause >= SHORT_PAUSE
    return True


def _line(words: Sequence[Word], language: str, speaker: str | None) -> Segment:
    return Segment(words[0].start, words[-1].end, line_text(words, language), tuple(words), speaker)


def _with(line: Segment, following: Segment, language: str) -> Segment | None:
    """Two lines as one when one of them is very short and they follow each other at once, else None."""
    short = min(line.end - line.start, following.end - following.start) < SHORT_LINE
    close = following.start - line.end < SHORT_PAUSE
    small = following.end - line.start <= SHORT_TOTAL
    same = line.speaker == following.speaker
    if not (short and close and small and same and line.words and following.words):
        return None
    return _line(line.words + following.words, language, line.speaker)


def _parted(line: Segment, language: str) -> Iterator[Segment]:
    """A sentence too long for one line, parted again and again at its best place."""
    most = LONGEST_TEXT_UNSPACED if language in UNSPACED else LONGEST_TEXT
    words = line.words
    if len(words) < 2 or (line.end - line.start <= LONGEST and len(line.text) <= most):
        yield line
        return
    at = max(range(1, len(words)), key=lambda number: _worth(words, number))
    yield from _parted(_line(words[:at], language, line.speaker), language)
    yield from _parted(_line(words[at:], language, line.speaker), language)


def _worth(words: Sequence[Word], at: int) -> float:
    """How good it is to part the words before number ``at``: marks and pauses, not far from the middle."""
    first, second = words[at - 1].end - words[0].start, words[-1].end - words[at].start
    mark = 1.0 if _CLAUSE.search(words[at - 1].text) else 0.0
    pause = min(max(words[at].start - words[at - 1].end, 0.0), 1.0)
    lopsided = abs(first - second) / max(first + second, 0.001)
    stub = 2.0 if min(first, second) < LEAST_PART else 0.0
    return mark + 2 * pause - 1.2 * lopsided - stub
