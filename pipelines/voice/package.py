"""A saved voice as one file, to be kept elsewhere or given to somebody: arrays, facts and preview with their hashes.

A ZIP whose ``manifest.json`` names the format, its version and the SHA-256 of every other file. Nothing in it is ever run:
the arrays are plain numbers (npz without pickles), and what is not named or does not match is refused.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.errors import InputError, Message
from pipelines.files import part_file
from pipelines.voice.library import ARRAYS, FACTS, PREVIEW, load_profile, load_voice, save_voice

SUFFIX = ".dwvoice"
FORMAT, VERSION = "dubwright-voice", 1
MANIFEST = "manifest.json"
CONTENTS = (ARRAYS, FACTS, PREVIEW)
MOST_BYTES = 50_000_000


def export_voice(folder: Path, name: str, out: Path) -> None:
    """Write the saved voice as one file.

    Raises:
        InputError: there is no voice of that name. DiskFull.
    """
    load_voice(folder, name)
    contents = {
        item: (folder / name / item).read_bytes() for item in CONTENTS if (folder / name / item).is_file()
    }
    hashes = {item: hashlib.sha256(data).hexdigest() for item, data in contents.items()}
    manifest = {"format": FORMAT, "version": VERSION, "sha256": hashes}
    with part_file(out) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as file:
        file.writestr(MANIFEST, json.dumps(manifest, indent=1))
        for item, data in contents.items():
            file.writestr(item, data)


def import_voice(folder: Path, path: Path) -> str:
    """Add the voice in a file to the library; returns its name there (numbered when it is taken).

    Raises:
        InputError: the file is no voice, is damaged, or was made by a newer version.
    """
    try:
        contents = _read(path)
    except (zipfile.BadZipFile, OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise _refused(path) from error
    waiting = folder / f".import-{uuid.uuid4().hex}"
    try:
        waiting.mkdir(parents=True)
        for item, data in contents.items():
            (waiting / item).write_bytes(data)
        profile = load_profile(folder, waiting.name)
        if profile is None or not all(np.isfinite(values).all() for values in profile.arrays.values()):
            raise _refused(path)
        place = save_voice(folder, profile)
        if PREVIEW in contents:
            (waiting / PREVIEW).replace(place / PREVIEW)
        return place.name
    finally:
        shutil.rmtree(waiting, ignore_errors=True)


def _read(path: Path) -> dict[str, bytes]:
    """The files of a voice, each as its hash says.

    Raises:
        ValueError and others: it is no such file.
    """
    with zipfile.ZipFile(path) as file:
        if sum(info.file_size for info in file.infolist()) > MOST_BYTES:
            raise ValueError("too large")
        manifest: dict[str, Any] = json.loads(file.read(MANIFEST))
        if manifest["format"] != FORMAT or manifest["version"] != VERSION:
            raise ValueError("another format")
        hashes: dict[str, str] = manifest["sha256"]
        contents = {item: file.read(item) for item in hashes}
    if not {ARRAYS, FACTS} <= contents.keys() <= set(CONTENTS):
        raise ValueError("other contents")
    for item, data in contents.items():
        if hashlib.sha256(data).hexdigest() != hashes[item]:
            raise ValueError(f"{item} is damaged")
    return contents


def _refused(path: Path) -> InputError:
    return InputError(
        Message("This file holds no voice, or is damaged", "该文件不是声音文件，或已损坏"),
        Message(
            f"Choose a {SUFFIX} file that was exported here, or export it once more.",
            f"请选择由本程序导出的 {SUFFIX} 文件，或重新导出。",
        ),
        path.name,
    )
