"""Lines that were read back wrong are spoken again in other renditions, and the one that is understood best is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipelines import media
from pipelines.asr import RECOGNIZERS, RecognitionOptions
from pipelines.asr.scoring import score
from pipelines.asr.words import line_text
from pipelines.dub.casting import Cast
from pipelines.dub.check import FLAG_OVER, LineCheck, heard_between
from pipelines.dub.run import DubRun
from pipelines.dub.speaking import line_key, say
from pipelines.errors import Message, OptionError
from pipelines.files import read_json, write_json
from pipelines.progress import StagePart
from pipelines.timing import LineFit
from pipelines.types import Audio, DubLine, DubPlan, Word

TAKES, AUDITION = "takes.json", "audition.wav"
MOST = 3  # renditions of a line, the first one included
MOST_LINES = 20  # the worst ones: more than that is no slip of the voice
APART = 1.0  # seconds of silence between two renditions, so that each is heard by itself


@dataclass(frozen=True, slots=True)
class Takes:
    """The renditions of a line that were tried: which is kept, and how wrong each was heard (the first one's first)."""

    take: int
    rates: tuple[float, ...]


def chosen(run: DubRun) -> dict[str, Takes]:
    """What was decided in this job, by ``line_key``."""
    path = run.folder / TAKES
    if not path.is_file():
        return {}
    return {key: Takes(entry["take"], tuple(entry["rates"])) for key, entry in read_json(path).items()}


def kept_takes(run: DubRun) -> dict[str, int]:
    """The take to be spoken of each line that was tried, by ``line_key``."""
    return {key: one.take for key, one in chosen(run).items()}


def of_lines(run: DubRun, plan: DubPlan, cast: Cast, fits: Mapping[int, LineFit]) -> dict[int, Takes]:
    """The renditions that were tried, by line."""
    known = chosen(run)
    keys = {
        line.index: line_key(run, line, fits[line.index], cast.voice(line))
        for line in plan.lines
        if line.index in fits
    }
    return {index: known[key] for index, key in keys.items() if key in known}


def try_again(
    run: DubRun, plan: DubPlan, cast: Cast, fits: Mapping[int, LineFit], checks: Sequence[LineCheck]
) -> bool:
    """Try other renditions of the lines heard wrong that were not tried before; whether one is better than what there is.

    The sound is not touched: ``takes.json`` says which rendition is to be spoken.
    """
    known = chosen(run)
    lines = {line.index: line for line in plan.lines}
    wrong = sorted((one for one in checks if one.error_rate > FLAG_OVER), key=lambda one: -one.error_rate)
    tried: dict[str, DubLine] = {}
    for check in wrong[:MOST_LINES]:
        line = lines[check.index]
        key = line_key(run, line, fits[line.index], cast.voice(line))
        if key not in known:
            tried[key] = line
    if not tried:
        return False
    rates: dict[tuple[int, int], float] = {}
    for take in range(MOST):
        rates |= audition(run, take, list(renditions(run, list(tried.values()), cast, fits, take)))
    for key, line in tried.items():
        own = {take: rate for (index, take), rate in rates.items() if index == line.index}
        if 0 not in own:
            continue
        best = min(own, key=lambda take: (own[take], take))
        known[key] = Takes(best, tuple(own[take] for take in sorted(own)))
        if best:
            run.report.note(better(line, own[0], own[best]))
    write_json(
        run.folder / TAKES, {key: {"take": one.take, "rates": one.rates} for key, one in known.items()}
    )
    return any(known[key].take for key in tried if key in known)


def renditions(
    run: DubRun, lines: Sequence[DubLine], cast: Cast, fits: Mapping[int, LineFit], take: int
) -> Iterator[tuple[DubLine, Audio]]:
    """The lines in one rendition, those that can have their length in it."""
    for number, line in enumerate(lines):
        run.report.step("speak", number, len(lines), "lines")
        try:
            yield line, say(run, line, fits[line.index].seconds, cast.voice(line), take).audio
        except OptionError:  # this rendition cannot be made as short or as long
            continue


def audition(run: DubRun, take: int, said: Sequence[tuple[DubLine, Audio]]) -> dict[tuple[int, int], float]:
    """How wrong each line is heard, by line and take; all lines in one pass, one after the other.

    One pass a rendition: a recogniser that hears the same sentence twice leaves the second out.
    """
    if not said:
        return {}
    path = run.folder / AUDITION
    places: list[tuple[float, float]] = []
    at = APART
    for _, sound in said:
        places.append((at, at + sound.duration))
        at = places[-1][1] + APART
    rate = said[0][1].sr
    silence = np.zeros(round(APART * rate), np.float32)
    blocks = (block for _, sound in said for block in (silence, np.asarray(sound.samples, np.float32)))
    media.write_sound(path, (block for part in (blocks, iter([silence])) for block in part), rate)
    try:
        words = _heard(run, path)
    finally:
        path.unlink(missing_ok=True)
    target = run.options.target_language
    rates: dict[tuple[int, int], float] = {}
    for number, ((line, _), (start, end)) in enumerate(zip(said, places, strict=True)):
        until = places[number + 1][0] if number + 1 < len(places) else at
        text = line_text(heard_between(words, start, end, until), target)
        rates[line.index, take] = round(score(line.text, text, target).rate, 4)
    return rates


def _heard(run: DubRun, path: Path) -> list[Word]:
    recognizer = RECOGNIZERS.get(run.options.asr_engine, run.context)
    still = StagePart(run.report, "speak", 1, 1, 1, "lines")
    heard = recognizer.recognize(path, RecognitionOptions(language=run.options.target_language), still)
    return [word for part in heard.segments for word in part.words]


def better(line: DubLine, before: float, after: float) -> Message:
    """That a line was spoken again, and what for."""
    return Message(
        f"Line {line.index + 1} was read back {100 * before:.0f} % wrong and is spoken another way: {100 * after:.0f} %",
        f"第 {line.index + 1} 行回听误差 {100 * before:.0f}%，已换一种读法：{100 * after:.0f}%",
    )
