"""The dictionary of the clip's own mouths: every usable frame is a unit; its pixels wait in a file, not in memory."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from pipelines.faces.cache import memory_mapped
from pipelines.faces.smoothing import runs
from pipelines.lipsync import geometry
from pipelines.lipsync.geometry import F32, Mesh, Poses
from pipelines.lipsync.shape import (
    ModelFit,
    MouthModel,
    SpeakerRange,
    eye_distance,
    moving_mean,
    pose_terms,
    speaker_range,
)
from pipelines.progress import Report
from pipelines.types import FaceTrack, Frame, VideoInfo

BLOCK = 1024
CROPS, THUMBS, FACTS = "crops.u8", "thumbs.u8", "mouths.npz"
MOST_BYTES = 1_200_000_000  # of mouth pictures on disk
MOST_UNITS = 5000
LONGEST_TURN = 0.80  # beyond it (about 50°) a mouth is neither taken nor replaced
THUMB = (24, 20)
VIEW_BOX = (-0.62, 0.45, 0.62, 1.45)  # x0, y0, x1, y1 in canonical units: mouth with some cheek and chin
MARGIN = 6


@dataclass(frozen=True, slots=True)
class FaceMotion:
    """One face over the whole clip in pose-free terms; arrays of T frames.

    usable: a face is there, large enough and not turned away. anchors' remainders are memory-mapped (T, A, 2).
    """

    usable: npt.NDArray[np.bool_]
    opening: F32
    width: F32
    turn: F32
    terms: F32
    eyes: F32
    poses: Poses
    slow: F32
    fast: F32
    model: MouthModel
    span: SpeakerRange
    reference: F32
    mesh: Mesh


def study(track: FaceTrack, fps: float, folder: Path, report: Report) -> FaceMotion:
    """Learn the speaker's mouth from the landmarks alone; the remainders go to files in ``folder``."""
    usable, opening, width, turn = _measures(track)
    chosen = np.flatnonzero(usable)
    sample = chosen[np.linspace(0, len(chosen) - 1, min(len(chosen), 600)).astype(int)]
    reference = geometry.reference_shape(np.asarray(track.landmarks[sample]))
    span = speaker_range(opening[chosen], width[chosen])
    fit = ModelFit(reference, (float(np.median(opening[chosen])), float(np.median(width[chosen]))))
    total = len(usable)
    terms = np.zeros((total, 6), np.float32)
    eyes = np.ones(total, np.float32)
    scale_turn, shift = np.ones(total, np.complex64), np.zeros(total, np.complex64)
    for start in range(0, total, BLOCK):
        report.step("lips", 0, None, "frames")
        here = slice(start, min(start + BLOCK, total))
        poses, canonical = _canonical(track, here, reference)
        scale_turn[here], shift[here] = poses.scale_turn, poses.shift
        terms[here], eyes[here] = pose_terms(canonical), eye_distance(canonical)
        good = usable[here]
        anchors = canonical[:, list(geometry.ANCHORS)]
        fit.add(terms[here][good], opening[here][good], width[here][good], anchors[good])
    model = fit.solve()
    slow, fast = _remainders(track, usable, opening, width, terms, model, reference, fps, folder)
    poses = Poses(scale_turn, shift)
    mesh = geometry.build_mesh(reference)
    return FaceMotion(
        usable, opening, width, turn, terms, eyes, poses, slow, fast, model, span, reference, mesh
    )


def _measures(track: FaceTrack) -> tuple[npt.NDArray[np.bool_], F32, F32, F32]:
    total = len(track.found)
    opening, width, turn = (np.zeros(total, np.float32) for _ in range(3))
    for start in range(0, total, BLOCK):
        here = slice(start, start + BLOCK)
        points = np.asarray(track.landmarks[here])
        opening[here], width[here] = geometry.opening(points), geometry.width(points)
        turn[here] = geometry.turn(points)
    usable = (
        np.asarray(track.found) & (np.abs(turn) < LONGEST_TURN) & np.isfinite(opening) & np.isfinite(width)
    )
    return usable, opening, width, turn


def _canonical(track: FaceTrack, here: slice, reference: F32) -> tuple[Poses, F32]:
    points = np.asarray(track.landmarks[here])
    poses = geometry.fit_poses(points, reference)
    return poses, geometry.to_canonical(points, poses)


def _remainders(
    track: FaceTrack,
    usable: npt.NDArray[np.bool_],
    opening: F32,
    width: F32,
    terms: F32,
    model: MouthModel,
    reference: F32,
    fps: float,
    folder: Path,
) -> tuple[F32, F32]:
    """What the model does not explain, split into its slow and its fast part, in two memory-mapped files."""
    shape = (len(usable), len(geometry.ANCHORS), 2)
    slow, fast = (memory_mapped(folder / f"{name}.npy", shape) for name in ("slow", "fast"))
    half = max(round(0.4 * fps), 1)
    for first, last in runs(usable):
        for start in range(first, last, BLOCK):
            stop = min(start + BLOCK, last)
            low, high = max(start - half, first), min(stop + half, last)
            here = slice(low, high)
            _, canonical = _canonical(track, here, reference)
            rest = canonical[:, list(geometry.ANCHORS)] - model.predict(
                terms[here], opening[here], width[here]
            )
            smooth = moving_mean(rest, half)
            kept = slice(start - low, stop - low)
            slow[start:stop], fast[start:stop] = smooth[kept], rest[kept] - smooth[kept]
    return slow, fast


@dataclass(frozen=True, slots=True)
class Mouths:
    """The units.

    Attributes:
        frames: (M,) source frame of each unit, ascending.
        origins: (M, 2) left top corner of each crop in its frame, px.
        crops: (M, h, w, 3) uint8, memory-mapped.
        looks: (M, L) small aligned pictures reduced to their main components, for continuity.
        odd: (M,) how unlike the clip's usual mouths a unit looks, in robust standard deviations (hands, hair, cups).
        frame_odd: (T,) the same for every frame of the clip (0 where there is no usable face).
    """

    frames: npt.NDArray[np.intp]
    origins: npt.NDArray[np.intp]
    crops: npt.NDArray[np.uint8]
    looks: F32
    odd: F32
    frame_odd: F32


def unit_frames(motion: FaceMotion, crop_bytes: int) -> npt.NDArray[np.intp]:
    """Which frames become units: all usable ones, or evenly spread stretches of them when that would be too many."""
    usable = np.flatnonzero(motion.usable)
    most = int(max(min(MOST_UNITS, MOST_BYTES // max(crop_bytes, 1)), 50))
    if len(usable) <= most:
        return usable
    stretch = 50  # frames in a row, so that movements can be taken over whole
    every = len(usable) * stretch / most
    starts = np.arange(0, len(usable), every).astype(int)
    chosen = np.concatenate([usable[start : start + stretch] for start in starts.tolist()])
    return np.asarray(np.unique(chosen)[:most], np.intp)


def collect(
    frames: Iterator[Frame],
    info: VideoInfo,
    track: FaceTrack,
    motion: FaceMotion,
    folder: Path,
    report: Report,
) -> None:
    """First pass over the picture: cut the units' crops into a file, look at every usable mouth in small.

    ``load`` reads what is left in ``folder``.
    """
    corners, size = _crop_places(track, motion, info)
    chosen = unit_frames(motion, size[0] * size[1] * 3)
    is_unit = np.zeros(len(motion.usable), np.bool_)
    is_unit[chosen] = True
    taken: list[int] = []
    seen: list[int] = []
    with (folder / CROPS).open("wb") as file, (folder / THUMBS).open("wb") as small:
        for index, frame in enumerate(frames):
            report.step("lips", index, info.frames, "frames")
            if index >= len(motion.usable) or not motion.usable[index]:
                continue
            small.write(mouth_view(frame, motion.poses, index, THUMB).tobytes())
            seen.append(index)
            if is_unit[index]:
                file.write(_crop(frame, corners[index], size).tobytes())
                taken.append(index)
    units = np.array(taken, np.intp)
    looks, odd = _looks(np.memmap(folder / THUMBS, np.uint8, "r", shape=(len(seen), THUMB[1], THUMB[0])))
    (folder / THUMBS).unlink()
    frame_odd = np.zeros(len(motion.usable), np.float32)
    frame_odd[seen] = odd
    rows = np.searchsorted(np.array(seen), units)
    facts = {"frames": units, "origins": corners[units], "looks": looks[rows], "odd": odd[rows]}
    np.savez(folder / FACTS, size=np.array(size), frame_odd=frame_odd, **facts)


def load(folder: Path) -> Mouths | None:
    """The units that ``collect`` left in a folder; None when there are none or the files are damaged."""
    try:
        with np.load(folder / FACTS, allow_pickle=False) as facts:
            units, (width, height) = facts["frames"], facts["size"].tolist()
            crops = np.memmap(folder / CROPS, np.uint8, "r", shape=(len(units), height, width, 3))
            return Mouths(units, facts["origins"], crops, facts["looks"], facts["odd"], facts["frame_odd"])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None


def _crop_places(
    track: FaceTrack, motion: FaceMotion, info: VideoInfo
) -> tuple[npt.NDArray[np.intp], tuple[int, int]]:
    """Left top corners (T, 2) and the one size (w, h) of all crops: the part of the mesh that is blended in."""
    inner = motion.mesh.vertices[motion.mesh.alpha[: len(motion.mesh.vertices)] > 0]
    total = len(motion.usable)
    low, high = np.zeros((total, 2), np.float32), np.zeros((total, 2), np.float32)
    for start in range(0, total, BLOCK):
        points = np.asarray(track.landmarks[start : start + BLOCK])[:, inner]
        low[start : start + BLOCK], high[start : start + BLOCK] = points.min(1), points.max(1)
    extent = (high - low)[motion.usable].max(0) + 2 * MARGIN
    size = (min(int(np.ceil(extent[0])), info.width), min(int(np.ceil(extent[1])), info.height))
    corners = np.floor((low + high) / 2 - np.array(size) / 2).astype(np.intp)
    return corners, size


def _crop(frame: Frame, corner: npt.NDArray[np.intp], size: tuple[int, int]) -> Frame:
    """A crop of fixed size, its edge repeated where it leaves the picture."""
    x0, y0 = int(corner[0]), int(corner[1])
    x1, y1 = x0 + size[0], y0 + size[1]
    height, width = frame.shape[:2]
    if x0 >= 0 and y0 >= 0 and x1 <= width and y1 <= height:
        return np.asarray(frame[y0:y1, x0:x1])
    rows = np.clip(np.arange(y0, y1), 0, height - 1)
    columns = np.clip(np.arange(x0, x1), 0, width - 1)
    return np.asarray(frame[rows[:, None], columns[None, :]])


def mouth_view(frame: Frame, poses: Poses, index: int, size: tuple[int, int]) -> npt.NDArray[np.uint8]:
    """The mouth of frame ``index`` in a standard pose, grey, ``size`` = (width, height) px."""
    x0, y0, x1, y1 = VIEW_BOX
    to_canonical = np.array([[(x1 - x0) / size[0], 0, x0], [0, (y1 - y0) / size[1], y0], [0, 0, 1]])
    matrix = poses.matrix(index) @ to_canonical
    over = 2  # sampled at twice the size and averaged, so that fine texture does not alias
    matrix[:, :2] /= over
    picture = cv2.warpAffine(
        frame,
        matrix,
        (size[0] * over, size[1] * over),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_AREA), np.uint8)


def _looks(thumbs: npt.NDArray[np.uint8]) -> tuple[F32, F32]:
    """Main components (M, L) of the small pictures and how badly each is explained by them (M,), block by block."""
    count = len(thumbs)
    sample = thumbs[np.linspace(0, count - 1, min(count, 1500)).astype(int)].reshape(-1, thumbs[0].size)
    few = sample.astype(np.float32)
    mean = np.median(few, axis=0)
    _, _, basis = np.linalg.svd(few - few.mean(0), full_matrices=False)
    basis = basis[: min(12, len(basis))]
    looks, rest = np.zeros((count, len(basis)), np.float32), np.zeros(count, np.float32)
    for start in range(0, count, BLOCK):
        here = slice(start, start + BLOCK)
        flat = thumbs[here].reshape(-1, few.shape[1]).astype(np.float32) - mean
        looks[here] = flat @ basis.T
        rest[here] = np.sqrt(np.mean((flat - looks[here] @ basis) ** 2, axis=1))
    middle = float(np.median(rest))
    spread = max(1.4826 * float(np.median(np.abs(rest - middle))), 0.5)
    scale = max(float(np.sqrt(np.mean(looks**2))), 1.0)
    return (looks / scale).astype(np.float32), ((rest - middle) / spread).astype(np.float32)
