"""The lines of a dub laid into their times, and what the user must know about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace

from pipelines.artifacts import options_key
from pipelines.dub.casting import Cast
from pipelines.dub.run import DubRun
from pipelines.errors import InputError, Message
from pipelines.files import read_json, write_json
from pipelines.languages import UNSPACED
from pipelines.timing import DEFAULT_LIMITS, Held, LineFit, LineWish, Stretch, fit_stretches
from pipelines.types import DubLine, DubPlan
from pipelines.voice import LineLength

PLACES = "places.json"
HIGHEST_SPEED = 10.0  # beyond it the number says nothing more
NOTICED_SHIFT = 0.1  # seconds a line may begin beside its original before it is worth a word
LISTED = 12


def fit(run: DubRun, plan: DubPlan, cast: Cast) -> dict[int, LineFit]:
    """Place the lines that are spoken, by line index; lines kept in the original sound stand between them.

    A line that an earlier plan of this job placed well, and whose wish is the same, stays where it is: an edited line
    moves no other.
    """
    before = earlier_places(run)
    groups = stretches(run, plan, cast, before)
    fits = fit_stretches([stretch for _, stretch in groups])
    placed: dict[int, LineFit] = {}
    after: dict[str, tuple[float, float]] = {}
    for (lines, stretch), found in zip(groups, fits, strict=True):
        for line, wish, place in zip(lines, stretch.wishes, found, strict=True):
            warn_if_tight(run, line, place)
            placed[line.index] = place
            # one in a bad place may find a better one
            if line.locked or abs(place.start - wish.start) <= DEFAULT_LIMITS.shift:
                after[wish_key(wish)] = (place.start, place.seconds)
    write_json(run.folder / PLACES, after)
    tell_shifts(run, plan, placed)
    return placed


def stretches(
    run: DubRun, plan: DubPlan, cast: Cast, before: Mapping[str, Held]
) -> list[tuple[list[DubLine], Stretch]]:
    """The lines to be spoken with their wishes, cut where a line keeps its original sound."""
    found: list[tuple[list[DubLine], Stretch]] = []
    group: list[tuple[DubLine, LineWish]] = []
    begin, ends = run.span

    def close(until: float) -> None:
        found.append(([line for line, _ in group], Stretch(tuple(wish for _, wish in group), until, begin)))
        group.clear()

    for line in plan.lines:
        if line.keep:
            close(line.start - DEFAULT_LIMITS.gap)
            begin = line.end + DEFAULT_LIMITS.gap
        elif line.text.strip():
            for wish in wishes(run, plan, line, cast):
                group.append((line, replace(wish, held=before.get(wish_key(wish)))))
    close(ends)
    return found


def earlier_places(run: DubRun) -> dict[str, Held]:
    """Where an earlier plan of this job put lines, by ``wish_key``."""
    path = run.folder / PLACES
    if not path.is_file():
        return {}
    return {key: Held(start, seconds) for key, (start, seconds) in read_json(path).items()}


def wish_key(wish: LineWish) -> str:
    """The same for the same words with the same times and lengths."""
    return options_key(**asdict(replace(wish, held=None)))


def fitted(line: DubLine, placed: LineFit) -> DubLine:
    """The line with its place, as the table and the report show it."""
    needed = placed.needed_speed
    return replace(
        line,
        speak_start=placed.start,
        speak_end=placed.end,
        factor=placed.factor,
        state="spoken",
        needed_speed=1.0 if needed is None else round(min(needed, HIGHEST_SPEED), 3),
        shorten_by=placed.shorten_by,
    )


def unfitted(line: DubLine) -> DubLine:
    """A line that is not spoken: kept in the original sound, or without anything to say."""
    state = "kept" if line.keep else "translated" if line.state == "spoken" else line.state
    return replace(
        line, speak_start=0.0, speak_end=0.0, factor=1.0, state=state, needed_speed=1.0, shorten_by=0
    )


def wishes(run: DubRun, plan: DubPlan, line: DubLine, cast: Cast) -> list[LineWish]:
    """What a line asks of the time line; nothing, and a note, when nothing in it can be spoken."""
    try:
        length = run.voice_engine.length(run.spoken(line.text), plan.target_language, cast.voice(line))
    except InputError as error:
        run.report.note(
            Message(
                f"Line {line.index + 1} is not spoken: {error.what.en}",
                f"第 {line.index + 1} 行未配音:{error.what.zh}",
            ),
            "warning",
        )
        return []
    shortest, longest = within_speeds(line, length)
    return [
        LineWish(
            line.start,
            line.end,
            length.natural,
            shortest,
            longest,
            line.text,
            line.speaker,
            on_screen=run.options.lips,
        )
    ]


def within_speeds(line: DubLine, length: LineLength) -> tuple[float, float]:
    """The shortest and the longest the line may be: what the voice can do, within the line's own speed limits."""
    shortest, longest = length.shortest, length.longest
    if line.fastest:
        shortest = min(max(shortest, length.natural / line.fastest), longest)
    if line.slowest:
        longest = max(min(longest, length.natural / line.slowest), shortest)
    return shortest, longest


def warn_if_tight(run: DubRun, line: DubLine, placed: LineFit) -> None:
    """Say which line is too long for its time, and by how much."""
    if placed.needed_speed is not None:
        run.report.note(too_long(line.index, placed, run.options.target_language), "warning")


def too_long(index: int, placed: LineFit, language: str) -> Message:
    """“Line 7 would need 1.5×: shorten it by about 4 words” (characters in Chinese and Japanese)."""
    needed = placed.needed_speed or 1.0
    en, zh = (f"{needed:.1f}×",) * 2 if needed < HIGHEST_SPEED else ("more than 10×", "10× 以上")
    count, many = placed.shorten_by, "s" * (placed.shorten_by != 1)
    characters = language in UNSPACED
    return Message(
        f"Line {index + 1} would need {en}: shorten it by about {count} {'character' if characters else 'word'}{many}",
        f"第 {index + 1} 行需要 {zh} 语速:请缩短约 {count} 个{'字' if characters else '词'}",
    )


def tell_shifts(run: DubRun, plan: DubPlan, placed: Mapping[int, LineFit]) -> None:
    """Say which lines could not begin where the original does."""
    shifts = [
        (line.index, placed[line.index].start - line.start) for line in plan.lines if line.index in placed
    ]
    moved = [(index, shift) for index, shift in shifts if abs(shift) >= NOTICED_SHIFT]
    if not moved:
        return
    en = [f"line {index + 1} {abs(s):.1f} s {'later' if s > 0 else 'earlier'}" for index, s in moved[:LISTED]]
    zh = [f"第 {index + 1} 行{'晚' if s > 0 else '早'} {abs(s):.1f} 秒" for index, s in moved[:LISTED]]
    more = " …" if len(moved) > LISTED else ""
    run.report.note(
        Message(
            f"Not every line begins with its original: {', '.join(en)}{more}",
            f"部分行无法与原句同时开始:{'、'.join(zh)}{more}",
        ),
        "warning",
    )
