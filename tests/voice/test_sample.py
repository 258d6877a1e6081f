"""A sample of a voice is looked over: what is measured, what is said of it, and whose speech is used."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from imageio_ffmpeg import get_ffmpeg_exe

from pipelines import sample
from pipelines.errors import MediaError, NoSoundTrack, NoSpeech
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.sample import Diagnosis, diagnose
from pipelines.sample.reverberation import decay_seconds
from pipelines.sample.speakers import hear, only_main
from pipelines.types import Audio
from pipelines.voice.dvector import embed, to_mono

RATE = 16_000
GOOD = Diagnosis(12.0, 10.0, 10.0, 0.17, 40.0, 10_000.0, 0.0, 0.25, (10.0,), 48_000, 1)


@pytest.fixture(scope="module")
def clean(data: Path) -> Audio:
    """9 s of a woman reading, at 16 kHz: quick to look over."""
    samples, sr = soundfile.read(data / "speech" / "en_lj_0001.flac", dtype="float32")
    return Audio(to_mono(Audio(samples, sr), RATE), RATE)


def noisy(clean: Audio, snr: float) -> Audio:
    noise = np.random.default_rng(1).standard_normal(len(clean.samples)).astype(np.float32)
    level = float(np.sqrt((clean.samples**2).mean()))
    return Audio(clean.samples + noise * np.float32(level * 10 ** (-snr / 20)), RATE)


def in_a_room(clean: Audio, seconds: float) -> Audio:
    """Artificial reverberation that dies away by 60 dB in so many seconds."""
    count = round(seconds * RATE)
    tail = np.random.default_rng(0).standard_normal(count) * np.exp(-6.91 * np.arange(count) / count)
    tail[0] = np.sqrt((tail**2).sum())
    wet = np.convolve(clean.samples, tail)[: len(clean.samples)]
    return Audio((wet / np.abs(wet).max() * 0.5).astype(np.float32), RATE)


def test_a_clean_sample_is_called_good(clean: Audio) -> None:
    found, used = diagnose(clean, 1, 22_050)
    assert found.speech == pytest.approx(9.1, abs=0.3) and found.used == pytest.approx(used.seconds)
    assert found.silence == pytest.approx(1 - found.speech / clean.duration)
    assert found.snr > 25 and found.clipped == 0 and found.decay is not None and found.decay < 0.35
    assert len(found.speakers) == 1 and found.speakers[0] == pytest.approx(found.speech, abs=0.1)
    assert 6500 < found.bandwidth <= 8000
    assert [said.en[:13] for _, said in found.remarks()] == ["A good sample"]


def test_noise_clipping_and_silence_are_measured(clean: Audio) -> None:
    for snr in (20.0, 10.0):
        found, _ = diagnose(noisy(clean, snr), 1, RATE)
        assert found.snr == pytest.approx(snr, abs=3.0)
    loud, _ = diagnose(Audio(np.clip(clean.samples * 20, -1, 1), RATE), 1, RATE)
    assert loud.clipped == pytest.approx(float((np.abs(clean.samples * 20) > 0.985).mean()))
    assert loud.clipped > 0.01
    quiet = np.zeros(20 * RATE, np.float32)
    sparse, _ = diagnose(Audio(np.concatenate([quiet, clean.samples]), RATE), 1, RATE)
    assert (
        sparse.silence == pytest.approx(1 - sparse.speech / (clean.duration + 20)) and sparse.silence > 0.65
    )
    assert "is silence" in " ".join(said.en for _, said in sparse.remarks())


def test_rooms_are_told_apart(clean: Audio) -> None:
    found = [decay_seconds(in_a_room(clean, seconds).samples) for seconds in (0.25, 0.5)]
    dry = decay_seconds(clean.samples)
    assert dry is not None and found[0] is not None and found[1] is not None
    assert dry < found[0] < 0.42 <= found[1] == pytest.approx(0.5, abs=0.1)
    assert decay_seconds(np.zeros(RATE, np.float32)) is None


@pytest.mark.parametrize(
    ("change", "level", "says"),
    [
        ({"snr": 12.0}, "warning", "some noise (12 dB"),
        ({"snr": 5.0}, "warning", "a lot of noise (5 dB"),
        ({"clipped": 0.02}, "warning", "2.0 % of it is clipped"),
        ({"decay": 0.45}, "hint", "about 0.5 s"),
        ({"decay": 0.9}, "warning", "about 0.9 s"),
        ({"bandwidth": 3400.0}, "hint", "nothing above 3.4 kHz"),
        ({"speech": 4.0}, "hint", "4.0 s of speech are enough"),
        ({"silence": 0.8}, "hint", "80 % of it is silence"),
        ({"speakers": (6.0, 4.0)}, "warning", "2 people speak here. Only the one who speaks most (6.0 s)"),
    ],
)
def test_every_trouble_has_a_sentence(change: dict[str, object], level: str, says: str) -> None:
    found = replace(GOOD, **change).remarks()  # type: ignore[arg-type]
    assert [given for given, said in found if says in said.en] == [level]
    assert all(said.zh for _, said in found)


def test_of_two_people_the_one_who_speaks_most_is_used(clean: Audio, man: Audio) -> None:
    his = to_mono(man, RATE)
    mixed = Audio(np.concatenate([clean.samples[: 4 * RATE], his, clean.samples[4 * RATE : 6 * RATE]]), RATE)
    heard = hear(mixed)
    assert len(heard.speakers) == 2 and heard.speakers[0] > heard.speakers[1]
    own = only_main(mixed, heard)
    assert own.duration == pytest.approx(len(his) / RATE, abs=1.5)
    vector = embed(own)
    assert float(vector @ embed(Audio(his, RATE))) > 0.95
    assert float(vector @ embed(clean)) < 0.6
    alone = hear(clean)
    assert only_main(clean, alone) is clean


def encoded(source: Path, target: Path, *options: str) -> Path:
    subprocess.run(
        [get_ffmpeg_exe(), "-v", "error", "-y", "-i", str(source), *options, str(target)],
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return target


@pytest.mark.parametrize(
    ("name", "options", "rate", "channels", "narrow"),
    [
        ("8k.wav", ("-ar", "8000"), 8000, 1, True),
        ("96k24.wav", ("-ar", "96000", "-c:a", "pcm_s24le", "-ac", "2"), 96_000, 2, False),
        ("a.mp3", ("-ar", "44100", "-b:a", "128k"), 44_100, 1, False),
        ("a.m4a", ("-ar", "48000", "-c:a", "aac", "-ac", "2"), 48_000, 2, False),
    ],
)
def test_every_kind_of_file_is_looked_over(
    tmp_path: Path, data: Path, context: EngineContext, name: str, options: tuple[str, ...], rate: int,
    channels: int, narrow: bool,
) -> None:  # fmt: skip
    path = encoded(data / "speech" / "en_lj_0001.flac", tmp_path / name, *options)
    result = sample.run(tmp_path / "out", {"input": str(path)}, context, NullReport())
    facts = result["facts"]
    assert (facts["sr"], facts["channels"]) == (rate, channels)
    assert facts["speech"] == pytest.approx(9.1, abs=0.4)
    assert (facts["bandwidth"] <= 4000) is narrow
    used, sr = soundfile.read(tmp_path / "out" / result["audio"])
    assert len(used) / sr == pytest.approx(facts["used"], abs=0.01)


def test_a_video_and_a_part_of_it(tmp_path: Path, data: Path, context: EngineContext) -> None:
    picture = ("-f", "lavfi", "-i", "color=s=64x64:r=10:d=11")
    path = encoded(data / "speech" / "en_jfk.flac", tmp_path / "film.mp4", *picture, "-shortest")
    part = {"input": str(path), "start": 3.0, "end": 11.0}
    result = sample.run(tmp_path / "out", part, context, NullReport())
    assert result["facts"]["seconds"] == pytest.approx(8.0, abs=0.01)
    assert 3.0 <= result["facts"]["speech"] < 7.0


@pytest.fixture
def make(tmp_path: Path, clean: Audio) -> Callable[[str], Path]:
    """Files that hold no voice to learn."""

    def build(kind: str) -> Path:
        path = tmp_path / f"{kind}.wav"
        sounds = {
            "silence": np.zeros(5 * RATE),
            "tone": 0.3 * np.sin(np.arange(8 * RATE) * 0.1),
            "short": clean.samples[: 2 * RATE],
            "empty": np.zeros(0),
            "pause": np.concatenate([clean.samples[: 2 * RATE], np.zeros(10 * RATE)]),
        }
        soundfile.write(path, sounds[kind], RATE)
        return path

    return build


@pytest.mark.parametrize("kind", ["silence", "tone", "short", "empty", "pause"])
def test_too_little_speech_is_refused(
    tmp_path: Path, context: EngineContext, make: Callable[[str], Path], kind: str
) -> None:
    with pytest.raises((NoSpeech, MediaError), match=r"at least 3 s are needed|cannot be|no sound"):
        sample.run(tmp_path / "out", {"input": str(make(kind))}, context, NullReport())
    assert not (tmp_path / "out" / "used.wav").exists()


def test_what_is_no_sound_is_said(tmp_path: Path, context: EngineContext) -> None:
    (tmp_path / "a.wav").write_bytes(b"no sound at all")
    with pytest.raises(MediaError):
        sample.run(tmp_path / "out", {"input": str(tmp_path / "a.wav")}, context, NullReport())
    picture = tmp_path / "silent.mp4"
    subprocess.run(
        [get_ffmpeg_exe(), "-v", "error", "-f", "lavfi", "-i", "color=d=1", str(picture)], check=True
    )
    with pytest.raises(NoSoundTrack):
        sample.run(tmp_path / "out", {"input": str(picture)}, context, NullReport())
