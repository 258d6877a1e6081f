"""A slight movement of the head: the picture is bent around it, and stays as it is at its edges."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from pipelines.lipsync.geometry import CHIN, EYE_LEFT, EYE_RIGHT, F32
from pipelines.lipsync.warp import Region
from pipelines.types import Frame

# Everything in distances of the outer eye corners.
WIDE, HIGH = 1.0, 1.45  # half axes of the head
FULL, NONE = 1.0, 2.2  # in half axes: what moves with the head, and where nothing moves any more
BORDER = 0.5  # to the picture's edge
DEEP = 0.55  # half axes within which the middle of the face stands out
ROLL = 0.016  # radians
ACROSS, DOWN, TURN, NOD = 0.018, 0.012, 0.022, 0.018


@dataclass(frozen=True, slots=True)
class Head:
    """The field of a head in one picture, over ``region`` (h, w): how much of the movement a pixel takes part in.

    weight: 0…1; depth: 0…1, how far it stands out; away: (h, w, 2) px from the point the head turns about.
    """

    region: Region
    weight: F32
    depth: F32
    away: F32
    eyes: float

    def move(self, frame: Frame, sway: F32) -> Frame:
        """The frame with the head moved; sway (5,) in [-1, 1]: roll, across, down, turn, nod."""
        roll, across, down, turn, nod = (float(v) for v in sway)
        angle = ROLL * roll
        dx = -angle * self.away[..., 1] + self.eyes * (ACROSS * across + TURN * turn * self.depth)
        dy = angle * self.away[..., 0] + self.eyes * (DOWN * down + NOD * nod * self.depth)
        rows, columns = self.weight.shape
        x = np.arange(columns, dtype=np.float32)[None] + self.region.x0 - self.weight * dx
        y = np.arange(rows, dtype=np.float32)[:, None] + self.region.y0 - self.weight * dy
        moved = frame.copy()
        self.region.cut(moved)[:] = cv2.remap(
            frame,
            x.astype(np.float32),
            y.astype(np.float32),
            cv2.INTER_LANCZOS4,
            borderMode=cv2.BORDER_REPLICATE,
        )
        return moved


def head_of(landmarks: F32, size: tuple[int, int]) -> Head | None:
    """The head around a face (478, 2) in a picture of ``size`` (width, height); None when there is no room to move."""
    width, height = size
    eyes = float(np.linalg.norm(landmarks[EYE_LEFT] - landmarks[EYE_RIGHT]))
    middle = (landmarks[EYE_LEFT] + landmarks[EYE_RIGHT]) / 2
    axis = landmarks[CHIN] - middle
    axis = axis / max(float(np.linalg.norm(axis)), 1e-3)
    centre = middle + axis * np.float32(0.25 * eyes)
    reach = NONE * HIGH * eyes
    x0, y0 = np.floor(centre - reach).astype(int).tolist()
    x1, y1 = np.ceil(centre + reach).astype(int).tolist()
    region = Region(max(x0, 0), max(y0, 0), min(x1, width), min(y1, height))
    if region.empty:
        return None
    px = np.arange(region.x0, region.x1, dtype=np.float32)[None]
    py = np.arange(region.y0, region.y1, dtype=np.float32)[:, None]
    x, y = px - centre[0], py - centre[1]
    along, beside = x * axis[0] + y * axis[1], x * axis[1] - y * axis[0]
    far = np.sqrt((beside / (WIDE * eyes)) ** 2 + (along / (HIGH * eyes)) ** 2)
    edge = np.minimum(np.minimum(px, width - 1 - px), np.minimum(py, height - 1 - py)) / (BORDER * eyes)
    weight = _smooth((NONE - far) / (NONE - FULL)) * _smooth(edge)
    pivot = centre + axis * np.float32(1.5 * eyes)
    away = np.stack(np.broadcast_arrays(px - pivot[0], py - pivot[1]), axis=2).astype(np.float32)
    depth = np.exp(-((far / DEEP) ** 2)).astype(np.float32)
    return Head(region, weight.astype(np.float32), depth, away, eyes)


def _smooth(value: F32) -> F32:
    share = np.clip(value, 0, 1)
    return np.asarray(share * share * (3 - 2 * share), np.float32)
