"""Praat's TextGrid: a tier of lines for every speaker and a tier of words, without holes, as Praat wants them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipelines.speakers import speakers_of
from pipelines.types import Phone, Segment

Interval = tuple[float, float, str]


def textgrid(segments: Sequence[Segment], phones: Sequence[Phone] = ()) -> str:
    """The long text form of a TextGrid; tiers are ``lines`` (or the speakers' names) and, where known, ``words`` and ``phones``.

    Intervals of a tier may not overlap, so each ends where the next begins at the latest; between them lie empty ones.
    """
    end = max((*(one.end for one in segments), *(one.end for one in phones)), default=0.0)
    sounds = [("phones", [(one.start, one.end, one.symbol) for one in phones])] if phones else []
    tiers = [(name, _filled(intervals, end)) for name, intervals in [*_tiers(segments), *sounds]]
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "xmin = 0", f"xmax = {end:.3f}"]
    lines += ["tiers? <exists>", f"size = {len(tiers)}", "item []:"]
    for number, (name, intervals) in enumerate(tiers, start=1):
        lines += [
            f"    item [{number}]:",
            '        class = "IntervalTier"',
            f"        name = {_quoted(name)}",
        ]
        lines += [
            "        xmin = 0",
            f"        xmax = {end:.3f}",
            f"        intervals: size = {len(intervals)}",
        ]
        for place, (start, stop, text) in enumerate(intervals, start=1):
            lines += [f"        intervals [{place}]:", f"            xmin = {start:.3f}"]
            lines += [f"            xmax = {stop:.3f}", f"            text = {_quoted(text)}"]
    return "\n".join(lines) + "\n"


def _tiers(segments: Sequence[Segment]) -> list[tuple[str, list[Interval]]]:
    tiers: list[tuple[str, list[Interval]]] = []
    for speaker in speakers_of(segments) or (None,):
        own = [s for s in segments if speaker is None or s.speaker == speaker]
        tiers.append((speaker or "lines", [(s.start, s.end, s.shown) for s in own]))
    unnamed = [s for s in segments if not s.speaker]
    if unnamed and tiers[0][0] != "lines":
        tiers.append(("lines", [(s.start, s.end, s.shown) for s in unnamed]))
    words = [(w.start, w.end, w.text) for s in segments for w in s.words]
    return [*tiers, ("words", words)] if words else tiers


def _filled(intervals: Iterable[Interval], end: float) -> list[Interval]:
    """Intervals in order, cut where they overlap, with empty ones between them and up to ``end``."""
    filled: list[Interval] = []
    clock = 0.0
    ordered = sorted((round(a, 3), round(b, 3), text) for a, b, text in intervals)
    for number, (start, stop, text) in enumerate(ordered):
        following = ordered[number + 1][0] if number + 1 < len(ordered) else stop
        start, stop = max(start, clock), min(stop, max(following, clock))
        if stop <= start:
            continue
        if start > clock:
            filled.append((clock, start, ""))
        filled.append((start, stop, text))
        clock = stop
    if clock < round(end, 3) or not filled:
        filled.append((clock, end, ""))
    return filled


def _quoted(text: str) -> str:
    joined = " ".join(text.split())
    return '"' + joined.replace('"', '""') + '"'
