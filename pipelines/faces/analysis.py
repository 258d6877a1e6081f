"""One pass over a clip: frames are searched as they come, landmarks go to disk at once, tracks are made at the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from pipelines.faces import MOST_PEOPLE, cache
from pipelines.faces.detection import Chunk, ChunkBuilder, MeshPool, Points, Searcher
from pipelines.faces.smoothing import bridge, smooth
from pipelines.faces.tracking import CutFinder, Linker, Tracklet, people
from pipelines.progress import Report
from pipelines.settings import Settings
from pipelines.types import FaceTrack, VideoInfo

STAGE = "faces"
LANDMARKS = 478
SHORTEST_SECONDS = 0.3


def analyse(info: VideoInfo, settings: Settings, report: Report) -> tuple[FaceTrack, ...]:
    """See ``pipelines.faces.analyse``."""
    place = cache.folder(info, settings)
    known = cache.load(place)
    if known is None:
        with cache.filling(place) as part:
            sightings = _look_through(info, settings, part / "sightings.f32", report)
            tracks = _write_tracks(info, sightings, part)
            (part / "sightings.f32").unlink()
            cache.finish(part, tracks)
        known = cache.load(place)
    report.step(STAGE, info.frames, info.frames, "frames")
    return known or ()


@dataclass(slots=True)
class _Sightings:
    """What one pass found; the landmarks themselves lie in ``path``, one record of 478 × 2 float32 per face seen."""

    path: Path
    linker: Linker
    cuts: list[int] = field(default_factory=list)
    frames: int = 0


def _look_through(info: VideoInfo, settings: Settings, path: Path, report: Report) -> _Sightings:
    sightings = _Sightings(path, Linker(float(info.fps)))
    finder = CutFinder()
    with path.open("wb") as file:
        for chunk, results in _analysed_chunks(info, settings, report):
            _take(sightings, finder, file, chunk, results)
    return sightings


def _take(
    sightings: _Sightings, finder: CutFinder, file: BinaryIO, chunk: Chunk, results: list[list[Points]]
) -> None:
    whole = chunk.views[0]
    for offset, faces in enumerate(results):
        frame = chunk.start + offset
        rgb = whole.frames[chunk.lead + offset]
        if finder.is_cut(rgb):
            sightings.cuts.append(frame)
            sightings.linker.cut()
        sightings.linker.add(frame, faces, rgb, whole.scale)
        for points in faces:
            file.write(np.ascontiguousarray(points, np.float32).tobytes())
        sightings.frames = frame + 1


def _analysed_chunks(
    info: VideoInfo, settings: Settings, report: Report
) -> Iterator[tuple[Chunk, list[list[Points]]]]:
    """Chunks with their faces, in order; a few threads analyse while the next frames are read."""
    workers = min(max(settings.threads, 1), 4)
    searcher = Searcher()
    waiting: deque[tuple[Chunk, Future[list[list[Points]]]]] = deque()

    def next_result() -> tuple[Chunk, list[list[Points]]]:
        chunk, faces = waiting[0]
        while not wait([faces], timeout=0.3).done:
            report.step(STAGE, min(chunk.start, info.frames), info.frames, "frames")
        waiting.popleft()
        return chunk, faces.result()

    with MeshPool() as meshes, ThreadPoolExecutor(workers) as pool:
        try:
            for chunk in _chunks(info, settings, searcher, report):
                waiting.append((chunk, pool.submit(meshes.analyse, chunk)))
                if len(waiting) > workers:
                    yield next_result()
            while waiting:
                yield next_result()
        finally:
            for _, faces in waiting:
                faces.cancel()
            searcher.close()


def _chunks(info: VideoInfo, settings: Settings, searcher: Searcher, report: Report) -> Iterator[Chunk]:
    from pipelines.media import read_frames

    builder = ChunkBuilder(searcher)
    for number, frame in enumerate(read_frames(info, settings)):
        report.step(STAGE, min(number, info.frames), info.frames, "frames")
        if (chunk := builder.add(frame)) is not None:
            yield chunk
    if (chunk := builder.finish()) is not None:
        yield chunk


def _write_tracks(info: VideoInfo, sightings: _Sightings, part: Path) -> int:
    """Lay the sightings out as one track per person; returns how many there are."""
    total = max(sightings.frames, 1)
    shortest = min(max(round(SHORTEST_SECONDS * float(info.fps)), 2), total)
    groups = people(sightings.linker.tracklets, shortest, MOST_PEOPLE)
    if not groups:
        return 0
    records = np.memmap(sightings.path, np.float32, "r", shape=(sightings.linker.records, LANDMARKS, 2))
    for index, group in enumerate(groups):
        _write_track(part, index, group, records, total, float(info.fps), frozenset(sightings.cuts))
    return len(groups)


def _write_track(
    part: Path,
    index: int,
    group: list[Tracklet],
    records: npt.NDArray[np.float32],
    total: int,
    fps: float,
    cuts: frozenset[int],
) -> None:
    landmarks = cache.memory_mapped(part / f"{index}-landmarks.npy", (total, LANDMARKS, 2))
    boxes = cache.memory_mapped(part / f"{index}-boxes.npy", (total, 4))
    seen = np.zeros(total, np.bool_)
    for track in group:
        for frame, record in zip(track.frames, track.records, strict=True):
            landmarks[frame] = records[record]
            seen[frame] = True
    found = bridge(landmarks, seen, fps, cuts)
    smooth(landmarks, found, fps, cuts)
    for start in range(0, total, 512):
        block = landmarks[start : start + 512]
        boxes[start : start + 512, :2] = block.min(1)
        boxes[start : start + 512, 2:] = block.max(1)
    for array in (landmarks, boxes):
        if isinstance(array, np.memmap):
            array.flush()
    np.save(part / f"{index}-found.npy", found)
