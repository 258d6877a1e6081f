"""The face as Wav2Lip wants to see it, from 478 landmarks: the box its training's detector drew, 96 × 96 pixels.

That detector (S3FD) draws tight boxes from the forehead to the chin, edge to edge, and the original adds a little below
the chin. The points of lips and chin follow the speech; where the box is, they do not decide alone.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from pipelines.faces.smoothing import runs
from pipelines.lipsync.geometry import F32, JAW
from pipelines.lipsync.shape import moving_mean
from pipelines.lipsync.warp import Picture
from pipelines.types import FaceTrack

SIZE = 96  # px
BROWS = (105, 334)
CHEEKS = (
    5,
    50,
    280,
    187,
    411,
)  # nose below its bridge and cheeks: far enough above the lips for the feather to end there
FOREHEAD, CHIN = 10, 152
BROW_SHARE = 0.35  # of the way from the mesh's top, near the hairline, to the brows
BELOW_CHIN = 0.05  # of the box's height; the original adds 10 px to a face of about 200
HALF_WINDOW = (
    2  # frames on each side over which boxes are averaged: centred, so that they neither lead nor trail
)
JUMP = 0.25  # of the box's size from one frame to the next: another shot
FEATHER = 0.13  # of the box's size
REACH = 1.08  # how far the mask goes beyond jaw and cheeks, from its middle
BLOCK = 1024
Boxes = npt.NDArray[np.int32]  # (T, 4) x0, y0, x1, y1 in px, possibly beyond the picture


def boxes_of(track: FaceTrack) -> Boxes:
    """The box of every frame; where no face was found, that of some frame near by."""
    raw = np.zeros((len(track.found), 4), np.float32)
    for start in range(0, len(raw), BLOCK):
        here = slice(start, start + BLOCK)
        raw[here] = _box(np.asarray(track.landmarks[here]))
    smooth = raw.copy()
    for first, last in runs(np.asarray(track.found), frozenset(jumps(raw).tolist())):
        smooth[first:last] = moving_mean(raw[first:last], HALF_WINDOW)
    return np.rint(smooth).astype(np.int32)


def _box(points: F32) -> F32:
    """Tight boxes (T, 4) of landmarks (T, 478, 2)."""
    left, right = points[..., 0].min(1), points[..., 0].max(1)
    brows = points[:, list(BROWS), 1].mean(1)
    top = points[:, FOREHEAD, 1] + BROW_SHARE * (brows - points[:, FOREHEAD, 1])
    bottom = points[:, CHIN, 1]
    return np.stack([left, top, right, bottom + BELOW_CHIN * (bottom - top)], axis=1)


def jumps(boxes: npt.NDArray[np.generic]) -> npt.NDArray[np.intp]:
    """Frames whose box (T, 4) lies elsewhere than that of the frame before."""
    places = np.asarray(boxes, np.float32)
    size = np.maximum(places[1:, 2] - places[1:, 0], 1)
    far = np.abs(np.diff(places, axis=0)).max(1) > JUMP * size
    return np.flatnonzero(far) + 1


def face_picture(frame: Picture, box: Boxes, scale: float = 1.0) -> Picture:
    """What is in a box (4,) as (96, 96, 3); beyond the picture's edge the edge is repeated.

    Args:
        scale: the picture is first brought to this share of its size: the working cap of the policy.
    """
    x0, y0, x1, y1 = (int(value) for value in box)
    height, width = frame.shape[:2]
    inside = frame[max(y0, 0) : max(y1, 0), max(x0, 0) : max(x1, 0)]
    beyond = (max(-y0, 0), max(y1 - height, 0), max(-x0, 0), max(x1 - width, 0))
    if any(beyond):
        inside = np.asarray(cv2.copyMakeBorder(inside, *beyond, cv2.BORDER_REPLICATE), np.uint8)
    if scale < 1:
        inside = _resized(inside, max(round((x1 - x0) * scale), 1), max(round((y1 - y0) * scale), 1))
    return _resized(inside, SIZE, SIZE)


def _resized(picture: Picture, width: int, height: int) -> Picture:
    """Averaging where it gets smaller, cubic where it gets larger."""
    larger = width > picture.shape[1] or height > picture.shape[0]
    method = cv2.INTER_CUBIC if larger else cv2.INTER_AREA
    return np.asarray(cv2.resize(picture, (width, height), interpolation=method), np.uint8)


def face_mask(landmarks: F32, box: Boxes) -> F32:
    """(96, 96) in [0, 1]: 1 around the mouth, 0 beyond jaw and cheeks, soft between; landmarks (478, 2) in px.

    From exact distances to the outline's edges, so that it moves as smoothly as the landmarks do.
    """
    corner, size = box[:2].astype(np.float32), np.maximum(box[2:] - box[:2], 1).astype(np.float32)
    points = (landmarks[list(JAW + CHEEKS)] - corner) / size * SIZE
    middle = points.mean(0)
    outline = cv2.convexHull((middle + REACH * (points - middle)).astype(np.float32))[:, 0]
    edges = np.roll(outline, -1, axis=0) - outline
    length = np.maximum(np.linalg.norm(edges, axis=1), 1e-6)
    normal = np.stack([-edges[:, 1], edges[:, 0]], axis=1) / length[:, None]
    offset = (normal * outline).sum(1)
    sign = np.sign((normal @ middle - offset).sum())
    x, y = np.meshgrid(np.arange(SIZE) + 0.5, np.arange(SIZE) + 0.5)
    places = np.stack([x, y], axis=2).astype(np.float32)
    inside = (sign * (places @ normal.T.astype(np.float32) - offset)).min(2)
    # The box ends the mask too, a cell before its edge, so that no edge of it shows where a face is cut off by it.
    edge = np.minimum(np.minimum(x, SIZE - x), np.minimum(y, SIZE - y)) - 1.5
    rise = np.clip(np.minimum(inside, edge) / (FEATHER * SIZE), 0, 1)
    mask = rise * rise * (3 - 2 * rise)
    return np.asarray(mask, np.float32)
