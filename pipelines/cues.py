"""Subtitle cues that can be read: where speech is cut into cues and lines, and how long each stays.

Rules and limits are those subtitlers work by (two lines, 42 columns, 1 to 7 seconds, 17 characters a second; for
Chinese and Japanese characters two columns and 9 a second). Breaks go to the ends of sentences and clauses first, by
dynamic programming over the words of a stretch of speech.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from pipelines.errors import Message, OptionError
from pipelines.types import Segment, Word

SENTENCE_END = ".!?…。！？"  # fmt: skip
CLAUSE_END = ",;:，、；：—–"  # fmt: skip
CLOSING = SENTENCE_END + CLAUSE_END + "\"'”’»)]}）】》」』%"
OPENING = "\"'“‘«([{（【《「『¿¡"
MIN_SHOWN = 0.3  # seconds a cue is shown at least, also where two people talk at once


@dataclass(frozen=True, slots=True)
class CueRules:
    """Limits of a cue; times in seconds, widths in columns (a Chinese or Japanese character takes two)."""

    lines: int = 2
    columns: int = 42
    shortest: float = 1.0
    longest: float = 7.0
    speed: float = 17.0
    wide_speed: float = 9.0
    gap: float = 0.08


def cue_rules(values: Mapping[str, Any] | None) -> CueRules:
    """Limits from a form or a job's options.

    Raises:
        OptionError: an unknown name, or a value that is no number above 0.
    """
    known = {entry.name: int if entry.name in ("lines", "columns") else float for entry in fields(CueRules)}
    chosen: dict[str, Any] = {}
    for name, value in (values or {}).items():
        try:
            number = known[name](value)
            if not (math.isfinite(number) and (number > 0 or (name == "gap" and number == 0))):
                raise ValueError
            chosen[name] = number
        except (KeyError, TypeError, ValueError) as error:
            raise OptionError(
                Message(f"The cue rule {name} cannot be {value!r}", f"字幕规则 {name} 不能为 {value!r}"),
                Message(f"Rules are numbers: {', '.join(known)}.", f"规则应为数字:{'、'.join(known)}。"),
            ) from error
    return CueRules(**chosen)


@dataclass(frozen=True, slots=True)
class _Token:
    """A piece that is never cut: a word with its punctuation, or one wide character; ``text`` keeps leading space."""

    text: str
    start: float
    end: float
    word: Word | None
    last: bool  # the last of its segment


def cues(
    segments: Sequence[Segment], rules: CueRules | None = None, *, until: float = math.inf
) -> tuple[Segment, ...]:
    """Cut speech into cues that keep the rules; all text is kept, in order.

    Segments' word times decide where cues begin and end; a segment without words is timed by its letters. A cue's
    text has its lines separated by newlines. Cues never overlap; one that is too fast to read stays until shortly
    before the next, and none stays longer than ``until``, where the film or the sound ends (seconds).
    """
    rules = rules or CueRules()
    shown: list[Segment] = []
    for speaker, tokens in _stretches(segments, rules):
        shown += [_cue(group, speaker, rules) for group in _split(tokens, rules)]
    return tuple(replace(cue, end=max(min(cue.end, until), cue.start)) for cue in _timed(shown, rules))


def width(text: str) -> int:
    """Columns a text takes: two for a wide (Chinese, Japanese, Korean, emoji) character, none for a combining mark."""
    return sum(_columns(letter) for letter in text)


def _columns(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Cf", "Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def reading_time(text: str, rules: CueRules) -> float:
    """Seconds needed to read a text at the rules' speed."""
    wide = sum(1 for letter in text if _columns(letter) == 2)
    narrow = sum(1 for letter in text if _columns(letter) == 1 and letter != "\n")
    return wide / rules.wide_speed + narrow / rules.speed


def _stretches(segments: Sequence[Segment], rules: CueRules) -> Iterator[tuple[str | None, list[_Token]]]:
    """Runs of segments of one speaker without a long pause: breaks inside are chosen together."""
    run: list[_Token] = []
    speaker: str | None = None
    for segment in sorted(segments, key=lambda item: (item.start, item.end)):
        tokens = list(_tokens(segment, rules))
        if not tokens:
            continue
        if run and (segment.speaker != speaker or not 0 <= tokens[0].start - run[-1].end <= rules.shortest):
            yield speaker, run
            run = []
        speaker = segment.speaker
        if run and not (_columns(run[-1].text[-1]) == 2 and _columns(tokens[0].text[0]) == 2):
            tokens[0] = replace(tokens[0], text=f" {tokens[0].text}")
        run += tokens
    if run:
        yield speaker, run


def _tokens(segment: Segment, rules: CueRules) -> Iterator[_Token]:
    text = " ".join(segment.text.split())
    pieces = [part for piece in _pieces(text) for part in _fitting(piece, rules.columns)]
    words = _word_of_each(pieces, segment.words)
    times = _times(pieces, words, segment)
    for number, (piece, word, (start, end)) in enumerate(zip(pieces, words, times, strict=True), start=1):
        yield _Token(piece, start, end, word, number == len(pieces))


def _pieces(text: str) -> list[str]:
    """Cut a text at spaces and around wide characters; punctuation stays with the word before or after it."""
    pieces: list[str] = []
    for part in re.findall(r"\s*\S+", text):
        current = ""
        for letter in part:
            opens = letter in OPENING and not current.strip()
            after_wide = bool(current.strip()) and _columns(current[-1]) == 2
            wide = _columns(letter) == 2
            joined = letter in CLOSING or _columns(letter) == 0 or opens or _only_opening(current)
            if current.strip() and not joined and (wide or after_wide):
                pieces.append(current)
                current = ""
            current += letter
        pieces.append(current)
    return pieces


def _only_opening(text: str) -> bool:
    return bool(text.strip()) and all(letter in OPENING for letter in text.strip())


def _fitting(piece: str, columns: int) -> Iterator[str]:
    """A piece wider than a line (an address, a run of letters) is cut hard."""
    while width(piece.strip()) > columns:
        count = len(piece) - len(piece.lstrip())
        while count < len(piece) and width(piece[: count + 1].strip()) <= columns:
            count += 1
        yield piece[:count]
        piece = piece[count:]
    yield piece


def _word_of_each(pieces: list[str], words: Sequence[Word]) -> list[Word | None]:
    """For each piece the recognised word it begins in, or all None when the words do not spell the text."""
    spelled = _letters("".join(word.text for word in words))
    if not words or spelled != _letters("".join(pieces)):
        return [None] * len(pieces)
    owners = [word for word in words for _ in _letters(word.text)]
    found: list[Word | None] = []
    place = 0
    for piece in pieces:
        found.append(owners[min(place, len(owners) - 1)] if owners else None)
        place += len(_letters(piece))
    return found


def _letters(text: str) -> str:
    return "".join(letter.lower() for letter in text if letter.isalnum())


def _times(pieces: list[str], words: list[Word | None], segment: Segment) -> Iterator[tuple[float, float]]:
    """When each piece is spoken: by its word; several pieces of one word, or a text without words, by their width."""
    number = 0
    while number < len(pieces):
        word, last = words[number], number + 1
        while last < len(pieces) and words[last] is word:
            last += 1
        begin, end = (word.start, word.end) if word is not None else (segment.start, segment.end)
        weights = [max(width(piece.strip()), 1) for piece in pieces[number:last]]
        scale = max(end - begin, 0.0) / sum(weights)
        at = begin
        for weight in weights:
            yield at, at + weight * scale
            at += weight * scale
        number = last


def _split(tokens: list[_Token], rules: CueRules) -> list[list[_Token]]:
    """The cheapest way to cut a run of tokens into cues (dynamic programming over the place of the last cut)."""
    reach = _line_reach(tokens, rules.columns)
    reading = [reading_time(token.text, rules) for token in tokens]
    best: list[tuple[float, int]] = [(0.0, 0)]
    for last in range(1, len(tokens) + 1):
        following = tokens[last].start if last < len(tokens) else None
        choices: list[tuple[float, int]] = []
        needed = 0.0
        for first in range(last - 1, -1, -1):
            long = tokens[last - 1].end - tokens[first].start > rules.longest
            if first < last - 1 and (long or not _fits(first, last, reach, rules)):
                break
            needed += reading[first]
            cost = _cost(tokens[first], tokens[last - 1], following, needed, rules)
            choices.append((best[first][0] + cost, first))
        best.append(min(choices))
    groups: list[list[_Token]] = []
    last = len(tokens)
    while last:
        first = best[last][1]
        groups.append(tokens[first:last])
        last = first
    return groups[::-1]


def _line_reach(tokens: list[_Token], columns: int) -> list[int]:
    """For each token how far a line that begins with it goes: the index after its last token."""
    widths = [width(token.text) for token in tokens]
    leads = [width(token.text) - width(token.text.lstrip()) for token in tokens]
    reach, last, total = [], 0, 0
    for first in range(len(tokens)):
        if last <= first:
            last, total = first, 0
        while last < len(tokens) and total + widths[last] - leads[first] <= columns:
            total += widths[last]
            last += 1
        reach.append(max(last, first + 1))
        total -= widths[first]
    return reach


def _fits(first: int, last: int, reach: list[int], rules: CueRules) -> bool:
    """Whether tokens first … last - 1 fit the lines of one cue."""
    for _ in range(rules.lines):
        if first >= last:
            break
        first = reach[first]
    return first >= last


def _text(group: Sequence[_Token]) -> str:
    return "".join(token.text for token in group).strip()


def _cost(first: _Token, last: _Token, following: float | None, needed: float, rules: CueRules) -> float:
    """What a cue costs: too short, too fast (``needed`` seconds to read), and the worse its end, the more."""
    until = last.end if following is None else max(last.end, following - rules.gap)
    shown = max(until - first.start, 0.01)
    cost = 1.0 + 2.0 * max(rules.shortest - shown, 0.0)
    cost += 2.0 * max(needed / max(shown, 0.2) - 1.0, 0.0)
    return cost + _break_cost(last)


def _break_cost(token: _Token) -> float:
    if token.last:
        return -0.95
    ending = token.text.rstrip("\"'”’»)]）】》」』")[-1:]
    if ending and ending in SENTENCE_END:
        return -0.6
    return -0.2 if ending and ending in CLAUSE_END else 0.4


def _lines(group: Sequence[_Token], rules: CueRules) -> list[str]:
    """The cue's text as lines that fit, as even as possible and broken at clauses; empty when they do not fit."""
    whole = _text(group)
    if width(whole) <= rules.columns:
        return [whole]
    if rules.lines == 1:
        return []
    options = []
    for place in range(1, len(group)):
        upper, rest = _text(group[:place]), group[place:]
        if width(upper) > rules.columns:
            break
        lower = _lines(rest, CueRules(rules.lines - 1, rules.columns))
        if lower:
            uneven = abs(width(upper) - max(width(line) for line in lower)) / rules.columns
            heavy_top = 0.1 if width(upper) > width(lower[0]) else 0.0
            options.append((uneven + heavy_top + 0.5 * _break_cost(group[place - 1]), [upper, *lower]))
    return min(options)[1] if options else []


def _cue(group: list[_Token], speaker: str | None, rules: CueRules) -> Segment:
    words = list(dict.fromkeys(token.word for token in group if token.word is not None))
    lines = _lines(group, rules) or [_text(group)]
    return Segment(group[0].start, group[-1].end, "\n".join(lines), tuple(words), speaker)


def _timed(shown: list[Segment], rules: CueRules) -> tuple[Segment, ...]:
    """Give each cue time to be read, and a gap before the next."""
    shown = sorted(shown, key=lambda cue: cue.start)
    timed: list[Segment] = []
    free = 0.0  # from when on the screen is free
    for number, cue in enumerate(shown):
        start = max(cue.start, free)
        wanted = max(cue.end, start + rules.shortest, start + reading_time(cue.text, rules))
        latest = shown[number + 1].start - rules.gap if number + 1 < len(shown) else wanted
        end = max(min(wanted, latest, start + rules.longest), start + MIN_SHOWN)
        timed.append(Segment(start, end, cue.text, cue.words, cue.speaker))
        free = end + rules.gap
    return tuple(timed)
