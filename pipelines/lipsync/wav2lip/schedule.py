"""Which output frames get a drawn mouth, how strongly, and which drawing each of them shows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt

from pipelines.errors import Message
from pipelines.faces.smoothing import runs
from pipelines.lipsync import LipDrive, geometry
from pipelines.lipsync.geometry import F32
from pipelines.lipsync.mouths import LONGEST_TURN
from pipelines.lipsync.plan import (
    ASIDE,
    NO_FACE,
    Range,
    kept_frames,
    passed_notes,
    strength_curve,
    without_short,
)
from pipelines.lipsync.wav2lip.framing import BLOCK, Boxes, boxes_of, jumps
from pipelines.types import FaceTrack, VideoInfo

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The whole film in numbers; arrays of n output frames.

    Attributes:
        base: source frame. boxes: (n, 4) px.
        strength: 0 untouched … 1 fully new.
        drawing: output frame whose sound and face the mouth is drawn from; −1 where the frame is untouched. Up to the
            policy's frame rate that is the frame itself; above it, one drawing serves ``served`` frames.
    """

    base: Indices
    boxes: Boxes
    strength: F32
    drawing: Indices
    served: int
    synthesised: tuple[Range, ...]
    passed: tuple[Range, ...]
    notes: tuple[Message, ...]

    def moment(self, frame: int) -> Fraction:
        """The middle of the frames that the drawing of ``frame`` serves, in frames."""
        return frame + Fraction(self.served - 1, 2)


def make_schedule(video: VideoInfo, track: FaceTrack, drive: LipDrive, fps_cap: int | None) -> Schedule:
    """See ``Schedule``; ``fps_cap``: mouths are drawn for at most so many frames a second."""
    found = np.asarray(track.found)
    base = np.clip(np.asarray(drive.order, np.intp), 0, len(found) - 1)
    fps = float(video.fps)
    aside = found & (np.abs(_turns(track)) >= LONGEST_TURN)
    kept = kept_frames(drive.keep, len(base), fps)
    drawn = without_short((found & ~aside)[base] & ~kept)
    boxes = boxes_of(track)[base]
    served = ceil(video.fps / fps_cap) if fps_cap else 1
    notes = passed_notes(((~kept & ~found[base], NO_FACE), (~kept & aside[base], ASIDE)), fps)
    return Schedule(
        base,
        boxes,
        strength_curve(drawn, fps),
        _drawings(drawn, base, boxes, served),
        served,
        tuple(runs(drawn)),
        tuple(runs(~drawn)),
        notes,
    )


def _turns(track: FaceTrack) -> F32:
    turns = np.zeros(len(track.found), np.float32)
    for start in range(0, len(turns), BLOCK):
        here = slice(start, start + BLOCK)
        turns[here] = geometry.turn(np.asarray(track.landmarks[here]))
    return turns


def _drawings(drawn: npt.NDArray[np.bool_], base: Indices, boxes: Boxes, served: int) -> Indices:
    """Groups lie on a fixed grid and end where the shot does, so that they are the same wherever drawing begins."""
    place = np.arange(len(drawn))
    begins = place % served == 0
    begins[1:] |= ~drawn[:-1] | (np.abs(np.diff(base)) > 1)
    begins[jumps(boxes)] = True
    return np.where(drawn, np.maximum.accumulate(np.where(begins, place, 0)), -1)
