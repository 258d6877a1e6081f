"""The engine ``ownmouth``: the speaker's own mouths from the clip, chosen, warped to the exact target and blended in.

First pass: the landmarks teach the shape of this speaker's mouth (``shape``), the picture gives the dictionary
(``mouths``). Then a unit is chosen for every frame (``selection``). Second pass: each frame's lower face is warped so
that jaw and lips stand where the speech wants them, and the unit's mouth, warped to the same place, is laid over it
(``warp``, ``blend``). Both layers share one geometry, so there are no double lips at the seam.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pipelines.errors import Message, NoFace
from pipelines.lipsync import EngineContext, LipDrive, LipReport, LipRun
from pipelines.lipsync.draw import Painter
from pipelines.lipsync.frames import ordered_frames
from pipelines.lipsync.mouths import collect, study
from pipelines.lipsync.plan import Plan, make_plan
from pipelines.lipsync.selection import select
from pipelines.progress import Report
from pipelines.types import FaceTrack, Frame, VideoInfo


class OwnMouth:
    """See the module; implements ``pipelines.lipsync.LipEngine``."""

    def __init__(self, context: EngineContext) -> None:
        self._settings = context.settings

    def sync(self, video: VideoInfo, track: FaceTrack, drive: LipDrive, report: Report) -> LipRun:
        """Prepare and return the run; its files are removed when the frames have been drawn or the run is closed."""
        if not bool(np.any(track.found)):
            raise NoFace(
                Message("No face was found in this picture or video", "在该图片或视频中未找到人脸"),
                Message("Choose another clip, or a closer view.", "请换一段视频,或选择更近的镜头。"),
                video.path.name,
            )
        folder = Path(tempfile.mkdtemp(prefix="mouths-"))
        try:
            painter, plan = self._prepare(video, track, drive, folder, report)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        for note in plan.notes:
            report.note(note, "hint")
        result = LipReport(plan.synthesised, plan.passed, plan.notes, _measures(plan, painter))
        return LipRun(result, self._frames(video, drive, plan, painter, folder))

    def _prepare(
        self, video: VideoInfo, track: FaceTrack, drive: LipDrive, folder: Path, report: Report
    ) -> tuple[Painter | None, Plan]:
        from pipelines.media import read_frames

        motion = study(track, float(video.fps), folder, report)
        if not motion.usable.any():
            return None, make_plan(video, track, motion, np.zeros(len(motion.usable), np.float32), drive)
        mouths = collect(iter(read_frames(video, self._settings)), video, track, motion, folder, report)
        plan = make_plan(video, track, motion, mouths.frame_odd, drive)
        chosen = select(plan.wanted, motion, mouths, report)
        return Painter(video, track, motion, mouths, plan, chosen), plan

    def _frames(
        self,
        video: VideoInfo,
        drive: LipDrive,
        plan: Plan,
        painter: Painter | None,
        folder: Path,
    ) -> Iterator[Frame]:
        try:
            for index, frame in enumerate(ordered_frames(video, drive.order, self._settings)):
                if painter is None or plan.strength[index] <= 0:
                    yield frame
                else:
                    yield painter.paint(index, frame)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _measures(plan: Plan, painter: Painter | None) -> dict[str, float]:
    total = len(plan.strength)
    drawn = int(np.count_nonzero(plan.strength > 0))
    measures = {"frames": float(total), "synthesised": float(drawn), "passed": float(total - drawn)}
    if painter is not None and drawn:
        measures |= painter.measures()
    return measures
