"""The lower face as points: landmark sets, a pose-free frame of reference, and the mesh the picture is warped with.

Canonical coordinates: origin between the outer corners of the eyes, x to the picture's right along the eye line, y down,
one unit = the distance between the outer eye corners. Indices are MediaPipe's face mesh numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

EYE_LEFT, EYE_RIGHT = 33, 263
LIP_TOP, LIP_BOTTOM = 13, 14
CORNER_LEFT, CORNER_RIGHT = 61, 291
NOSE_TIP, NOSE_BASE, CHIN = 4, 2, 152

# Points that speech does not move.
STABLE = (33, 133, 362, 263, 168, 6, 197, 195, 5, 4, 1, 122, 351, 127, 356, 234, 454, 9, 151)
OUTER_LOWER = (61, 146, 91, 181, 84, 17, 314, 405, 321, 375, 291)
OUTER_UPPER = (61, 185, 40, 39, 37, 0, 267, 269, 270, 409, 291)
INNER_LOWER = (78, 95, 88, 178, 87, 14, 317, 402, 318, 324, 308)
INNER_UPPER = (78, 191, 80, 81, 82, 13, 312, 311, 310, 415, 308)
OUTLINE = OUTER_LOWER + OUTER_UPPER[-2:0:-1]  # closed polygon around the lips
INNER = INNER_LOWER + INNER_UPPER[-2:0:-1]
LIPS = OUTLINE + INNER
CHIN_POINTS = (152, 148, 377, 175, 199, 200, 171, 396)
# Points of the lips between their edges.
UPPER_LIP = (
    76,
    62,
    184,
    183,
    74,
    42,
    73,
    41,
    72,
    38,
    11,
    12,
    302,
    268,
    303,
    271,
    304,
    272,
    408,
    407,
    306,
    292,
)
LOWER_LIP = (77, 96, 90, 89, 180, 179, 85, 86, 16, 15, 315, 316, 404, 403, 320, 319, 307, 325)
# The skin right around the lips.
RING = (57, 43, 106, 182, 83, 18, 313, 406, 335, 273, 287, 410, 322, 391, 393, 164, 167, 165, 92, 186)
ANCHORS = LIPS + CHIN_POINTS + RING  # the points a mouth shape is described by
JAW = (58, 172, 136, 150, 149, 176, 148, 152, 377, 400, 378, 379, 365, 397, 288)
NOSE_EDGE = (2, 97, 98, 326, 327, 129, 358, 99, 328)
RING_REACH = 0.30  # how far below the jaw the picture may give way, in canonical units
SMALLEST = 1e-6


def opening(points: F32) -> F32:
    """Gap between the lips over the distance of the outer eye corners; points (..., 478, 2)."""
    return _ratio(points, LIP_TOP, LIP_BOTTOM)


def width(points: F32) -> F32:
    """Distance of the mouth's corners over the distance of the outer eye corners; points (..., 478, 2)."""
    return _ratio(points, CORNER_LEFT, CORNER_RIGHT)


def _ratio(points: F32, one: int, other: int) -> F32:
    length = np.linalg.norm(points[..., one, :] - points[..., other, :], axis=-1)
    eyes = np.linalg.norm(points[..., EYE_LEFT, :] - points[..., EYE_RIGHT, :], axis=-1)
    ratio: F32 = (length / np.maximum(eyes, SMALLEST)).astype(np.float32)
    return ratio


def turn(points: F32) -> F32:
    """Sideways turn of the head in about [-1, 1]: 0 frontal, about ±0.65 at 40°, beyond ±0.9 profile; points (..., 478, 2).

    The place of the nose's tip between the two edges of the face.
    """
    left = np.linalg.norm(points[..., 4, :] - points[..., 234, :], axis=-1)
    right = np.linalg.norm(points[..., 4, :] - points[..., 454, :], axis=-1)
    side: F32 = ((left - right) / np.maximum(left + right, SMALLEST)).astype(np.float32)
    return side


@dataclass(frozen=True, slots=True)
class Poses:
    """Similarities from canonical coordinates to the picture, one per frame, as complex numbers.

    picture point = scale_turn · canonical point + shift, with points x + iy; arrays complex64 (T,).
    """

    scale_turn: npt.NDArray[np.complex64]
    shift: npt.NDArray[np.complex64]

    def matrix(self, index: int) -> npt.NDArray[np.float64]:
        """The 2×3 matrix from canonical coordinates to the picture."""
        a, t = complex(self.scale_turn[index]), complex(self.shift[index])
        return np.array([[a.real, -a.imag, t.real], [a.imag, a.real, t.imag]])


def as_complex(points: F32) -> npt.NDArray[np.complex64]:
    """(..., 2) real to (...) complex."""
    numbers: npt.NDArray[np.complex64] = np.ascontiguousarray(points, np.float32).view(np.complex64)[..., 0]
    return numbers


def as_points(numbers: npt.NDArray[np.complex64]) -> F32:
    """(...) complex to (..., 2) real."""
    points: F32 = np.ascontiguousarray(numbers, np.complex64)[..., None].view(np.float32)
    return points


def fit_poses(points: F32, reference: F32) -> Poses:
    """Least-squares similarities that lay the canonical ``reference`` (478, 2) on each of ``points`` (T, 478, 2)."""
    model = as_complex(reference[list(STABLE)])
    seen = as_complex(points[:, list(STABLE)])
    model_mean, seen_mean = model.mean(), seen.mean(1)
    centred = model - model_mean
    scale_turn = ((seen - seen_mean[:, None]) * centred.conj()).sum(1) / max(
        float((np.abs(centred) ** 2).sum()), SMALLEST
    )
    return Poses(scale_turn.astype(np.complex64), (seen_mean - scale_turn * model_mean).astype(np.complex64))


def to_canonical(points: F32, poses: Poses) -> F32:
    """(T, N, 2) picture points to canonical coordinates."""
    away = as_complex(points) - poses.shift[:, None]
    size = np.where(poses.scale_turn == 0, 1, poses.scale_turn)
    return as_points(np.asarray(away / size[:, None], np.complex64))


def reference_shape(points: F32) -> F32:
    """The person's mean face in canonical coordinates, from (T, 478, 2) frames; the most frontal half counts."""
    sides = np.abs(turn(points))
    chosen = points[sides <= np.median(sides) + 1e-6]
    left, right = as_complex(chosen[:, EYE_LEFT]), as_complex(chosen[:, EYE_RIGHT])
    poses = Poses((right - left).astype(np.complex64), ((left + right) / 2).astype(np.complex64))
    return np.asarray(np.median(to_canonical(chosen, poses), axis=0), np.float32)


@dataclass(frozen=True, slots=True)
class Mesh:
    """What the picture of the lower face is cut into.

    Attributes:
        vertices: landmark numbers of the first ``len(vertices)`` mesh points; ``ring`` more points follow that lie
            outside the jaw and never move.
        triangles: (N, 3) mesh point numbers, in drawing order: skin, then the inside of the mouth, then the lips.
        inside: (N,) bool, triangles of the mouth's inside.
        spread: (V, A) weights: how far each mesh point follows each anchor.
        alpha: (V,) share of the new mouth in the blend, 1 on the lips, 0 at the mesh's border.
    """

    vertices: Indices
    ring: int
    triangles: Indices
    inside: npt.NDArray[np.bool_]
    spread: F32
    alpha: F32
    rows: dict[int, int]

    def points(self, landmarks: F32) -> F32:
        """Mesh points (V, 2) of a face: its landmarks and the ring outside the jaw."""
        return np.concatenate([landmarks[self.vertices], _outside_jaw(landmarks)])


def _outside_jaw(landmarks: F32) -> F32:
    eyes = np.linalg.norm(landmarks[EYE_LEFT] - landmarks[EYE_RIGHT])
    jaw = landmarks[list(JAW)]
    outward = jaw - (landmarks[CORNER_LEFT] + landmarks[CORNER_RIGHT]) / 2
    outward = outward / np.maximum(np.linalg.norm(outward, axis=1, keepdims=True), SMALLEST)
    points: F32 = (jaw + outward * np.float32(RING_REACH * eyes)).astype(np.float32)
    return points


def build_mesh(reference: F32) -> Mesh:
    """The mesh for a person's mean face (478, 2) in canonical coordinates."""
    skin = _lower_face(reference)
    vertices = np.array(sorted(set(skin.ravel().tolist()) | set(LIPS) | set(JAW)), np.intp)
    rows = {int(v): i for i, v in enumerate(vertices)}
    lips = {*LIPS, *UPPER_LIP, *LOWER_LIP}
    count = len(vertices)
    skin_rows = [[rows[v] for v in t] for t in skin.tolist() if not _between_lips(t)]
    ring_rows = _ring_triangles(rows, count)
    inside_rows = [[rows[v] for v in t] for t in _inside_triangles()]
    on_lips = [all(int(vertices[r]) in lips for r in t) for t in skin_rows]
    outer = [t for t, lip in zip(skin_rows, on_lips, strict=True) if not lip]
    lip_rows = [t for t, lip in zip(skin_rows, on_lips, strict=True) if lip]
    skin = _oriented(np.array([*ring_rows, *outer, *lip_rows], np.intp), reference, vertices)
    first = len(ring_rows) + len(outer)
    triangles = np.concatenate([skin[:first], np.array(inside_rows, np.intp), skin[first:]])
    inside = np.zeros(len(triangles), np.bool_)
    inside[first : first + len(inside_rows)] = True
    mesh = Mesh(
        vertices, len(JAW), triangles, inside, np.zeros((0, 0), np.float32), np.zeros(0, np.float32), rows
    )
    points = mesh.points(reference)
    fixed = _border(triangles, len(points))
    fixed[[rows[v] for v in NOSE_EDGE if v in rows]] = True
    fixed[:count] |= reference[vertices, 1] < reference[NOSE_BASE, 1]
    spread = _spread(points, fixed, rows)
    return Mesh(vertices, len(JAW), triangles, inside, spread, _alpha(points, fixed, rows), rows)


def _oriented(triangles: Indices, reference: F32, vertices: Indices) -> Indices:
    """Triangles with their corners in the same sense on the mean face."""
    points = np.concatenate([reference[vertices], _outside_jaw(reference)])
    a, b, c = (points[triangles[:, k]] for k in range(3))
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    turned = area < 0
    oriented = triangles.copy()
    oriented[turned, 1], oriented[turned, 2] = triangles[turned, 2], triangles[turned, 1]
    return oriented


def _lower_face(reference: F32) -> Indices:
    """Triangles of MediaPipe's face tessellation from just above the nostrils down to the jaw."""
    from mediapipe.python.solutions.face_mesh_connections import FACEMESH_TESSELATION

    neighbours: dict[int, set[int]] = {}
    for one, other in FACEMESH_TESSELATION:
        neighbours.setdefault(one, set()).add(other)
        neighbours.setdefault(other, set()).add(one)
    top = float(reference[NOSE_BASE, 1]) - 0.10
    keep = {v for v in neighbours if reference[v, 1] > top}
    found = {
        tuple(sorted((a, b, c)))
        for a in keep
        for b in neighbours[a] & keep
        for c in neighbours[a] & neighbours[b] & keep
    }
    return np.array(sorted(found), np.intp)


def _between_lips(triangle: list[int]) -> bool:
    """Whether a triangle spans the mouth's inside (three points of the inner contour)."""
    return all(v in INNER for v in triangle)


def _inside_triangles() -> list[tuple[int, int, int]]:
    """The inside of the mouth as a strip between the two inner contours, corners clockwise on screen."""
    strip: list[tuple[int, int, int]] = []
    for i in range(len(INNER_UPPER) - 1):
        upper, lower = INNER_UPPER[i], INNER_LOWER[i]
        upper_next, lower_next = INNER_UPPER[i + 1], INNER_LOWER[i + 1]
        if upper != lower:
            strip.append((upper, upper_next, lower))
        if upper_next != lower_next:
            strip.append((upper_next, lower_next, lower))
    return strip


def _ring_triangles(rows: dict[int, int], first: int) -> list[list[int]]:
    strip: list[list[int]] = []
    for i in range(len(JAW) - 1):
        here, there = rows[JAW[i]], rows[JAW[i + 1]]
        strip.append([here, there, first + i])
        strip.append([there, first + i + 1, first + i])
    return strip


def _border(triangles: Indices, count: int) -> npt.NDArray[np.bool_]:
    """Points on edges that belong to one triangle only: they must not move."""
    edges: dict[tuple[int, int], int] = {}
    for a, b, c in triangles.tolist():
        for edge in ((a, b), (b, c), (c, a)):
            key = (min(edge), max(edge))
            edges[key] = edges.get(key, 0) + 1
    fixed = np.zeros(count, np.bool_)
    for (a, b), uses in edges.items():
        if uses == 1:
            fixed[[a, b]] = True
    return fixed


def _spread(points: F32, fixed: npt.NDArray[np.bool_], rows: dict[int, int]) -> F32:
    """How the displacements of the anchors spread over the mesh, zero at the border.

    Skin follows the lips' outline, the skin right around it and the chin by thin-plate interpolation (Bookstein 1989),
    so that it goes along with the lips next to it; points within the lips lie linearly between the two edges (a thin
    plate would overshoot there).
    """
    outline = np.array([rows[v] for v in OUTLINE + CHIN_POINTS + RING])
    column = {rows[v]: k for k, v in enumerate(ANCHORS)}
    still = np.flatnonzero(fixed)
    spread = np.zeros((len(points), len(ANCHORS)))
    spread[:, [column[r] for r in outline]] = _interpolation(points, outline, still, "thin_plate_spline")
    # Each lip by itself: where the lips touch, points of one lip must not follow the other.
    for between, edges in ((UPPER_LIP, OUTER_UPPER + INNER_UPPER), (LOWER_LIP, OUTER_LOWER + INNER_LOWER)):
        within = np.array([rows[v] for v in between if v in rows])
        lip = np.array([rows[v] for v in edges])
        spread[within] = 0
        weights = _interpolation(points[within], lip, still[:0], "linear", points)
        spread[np.ix_(within, np.array([column[int(r)] for r in lip]))] = weights
    anchors = np.array([rows[v] for v in ANCHORS])
    spread[anchors] = np.eye(len(ANCHORS))
    spread[still] = 0
    return spread.astype(np.float32)


def _interpolation(
    points: F32, anchors: Indices, still: Indices, kernel: str, centres: F32 | None = None
) -> npt.NDArray[np.float64]:
    """(points, anchors) weights of a radial interpolation that is zero at ``still``; indices refer to ``centres``."""
    from scipy.interpolate import RBFInterpolator

    known = points if centres is None else centres
    places = np.concatenate([known[anchors], known[still]]).astype(np.float64)
    unit = np.concatenate([np.eye(len(anchors)), np.zeros((len(still), len(anchors)))])
    weights: npt.NDArray[np.float64] = RBFInterpolator(places, unit, kernel=kernel)(points)
    return weights


def _alpha(points: F32, fixed: npt.NDArray[np.bool_], rows: dict[int, int]) -> F32:
    """1 on the lips and close to them, falling smoothly to 0 at the nose, the jaw and the border."""
    import cv2

    outline = points[[rows[v] for v in OUTLINE]].reshape(-1, 1, 2)
    edge = [rows[v] for v in (*JAW, *NOSE_EDGE) if v in rows]
    zero = points[np.unique(np.concatenate([np.flatnonzero(fixed), np.array(edge)]))]
    to_zero = np.linalg.norm(points[:, None] - zero[None], axis=2).min(1)
    to_lips = np.array(
        [max(-cv2.pointPolygonTest(outline, (float(x), float(y)), True), 0.0) for x, y in points]
    )
    share = np.clip((to_lips / np.maximum(to_lips + to_zero, SMALLEST) - 0.10) / 0.85, 0, 1)
    return np.asarray(1 - share * share * (3 - 2 * share), np.float32)
