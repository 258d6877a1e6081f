"""The shape of one speaker's mouth: how it changes with the head's pose, with opening and with width.

A linear model over the clip's frames (ridge regression towards a generic mouth, so that short clips and a single still
work): anchors = mean + pose terms + opening · b₁ + width · b₂ + remainder. The slow part of the remainder belongs to the
frame (tracking bias, a crooked smile), the fast part to the mouth of the moment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipelines.lipsync.geometry import (
    ANCHORS,
    CHIN_POINTS,
    CORNER_LEFT,
    CORNER_RIGHT,
    EYE_LEFT,
    EYE_RIGHT,
    F32,
    INNER_LOWER,
    INNER_UPPER,
    LIP_BOTTOM,
    LIP_TOP,
    LIPS,
    NOSE_TIP,
    OUTER_LOWER,
    OUTER_UPPER,
    OUTLINE,
    RING,
)

ROW = {landmark: row for row, landmark in enumerate(ANCHORS)}
UPPER_SHARE = 0.27  # of a change of the opening; the jaw does the rest
CHIN_SHARE = 0.60
RING_SHARE = 0.95  # how far the skin around goes with the lips' edge
OUTER_SHARE = 0.88  # how far the lips' outer edge goes with the inner one
# Gap along the lips relative to the gap in the middle, corner to corner.
PROFILE = np.array([0, 0.35, 0.62, 0.82, 0.95, 1, 0.95, 0.82, 0.62, 0.35, 0], np.float32)
TUCK_SHARE = 0.35  # of the lower lip's height hidden behind the upper teeth in f and v
POSE_TERMS = 6

_INNER_UP = np.array([ROW[v] for v in INNER_UPPER])
_INNER_LOW = np.array([ROW[v] for v in INNER_LOWER])
_OUTER_UP = np.array([ROW[v] for v in OUTER_UPPER])
_OUTER_LOW = np.array([ROW[v] for v in OUTER_LOWER])
_CHIN = np.array([ROW[v] for v in CHIN_POINTS])
_OUTLINE = np.array([ROW[v] for v in OUTLINE])
_RING = np.array([ROW[v] for v in RING])
_LIP_ROWS = np.array([ROW[v] for v in LIPS])


def pose_terms(canonical: F32) -> F32:
    """(T, POSE_TERMS) from the nose's tip in canonical coordinates (T, 478, 2): turn, nod and their products."""
    x, y = canonical[:, NOSE_TIP, 0], canonical[:, NOSE_TIP, 1]
    y = y - np.float32(0.42)
    return np.asarray(np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1), np.float32)


def eye_distance(canonical: F32) -> F32:
    """(T,) distance of the outer eye corners in canonical units."""
    distance: F32 = np.linalg.norm(canonical[:, EYE_LEFT] - canonical[:, EYE_RIGHT], axis=1).astype(
        np.float32
    )
    return distance


def ring_weights(anchors: F32) -> F32:
    """(ring, outline) weights with which the skin around the lips follows their edge; anchors (A, 2)."""
    away = np.linalg.norm(anchors[_RING][:, None] - anchors[_OUTLINE][None], axis=2)
    near = np.exp(-(((away - away.min(1, keepdims=True)) / 0.05) ** 2))
    weights: F32 = (RING_SHARE * near / near.sum(1, keepdims=True)).astype(np.float32)
    return weights


def generic_motion(anchors: F32) -> F32:
    """(2, A, 2) change of the anchors (A, 2) for one unit of opening and of width, for any mouth."""
    motion = np.zeros((2, len(ANCHORS), 2), np.float32)
    motion[0, _INNER_UP, 1] = -UPPER_SHARE * PROFILE
    motion[0, _INNER_LOW, 1] = (1 - UPPER_SHARE) * PROFILE
    middle = slice(1, -1)
    motion[0, _OUTER_UP[middle], 1] = -UPPER_SHARE * OUTER_SHARE * PROFILE[middle]
    motion[0, _OUTER_LOW[middle], 1] = (1 - UPPER_SHARE) * OUTER_SHARE * PROFILE[middle]
    motion[0, _CHIN, 1] = CHIN_SHARE
    left, right = anchors[ROW[CORNER_LEFT]], anchors[ROW[CORNER_RIGHT]]
    centre, span = (left + right) / 2, max(float(np.linalg.norm(right - left)), 1e-3)
    motion[1, _LIP_ROWS, 0] = (anchors[_LIP_ROWS, 0] - centre[0]) / span
    motion[:, _RING] = np.einsum("ro,mod->mrd", ring_weights(anchors), motion[:, _OUTLINE])
    return motion


@dataclass(frozen=True, slots=True)
class MouthModel:
    """pose: (POSE_TERMS, A, 2); motion: (2, A, 2) for opening and width away from ``rest`` (2,); ring: see ring_weights."""

    pose: F32
    motion: F32
    rest: F32
    ring: F32

    def predict(self, terms: F32, opening: F32, width: F32) -> F32:
        """Anchors (T, A, 2) for pose terms (T, POSE_TERMS), opening (T,) and width (T,)."""
        change = np.stack([opening - self.rest[0], width - self.rest[1]], axis=1).astype(np.float32)
        shape: F32 = np.einsum("tp,pad->tad", terms, self.pose) + np.einsum(
            "tm,mad->tad", change, self.motion
        )
        return shape


class ModelFit:
    """Collects frames block by block (normal equations only, so memory does not grow) and solves at the end."""

    def __init__(self, reference: F32, rest: tuple[float, float]) -> None:
        self._anchors = reference[list(ANCHORS)].astype(np.float64)
        self._rest = np.array(rest, np.float64)
        self._generic = generic_motion(reference[list(ANCHORS)]).astype(np.float64)
        size = POSE_TERMS + 2
        self._square = np.zeros((size, size))
        self._product = np.zeros((size, len(ANCHORS) * 2))
        self._count = 0

    def add(self, terms: F32, opening: F32, width: F32, anchors: F32) -> None:
        """Frames: pose terms (T, POSE_TERMS), opening and width (T,), anchors (T, A, 2) in canonical coordinates."""
        change = np.stack([opening, width], axis=1) - self._rest
        known = np.einsum("tm,mad->tad", change, self._generic)
        features = np.concatenate([terms.astype(np.float64), change], axis=1)
        self._square += features.T @ features
        self._product += features.T @ (anchors - known - self._anchors).reshape(len(terms), -1)
        self._count += len(terms)

    def solve(self) -> MouthModel:
        """The model; with few frames it stays close to the generic mouth."""
        ridge = np.diag([1e-3, 0.08, 0.08, 0.08, 0.08, 0.08, 0.5, 0.5]) * 1.0
        solution = np.linalg.solve(self._square + ridge, self._product).reshape(POSE_TERMS + 2, -1, 2)
        pose = solution[:POSE_TERMS].copy()
        pose[0] += self._anchors
        return MouthModel(
            pose.astype(np.float32),
            (solution[POSE_TERMS:] + self._generic).astype(np.float32),
            self._rest.astype(np.float32),
            ring_weights(self._anchors.astype(np.float32)),
        )


def exact(anchors: F32, opening: F32, width: F32, tuck: F32, ring: F32) -> F32:
    """Bring mouths to an exact opening and width.

    Args:
        anchors: (T, A, 2) canonical. opening, width: (T,) wanted, in canonical units. tuck: (T,) 0…1.
        ring: the model's ring weights.
    """
    shape = anchors.copy()
    _set_width(shape, width)
    _set_opening(shape, opening)
    lip = shape[:, _OUTER_LOW] - shape[:, _INNER_LOW]
    shape[:, _OUTER_LOW[1:-1]] -= (TUCK_SHARE * tuck[:, None, None] * lip)[:, 1:-1]
    shape[:, _RING] += np.einsum("ro,tod->trd", ring, shape[:, _OUTLINE] - anchors[:, _OUTLINE])
    return shape


def _set_width(shape: F32, width: F32) -> None:
    across = shape[:, ROW[CORNER_RIGHT]] - shape[:, ROW[CORNER_LEFT]]
    length = np.maximum(np.linalg.norm(across, axis=1), 1e-3)
    axis = across / length[:, None]
    centre = (shape[:, ROW[CORNER_RIGHT]] + shape[:, ROW[CORNER_LEFT]]) / 2
    along = np.einsum("tad,td->ta", shape[:, _LIP_ROWS] - centre[:, None], axis)
    ratio = np.clip(width / length, 0.7, 1.4)
    shape[:, _LIP_ROWS] += ((ratio - 1)[:, None] * along)[..., None] * axis[:, None]


def _set_opening(shape: F32, opening: F32) -> None:
    gap = shape[:, _INNER_LOW] - shape[:, _INNER_UP]
    middle = np.linalg.norm(shape[:, ROW[LIP_BOTTOM]] - shape[:, ROW[LIP_TOP]], axis=1)
    across = shape[:, ROW[CORNER_RIGHT]] - shape[:, ROW[CORNER_LEFT]]
    down = np.stack([-across[:, 1], across[:, 0]], axis=1)
    down = down / np.maximum(np.linalg.norm(down, axis=1, keepdims=True), 1e-6)
    more = np.maximum(opening - middle, 0)[:, None, None] * PROFILE[None, :, None] * down[:, None]
    less = (np.minimum(opening / np.maximum(middle, 1e-5), 1) - 1)[:, None, None] * gap
    change = np.where((opening > middle)[:, None, None], more, less).astype(np.float32)
    shape[:, _INNER_UP] -= UPPER_SHARE * change
    shape[:, _INNER_LOW] += (1 - UPPER_SHARE) * change
    shape[:, _OUTER_UP[1:-1]] -= UPPER_SHARE * OUTER_SHARE * change[:, 1:-1]
    shape[:, _OUTER_LOW[1:-1]] += (1 - UPPER_SHARE) * OUTER_SHARE * change[:, 1:-1]
    # The wanted change itself is in the model's jaw; what is corrected here moves the chin by less.
    chin = change[:, 5] * (1 - UPPER_SHARE) * 0.4
    shape[:, _CHIN] += chin[:, None]


@dataclass(frozen=True, slots=True)
class SpeakerRange:
    """What this speaker's mouth does in the clip, over the distance of the outer eye corners.

    widest: opening of a full a. rest: width of the resting mouth when shut; slope: how much wider it gets per opening.
    spread, rounded: how far it goes beyond that for i and short of it for u.
    """

    widest: float
    rest: float
    slope: float
    spread: float
    rounded: float

    def opening(self, wanted: F32) -> F32:
        """0…1 to this speaker's opening."""
        return np.asarray(wanted * self.widest, np.float32)

    def width(self, wanted: F32, opening: F32) -> F32:
        """−1…1 to this speaker's width, given the opening in the speaker's units."""
        reach = np.where(wanted > 0, self.spread, self.rounded)
        return np.asarray(self.rest + self.slope * opening + wanted * reach, np.float32)


def speaker_range(openings: F32, widths: F32) -> SpeakerRange:
    """Percentiles of the clip, kept within what mouths do, so that a clip of one smile still gives a usable range."""
    low, middle, high = (float(v) for v in np.percentile(widths, [5, 50, 95]))
    widest = float(np.clip(np.percentile(openings, 97), 0.18, 0.42))
    centred = openings - openings.mean()
    spread_of = float((centred**2).sum())
    slope = float((centred * (widths - widths.mean())).sum()) / spread_of if spread_of > 0.02 else 0.0
    slope = float(np.clip(slope, -0.3, 0.5))
    rest = middle - slope * float(np.median(openings))
    return SpeakerRange(
        widest,
        rest,
        slope,
        spread=float(np.clip(high - middle, 0.04, 0.10)),
        rounded=float(np.clip(middle - low, 0.07, 0.13)),
    )


def moving_mean(values: F32, half: int) -> F32:
    """Centred mean over 2·half + 1 frames along the first axis, shorter at the ends."""
    count = len(values)
    total = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0, dtype=np.float64)])
    first = np.maximum(np.arange(count) - half, 0)
    last = np.minimum(np.arange(count) + half + 1, count)
    span: npt.NDArray[np.float64] = (last - first).reshape(-1, *([1] * (values.ndim - 1)))
    return np.asarray((total[last] - total[first]) / span, np.float32)
