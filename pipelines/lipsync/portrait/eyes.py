"""Blinking: the skin between brow and lashes is drawn down over the eyeball, which stands still."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

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
# Of the eye's width above the lid's edge: where there is nothing but skin, which is what comes down.
SKIN = 0.14
BEYOND = 0.08  # how far the shut lid reaches over the lower one's edge
OUTSIDE = 0.12  # how far an eye may reach beyond its corners, which are hard to find
LASHES = 0.03  # thickness of the drawn lashes
ROOM = 0.55  # of the way up to the brow is skin that gives way
LEAST_OPEN = 0.12  # of the eye's width; eyes less open than this are shut already


@dataclass(frozen=True, slots=True)
class Eye:
    """One eye in its own frame: ``across`` runs from the outer to the inner corner, ``down`` is perpendicular to it.

    Per pixel of the region (h, w), in px along ``down``: ``height`` of the pixel, ``top`` where the skin begins to give
    way, ``lid`` where the skin ends above the upper lashes, ``meet`` where it lies when shut; ``lash`` half the
    thickness of the lashes. ``down`` is a unit vector (2,), ``dark`` the lashes' colour (BGR).
    """

    region: Region
    down: F32
    height: F32
    top: F32
    lid: F32
    meet: F32
    lash: F32
    dark: F32
    shift: float

    def close(self, frame: Frame, source: Frame, amount: float) -> None:
        """Draw the lid over the eye in ``frame``, from the same place of ``source``; amount 0…1."""
        travel = np.maximum(self.meet - self.lid, 0) * np.float32(amount)
        skin, cover = self._skin(source, travel)
        if not cover.any():
            return
        # The lashes go along with the lid's edge, from where the picture's own lashes are covered.
        edge = self.lid + travel
        thick = np.maximum(self.lash, 1e-3)
        line = np.clip(1.15 - np.abs(self.height - edge + 0.4 * thick) / thick, 0, 1) * np.clip(
            self.lash / 0.6, 0, 1
        )
        line = np.asarray(line * float(np.clip(travel.max() / self.shift - 0.3, 0, 1)) * 0.75, np.float32)
        here = self.region.cut(frame)
        mixed = here + cover[..., None] * (skin - here)
        mixed = mixed + line[..., None] * (np.minimum(self.dark, mixed) - mixed)
        here[:] = np.clip(np.rint(mixed), 0, 255).astype(np.uint8)

    def _skin(self, source: Frame, travel: F32) -> tuple[F32, F32]:
        """The skin drawn down by ``travel`` (h, w, 3), and where it is (h, w)."""
        span = np.maximum(self.lid - self.top, 1.0)
        ratio = np.maximum(travel / span, 1e-4)
        place = (self.height - self.top) / span
        # place = t + ratio·(1 − (1 − t)²), solved for t: next to the lashes the skin is moved, not stretched.
        root = np.sqrt(np.maximum(1 + 4 * ratio * (1 + ratio - place), 0))
        came = 1 - (root - 1) / (2 * ratio)
        back = np.where(place > 0, (came - place) * span, 0).astype(np.float32)
        edge = np.clip(self.lid + travel - self.height + np.float32(0.5), 0, 1)
        cover = (edge * (place > 0) * np.clip(travel / 0.25, 0, 1)).astype(np.float32)
        rows, columns = self.height.shape
        x = np.arange(columns, dtype=np.float32)[None] + self.region.x0 + back * self.down[0]
        y = np.arange(rows, dtype=np.float32)[:, None] + self.region.y0 + back * self.down[1]
        skin = cv2.remap(source, x, y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
        return skin.astype(np.float32), cover


def eyes_of(picture: Frame, landmarks: F32) -> tuple[Eye, ...]:
    """The eyes of a face (478, 2) in a picture (H, W, 3) that can blink."""
    found = (_eye(picture, landmarks, side) for side in (0, 1))
    return tuple(eye for eye in found if eye is not None)


def _eye(picture: Frame, landmarks: F32, side: int) -> Eye | None:
    outer, inner = landmarks[UPPER[side][0]], landmarks[UPPER[side][-1]]
    width = float(np.linalg.norm(inner - outer))
    if width < 8:
        return None
    across = (inner - outer) / width
    down = np.array((-across[1], across[0]), np.float32)
    if down[1] < 0:
        down = -down
    upper, lower, brow = (landmarks[list(rows[side])] - outer for rows in (UPPER, LOWER, BROW))
    if float(((lower - upper) @ down).max()) < LEAST_OPEN * width:
        return None
    corners = np.stack([across, -across]) * np.float32(OUTSIDE * width) + np.stack([inner, outer]) - outer
    bounds = Region(0, 0, picture.shape[1], picture.shape[0])
    region = region_of(np.concatenate([upper, lower, brow, corners]) + outer, bounds)
    if region.empty:
        return None
    x = np.arange(region.x0, region.x1, dtype=np.float32)[None] - outer[0]
    y = np.arange(region.y0, region.y1, dtype=np.float32)[:, None] - outer[1]
    along, height = x * across[0] + y * across[1], x * down[0] + y * down[1]
    lid, under, hair = (_curve(along, line @ across, line @ down, width) for line in (upper, lower, brow))
    place = np.clip((along / width + OUTSIDE) / (1 + 2 * OUTSIDE), 0, 1)
    inside = np.minimum(3 * np.sin(np.pi * place), 1)
    skin = lid - np.asarray(SKIN * width * inside, np.float32)
    meet = np.maximum(under + np.asarray(BEYOND * width * inside, np.float32), skin)
    meet = np.where((place > 0) & (place < 1), meet, skin)
    top = skin + np.float32(ROOM) * np.minimum(hair - skin, -0.12 * width)
    lash = np.asarray(0.5 * LASHES * width * np.maximum(np.sin(np.pi * place), 0) ** 0.7, np.float32)
    dark = _dark(picture, region, (height > skin) & (height < under) & (place > 0) & (place < 1))
    return Eye(region, down, height, top, skin, meet.astype(np.float32), lash, dark, SKIN * width)


def _curve(at: F32, x: F32, y: F32, width: float) -> F32:
    """A cubic through points in the least-squares sense, read at ``at``; level a little beyond the eye's corners."""
    line = np.polyfit(x.astype(np.float64) / width, y.astype(np.float64), 3 if len(x) > 6 else 2)
    return np.asarray(np.polyval(line, np.clip(at / width, -OUTSIDE, 1 + OUTSIDE)), np.float32)


def _dark(picture: Frame, region: Region, where: npt.NDArray[np.bool_]) -> F32:
    """The colour of the darkest tenth of the eye: lashes and pupil."""
    seen = region.cut(picture)[where].astype(np.float32)
    if len(seen) < 10:
        return np.full(3, 40, np.float32)
    light = seen.sum(1)
    return np.asarray(np.median(seen[light <= np.percentile(light, 10)], axis=0), np.float32)
