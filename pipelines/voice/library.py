"""Saved voices: one folder a voice with its arrays (npz, no pickles) and its facts (json)."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.errors import InputError, Message
from pipelines.files import free_name, part_file, read_json, write_json
from pipelines.types import VoiceProfile

ARRAYS, FACTS = "voice.npz", "voice.json"


def save_profile(folder: Path, key: str, profile: VoiceProfile) -> Path:
    """Write a voice below ``folder`` under ``key``; the facts come last, so half a voice is never read."""
    place = folder / key
    with part_file(place / ARRAYS) as part, part.open("wb") as file:
        np.savez_compressed(file, **profile.arrays)
    write_json(place / FACTS, {"engine": profile.engine, "name": profile.name, "facts": profile.facts})
    return place


def load_profile(folder: Path, key: str) -> VoiceProfile | None:
    """Read a voice; None when it is not there or not whole."""
    place = folder / key
    if not (place / FACTS).is_file() or not (place / ARRAYS).is_file():
        return None
    try:
        facts: dict[str, Any] = read_json(place / FACTS)
        with np.load(place / ARRAYS, allow_pickle=False) as arrays:
            found = {name: np.asarray(arrays[name], np.float32) for name in arrays.files}
        return VoiceProfile(str(facts["engine"]), str(facts["name"]), found, dict(facts["facts"]))
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        zipfile.BadZipFile,
    ):  # damaged by hand or by a full disk
        return None


def save_voice(folder: Path, profile: VoiceProfile) -> Path:
    """Keep a voice under its own name (made safe for a file name); an existing one is never overwritten."""
    safe = re.sub(r'[\\/:*?"<>|\x00-\x1f]+', " ", profile.name).strip(" .") or "voice"
    place = free_name(folder / safe)
    return save_profile(folder, place.name, profile)


def list_voices(folder: Path) -> tuple[str, ...]:
    """Names of the saved voices, in order of the alphabet."""
    return tuple(sorted(path.parent.name for path in folder.glob(f"*/{FACTS}")))


def load_voice(folder: Path, name: str) -> VoiceProfile:
    """A saved voice by name.

    Raises:
        InputError: there is none of that name, or it cannot be read.
    """
    profile = load_profile(folder, name) if name in list_voices(folder) else None
    if profile is None:
        known = ", ".join(list_voices(folder)) or "–"
        raise InputError(
            Message(f"There is no saved voice called {name!r}", f"没有名为 {name!r} 的已存声音"),
            Message(f"Saved voices: {known}.", f"已存声音:{known}。"),
        )
    return profile
