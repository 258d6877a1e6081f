"""Piecewise affine warping of the mouth's region: the mesh is drawn once as triangle numbers, then read for any source."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from pipelines.lipsync.geometry import F32, Mesh

SLIVER = 0.7  # px of height
_SHIFT = 4  # fractional bits for OpenCV's polygon filler


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle of the picture, [x0, x1) × [y0, y1) in pixels."""

    x0: int
    y0: int
    x1: int
    y1: int

    @property
    def empty(self) -> bool:
        """Nothing of it lies in the picture."""
        return self.x1 - self.x0 < 4 or self.y1 - self.y0 < 4

    def cut(self, frame: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """View of the frame."""
        return frame[self.y0 : self.y1, self.x0 : self.x1]


def region_of(points: F32, width: int, height: int) -> Region:
    """The picture's part around mesh points, with two pixels to spare."""
    x0, y0 = np.floor(points.min(0)).astype(int) - 2
    x1, y1 = np.ceil(points.max(0)).astype(int) + 3
    return Region(max(x0, 0), max(y0, 0), min(x1, width), min(y1, height))


@dataclass(frozen=True, slots=True)
class Drawn:
    """The mesh in its place: for every pixel of the region the triangle it is in (N where it is in none).

    ``x``, ``y`` are pixel coordinates counted from the region's corner; ``inverse`` (N, 3, 3) turns (x, y, 1) into
    barycentric coordinates.
    """

    region: Region
    triangles: npt.NDArray[np.int16]
    x: F32
    y: F32
    inverse: F32

    def read(self, mesh: Mesh, values: F32, outside: float) -> F32:
        """Interpolate per-point values (V,) over the region; ``outside`` where there is no mesh."""
        planes = np.einsum("nk,nkj->nj", values[mesh.triangles], self.inverse)
        planes = np.concatenate([planes, [[0, 0, outside]]]).astype(np.float32)
        return self._evaluate(planes)

    def maps(self, mesh: Mesh, source: F32, inside: F32 | None = None) -> tuple[F32, F32]:
        """Where each pixel comes from, for ``cv2.remap``; pixels outside the mesh stay where they are.

        Args:
            source: (V, 2), the mesh's points in the source.
            inside: other source points (V, 2) for the triangles of the mouth's inside.
        """
        planes = np.einsum("nkc,nkj->ncj", source[mesh.triangles], self.inverse)
        if inside is not None:
            chosen = mesh.inside
            planes[chosen] = np.einsum("nkc,nkj->ncj", inside[mesh.triangles[chosen]], self.inverse[chosen])
        stay = np.array([[[1, 0, 0], [0, 1, 0]]], np.float32)
        planes = np.concatenate([planes, stay]).astype(np.float32)
        return self._evaluate(planes[:, 0]), self._evaluate(planes[:, 1])

    def _evaluate(self, planes: F32) -> F32:
        """a·x + b·y + c with the plane of each pixel's triangle."""
        return planes[:, 0][self.triangles] * self.x + planes[:, 1][self.triangles] * self.y + planes[:, 2][self.triangles]


def draw(mesh: Mesh, points: F32, region: Region) -> Drawn:
    """Rasterise the mesh at ``points`` (V, 2) px; triangles turned away from the viewer or without area are left out."""
    corners = (points - np.float32((region.x0, region.y0)))[mesh.triangles].astype(np.float64)
    homogeneous = np.concatenate([corners, np.ones((len(corners), 3, 1))], axis=2)
    # In a sliver the pixels' centres lie outside, and its plane would throw them far away: neighbours take its place.
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(1)
    usable = np.linalg.det(homogeneous) > SLIVER * np.maximum(edges, 1e-3)
    inverse = np.zeros((len(corners), 3, 3), np.float32)
    inverse[usable] = np.linalg.inv(homogeneous[usable]).transpose(0, 2, 1)
    shape = (region.y1 - region.y0, region.x1 - region.x0)
    labels = np.full(shape, len(corners), np.int16)
    fixed = np.round(corners * (1 << _SHIFT)).astype(np.int32)
    for index in np.flatnonzero(usable).tolist():
        cv2.fillConvexPoly(labels, fixed[index], index, cv2.LINE_8, _SHIFT)
    labels = _without_slits(labels, len(corners))
    x = np.arange(shape[1], dtype=np.float32)[None, :]
    y = np.arange(shape[0], dtype=np.float32)[:, None]
    return Drawn(region, labels, x, y, inverse)


def _without_slits(labels: npt.NDArray[np.int16], empty: int) -> npt.NDArray[np.int16]:
    """Give the thin gaps that folded triangles leave inside the mesh to their neighbours."""
    holes = (labels == empty).astype(np.uint8)
    closed = cv2.morphologyEx(1 - holes, cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8), borderType=cv2.BORDER_REPLICATE)
    slits = (closed > 0) & (holes > 0)
    if not slits.any():
        return labels
    filled = labels.copy()
    for _ in range(5):
        lower = cv2.erode(filled, np.ones((3, 3), np.uint8), borderType=cv2.BORDER_REPLICATE)
        still_empty = slits & (filled == empty)
        if not still_empty.any():
            break
        filled[still_empty] = lower[still_empty]
    return filled
