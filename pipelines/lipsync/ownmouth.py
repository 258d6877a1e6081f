"""The engine ``ownmouth``: the speaker's own mouths from the clip, chosen, warped to the exact target and blended in.

First pass: the landmarks teach the shape of this speaker's mouth (``shape``), the picture gives the dictionary
(``mouths``). Then a unit is chosen for every frame (``selection``). Second pass: each frame's lower face is warped so
that jaw and lips stand where the speech wants them, and the unit's mouth, warped to the same place, is laid over it
(``warp``, ``blend``). Both layers share one geometry, so there are no double lips at the seam.

A single picture goes the same way: its one mouth is warped, and where it shows no teeth the mouth's inside is drawn. Its
head moves and its lids shut if that is asked for (``portrait``).
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.lipsync import EngineContext, LipDrive, LipReport, LipRun
from pipelines.lipsync.dictionary import mouths_of
from pipelines.lipsync.draw import Painter
from pipelines.lipsync.frames import ordered_frames
from pipelines.lipsync.mouths import study
from pipelines.lipsync.plan import Plan, make_plan, require_face
from pipelines.lipsync.portrait.interior import Interior, interior_of, shows_teeth
from pipelines.lipsync.portrait.life import Life, life_of
from pipelines.lipsync.selection import select
from pipelines.progress import Report
from pipelines.settings import Settings
from pipelines.types import FaceTrack, Frame, VideoInfo

VERSION = 2  # raise when a frame looks different for the same plan


class OwnMouth:
    """See the module; implements ``pipelines.lipsync.LipEngine``."""

    def __init__(self, context: EngineContext) -> None:
        self._settings = context.settings

    def sync(self, video: VideoInfo, track: FaceTrack, drive: LipDrive, report: Report) -> LipRun:
        """Prepare and return the run; its temporary files go when it is no longer used."""
        require_face(video, track)
        film = self._prepare(video, track, drive, report)
        for note in film.plan.notes:
            report.note(note, "hint")
        result = LipReport(
            film.plan.synthesised, film.plan.passed, film.plan.notes, _measures(film.plan, film.painter)
        )
        return LipRun(result, len(drive.order), film.draw, film.signature)

    def _prepare(self, video: VideoInfo, track: FaceTrack, drive: LipDrive, report: Report) -> _Film:
        scratch = tempfile.TemporaryDirectory(prefix="mouths-", ignore_cleanup_errors=True)
        motion = study(track, float(video.fps), Path(scratch.name), report)
        if not motion.usable.any():
            unseen = np.zeros(len(motion.usable), np.float32)
            plan = make_plan(video, track, motion, unseen, drive)
            nothing = np.full(len(plan.strength), -1, np.intp)
            return _Film(video, drive, plan, nothing, None, None, self._settings, scratch)
        mouths = mouths_of(video, track, motion, self._settings, report)
        plan = make_plan(video, track, motion, mouths.frame_odd, drive)
        chosen = select(plan.wanted, motion, mouths, report)
        inside, life = _portrait(video, track, drive, self._settings)
        painter = Painter(video, track, motion, mouths, plan, chosen, inside)
        units = np.where(chosen >= 0, mouths.frames[chosen], -1)
        return _Film(video, drive, plan, units, painter, life, self._settings, scratch)


def _portrait(
    video: VideoInfo, track: FaceTrack, drive: LipDrive, settings: Settings
) -> tuple[Interior | None, Life | None]:
    """What a single picture needs besides its mouth; nothing for a video."""
    if not video.still:
        return None, None
    picture = next(ordered_frames(video, (0,), settings))
    face = np.asarray(track.landmarks[0], np.float32)
    life = life_of(picture, face, len(drive.order), float(video.fps), drive.head_motion, drive.blinking)
    return None if shows_teeth(picture, face) else interior_of(picture, face), life


@dataclass(frozen=True, slots=True)
class _Film:
    """The output as it will be drawn; ``units`` (n,) are the source frames the mouths come from, −1 for none."""

    video: VideoInfo
    drive: LipDrive
    plan: Plan
    units: npt.NDArray[np.intp]
    painter: Painter | None
    life: Life | None
    settings: Settings
    scratch: tempfile.TemporaryDirectory[str]  # lives as long as the painter

    def draw(self, first: int, last: int) -> Iterator[Frame]:
        frames = ordered_frames(self.video, self.drive.order[first:last], self.settings)
        for index, frame in enumerate(frames, start=first):
            drawn = frame
            if self.painter is not None and self.plan.strength[index] > 0:
                drawn = self.painter.paint(index, frame)
            yield drawn if self.life is None else self.life.lay(index, drawn)

    def signature(self, first: int, last: int) -> str:
        """Over the source frames and all that the painter is told; a frame's neighbours lend it their units' shape."""
        here, around = slice(first, last), slice(max(first - 1, 0), last + 1)
        wanted, plan = self.plan.wanted, self.plan
        found = hashlib.sha256(f"ownmouth {VERSION} {first}".encode())
        found.update(np.asarray(self.drive.order[here], np.int64).tobytes())
        found.update(self.units[around].tobytes())
        for values in (plan.strength, wanted.opening, wanted.width, plan.targets.tuck):
            found.update(np.where(plan.strength[here] > 0, values[here], 0).tobytes())
        if self.life is not None:
            found.update(self.life.signature(first, last))
        return found.hexdigest()


def _measures(plan: Plan, painter: Painter | None) -> dict[str, float]:
    total = len(plan.strength)
    drawn = int(np.count_nonzero(plan.strength > 0))
    measures = {"frames": float(total), "synthesised": float(drawn), "passed": float(total - drawn)}
    if painter is not None and drawn:
        measures |= painter.measures()
    return measures
