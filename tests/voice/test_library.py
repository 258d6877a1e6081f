"""Saved voices come back as they were; damaged ones are missing, not a crash."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.errors import InputError
from pipelines.types import VoiceProfile
from pipelines.voice.library import list_voices, load_profile, load_voice, save_voice

PROFILE = VoiceProfile(
    "kokoro",
    "Ана 小明 / 1",
    {"style": np.ones((3, 2), np.float32)},
    {"pitch": 1.5, "packs": ["af_heart 1.00"]},
)


def test_round_trip_under_a_safe_name(tmp_path: Path) -> None:
    save_voice(tmp_path, PROFILE)
    assert list_voices(tmp_path) == ("Ана 小明   1",) or list_voices(tmp_path) == ("Ана 小明  1",)
    found = load_voice(tmp_path, list_voices(tmp_path)[0])
    assert found.name == PROFILE.name and found.facts == PROFILE.facts
    assert (found.arrays["style"] == PROFILE.arrays["style"]).all()


def test_a_second_voice_of_the_same_name_does_not_overwrite(tmp_path: Path) -> None:
    save_voice(tmp_path, PROFILE)
    save_voice(tmp_path, PROFILE)
    assert len(list_voices(tmp_path)) == 2


def test_a_damaged_voice_counts_as_absent(tmp_path: Path) -> None:
    place = save_voice(tmp_path, PROFILE)
    (place / "voice.npz").write_bytes(b"broken")
    assert load_profile(tmp_path, place.name) is None
    with pytest.raises(InputError, match="no saved voice"):
        load_voice(tmp_path, place.name)
    with pytest.raises(InputError, match="no saved voice"):
        load_voice(tmp_path, "../" + place.name)
