"""Following faces through time: overlap from frame to frame, nothing across a cut but the same person's looks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from pipelines.faces.detection import Box, Points, bounds, overlap
from pipelines.types import Frame

Look = npt.NDArray[np.float32]  # unit vector

LOST_AFTER = 0.6  # s without being seen: afterwards a face in the same place is a new tracklet
SAME_PERSON = 0.85  # correlation of two looks; on four clips of four people other people stay below 0.87, 95 % below 0.79
_PATCH = (44, 36)
_EYES_NOSE_MOUTH = (33, 133, 362, 263, 6, 4, 61, 291)
_PATCH_POINTS = np.array(
    [[8, 14], [17, 14.5], [27, 14.5], [36, 14], [22, 14], [22, 27], [13, 38], [31, 38]], np.float32
)


def look(rgb: Frame, points: Points) -> Look:
    """The face from brows to lips in a standard pose, blurred, without its mean and contrast (for correlation)."""
    marks = points[list(_EYES_NOSE_MOUTH)]
    matrix = _affine(marks)
    if matrix is None:
        return np.zeros(_PATCH[0] * _PATCH[1], np.float32)
    patch = cv2.warpAffine(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), matrix, _PATCH, flags=cv2.INTER_AREA)
    flat = cv2.GaussianBlur(patch, (0, 0), 1.0).astype(np.float32).ravel()
    flat -= flat.mean()
    unit: Look = flat / max(float(np.linalg.norm(flat)), 1e-6)
    return unit


def _affine(marks: Points) -> Any | None:
    """The 2×3 matrix to the standard pose; None when all marks lie on one spot."""
    return cv2.estimateAffine2D(marks, _PATCH_POINTS, method=cv2.LMEDS)[0]


class CutFinder:
    """Says where one shot ends and another begins: a jump of the picture well above its recent changes."""

    def __init__(self) -> None:
        self._before: npt.NDArray[np.float32] | None = None
        self._changes: list[float] = []

    def is_cut(self, rgb: Frame) -> bool:
        """Whether this frame is the first of a new shot."""
        small = cv2.resize(rgb, (48, 27), interpolation=cv2.INTER_AREA).astype(np.float32)
        before, self._before = self._before, small
        if before is None or before.shape != small.shape:
            return False
        change = float(np.abs(small - before).mean())
        usual = float(np.median(self._changes)) if self._changes else 2.0
        self._changes = [*self._changes, change][-12:]
        return change > 18.0 and change > 4.0 * usual


@dataclass(slots=True)
class Tracklet:
    """One face within one shot: the records (rows of the landmark file) it was seen in, by frame."""

    frames: list[int] = field(default_factory=list)
    records: list[int] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    area: float = 0.0  # mean area of the box, px²
    box: Box = (0.0, 0.0, 0.0, 0.0)

    def see(self, frame: int, record: int, box: Box) -> None:
        """Add a sighting."""
        area = (box[2] - box[0]) * (box[3] - box[1])
        self.area += (area - self.area) / (len(self.frames) + 1)
        self.frames.append(frame)
        self.records.append(record)
        self.box = box


class Linker:
    """Turns the faces of single frames into tracklets, in order of time."""

    def __init__(self, fps: float) -> None:
        self._patience = max(round(LOST_AFTER * fps), 2)
        self._active: list[Tracklet] = []
        self.tracklets: list[Tracklet] = []
        self.records = 0

    def cut(self) -> None:
        """A new shot begins: whoever is seen next is somebody new until looks say otherwise."""
        self._active = []

    def add(self, frame: int, faces: list[Points], rgb: Frame, scale: float) -> None:
        """Link the faces of one frame (best overlaps first); their records are numbered in the given order."""
        self._active = [track for track in self._active if frame - track.frames[-1] <= self._patience]
        boxes = [bounds(points) for points in faces]
        pairs = sorted(
            (
                (overlap(track.box, box), t, b)
                for t, track in enumerate(self._active)
                for b, box in enumerate(boxes)
            ),
            reverse=True,
        )
        owner: dict[int, Tracklet] = {}
        taken: set[int] = set()
        for shared, t, b in pairs:
            if shared > 0.2 and t not in taken and b not in owner:
                owner[b] = self._active[t]
                taken.add(t)
        for b, box in enumerate(boxes):
            track = owner.get(b) or self._begin()
            if len(track.frames) % 12 == 0 and len(track.looks) < 12:
                track.looks.append(look(rgb, faces[b] * np.float32(scale)))
            track.see(frame, self.records, box)
            self.records += 1

    def _begin(self) -> Tracklet:
        track = Tracklet()
        self._active.append(track)
        self.tracklets.append(track)
        return track


def people(tracklets: list[Tracklet], shortest: int, most: int) -> list[list[Tracklet]]:
    """Tracklets of the same person joined across cuts; longest × largest first, at most ``most`` people.

    Tracklets that overlap in time are different people; others are joined when some of their looks correlate.
    Passers-by seen for fewer than ``shortest`` frames are left out unless they are somebody already known.
    """
    groups: list[list[Tracklet]] = []
    for track in sorted(tracklets, key=_weight, reverse=True):
        group = next((g for g in groups if _same_person(track, g)), None)
        if group is not None:
            group.append(track)
        elif len(track.frames) >= shortest:
            groups.append([track])
    groups.sort(key=lambda g: sum(map(_weight, g)), reverse=True)
    return groups[:most]


def _weight(track: Tracklet) -> float:
    return len(track.frames) * track.area


def _same_person(track: Tracklet, group: list[Tracklet]) -> bool:
    for other in group:
        if track.frames[0] <= other.frames[-1] and other.frames[0] <= track.frames[-1]:
            return False
    return max(_similarity(track, other) for other in group) >= SAME_PERSON


def _similarity(one: Tracklet, other: Tracklet) -> float:
    if not one.looks or not other.looks:
        return 0.0
    return float((np.stack(one.looks) @ np.stack(other.looks).T).max())
