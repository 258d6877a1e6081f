"""Whose mouth says which lines: each person in the picture says what they were seen saying, nobody what was said off screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipelines import faces
from pipelines.dub.run import DubRun
from pipelines.errors import Message
from pipelines.faces.motion import Mask, mouth_motion, who_speaks
from pipelines.types import DubLine, DubPlan, FaceTrack

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Part:
    """One person's part: their face, the plan with their lines alone, and when others speak, in seconds of the dub."""

    track: FaceTrack
    plan: DubPlan
    others: tuple[Range, ...]


def parts(run: DubRun, plan: DubPlan, tracks: Sequence[FaceTrack]) -> tuple[Part, ...]:
    """The parts of everybody whose mouth is to move, the main person's first.

    Raises:
        OptionError: the person asked for is not in the picture.
    """
    speakers = {line.speaker or "" for line in plan.lines}
    if run.options.who:
        return (Part(faces.person(tracks, run.options.who), plan, ()),)
    if len(tracks) == 1 and len(speakers) == 1:
        return (Part(tracks[0], plan, ()),)
    fps = float(run.info.fps)
    speech = {name: _frames(plan.lines, name, len(tracks[0].found), fps) for name in sorted(speakers)}
    said = who_speaks([mouth_motion(track, fps) for track in tracks], speech, fps)
    if len(speakers) == 1 and not any(said):  # too little to tell by: the main person
        said[0] = frozenset(speakers)
    _tell(run, said, speakers, len(tracks))
    return tuple(_part(plan, track, names) for track, names in zip(tracks, said, strict=True) if names)


def _frames(lines: Sequence[DubLine], speaker: str, count: int, fps: float) -> Mask:
    """(count,) bool: frames in which the speaker's words are heard in the original."""
    spoken = np.zeros(count, np.bool_)
    for line in lines:
        if (line.speaker or "") == speaker:
            spoken[max(round(line.start * fps), 0) : max(round(line.end * fps), 0)] = True
    return spoken


def _part(plan: DubPlan, track: FaceTrack, names: frozenset[str]) -> Part:
    own = tuple(line for line in plan.lines if (line.speaker or "") in names)
    foreign = [line for line in plan.lines if (line.speaker or "") not in names]
    times = [
        span for line in foreign for span in ((line.start, line.end), (line.speak_start, line.speak_end))
    ]
    mine = [(line.speak_start, line.speak_end) for line in own]
    return Part(track, replace(plan, lines=own), without(times, mine))


def without(times: Sequence[Range], taken: Sequence[Range]) -> tuple[Range, ...]:
    """The times less what is taken, in order, joined where they meet."""
    left = list(times)
    for start, end in taken:
        left = [
            piece for a, b in left for piece in ((a, min(b, start)), (max(a, end), b)) if piece[1] > piece[0]
        ]
    joined: list[Range] = []
    for a, b in sorted(left):
        if joined and a <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(b, joined[-1][1]))
        else:
            joined.append((a, b))
    return tuple(joined)


def _tell(run: DubRun, said: Sequence[frozenset[str]], speakers: set[str], people: int) -> None:
    if people > 1 and len(speakers) == 1:
        seen = [number for number, names in enumerate(said, start=1) if names]
        run.report.note(
            Message(
                f"{people} people were found; the one whose mouth moves with the words speaks the dub"
                f" (number {', '.join(map(str, seen))} by size and time on screen)",
                f"找到 {people} 人;由嘴部随话语而动的人说配音(按出镜大小与时长为第 {'、'.join(map(str, seen))} 位)",
            )
        )
    unseen = sorted(speakers.difference(*said)) if len(speakers) > 1 else []
    if unseen:
        run.report.note(
            Message(
                f"{', '.join(unseen)} cannot be seen speaking: nobody's lips are moved for these lines",
                f"画面中看不到 {'、'.join(unseen)} 说话:这些台词不改动任何人的口型",
            )
        )
