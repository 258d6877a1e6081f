"""The clips' mouths kept on disk: the first pass over a picture is made once, whatever its face is to say afterwards.

One folder a clip and face, named by the hash of all its content depends on; the longest unused ones make room.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import numpy as np

from pipelines.artifacts import fingerprint, options_key
from pipelines.errors import MediaError, Message
from pipelines.faces.cache import filling
from pipelines.lipsync.mouths import BLOCK, MOST_BYTES, FaceMotion, Mouths, collect, load
from pipelines.progress import Report
from pipelines.settings import Settings
from pipelines.types import FaceTrack, VideoInfo

VERSION = 1  # raise when what ``mouths`` writes changes
KEPT_BYTES = 2 * MOST_BYTES  # of all clips together


def mouths_of(
    video: VideoInfo, track: FaceTrack, motion: FaceMotion, settings: Settings, report: Report
) -> Mouths:
    """The units of a face that has usable frames: kept ones, or collected in a pass over the picture.

    Raises:
        MediaError: the picture cannot be read. Stopped: the user asked.
    """
    place = settings.cache / "mouths" / _key(video, track)
    found = load(place)
    if found is None:
        from pipelines.media import read_frames

        with filling(place) as part:
            collect(iter(read_frames(video, settings)), video, track, motion, part, report)
        found = load(place)
    if found is None:
        raise MediaError(
            Message("The pictures of the mouth could not be kept", "无法保存嘴部画面"), where=str(place)
        )
    os.utime(place)
    make_room(place.parent, KEPT_BYTES, place)
    return found


def make_room(folder: Path, most: int, used: Path) -> None:
    """Remove the longest unused dictionaries until the rest takes at most ``most`` bytes; ``used`` stays in any case."""
    known = [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
    sizes = {path: sum(file.stat().st_size for file in path.iterdir()) for path in known}
    total = sum(sizes.values())
    for path in sorted(known, key=lambda path: path.stat().st_mtime):
        if total <= most:
            return
        if path != used:  # a job that reads it has it open and reads on
            shutil.rmtree(path, ignore_errors=True)
            total -= sizes[path]


def _key(video: VideoInfo, track: FaceTrack) -> str:
    points = hashlib.sha256(np.ascontiguousarray(track.found).tobytes())
    for start in range(0, len(track.found), BLOCK):
        points.update(np.ascontiguousarray(track.landmarks[start : start + BLOCK]).tobytes())
    return options_key(content=fingerprint(video.path), face=points.hexdigest(), version=VERSION)[:32]
