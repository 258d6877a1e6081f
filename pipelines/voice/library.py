"""Saved voices: one folder a voice with its arrays (npz, no pickles) and its facts (json)."""

from __future__ import annotations

import re
import shutil
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.errors import InputError, Message
from pipelines.files import free_name, part_file, read_json, write_json
from pipelines.types import VoiceProfile

ARRAYS, FACTS, PREVIEW = "voice.npz", "voice.json", "preview.wav"


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


@dataclass(frozen=True, slots=True)
class SavedVoice:
    """A voice in the library: the name it is asked for by, and what is known of it.

    Attributes:
        language: ISO 639-1 code of what the voice is for, or empty; its preview was made in the one it was kept with.
        consent: whoever saved it said that it is theirs to use. created: ISO date. preview: a sound file, or None.
    """

    name: str
    engine: str
    language: str
    tags: tuple[str, ...]
    consent: bool
    created: str
    preview: Path | None


def save_voice(folder: Path, profile: VoiceProfile) -> Path:
    """Keep a voice under its own name (made safe for a file name); an existing one is never overwritten."""
    return save_profile(folder, _free_place(folder, profile.name).name, profile)


def _free_place(folder: Path, name: str) -> Path:
    safe = re.sub(r'[\\/:*?"<>|\x00-\x1f]+', " ", name).strip(" .")[:80].rstrip(" .") or "voice"
    return free_name(folder / safe)


def describe(folder: Path, name: str) -> SavedVoice:
    """What is known of a saved voice.

    Raises:
        InputError: there is none of that name, or it cannot be read.
    """
    profile = load_voice(folder, name)
    tags, preview = profile.facts.get("tags"), folder / name / PREVIEW
    return SavedVoice(
        name=name,
        engine=profile.engine,
        language=str(profile.facts.get("language") or ""),
        tags=tuple(tags) if isinstance(tags, list) else (),
        consent=profile.facts.get("consent") is True,
        created=str(profile.facts.get("created") or ""),
        preview=preview if preview.is_file() else None,
    )


def change_voice(
    folder: Path,
    name: str,
    *,
    new_name: str | None = None,
    tags: tuple[str, ...] | None = None,
    language: str | None = None,
) -> str:
    """Give a voice another name, language or other tags; returns its name then (numbered when the wanted one is taken).

    Raises:
        InputError: there is none of that name, or it cannot be read.
    """
    profile = load_voice(folder, name)
    if tags is not None:
        profile = replace(profile, facts={**profile.facts, "tags": list(tags)})
    if language:
        profile = replace(profile, facts={**profile.facts, "language": language})
    place = folder / name
    if new_name and new_name.strip() and new_name.strip() != name:
        profile = replace(profile, name=new_name.strip())
        place = place.rename(_free_place(folder, new_name.strip()))
    save_profile(folder, place.name, profile)
    return place.name


def delete_voice(folder: Path, name: str) -> None:
    """Delete a saved voice for good.

    Raises:
        InputError: there is none of that name.
    """
    if name not in list_voices(folder):
        load_voice(folder, name)
    shutil.rmtree(folder / name)


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
