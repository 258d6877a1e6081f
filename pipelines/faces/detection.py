"""Finding faces and their 478 landmarks, chunk by chunk, on a reduced copy of the picture.

MediaPipe's face mesh (https://ai.google.dev/edge/mediapipe/solutions/vision/face_landmarker, in its ``solutions`` form,
whose model files are inside the wheel) looks for faces with a short-range detector, which misses faces smaller than
about an eighth of the picture. Therefore the first frame of every chunk is searched with the full-range detector, and
tile by tile when that finds nothing; small faces get a crop of their own, taken at full resolution.

A chunk is analysed from nothing (a few frames of the chunk before warm the tracker up), so the result depends neither
on the number of threads nor on their order.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from pipelines.types import Frame

Points = npt.NDArray[np.float32]  # (478, 2) px
Box = tuple[float, float, float, float]  # x0, y0, x1, y1 px

MAX_FACES = 6
CHUNK = 32
WARM_UP = 3
LONG_SIDE = 960  # of the reduced copy: a face of a quarter of it still fills the mesh's 192 px input
SMALL = 0.14  # a face narrower than this share of the long side gets its own crop
CROP_SIDE = 320
CROP_GROWTH = 2.4


@dataclass(slots=True)
class View:
    """What the mesh looks at through a chunk: the reduced frames, or one crop of every frame."""

    x: float
    y: float
    scale: float  # view px per source px
    faces: int
    frames: list[Frame] = field(default_factory=list)  # RGB


@dataclass(slots=True)
class Chunk:
    """Consecutive frames [start, start + count); the ``lead`` frames before them only warm the tracker up."""

    start: int
    lead: int
    views: list[View]

    @property
    def count(self) -> int:
        """Frames that get a result."""
        return len(self.views[0].frames) - self.lead


def bounds(points: Points) -> Box:
    """Bounding box of landmarks."""
    x0, y0 = points.min(0)
    x1, y1 = points.max(0)
    return float(x0), float(y0), float(x1), float(y1)


def overlap(one: Box, other: Box) -> float:
    """Intersection over union of two boxes, in [0, 1]."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    areas = (one[2] - one[0]) * (one[3] - one[1]) + (other[2] - other[0]) * (other[3] - other[1])
    return shared / (areas - shared)


def reduced(frame: Frame) -> tuple[Frame, float]:
    """The frame in RGB, at most LONG_SIDE long, and its scale (view px per source px)."""
    scale = min(1.0, LONG_SIDE / max(frame.shape[:2]))
    if scale < 1.0:
        size = (round(frame.shape[1] * scale), round(frame.shape[0] * scale))
        frame = np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), np.uint8)
    return np.asarray(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB), np.uint8), scale


class Searcher:
    """Looks for faces of any size in single frames; counts its detector calls."""

    def __init__(self) -> None:
        from mediapipe import solutions

        detection = solutions.face_detection.FaceDetection
        self._near = detection(model_selection=0, min_detection_confidence=0.5)
        self._far = detection(model_selection=1, min_detection_confidence=0.5)
        self._tile = detection(model_selection=1, min_detection_confidence=0.65)
        self.calls = 0

    def close(self) -> None:
        """Free the detectors."""
        for detector in (self._near, self._far, self._tile):
            detector.close()

    def _detect(self, detector: Any, rgb: Frame) -> list[Box]:
        self.calls += 1
        height, width = rgb.shape[:2]
        boxes = []
        for found in detector.process(np.ascontiguousarray(rgb)).detections or []:
            box = found.location_data.relative_bounding_box
            x, y = box.xmin * width, box.ymin * height
            boxes.append((x, y, x + box.width * width, y + box.height * height))
        return boxes

    def near(self, rgb: Frame) -> int:
        """How many large faces there are."""
        return len(self._detect(self._near, rgb))

    def search(self, frame: Frame, rgb: Frame, scale: float) -> list[Box]:
        """All faces of a frame in source pixels: whole picture first, overlapping tiles when nothing is found."""
        boxes = [tuple(v / scale for v in box) for box in distinct(self._detect(self._far, rgb))]
        if not boxes:
            boxes = list(self._tiles(frame))
        return distinct(boxes)  # type: ignore[arg-type]

    def _tiles(self, frame: Frame) -> Iterator[Box]:
        height, width = frame.shape[:2]
        side = max(min(height, width) // 2, 96)
        for y in _steps(height, side):
            for x in _steps(width, side):
                tile = frame[y : y + side, x : x + side]
                rgb = np.asarray(
                    cv2.cvtColor(cv2.resize(tile, (CROP_SIDE, CROP_SIDE)), cv2.COLOR_BGR2RGB), np.uint8
                )
                grow = side / CROP_SIDE
                for x0, y0, x1, y1 in self._detect(self._tile, rgb):
                    yield x0 * grow + x, y0 * grow + y, x1 * grow + x, y1 * grow + y


def _steps(length: int, side: int) -> list[int]:
    """Starts of half-overlapping tiles that cover ``length``."""
    if length <= side:
        return [0]
    count = int(np.ceil((length - side) / (side / 2))) + 1
    return [round(v) for v in np.linspace(0, length - side, count)]


def distinct(boxes: list[Box]) -> list[Box]:
    """Boxes without their near-duplicates, larger first, at most MAX_FACES."""
    kept: list[Box] = []
    for box in sorted(boxes, key=lambda b: (b[0] - b[2]) * (b[3] - b[1])):
        if all(overlap(box, other) < 0.3 for other in kept):
            kept.append(box)
    return kept[:MAX_FACES]


class ChunkBuilder:
    """Collects frames into chunks; one frame at a time, nothing but reduced copies and crops is kept."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self._chunk: Chunk | None = None
        self._tail: list[Frame] = []
        self._next = 0

    def add(self, frame: Frame) -> Chunk | None:
        """Take the next frame; returns a chunk when one is full."""
        rgb, scale = reduced(frame)
        if self._chunk is None:
            self._chunk = self._open(frame, rgb, scale)
        chunk = self._chunk
        chunk.views[0].frames.append(rgb)
        for view in chunk.views[1:]:
            view.frames.append(_crop(frame, view))
        self._tail = [*self._tail, rgb][-WARM_UP:]
        self._next += 1
        return self.finish() if chunk.count == CHUNK else None

    def finish(self) -> Chunk | None:
        """The chunk begun, if any."""
        chunk, self._chunk = self._chunk, None
        if chunk is not None:
            whole = chunk.views[0]
            whole.faces = max(whole.faces, self._searcher.near(whole.frames[-1]), int(len(chunk.views) == 1))
        return chunk

    def _open(self, frame: Frame, rgb: Frame, scale: float) -> Chunk:
        limit = SMALL * max(frame.shape[:2])
        boxes = self._searcher.search(frame, rgb, scale)
        large = [box for box in boxes if box[2] - box[0] >= limit]
        whole = View(0.0, 0.0, scale, len(large), list(self._tail))
        crops = [_crop_view(box, len(self._tail)) for box in boxes if box[2] - box[0] < limit]
        for view in crops:  # the frames before are gone; their crops would only warm the tracker up
            view.frames.extend([_crop(frame, view)] * len(self._tail))
        return Chunk(self._next, len(self._tail), [whole, *crops])


def _crop_view(box: Box, lead: int) -> View:
    side = CROP_GROWTH * max(box[2] - box[0], box[3] - box[1])
    x, y = (box[0] + box[2] - side) / 2, (box[1] + box[3] - side) / 2
    return View(x, y, CROP_SIDE / side, 1)


def _crop(frame: Frame, view: View) -> Frame:
    matrix = np.array([[view.scale, 0, -view.x * view.scale], [0, view.scale, -view.y * view.scale]])
    crop = cv2.warpAffine(
        frame, matrix, (CROP_SIDE, CROP_SIDE), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(cv2.cvtColor(crop, cv2.COLOR_BGR2RGB), np.uint8)


class MeshPool:
    """Face meshes for the analysing threads: each thread owns its meshes, one for every number of faces."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._all: list[Any] = []

    def __enter__(self) -> MeshPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for mesh in self._all:
            mesh.close()

    def _mesh(self, faces: int) -> Any:
        from mediapipe import solutions

        meshes = self._local.__dict__.setdefault("meshes", {})
        if faces not in meshes:
            meshes[faces] = solutions.face_mesh.FaceMesh(
                static_image_mode=False,
                max_num_faces=faces,
                refine_landmarks=True,
                min_detection_confidence=0.5,
                min_tracking_confidence=0.5,
            )
            self._all.append(meshes[faces])
        meshes[faces].reset()
        return meshes[faces]

    def analyse(self, chunk: Chunk) -> list[list[Points]]:
        """Landmarks in source pixels of every face in every frame of a chunk."""
        results: list[list[Points]] = [[] for _ in range(chunk.count)]
        for view in reversed(chunk.views):  # crops first: sharper than the same face in the reduced copy
            if not view.faces:
                continue
            mesh = self._mesh(min(view.faces, MAX_FACES))
            for index, rgb in enumerate(view.frames):
                faces = mesh.process(rgb).multi_face_landmarks or []
                if index >= chunk.lead:
                    _add_new(results[index - chunk.lead], [_points(face, rgb, view) for face in faces])
        return results


def _points(face: Any, rgb: Frame, view: View) -> Points:
    height, width = rgb.shape[:2]
    flat = np.array([(mark.x, mark.y) for mark in face.landmark], np.float32)
    size = np.array((width / view.scale, height / view.scale), np.float32)
    points: Points = flat * size + np.array((view.x, view.y), np.float32)
    return points


def _add_new(known: list[Points], found: list[Points]) -> None:
    for points in found:
        if all(overlap(bounds(points), bounds(other)) < 0.3 for other in known):
            known.append(points)
