"""What Whisper makes up is taken out again: texts where nobody speaks, copies, loops, times outside the sound.

Whisper (base, measured) answers silence with "You", a truncated word with the same character eleven times, and the
tail of a file with the last sentence once more. Each rule needs two witnesses, so that a real "no, no, no" stays.
"""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipelines.asr.vad import SpeechMap
from pipelines.types import Segment, Word

SILENT = 0.9  # Whisper's own no-speech probability above which it says itself that nobody speaks
LITTLE_SPEECH = 0.2  # share of a segment that the voice activity network must hear
FASTEST = 20.0  # characters a second
LOOP = 5  # the same word or character this often in a row
LOOP_WORD_SECONDS = 0.15  # words of a loop are shorter than anybody speaks
MARGIN = 0.1  # seconds a word may reach out of the speech
NEAR = 0.6  # seconds beside the speech at which a word still belongs to it
SHORTEST = 0.02  # seconds a word lasts at least


@dataclass(frozen=True, slots=True)
class Heard:
    """A segment with Whisper's own doubts: no-speech probability and mean log probability."""

    segment: Segment
    no_speech: float
    log_probability: float


def plain(text: str) -> str:
    """Letters and digits only, lower case: for comparing texts."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).lower() if c.isalnum())


def believable(heard: Iterable[Heard], speech: SpeechMap, prompt: str = "") -> Iterator[Segment]:
    """The segments that were really said, inside the speech, in order of time and without overlap."""
    previous, told, clock = "", {plain(part) for part in re.split(r"[\u3002\uff0c.,]", prompt)} - {""}, 0.0
    for item in heard:
        segment = without_loop(item.segment)
        text = plain(segment.text)
        stuck = item.no_speech > SILENT and _loops(item.segment.words)
        if not text or stuck or _invented(dataclasses.replace(item, segment=segment), speech, previous, told):
            continue
        segment = _in_order(within_speech(segment, speech), clock, speech.duration)
        previous, clock = text, segment.end
        yield segment


def _invented(item: Heard, speech: SpeechMap, previous: str, told: set[str]) -> bool:
    segment, text = item.segment, plain(item.segment.text)
    share = speech.share(segment.start, segment.end)
    if share < 0.05:
        return True
    if text in told and (item.no_speech > 0.6 or share < 0.5):  # the prompt or hotwords read back
        return True
    too_fast = len(text) > FASTEST * max(segment.end - segment.start, SHORTEST)
    copied = text == previous or (bool(previous) and len(text) > 4 and previous.endswith(text))
    if item.no_speech > SILENT:
        return share < LITTLE_SPEECH or copied or too_fast or _only(text, told)
    return copied and too_fast


def _only(text: str, told: set[str]) -> bool:
    """Whether the text is nothing but prompt words, over and over."""
    for word in sorted(told, key=len, reverse=True):
        text = text.replace(word, "")
    return not text


def _loops(words: tuple[Word, ...]) -> bool:
    return _loop_start(words) is not None


def _loop_start(words: tuple[Word, ...]) -> int | None:
    """Where a loop of at least LOOP equal words begins, if there is one."""
    run = 1
    for number in range(1, len(words) + 1):
        same = number < len(words) and plain(words[number].text) == plain(words[number - 1].text) != ""
        if same:
            run += 1
        elif run >= LOOP:
            return number - run
        else:
            run = 1
    return None


def without_loop(segment: Segment) -> Segment:
    """Cut a segment before the same word repeated at an inhuman speed: what follows is Whisper stuck."""
    start = _loop_start(segment.words)
    if start is None:
        return segment
    looped = segment.words[start:]
    if (looped[-1].end - looped[0].start) / len(looped) > LOOP_WORD_SECONDS:
        return segment
    kept = segment.words[: start + 1] if start == 0 else segment.words[:start]
    return dataclasses.replace(segment, end=kept[-1].end, words=kept, text=joined(kept))


def joined(words: Iterable[Word]) -> str:
    """Text of Whisper's words, which carry their own leading spaces."""
    return "".join(word.text for word in words).strip()


def within_speech(segment: Segment, speech: SpeechMap) -> Segment:
    """Words that Whisper stretched over a pause drawn back to where there is speech; the segment follows its words."""
    words = tuple(_drawn_in(word, speech) for word in segment.words)
    if not words:
        return segment
    return dataclasses.replace(segment, start=words[0].start, end=words[-1].end, words=words)


def _drawn_in(word: Word, speech: SpeechMap) -> Word:
    """Keep the part of a word in the speech it shares most time with; only ever makes a word shorter."""
    touched = [
        (min(word.end, b) - max(word.start, a), a, b)
        for a, b in speech.spans
        if a < word.end and b > word.start
    ]
    if not touched:
        return _moved(word, speech)
    _, first, last = max(touched)
    start, end = max(word.start, first - MARGIN), min(word.end, last + MARGIN)
    return dataclasses.replace(word, start=start, end=max(end, start + SHORTEST))


def _moved(word: Word, speech: SpeechMap) -> Word:
    """A word that lies beside the speech, put at its edge when that is near."""
    after = [first for first, _ in speech.spans if 0 <= first - word.end < NEAR]
    before = [last for _, last in speech.spans if 0 <= word.start - last < NEAR]
    if after:
        return dataclasses.replace(word, start=after[0] - MARGIN, end=after[0] + SHORTEST)
    if before:
        return dataclasses.replace(word, start=before[-1] - SHORTEST, end=before[-1] + MARGIN)
    return word


def _in_order(segment: Segment, clock: float, duration: float) -> Segment:
    """Nothing begins before ``clock``, ends before it begins or ends after the sound."""
    words = []
    now = min(clock, duration)
    for word in segment.words:
        start = min(max(word.start, now), duration)
        now = min(max(word.end, start + SHORTEST), duration)
        words.append(dataclasses.replace(word, start=round(start, 3), end=round(now, 3)))
    if words:
        return dataclasses.replace(segment, start=words[0].start, end=words[-1].end, words=tuple(words))
    start = min(max(segment.start, clock), duration)
    return dataclasses.replace(segment, start=start, end=min(max(segment.end, start), duration))
