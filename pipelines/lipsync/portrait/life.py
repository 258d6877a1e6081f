"""A portrait's blinking and head motion, laid over frames whose mouth is drawn already."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipelines.lipsync.geometry import F32
from pipelines.lipsync.portrait.eyes import Eye, eyes_of
from pipelines.lipsync.portrait.rhythm import Rhythm, rhythm
from pipelines.lipsync.portrait.sway import Head, head_of
from pipelines.types import Frame


@dataclass(frozen=True, slots=True)
class Life:
    """Holds the fields of one face and two short curves, no pictures."""

    eyes: tuple[Eye, ...]
    head: Head | None
    rhythm: Rhythm

    def lay(self, index: int, frame: Frame) -> Frame:
        """Output frame ``index``; the frame given stays as it is."""
        blink, sway = float(self.rhythm.blink[index]), self.rhythm.sway[index]
        result = frame
        if blink > 0 and self.eyes:
            result = frame.copy()
            for eye in self.eyes:
                eye.close(result, frame, blink)
        if self.head is not None and bool(np.any(sway)):
            result = self.head.move(result, sway)
        return result

    def signature(self, first: int, last: int) -> bytes:
        """What decides how the frames [first, last) are moved."""
        return self.rhythm.blink[first:last].tobytes() + self.rhythm.sway[first:last].tobytes()


def life_of(
    picture: Frame, landmarks: F32, frames: int, fps: float, head_motion: bool, blinking: bool
) -> Life:
    """The life of a face (478, 2) in a picture (H, W, 3) over ``frames`` output frames."""
    head = head_of(landmarks, (picture.shape[1], picture.shape[0])) if head_motion else None
    return Life(eyes_of(picture, landmarks) if blinking else (), head, rhythm(frames, fps, head_motion))
