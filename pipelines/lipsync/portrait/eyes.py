"""Blinking: the skin between brow and lashes is drawn down over the eyeball, which stands still."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from pipelines.lipsync.geometry import F32
from pipelines.lipsync.warp import Region, region_of
from pipelines.types import Frame

# From the outer to the inner corner.
UPPER = (
    (33, 246, 161, 160, 159, 158, 157, 173, 133),
    (263, 466, 388, 387, 386, 385, 384, 398, 362),
)
LOWER = (
    (33, 7, 163, 144, 145, 153, 154, 155, 133),
    (263, 249, 390, 373, 374, 380, 381, 382, 362),
)
BROW = ((46, 53, 52, 65, 55), (276, 283, 282, 295, 285))
MEET = 0.94  # of the way from the upper to the lower lid: where they meet; the lower one comes up a little
LASHES = 0.03  # of the eye's width: how far the lashes reach beyond the lid's edge
ROOM = 0.85  # of the way up to the brow is skin that gives way
LEAST_OPEN = 0.05  # of the eye's width; eyes less open than this are shut already


@dataclass(frozen=True, slots=True)
class Eye:
    """One eye in its own frame: ``across`` runs from the outer to the inner corner, ``down`` is perpendicular to it.

    Per pixel of the region (h, w), in px along ``down``: ``height`` of the pixel, ``top`` where the skin begins to give
    way, ``lid`` the upper lid's edge, ``meet`` where it lies when shut. ``down`` is a unit vector (2,).
    """

    region: Region
    down: F32
    height: F32
    top: F32
    lid: F32
    meet: F32

    def close(self, frame: Frame, source: Frame, amount: float) -> None:
        """Draw the lid over the eye in ``frame``, from the same place of ``source``; amount 0…1."""
        travel = np.maximum(self.meet - self.lid, 0) * np.float32(amount)
        span = np.maximum(self.lid - self.top, 1.0)
        ratio = np.maximum(travel / span, 1e-4)
        place = (self.height - self.top) / span
        # place = t + ratio·(1 − (1 − t)²), solved for t: next to the lashes the skin is moved, not stretched.
        root = np.sqrt(np.maximum(1 + 4 * ratio * (1 + ratio - place), 0))
        came = 1 - (root - 1) / (2 * ratio)
        back = np.where(place > 0, (came - place) * span, 0).astype(np.float32)
        edge = np.clip(self.lid + travel - self.height + np.float32(0.5), 0, 1)
        cover = (edge * (place > 0) * np.clip(travel / 0.25, 0, 1)).astype(np.float32)
        if not cover.any():
            return
        rows, columns = self.height.shape
        x = np.arange(columns, dtype=np.float32)[None] + self.region.x0 + back * self.down[0]
        y = np.arange(rows, dtype=np.float32)[:, None] + self.region.y0 + back * self.down[1]
        skin = cv2.remap(source, x, y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
        here = self.region.cut(frame)
        mixed = here + cover[..., None] * (skin.astype(np.float32) - here)
        here[:] = np.clip(np.rint(mixed), 0, 255).astype(np.uint8)


def eyes_of(landmarks: F32, size: tuple[int, int]) -> tuple[Eye, ...]:
    """The eyes of a face (478, 2) that can blink, in a picture of ``size`` (width, height)."""
    found = (_eye(landmarks, side, size) for side in (0, 1))
    return tuple(eye for eye in found if eye is not None)


def _eye(landmarks: F32, side: int, size: tuple[int, int]) -> Eye | None:
    outer, inner = landmarks[UPPER[side][0]], landmarks[UPPER[side][-1]]
    width = float(np.linalg.norm(inner - outer))
    if width < 8:
        return None
    across = (inner - outer) / width
    down = np.array((-across[1], across[0]), np.float32)
    if down[1] < 0:
        down = -down
    upper, lower, brow = (landmarks[list(rows[side])] - outer for rows in (UPPER, LOWER, BROW))
    if float((lower @ down).max() - (upper @ down).min()) < LEAST_OPEN * width:
        return None
    region = region_of(np.concatenate([upper, lower, brow]) + outer, Region(0, 0, *size))
    if region.empty:
        return None
    x = np.arange(region.x0, region.x1, dtype=np.float32)[None] - outer[0]
    y = np.arange(region.y0, region.y1, dtype=np.float32)[:, None] - outer[1]
    along, height = x * across[0] + y * across[1], x * down[0] + y * down[1]
    lid, under, hair = (_curve(along, line @ across, line @ down) for line in (upper, lower, brow))
    inside = np.sin(np.pi * np.clip(along / width, 0, 1))
    lash = np.asarray(LASHES * width * np.minimum(3 * inside, 1), np.float32)
    meet = lid + np.float32(MEET) * (under - lid)
    top = lid + np.float32(ROOM) * np.minimum(hair - lid, -0.15 * width)
    return Eye(region, down, height, top, lid + lash, np.maximum(meet, lid) + lash)


def _curve(at: F32, x: F32, y: F32) -> F32:
    """A smooth line through points, read at ``at``; level beyond its ends."""
    order = np.argsort(x)
    known, values = x[order].astype(np.float64), y[order].astype(np.float64)
    keep = np.concatenate([[True], np.diff(known) > 1e-3])
    from scipy.interpolate import PchipInterpolator

    line = PchipInterpolator(known[keep], values[keep])
    return np.asarray(line(np.clip(at, known[0], known[-1])), np.float32)
