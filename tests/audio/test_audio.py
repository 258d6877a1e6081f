"""Loudness, peaks, fades and the mix of a dub, measured against ffmpeg's own meters and to the sample."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
import soundfile
from hypothesis import HealthCheck, given
from hypothesis import settings as tries
from hypothesis import strategies as st

from pipelines.audio import (
    Ducking,
    fade,
    loudness,
    match_channels,
    mix_blocks,
    mix_lines,
    normalise,
    resample,
    silence,
    trim_edges,
    true_peak_db,
)
from pipelines.errors import MediaError, Stopped
from pipelines.limiter import limit, limit_blocks
from pipelines.media import ffmpeg_path
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.types import Audio, Samples

SR = 24000


def _meter(samples: Samples, sr: int, folder: Path) -> tuple[float, float]:
    """(integrated LUFS, true peak dBTP) by ffmpeg's ebur128 filter: a meter that is not ours."""
    path = folder / "measure.wav"
    soundfile.write(path, samples, sr, subtype="FLOAT")
    done = subprocess.run(
        [
            *(str(ffmpeg_path(Settings.load())), "-hide_banner", "-nostats", "-i", str(path)),
            *("-af", "ebur128=peak=true", "-f", "null", "-"),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    summary = done.stderr[done.stderr.rindex("Summary:") :]
    found = [re.search(rf"{name}:\s+(-?[\d.]+|-inf)", summary) for name in ("I", "Peak")]
    integrated, peak = (float(match.group(1)) for match in found if match)
    return integrated, peak


def _speechlike(seconds: float, sr: int = SR, seed: int = 0) -> Samples:
    """Noise in syllables of 0.2 s with pauses: about speech's crest and gating."""
    rng = np.random.default_rng(seed)
    noise = rng.laplace(0, 0.05, round(seconds * sr))
    time = np.arange(len(noise)) / sr
    return (noise * (np.sin(2 * np.pi * 2.5 * time) > -0.3) * (0.6 + 0.4 * np.sin(time))).astype(np.float32)


HARD = {
    "speech": _speechlike(6),
    "quiet": _speechlike(6) * 0.03,
    "loud": np.clip(_speechlike(6) * 30, -1, 1).astype(np.float32),
    "clicks over speech": _speechlike(6) + 0.95 * (np.arange(6 * SR) % 9000 == 0).astype(np.float32),
    "a quarter of the rate": (0.9 * np.sin(2 * np.pi * SR / 4 * np.arange(6 * SR) / SR + np.pi / 4)).astype(np.float32),
    "square": np.sign(np.sin(2 * np.pi * 110 * np.arange(6 * SR) / SR)).astype(np.float32) * 0.2,
    "stereo": np.stack([_speechlike(6), 0.3 * _speechlike(6, seed=1)], 1),
}  # fmt: skip


@pytest.mark.parametrize("name", HARD)
def test_normalised_sound_is_at_its_loudness_and_below_its_peak(name: str, tmp_path: Path) -> None:
    result = normalise(Audio(HARD[name], SR))
    integrated, peak = _meter(result.samples, SR, tmp_path)
    assert integrated == pytest.approx(-16.0, abs=0.5)
    assert peak <= -1.0
    assert result.samples.shape == HARD[name].shape
    assert result.samples.dtype == np.float32


def test_meters_agree_with_ffmpeg(tmp_path: Path) -> None:
    for name, samples in HARD.items():
        integrated, peak = _meter(samples, SR, tmp_path)
        assert loudness(samples, SR) == pytest.approx(integrated, abs=0.15), name
        assert true_peak_db(samples, SR) == pytest.approx(peak, abs=0.6), name


def test_loudness_can_be_lower_when_asked(tmp_path: Path) -> None:
    integrated, peak = _meter(
        normalise(Audio(HARD["speech"], SR), lufs=-23.0, peak_db=-3.0).samples, SR, tmp_path
    )
    assert integrated == pytest.approx(-23.0, abs=0.5)
    assert peak <= -3.0


def test_what_cannot_be_raised_is_not_turned_into_noise() -> None:
    nothing = Audio(np.zeros(SR, np.float32), SR)
    assert normalise(nothing) is nothing
    hiss = np.random.default_rng(0).normal(0, 1e-5, 3 * SR).astype(np.float32)
    assert loudness(normalise(Audio(hiss, SR)).samples, SR) == pytest.approx(loudness(hiss, SR) + 40, abs=0.1)
    click = np.zeros(3 * SR, np.float32)
    click[SR] = 0.5
    lifted = normalise(Audio(click, SR)).samples
    assert true_peak_db(lifted, SR) <= -1.0
    assert np.count_nonzero(np.abs(lifted) > 1e-6) < 10


@pytest.mark.parametrize("seconds", [0.05, 0.2, 0.39, 0.41])
def test_short_words_have_a_loudness_too(seconds: float) -> None:
    word = (0.1 * np.sin(2 * np.pi * 997 * np.arange(round(seconds * SR)) / SR)).astype(np.float32)
    assert loudness(word, SR) == pytest.approx(
        -23.0, abs=1.0
    )  # a 997 Hz sine of amplitude 0.1: −20 dB − 3.01
    assert loudness(normalise(Audio(word, SR)).samples, SR) == pytest.approx(-16.0, abs=0.5)
    assert loudness(np.zeros(0, np.float32), SR) == -np.inf


def test_quiet_sound_passes_the_limiter_untouched() -> None:
    samples = _speechlike(2) * 0.5
    assert true_peak_db(samples, SR) < -2.0
    assert np.array_equal(limit(samples, SR, -1.0), samples)


@tries(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 9000), min_size=1, max_size=8),
    seed=st.integers(0, 99),
    channels=st.sampled_from([1, 2]),
)
def test_limiting_in_blocks_is_limiting_the_whole(sizes: list[int], seed: int, channels: int) -> None:
    rng = np.random.default_rng(seed)
    whole = rng.laplace(0, 0.4, (sum(sizes), channels)).astype(np.float32)
    whole = whole[:, 0] if channels == 1 else whole
    blocks = np.split(whole, np.cumsum(sizes)[:-1])
    joined = np.concatenate(list(limit_blocks(blocks, 8000, -1.0)))
    expected = limit(whole, 8000, -1.0)
    assert joined.shape == expected.shape
    assert np.allclose(joined, expected, atol=2e-6)
    assert true_peak_db(expected, 8000) <= -1.0


@pytest.mark.parametrize(("sr", "to"), [(48000, 16000), (16000, 48000), (44100, 24000), (22050, 44100)])
def test_resampling_keeps_pitch_level_place_and_count(sr: int, to: int) -> None:
    time = np.arange(2 * sr + 37) / sr
    tone = (0.5 * np.sin(2 * np.pi * 1000 * time)).astype(np.float32)
    out = resample(tone, sr, to)
    assert len(out) == round(len(tone) * to / sr)
    expected = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(len(out)) / to)
    middle = slice(to // 4, -to // 4)
    assert np.abs(out[middle] - expected[middle]).max() < 2e-3
    assert resample(np.stack([tone, tone], 1), sr, to).shape == (len(out), 2)


def test_resampling_does_not_alias() -> None:
    tone = np.sin(2 * np.pi * 11000 * np.arange(48000) / 48000).astype(np.float32)
    assert np.abs(resample(tone, 48000, 16000)[400:-400]).max() < 1e-3


def test_channels() -> None:
    mono, stereo = np.ones(4, np.float32), np.stack([np.ones(4), np.zeros(4)], 1).astype(np.float32)
    assert match_channels(mono, 1).shape == (4,)
    assert np.array_equal(match_channels(mono, 2), np.ones((4, 2)))
    assert np.array_equal(match_channels(stereo, 1), np.full(4, 0.5))
    assert match_channels(mono[:, None], 1).shape == (4,)
    assert match_channels(np.ones((4, 6), np.float32), 2).shape == (4, 2)


def test_fades_are_raised_cosines() -> None:
    faded = fade(np.ones(SR, np.float32), SR, start=0.1, end=0.2)
    assert faded[0] < 1e-5
    assert faded[round(0.05 * SR)] == pytest.approx(0.5, abs=1e-3)
    assert np.all(faded[round(0.1 * SR) : round(0.8 * SR)] == 1)
    assert faded[-1] < 1e-5
    assert faded[-round(0.1 * SR)] == pytest.approx(0.5, abs=1e-3)
    assert len(fade(np.ones(10, np.float32), SR, start=5.0, end=5.0)) == 10


def test_edges_are_trimmed_and_the_cut_is_told() -> None:
    tone = (0.3 * np.sin(np.arange(SR) / 5)).astype(np.float32)
    hiss = np.random.default_rng(1).normal(0, 1e-4, SR).astype(np.float32)
    trimmed, cut = trim_edges(np.concatenate([hiss, tone, hiss[: SR // 2]]), SR, keep=0.02)
    assert cut == pytest.approx(0.98, abs=0.011)
    assert len(trimmed) / SR == pytest.approx(1.04, abs=0.021)
    assert trim_edges(np.zeros(SR, np.float32), SR) == (pytest.approx(np.zeros(0)), 0.0)


def _line(folder: Path, name: str, seconds: float, sr: int = SR, hz: float = 440, level: float = 0.3) -> Path:
    path = folder / f"{name}.wav"
    soundfile.write(path, level * np.sin(2 * np.pi * hz * np.arange(round(seconds * sr)) / sr), sr)
    return path


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("sr", [24000, 48000])
def test_lines_stand_where_they_belong(channels: int, sr: int, tmp_path: Path) -> None:
    """Lines of other rates, over block borders, overlapping, cut at both ends of the mix: to the sample."""
    lines = [
        (4.5, _line(tmp_path, "over a border", 1.3)),
        (0.25, _line(tmp_path, "first", 0.5, sr=16000)),
        (-0.2, _line(tmp_path, "early", 0.3, hz=803)),
        (11.8, _line(tmp_path, "late", 2.0)),
        (30.0, _line(tmp_path, "never", 1.0)),
    ]
    out = tmp_path / "混音.wav"
    assert mix_lines(lines, 12.3456, sr, channels, out) == round(12.3456 * sr)
    mixed, rate = soundfile.read(out, dtype="float32", always_2d=True)
    assert (rate, mixed.shape) == (sr, (round(12.3456 * sr), channels))
    loud = np.abs(mixed[:, 0]) > 0.005
    for start, end in ((0.0, 0.1), (0.25, 0.75), (4.5, 5.8), (11.8, 12.3456)):
        inside = loud[round(start * sr) + 40 : round(end * sr) - 40]
        assert inside.mean() > 0.93
        before = loud[max(round((start - 0.1) * sr), 0) : max(round(start * sr) - 20, 0)]
        assert not before.any()
    assert not loud[round(5.81 * sr) : round(11.79 * sr)].any()
    assert np.array_equal(mixed[:, 0], mixed[:, -1])


def test_background_is_ducked_under_speech_and_kept_elsewhere(tmp_path: Path) -> None:
    sr = 48000
    time = np.arange(20 * sr) / sr
    music = np.stack([0.2 * np.sin(2 * np.pi * 5000 * time), 0.1 * np.sin(2 * np.pi * 7000 * time)], 1)
    blocks = iter(np.array_split(music.astype(np.float32), 7))
    quiet = [(start, _line(tmp_path, f"line {start}", 2.0, level=0.0)) for start in (4.0, 6.3, 12.0)]
    mixed = np.concatenate(list(mix_blocks(quiet, 20.0, sr, 2, background=blocks, ducking=Ducking(-12.0))))
    assert mixed.shape == (20 * sr, 2)

    def level(second: float, channel: int = 0) -> float:
        piece = mixed[round(second * sr) : round(second * sr) + sr // 20, channel]
        return 20 * np.log10(np.abs(piece).max() / (0.2, 0.1)[channel])

    for second in (0.0, 2.0, 3.7, 9.0, 11.7, 15.0, 19.9):
        assert level(second) == pytest.approx(0, abs=0.05), second
        assert level(second, 1) == pytest.approx(0, abs=0.05), second
    for second in (4.0, 5.0, 6.1, 7.0, 8.2, 12.0, 13.9):  # the pause of 0.3 s between two lines stays down
        assert level(second) == pytest.approx(-12, abs=0.1), second
        assert level(second, 1) == pytest.approx(-12, abs=0.1), second
    assert -11 < level(3.85) < -0.5  # on its way down before the line begins
    assert -11.5 < level(8.5) < -0.5
    gain = np.abs(mixed[:, 0]).reshape(-1, 480).max(axis=1) / 0.2
    assert np.abs(np.diff(gain)).max() < 0.12  # no step in 10 ms


def test_background_that_ends_early_or_late(tmp_path: Path) -> None:
    for seconds in (1.0, 9.0):
        blocks = iter([np.full(round(seconds * SR), 0.1, np.float32)])
        mixed = np.concatenate(list(mix_blocks([], 4.0, SR, 1, background=blocks)))
        assert len(mixed) == 4 * SR
        assert mixed[: SR - 1] == pytest.approx(0.1)
        assert mixed[-1] == pytest.approx(0.0 if seconds == 1.0 else 0.1)


def test_the_mix_never_clips(tmp_path: Path) -> None:
    lines = [
        (0.1 * number, _line(tmp_path, str(number), 3.0, hz=200 + 31 * number, level=0.9))
        for number in range(4)
    ]
    out = tmp_path / "loud.wav"
    mix_lines(lines, 4.0, SR, 1, out)
    samples, _ = soundfile.read(out, dtype="float32")
    integrated, peak = _meter(samples, SR, tmp_path)
    assert peak <= -1.0
    assert integrated > -12


@tries(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    duration=st.floats(0.0, 17.0),
    sr=st.sampled_from([8000, 11025, 16000]),
    starts=st.lists(st.floats(-2.0, 20.0), max_size=5),
    channels=st.sampled_from([1, 2]),
)
def test_every_mix_has_exactly_its_length(
    duration: float, sr: int, starts: list[float], channels: int, tmp_path: Path
) -> None:
    path = tmp_path / "line.wav"
    if not path.exists():
        _line(tmp_path, "line", 0.7)
    out = tmp_path / "out.wav"
    assert mix_lines([(start, path) for start in starts], duration, sr, channels, out) == round(duration * sr)
    facts = soundfile.info(out)
    assert (facts.frames, facts.samplerate, facts.channels) == (round(duration * sr), sr, channels)


def test_stop_and_bad_lines_leave_nothing(tmp_path: Path) -> None:
    class Stop(NullReport):
        def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
            if done > 5:
                raise Stopped

    closed = []

    def source() -> Iterator[Samples]:
        try:
            while True:
                yield np.zeros(SR, np.float32)
        finally:
            closed.append(True)

    out = tmp_path / "out.wav"
    with pytest.raises(Stopped):
        mix_lines([], 100.0, SR, 1, out, background=source(), report=Stop())
    assert closed == [True]
    broken = tmp_path / "line.wav"
    broken.write_bytes(b"RIFF")
    with pytest.raises(MediaError, match="line cannot be read"):
        mix_lines([(0.0, broken)], 10.0, SR, 1, out)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["line.wav"]


@pytest.mark.slow
def test_memory_of_a_long_mix_is_flat(tmp_path: Path) -> None:
    """A mix of 20 min at 48 kHz stereo (460 MB as floats) is made in the memory of a short one."""
    path = _line(tmp_path, "line", 2.0)
    process = psutil.Process()
    peak = [0]

    class Watch(NullReport):
        def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
            peak[0] = max(peak[0], process.memory_info().rss)

    mix_lines([(1.0, path)], 20.0, 48000, 2, tmp_path / "short.wav", report=Watch())
    short = peak[0]
    lines = [(7.0 * number, path) for number in range(170)]
    mix_lines(lines, 1200.0, 48000, 2, tmp_path / "long.wav", background=iter(()), report=Watch())
    assert peak[0] - short < 60 * 2**20


def test_works_without_torch(tmp_path: Path) -> None:
    """The default path of sound needs neither torch nor torchaudio."""
    script = textwrap.dedent("""
        import sys

        class NoTorch:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in ("torch", "torchaudio"):
                    raise ModuleNotFoundError(name)

        sys.meta_path.insert(0, NoTorch())
        import numpy as np
        from pipelines.audio import normalise, resample
        from pipelines.types import Audio
        tone = np.sin(np.arange(48000) / 9).astype(np.float32)
        assert len(normalise(Audio(resample(tone, 48000, 16000), 16000)).samples) == 16000
    """)
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[2])


def test_silence() -> None:
    assert silence(0.5, SR).shape == (SR // 2,)
    assert silence(0.5, SR, 2).shape == (SR // 2, 2)
    assert silence(-1.0, SR).shape == (0,)
