"""The five steps in order."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pipelines import media
from pipelines.dub import (
    casting,
    check,
    fitting,
    lines,
    listening,
    measures,
    outcome,
    part,
    picture,
    soundtrack,
    speaking,
    takes,
)
from pipelines.dub.options import DubOptions
from pipelines.dub.run import DubRun
from pipelines.errors import InputError, Message, NoSoundTrack
from pipelines.estimate import Work, remember
from pipelines.pieces import FOLDER
from pipelines.progress import Report
from pipelines.registry import EngineContext
from pipelines.types import VideoInfo

T = TypeVar("T")
# What lies in the folder as soon as a stage has begun to leave work behind.
BEGUN_BY = {
    "listen": listening.LISTENED,
    "translate": lines.TRANSLATED,
    "speak": "lines",
    "lips": FOLDER,
    "video": outcome.VIDEO,
}


def run(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Dub a video; the flow behind JobSpec kind ``dub``.

    Args:
        folder: the job's folder, for all artifacts.
        options: see ``DubOptions``.

    Returns:
        ``video``, ``subtitles`` (``source`` and ``target``), ``lines``, ``report``, ``report_page`` as file names in the
        folder, and what else was asked for: ``more_subtitles``, ``mkv``, ``stems``, ``project``.

    Raises:
        PipelineError: with what to do, see the steps.
    """
    asked = DubOptions.from_json(options)
    given = DubRun(folder, asked, check_input(asked.input), context, report)
    speaking.check_speakable(given)
    dub = part.taken(given)
    clock = StageClock(dub)
    transcript = clock.timed("listen", lambda: listening.listen(dub))
    plan = clock.timed("translate", lambda: lines.translate(dub, transcript))

    def speak() -> tuple[Any, ...]:
        cast = casting.find_cast(dub, plan, transcript)
        fits = fitting.fit(dub, plan, cast)
        spoken = speaking.speak(dub, plan, cast, fits, takes.kept_takes(dub))
        sound = soundtrack.mix(dub, spoken)
        checks = check.read_back(dub, spoken, sound)
        if takes.try_again(dub, spoken, cast, fits, checks):
            spoken = speaking.speak(dub, plan, cast, fits, takes.kept_takes(dub))
            sound = soundtrack.mix(dub, spoken)
            checks = check.read_back(dub, spoken, sound)
        check.tell_unsure(dub, checks)
        heard = measures.measure(
            dub,
            spoken,
            cast,
            lambda line: casting.own_voice(dub, plan, transcript, line, measures.COMPARED),
            sound,
        )
        return spoken, sound, checks, heard, takes.of_lines(dub, spoken, cast, fits)

    plan, sound, checks, heard, tried = clock.timed("speak", speak)
    frames = soundtrack.total_frames(dub, plan)
    lips = clock.timed("lips", lambda: picture.draw(dub, plan, sound, frames))
    made = clock.timed("video", lambda: outcome.assemble(dub, plan, folder / picture.PICTURE, sound))
    measured = {**heard, "seconds": clock.seconds, "frames": frames}
    return outcome.finish(dub, plan, made, outcome.Findings(checks, lips, measured, tried))


def check_input(path: Path) -> VideoInfo:
    """Probe the video and refuse what cannot be dubbed.

    Raises:
        NoSoundTrack: nothing to listen to. InputError: a picture or a sound file. MediaError: unreadable.
    """
    info = media.probe(path)
    if info.still or info.frames < 2:
        raise InputError(
            Message("This is a picture, not a video", "这是图片,不是视频"),
            Message(
                "Choose a talking video, or use the Talking head tab for pictures.",
                "请选择有人说话的视频;图片请用“数字人”页。",
            ),
            path.name,
        )
    if not info.audio:
        raise NoSoundTrack(
            Message("This video has no sound track", "这个视频没有音轨"),
            Message("Choose a video in which somebody speaks.", "请选择有人说话的视频。"),
            path.name,
        )
    return info


class StageClock:
    """Wall seconds per stage; stages that really ran teach the estimate for this machine."""

    def __init__(self, dub: DubRun) -> None:
        self.seconds: dict[str, float] = {}
        self._dub = dub

    def timed(self, stage: str, work: Callable[[], T]) -> T:
        """Run ``work`` as ``stage``; a stage cut short by a stop or an error teaches nothing."""
        fresh = not (self._dub.folder / BEGUN_BY[stage]).exists()
        started = time.monotonic()
        result = work()
        self.seconds[stage] = round(time.monotonic() - started, 2)
        if (
            fresh and self._dub.whole
        ):  # what is left of a job that was broken off or edited says nothing about a whole one
            remember(self._dub.context.settings, stage, Work.of(self._dub.info), self.seconds[stage])
        return result
