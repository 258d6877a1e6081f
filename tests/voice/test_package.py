"""The library of voices: renamed, deleted, and carried elsewhere as one verified file."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from pipelines.errors import InputError
from pipelines.types import VoiceProfile
from pipelines.voice.library import (
    PREVIEW,
    change_voice,
    delete_voice,
    describe,
    list_voices,
    load_voice,
    save_voice,
)
from pipelines.voice.package import export_voice, import_voice

PROFILE = VoiceProfile(
    "kokoro",
    "小明",
    {"style": np.arange(6, dtype=np.float32).reshape(3, 2)},
    {
        "language": "zh",
        "tags": ["warm", "日记"],
        "consent": True,
        "created": "2026-12-01",
        "packs": ["a 1.00"],
    },
)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A library with one voice and its preview."""
    place = save_voice(tmp_path / "voices", PROFILE)
    (place / PREVIEW).write_bytes(b"sound")
    return tmp_path / "voices"


def test_what_is_known_of_a_voice(library: Path) -> None:
    found = describe(library, "小明")
    assert (found.name, found.engine, found.language, found.tags) == (
        "小明",
        "kokoro",
        "zh",
        ("warm", "日记"),
    )
    assert found.consent and found.created == "2026-12-01" and found.preview == library / "小明" / PREVIEW
    save_voice(library, VoiceProfile("kokoro", "old", {"style": np.ones(1, np.float32)}))
    assert describe(library, "old").consent is False and describe(library, "old").preview is None


def test_another_name_and_other_tags(library: Path) -> None:
    assert change_voice(library, "小明", new_name=" Ming/2 ", tags=("x",)) == "Ming 2"
    assert list_voices(library) == ("Ming 2",)
    found = load_voice(library, "Ming 2")
    assert found.name == "Ming/2" and found.facts["tags"] == ["x"] and found.facts["consent"] is True
    assert (library / "Ming 2" / PREVIEW).read_bytes() == b"sound"
    save_voice(library, PROFILE)
    assert change_voice(library, "小明", new_name="Ming 2") == "Ming 2 (2)", "the other one stays"
    assert change_voice(library, "Ming 2", new_name="  ") == "Ming 2"


def test_a_deleted_voice_is_gone_and_nothing_else(library: Path) -> None:
    save_voice(library, PROFILE)
    delete_voice(library, "小明")
    assert list_voices(library) == ("小明 (2)",)
    for wrong in ("小明", "..", "", "../voices"):
        with pytest.raises(InputError, match="no saved voice"):
            delete_voice(library, wrong)
    assert list_voices(library) == ("小明 (2)",)


def test_a_voice_travels_as_one_file(library: Path, tmp_path: Path) -> None:
    out, other = tmp_path / "ming.dwvoice", tmp_path / "other"
    export_voice(library, "小明", out)
    assert import_voice(other, out) == "小明" and import_voice(other, out) == "小明 (2)"
    found = load_voice(other, "小明")
    assert (found.arrays["style"] == PROFILE.arrays["style"]).all() and found.facts == PROFILE.facts
    assert (other / "小明" / PREVIEW).read_bytes() == b"sound"
    assert sorted(path.name for path in other.iterdir()) == ["小明", "小明 (2)"], "nothing is left over"


def rewritten(path: Path, **changed: bytes) -> None:
    with zipfile.ZipFile(path) as file:
        contents = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w") as file:
        for name, data in {
            **contents,
            **{name.replace("__", "."): data for name, data in changed.items()},
        }.items():
            file.writestr(name, data)


@pytest.mark.parametrize("harm", ["cut", "text", "changed", "version", "path", "missing", "nan"])
def test_a_damaged_or_strange_file_is_refused(library: Path, tmp_path: Path, harm: str) -> None:
    out = tmp_path / "a.dwvoice"
    export_voice(library, "小明", out)
    with zipfile.ZipFile(out) as file:
        manifest = json.loads(file.read("manifest.json"))
    if harm == "cut":
        out.write_bytes(out.read_bytes()[:-60])
    elif harm == "text":
        out.write_text("no voice")
    elif harm == "changed":
        rewritten(out, voice__json=b"{}")
    elif harm == "version":
        rewritten(out, manifest__json=json.dumps({**manifest, "version": 2}).encode())
    elif harm == "path":
        manifest["sha256"]["../evil"] = "0"
        rewritten(out, manifest__json=json.dumps(manifest).encode(), **{"../evil": b"x"})
    elif harm == "missing":
        del manifest["sha256"]["voice.npz"]
        rewritten(out, manifest__json=json.dumps(manifest).encode())
    else:
        bad = VoiceProfile("kokoro", "bad", {"style": np.full(3, np.nan, np.float32)})
        save_voice(library, bad)
        export_voice(library, "bad", out)
    with pytest.raises(InputError, match="holds no voice, or is damaged"):
        import_voice(tmp_path / "other", out)
    assert not any((tmp_path / "other").glob("*")) and not (tmp_path / "evil").exists()
