"""Loudness, true peak and pitch as the report states them, on sounds whose values are known."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from pipelines import audio, media
from pipelines.dub.measures import first_seconds, hertz, true_peak, voice_record
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.types import Audio, VoiceProfile


def tone(hertz: float, level: float, seconds: float, sr: int = 48_000) -> Audio:
    time = np.arange(int(seconds * sr)) / sr
    return Audio((level * np.sin(2 * np.pi * hertz * time)).astype(np.float32), sr)


def test_loudness_and_peak_of_a_long_file(tmp_path: Path, settings: Settings) -> None:
    """The standard's own calibration: a 997 Hz sine at −20 dBFS on two channels is −20 LUFS."""
    sine = tone(997, 0.1, 35.0)
    stereo = np.repeat(sine.samples[:, None], 2, axis=1)
    stereo[1_600_000:1_600_048] *= 5.0  # a peak in the second block
    media.write_sound(tmp_path / "tone.wav", [stereo], 48_000, 2)
    lufs = media.file_loudness(tmp_path / "tone.wav", settings, NullReport(), "speak")
    assert lufs == pytest.approx(-20.0, abs=0.15)
    assert lufs == pytest.approx(audio.loudness(stereo, 48_000), abs=0.15)
    assert true_peak(tmp_path / "tone.wav", NullReport()) == pytest.approx(20 * math.log10(0.5), abs=0.6)
    media.write_sound(tmp_path / "nothing.wav", [np.zeros((48_000, 2), np.float32)], 48_000, 2)
    assert media.file_loudness(tmp_path / "nothing.wav", settings, NullReport(), "speak") == -math.inf
    assert true_peak(tmp_path / "nothing.wav", NullReport()) == -math.inf


def test_the_voice_of_the_report(data: Path, tmp_path: Path, settings: Settings) -> None:
    from pipelines.voice.dvector import embed

    own = media.load_sound(data / "speech" / "en_jfk.flac", settings, sr=16_000, end=6.0)
    path = tmp_path / "line.wav"
    media.save_audio(path, own)
    said = first_seconds([path, path], 1.0)
    assert said is not None and said.duration == pytest.approx(own.duration)  # one line is enough
    matched = VoiceProfile("kokoro", "jfk", {"vector": embed(own)}, {"packs": ["am_adam"]})
    record = voice_record(matched, own, said)
    assert (record["engine"], record["name"], record["kind"]) == ("kokoro", "jfk", "matched")
    assert record["similarity"] > 0.95 and record["packs"] == ["am_adam"]
    assert record["pitch"] == pytest.approx(record["own_pitch"], rel=0.02) and 90 < record["pitch"] < 300
    stock = voice_record(VoiceProfile("kokoro", "af_heart", {}, {"stock": True}), own, None)
    assert (stock["kind"], stock["similarity"], stock["pitch"]) == ("stock", None, None)
    assert hertz(Audio(np.zeros(0, np.float32), 16_000)) is None and first_seconds([], 5.0) is None
