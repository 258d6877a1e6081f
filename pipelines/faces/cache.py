"""The face cache: one folder per clip, named by the hash of its content and of everything the result depends on."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.artifacts import fingerprint, options_key
from pipelines.files import read_json, write_json
from pipelines.settings import Settings
from pipelines.types import FaceTrack, VideoInfo

VERSION = 2  # raise when detection, tracking or smoothing changes
PARTS = ("boxes", "landmarks", "found")


def folder(info: VideoInfo, settings: Settings) -> Path:
    """Where the tracks of this clip are kept."""
    key = options_key(
        content=fingerprint(info.path),
        version=VERSION,
        fps=str(info.fps),
        frames=info.frames,
        size=[info.width, info.height],
    )
    return settings.cache / "faces" / key[:32]


def load(place: Path) -> tuple[FaceTrack, ...] | None:
    """The tracks kept in a folder, or None when there are none; a damaged folder counts as absent."""
    try:
        count = int(read_json(place / "faces.json")["tracks"])
        return tuple(
            FaceTrack(*(np.load(place / f"{index}-{part}.npy", mmap_mode="r") for part in PARTS))
            for index in range(count)
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextmanager
def filling(place: Path) -> Iterator[Path]:
    """A folder to write into, which takes its place only when everything went well."""
    part = place.with_name(f".{place.name}.{uuid.uuid4().hex[:8]}.part")
    part.mkdir(parents=True)
    try:
        yield part
        if place.exists():  # another job analysed the same clip meanwhile, or the old one was damaged
            shutil.rmtree(place)
        part.rename(place)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def memory_mapped(path: Path, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """A new .npy file of float32, to be filled as an array."""
    array: npt.NDArray[np.float32] = np.lib.format.open_memmap(path, "w+", np.float32, shape)  # type: ignore[no-untyped-call]
    return array


def finish(part: Path, tracks: int) -> None:
    """Mark a folder complete; written last."""
    write_json(part / "faces.json", {"tracks": tracks, "version": VERSION})


def forget(info: VideoInfo, settings: Settings) -> bool:
    """Remove what is known about a clip's faces; returns whether there was anything."""
    place = folder(info, settings)
    known = place.is_dir()
    shutil.rmtree(place, ignore_errors=True)
    return known
