"""Piecewise affine warping of the mouth's region: the mesh is drawn once as triangle numbers, then read for any source."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from pipelines.lipsync.geometry import F32, Indices, Mesh

SLIVER = 0.7  # px of height
_SHIFT = 4  # fractional bits for OpenCV's polygon filler
Picture = npt.NDArray[np.uint8]


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

    @property
    def corner(self) -> F32:
        """x0, y0."""
        return np.array((self.x0, self.y0), np.float32)

    def cut(self, frame: Picture) -> Picture:
        """View of the frame."""
        return frame[self.y0 : self.y1, self.x0 : self.x1]

    def within(self, other: Region) -> Region:
        """The same rectangle counted from the other's corner."""
        return Region(self.x0 - other.x0, self.y0 - other.y0, self.x1 - other.x0, self.y1 - other.y0)


def region_of(points: F32, bounds: Region) -> Region:
    """The rectangle around points, with two pixels to spare, inside ``bounds``."""
    x0, y0 = (np.floor(points.min(0)).astype(int) - 2).tolist()
    x1, y1 = (np.ceil(points.max(0)).astype(int) + 3).tolist()
    return Region(max(x0, bounds.x0), max(y0, bounds.y0), min(x1, bounds.x1), min(y1, bounds.y1))


@dataclass(frozen=True, slots=True)
class Drawn:
    """The mesh in its place: for every pixel of a rectangle the triangle it is in (N where it is in none).

    ``x``, ``y`` are pixel coordinates counted from the corner the mesh was drawn from; ``inverse`` (N, 3, 3) turns
    (x, y, 1) into barycentric coordinates.
    """

    triangles: Indices
    x: F32
    y: F32
    inverse: F32

    def part(self, region: Region) -> Drawn:
        """A smaller rectangle of it; ``region`` is counted from this one's corner."""
        rows, columns = slice(region.y0, region.y1), slice(region.x0, region.x1)
        inside = np.ascontiguousarray(self.triangles[rows, columns])
        return Drawn(inside, self.x[:, columns], self.y[rows], self.inverse)

    def read(self, mesh: Mesh, values: F32, outside: float) -> F32:
        """Interpolate per-point values (V,) over the rectangle; ``outside`` where there is no mesh."""
        planes = np.einsum("nk,nkj->nj", values[mesh.triangles], self.inverse)
        return self._evaluate(np.concatenate([planes, np.array([[0, 0, outside]], np.float32)]))

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
        planes = np.concatenate([planes, stay])
        return self._evaluate(planes[:, 0]), self._evaluate(planes[:, 1])

    def _evaluate(self, planes: F32) -> F32:
        """a·x + b·y + c with the plane of each pixel's triangle."""
        a, b, c = (np.take(np.ascontiguousarray(planes[:, k]), self.triangles) for k in range(3))
        a *= self.x
        b *= self.y
        a += b
        a += c
        return a


def draw(mesh: Mesh, points: F32, region: Region) -> Drawn:
    """Rasterise the mesh at ``points`` (V, 2) px; triangles turned away from the viewer or without area are left out."""
    corners = (points - region.corner)[mesh.triangles].astype(np.float64)
    double_area, inverse = _barycentric(corners)
    # In a sliver the pixels' centres lie outside, and its plane would throw them far away: neighbours take its place.
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(1)
    usable = double_area > SLIVER * np.maximum(edges, 1e-3)
    shape = (region.y1 - region.y0, region.x1 - region.x0)
    labels = np.full(shape, len(corners), np.int16)
    fixed = np.round(corners * (1 << _SHIFT)).astype(np.int32)
    for index in np.flatnonzero(usable).tolist():
        cv2.fillConvexPoly(labels, fixed[index], index, cv2.LINE_8, _SHIFT)
    filled = _without_slits(labels, len(corners)).astype(np.intp)
    x = np.arange(shape[1], dtype=np.float32)[None, :]
    y = np.arange(shape[0], dtype=np.float32)[:, None]
    return Drawn(filled, x, y, inverse)


def _barycentric(corners: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], F32]:
    """Twice the signed area of each triangle (N, 3, 2), and the planes (N, 3, 3) of its barycentric coordinates."""
    following, last = np.roll(corners, -1, axis=1), np.roll(corners, -2, axis=1)
    cross = following[..., 0] * last[..., 1] - last[..., 0] * following[..., 1]
    area = cross.sum(1)
    planes = np.stack([following[..., 1] - last[..., 1], last[..., 0] - following[..., 0], cross], axis=2)
    safe = np.where(np.abs(area) < 1e-9, 1.0, area)
    return area, np.asarray(planes / safe[:, None, None], np.float32)


def _without_slits(labels: npt.NDArray[np.int16], empty: int) -> npt.NDArray[np.int16]:
    """Give the thin gaps that folded triangles leave inside the mesh to their neighbours."""
    holes = (labels == empty).astype(np.uint8)
    closed = cv2.morphologyEx(
        1 - holes, cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8), borderType=cv2.BORDER_REPLICATE
    )
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


def remap(source: Picture, maps: tuple[F32, F32]) -> Picture:
    """Sample a picture; beyond its edge the edge is repeated."""
    picture = cv2.remap(source, maps[0], maps[1], cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(picture, np.uint8)
