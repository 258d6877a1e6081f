"""Drawing one output frame: where everything goes, two warps, one blend."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from pipelines.lipsync.blend import as_soft, blend
from pipelines.lipsync.geometry import (
    ANCHORS,
    EYE_LEFT,
    EYE_RIGHT,
    F32,
    INNER,
    INNER_LOWER,
    INNER_UPPER,
    as_complex,
    as_points,
)
from pipelines.lipsync.mouths import FaceMotion, Mouths
from pipelines.lipsync.plan import Plan
from pipelines.lipsync.portrait.interior import Interior
from pipelines.lipsync.shape import UPPER_SHARE, exact
from pipelines.lipsync.warp import Drawn, Picture, Region, draw, region_of, remap
from pipelines.types import FaceTrack, Frame, VideoInfo

BLOCK = 128
LOWER_LIP_MIDDLE = (16, 85, 315, 15, 86, 316)
CHARACTER = 0.55  # how much of a unit's own deviation from the mean mouth is kept
STRETCH_LIMIT = 1.5  # a unit opened further than this gets a painted depth
FURTHEST = 6.0  # gaps below the upper lip from which pixels may come at most


class Painter:
    """Draws output frames one by one, in order; holds one block of geometry and no pictures."""

    def __init__(
        self,
        video: VideoInfo,
        track: FaceTrack,
        motion: FaceMotion,
        mouths: Mouths,
        plan: Plan,
        chosen: npt.NDArray[np.intp],
        inside: Interior | None = None,
    ) -> None:
        self._size = (video.width, video.height)
        self._track, self._motion, self._mouths, self._plan = track, motion, mouths, plan
        self._chosen, self._inner = chosen, inside
        self._block_start = -1
        self._block = np.zeros((0, len(ANCHORS), 2), np.float32)
        rows = motion.mesh.rows
        self._upper = np.array([rows[v] for v in INNER_UPPER])
        self._lower = np.array([rows[v] for v in INNER_LOWER])

    def measures(self) -> dict[str, float]:
        """What the choice of units achieved before warping."""
        drawn = self._chosen >= 0
        units = self._mouths.frames[self._chosen[drawn]]
        have, want = self._motion.opening[units], self._plan.wanted.opening[drawn]
        far = (want > 0.04) & (want > STRETCH_LIMIT * have)
        switches = np.count_nonzero(np.abs(np.diff(units)) > 1)
        return {
            "unit_opening_r": _correlation(have, want),
            "unit_width_r": _correlation(self._motion.width[units], self._plan.wanted.width[drawn]),
            "stretched_share": float(far.mean()),
            "switch_share": switches / max(len(units) - 1, 1),
            "units": float(len(self._mouths.frames)),
        }

    def paint(self, index: int, frame: Frame) -> Frame:
        """Output frame ``index`` from its source frame, which stays as it is."""
        mesh = self._motion.mesh
        strength = np.float32(self._plan.strength[index])
        landmarks = np.asarray(self._track.landmarks[int(self._plan.wanted.base[index])])
        here = mesh.points(landmarks)
        move = (self._anchors(index) - landmarks[list(ANCHORS)]) * strength
        there = here + mesh.spread @ move
        region = region_of(np.concatenate([here, there]), Region(0, 0, *self._size))
        inner = region_of(there[mesh.alpha > 0], region)
        if region.empty or inner.empty:
            return frame
        drawn = draw(mesh, there, region)
        result = frame.copy()
        under = remap(region.cut(frame), drawn.maps(mesh, here - region.corner))
        region.cut(result)[:] = under
        inner_drawn, under = drawn.part(inner.within(region)), inner.cut(result)
        alpha = self._alpha(inner_drawn, landmarks)
        patch = self._patch(inner_drawn, there, int(self._chosen[index]))
        under[:] = blend(under, as_soft(patch, under, alpha), alpha * strength)
        if self._inner is not None:
            contour = there[[mesh.rows[v] for v in INNER]]
            self._inner.lay(under, inner.corner, contour, float(strength))
        return result

    def _alpha(self, drawn: Drawn, landmarks: F32) -> F32:
        """The feather (h, w): 1 on the lips, 0 at nose, jaw and cheeks."""
        mesh = self._motion.mesh
        eyes = float(np.linalg.norm(landmarks[EYE_LEFT] - landmarks[EYE_RIGHT]))
        alpha = np.clip(drawn.read(mesh, mesh.alpha, 0.0), 0, 1)
        soft = np.asarray(cv2.GaussianBlur(alpha, (0, 0), max(0.012 * eyes, 0.6)), np.float32)
        return soft * (alpha > 0)

    def _patch(self, drawn: Drawn, there: F32, unit: int) -> Picture:
        """The unit's mouth, standing at ``there`` (V, 2)."""
        mesh = self._motion.mesh
        source = np.asarray(self._track.landmarks[int(self._mouths.frames[unit])])
        points = mesh.points(source) - self._mouths.origins[unit].astype(np.float32)
        stretch, inside = self._inside(there, points)
        crop = np.asarray(self._mouths.crops[unit])
        patch = remap(crop, drawn.maps(mesh, points, inside))
        if stretch <= STRETCH_LIMIT:
            return patch
        lip = points[[mesh.rows[v] for v in LOWER_LIP_MIDDLE]].astype(int)
        x, y = (np.clip(lip[:, axis], 0, crop.shape[1 - axis] - 1) for axis in (0, 1))
        return self._with_cavity(patch, drawn, STRETCH_LIMIT / stretch, np.median(crop[y, x], axis=0))

    def _inside(self, there: F32, points: F32) -> tuple[float, F32 | None]:
        """How far the unit's inside would have to be stretched, and which part of the unit is put there instead.

        Teeth keep their size and stand still while lips move. Closing hides their upper edge by the upper lip's share
        of the movement and the rest from below; a mouth opened beyond what the unit shows keeps the unit's inside
        below the upper lip, and what would come from the lower lip then is painted as the mouth's depth.
        """
        gaps = [p[self._lower] - p[self._upper] for p in (there, points)]
        wanted, have = (float(np.abs(gap[3:8]).sum()) for gap in gaps)
        lengths = [float(np.linalg.norm(p[self._upper[0]] - p[self._upper[-1]])) for p in (there, points)]
        ratio = (wanted / max(lengths[0], 1e-3)) / max(have / max(lengths[1], 1e-3), 1e-3)
        if 1 <= ratio <= STRETCH_LIMIT:
            return ratio, None
        source = points.copy()
        top = UPPER_SHARE * max(1 - ratio, 0)
        shown = ratio if ratio < 1 else min(ratio / STRETCH_LIMIT, FURTHEST)
        source[self._upper] = points[self._upper] + np.float32(top) * gaps[1]
        source[self._lower] = points[self._upper] + np.float32(top + shown) * gaps[1]
        return ratio, source

    def _with_cavity(
        self, patch: Picture, drawn: Drawn, shown: float, lip: npt.NDArray[np.float64]
    ) -> Picture:
        """Paint the mouth's depth, the lip's colour in shade, over the lower part of its inside.

        Args:
            shown: share of the inside kept from above. lip: colour of the lower lip (BGR).
        """
        mesh = self._motion.mesh
        hole = np.asarray(np.concatenate([mesh.inside, [False]])[drawn.triangles], np.float32)
        if float(hole.sum()) < 4:
            return patch
        height = np.zeros(len(mesh.alpha), np.float32)
        height[self._lower[1:-1]] = 1
        down = drawn.read(mesh, height, 0.0)  # 0 at the upper lip, 1 at the lower
        edge = max(0.35 * shown, 0.12)
        depth = np.clip((down - shown + edge) / edge, 0, 1) * hole
        sigma = max(0.008 * patch.shape[1], 0.7)
        share = np.asarray(cv2.GaussianBlur(depth, (0, 0), sigma), np.float32)[..., None]
        inner = np.asarray(cv2.GaussianBlur(hole, (0, 0), 3 * sigma), np.float32)[..., None]
        shade = lip * np.array([0.42, 0.36, 0.50]) * (1.15 - 0.85 * inner)
        mixed = patch * (1 - share) + shade * share
        return np.asarray(np.clip(np.rint(mixed), 0, 255), np.uint8)

    def _anchors(self, index: int) -> F32:
        """Where the anchors go in output frame ``index``, px (A, 2)."""
        start = index - index % BLOCK
        if start != self._block_start:
            self._block, self._block_start = self._shapes(start), start
        return np.asarray(self._block[index - start])

    def _shapes(self, start: int) -> F32:
        """Anchors of a block of output frames in the picture, smoothed over a frame on each side."""
        motion, wanted = self._motion, self._plan.wanted
        total = len(wanted.base)
        low, high = max(start - 2, 0), min(start + BLOCK + 2, total)
        base, unit = wanted.base[low:high], np.maximum(self._chosen[low:high], 0)
        opening, width = wanted.opening[low:high], wanted.width[low:high]
        character = _calm(np.asarray(motion.fast[self._mouths.frames[unit]]), self._chosen[low:high] >= 0)
        shape = motion.model.predict(motion.terms[base], opening, width)
        shape = shape + np.asarray(motion.slow[base]) + np.float32(CHARACTER) * character
        eyes = motion.eyes[base]
        shape = exact(
            shape, opening * eyes, width * eyes, self._plan.targets.tuck[low:high], motion.model.ring
        )
        numbers = as_complex(shape) * motion.poses.scale_turn[base][:, None]
        return as_points(numbers + motion.poses.shift[base][:, None])[start - low : start - low + BLOCK]


def _calm(values: F32, drawn: npt.NDArray[np.bool_]) -> F32:
    """Weights ¼ ½ ¼ over time, among drawn frames only."""
    weight = drawn.astype(np.float32)[:, None, None]
    padded, mass = np.pad(values * weight, ((1, 1), (0, 0), (0, 0))), np.pad(weight, ((1, 1), (0, 0), (0, 0)))
    total = padded[:-2] + 2 * padded[1:-1] + padded[2:]
    return np.asarray(total / np.maximum(mass[:-2] + 2 * mass[1:-1] + mass[2:], 1e-3), np.float32)


def _correlation(one: F32, other: F32) -> float:
    if len(one) < 3 or float(np.std(one)) < 1e-6 or float(np.std(other)) < 1e-6:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])
