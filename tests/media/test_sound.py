"""Sound in and out: the right track, the right place on the clock, the right number of samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from pipelines.errors import MediaError
from pipelines.media import load_sound, probe, read_sound, save_audio, sound_tracks, write_sound
from pipelines.settings import Settings
from pipelines.types import Audio, Samples
from tests.media.conftest import Make, Run

SR = 16000


def _pitch(samples: Samples, sr: int = SR) -> float:
    """Strongest frequency, Hz."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(np.argmax(spectrum) * sr / len(samples))


def _clicks(path: Path, times: list[float], seconds: float, sr: int = 48000) -> None:
    samples = np.zeros(round(seconds * sr), np.float32)
    for time in times:
        samples[round(time * sr) : round(time * sr) + 48] = 0.9
    soundfile.write(path, samples, sr)


def _click_times(samples: Samples, sr: int) -> list[float]:
    loud = np.flatnonzero(np.abs(samples) > 0.3)
    starts = loud[np.insert(np.diff(loud) > sr // 20, 0, True)]
    return [float(start / sr) for start in starts]


@pytest.mark.parametrize(
    ("name", "codec", "within"),
    [
        ("a.wav", ("-c:a", "pcm_s24le"), 0.001),
        ("a.flac", ("-c:a", "flac"), 0.001),
        ("a.mp3", ("-c:a", "libmp3lame", "-q:a", "6", "-id3v2_version", "3", "-metadata", "title=录音"), 0.002),
        ("a.m4a", ("-c:a", "aac"), 0.002),
        ("a.ogg", ("-c:a", "libvorbis"), 0.002),
        ("a.opus", ("-c:a", "libopus"), 0.002),
        ("a.webm", ("-c:a", "libopus", "-live", "1"), 0.003),
        ("a.ac3", ("-c:a", "ac3"), 0.03),
        ("a.wma", ("-c:a", "wmav2"), 0.09),
    ],
)  # fmt: skip
def test_times_are_the_same_wherever_reading_begins(
    name: str, codec: tuple[str, ...], within: float, tmp_path: Path, ffmpeg: Run, settings: Settings
) -> None:
    """A click at t seconds is at t in the samples, also when reading begins in the middle of a compressed file."""
    wave, path = tmp_path / "clicks.wav", tmp_path / name
    times = [0.5, 3.25, 7.75, 11.0]
    _clicks(wave, times, 12.0)
    ffmpeg("-i", wave, *codec, path)
    whole = load_sound(path, settings, sr=SR)
    assert _click_times(whole.samples, SR) == pytest.approx(times, abs=within)
    assert whole.duration == pytest.approx(12.0, abs=0.12)
    (track,) = sound_tracks(path)
    assert track.duration == pytest.approx(12.0, abs=0.12)
    part = load_sound(path, settings, sr=SR, start=7.0, end=9.5)
    assert len(part.samples) == 2.5 * SR
    assert [time + 7.0 for time in _click_times(part.samples, SR)] == pytest.approx([7.75], abs=within)


@pytest.mark.parametrize(
    ("stored", "wanted"), [(44100, 48000), (48000, 44100), (16000, 48000), (44100, 24000)]
)
def test_a_piece_at_another_rate_begins_where_it_was_asked_to(
    stored: int, wanted: int, tmp_path: Path, ffmpeg: Run, settings: Settings
) -> None:
    wave, path = tmp_path / "clicks.wav", tmp_path / "a.m4a"
    times = [0.25, 2.5, 34.25, 35.0]
    _clicks(wave, times, 36.0, stored)
    ffmpeg("-i", wave, "-c:a", "aac", path)
    for start, found in ((0.75, times[1:2]), (2.0, times[1:2]), (33.5, times[2:])):
        part = load_sound(path, settings, sr=wanted, start=start, end=start + 2.0)
        assert len(part.samples) == 2 * wanted
        assert [time + start for time in _click_times(part.samples, wanted)] == pytest.approx(
            found, abs=0.002
        )


def test_blocks_are_the_whole(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "noise.wav"
    noise = np.random.default_rng(3).normal(0, 0.1, (44100 * 5, 2)).astype(np.float32)
    soundfile.write(path, noise, 44100, subtype="FLOAT")
    blocks = list(read_sound(path, settings, sr=44100, channels=2, block_seconds=0.7))
    assert [len(block) for block in blocks] == [30870] * 7 + [220500 - 7 * 30870]
    assert np.allclose(np.concatenate(blocks), noise, atol=1e-6)
    mono = load_sound(path, settings, sr=44100)
    assert np.allclose(mono.samples, noise.mean(axis=1), atol=1e-4)
    soundfile.write(path, noise[:, 0], 44100, subtype="FLOAT")
    assert np.allclose(load_sound(path, settings, sr=44100, channels=2).samples, noise[:, :1], atol=1e-4)


def test_one_channel_alone(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "interview.wav"
    time = np.arange(SR * 2) / SR
    left, right = np.sin(2 * np.pi * 300 * time), np.sin(2 * np.pi * 1100 * time)
    soundfile.write(path, np.stack([left, right], 1) * 0.5, SR)
    assert _pitch(load_sound(path, settings, sr=SR, channel=0).samples) == pytest.approx(300, abs=2)
    assert _pitch(load_sound(path, settings, sr=SR, channel=1).samples) == pytest.approx(1100, abs=2)
    with pytest.raises(MediaError, match="no channel 3"):
        load_sound(path, settings, sr=SR, channel=2)


def test_tracks_with_language_and_default(tmp_path: Path, ffmpeg: Run, settings: Settings) -> None:
    path = tmp_path / "film.mkv"
    ffmpeg(
        *("-f", "lavfi", "-i", "sine=400:d=2", "-f", "lavfi", "-i", "testsrc2=s=64x64:d=2"),
        *("-f", "lavfi", "-i", "sine=900:d=2", "-f", "lavfi", "-i", "sine=1500:d=2"),
        *("-map", "0", "-map", "1", "-map", "2", "-map", "3", "-c:v", "libx264", "-c:a", "aac"),
        *(
            "-metadata:s:a:0",
            "language=ger",
            "-metadata:s:a:1",
            "language=eng",
            "-metadata:s:a:2",
            "language=chi",
        ),
        *("-metadata:s:a:2", "title=Kommentar", "-disposition:a:0", "0", "-disposition:a:1", "default"),
        *("-disposition:a:2", "0", path),
    )
    tracks = probe(path).audio
    assert [(track.stream, track.language, track.default) for track in tracks] == [
        (0, "ger", False),
        (2, "eng", True),
        (3, "chi", False),
    ]
    assert tracks[2].title == "Kommentar"
    assert tracks == sound_tracks(path)
    assert _pitch(load_sound(path, settings, sr=SR).samples) == pytest.approx(900, abs=3)
    assert _pitch(load_sound(path, settings, sr=SR, stream=0).samples) == pytest.approx(400, abs=3)
    assert _pitch(load_sound(path, settings, sr=SR, stream=3).samples) == pytest.approx(1500, abs=3)
    with pytest.raises(MediaError, match=r"no sound track 1.*0 \(ger\), 2 \(eng\), 3 \(chi\)"):
        load_sound(path, settings, sr=SR, stream=1)


@pytest.mark.parametrize("container", ["mp4", "mkv", "ts"])
def test_late_sound_waits(
    container: str, tmp_path: Path, ffmpeg: Run, numbered_video: Make, settings: Settings
) -> None:
    """Sound that begins 0.48 s after the picture is preceded by silence; sound that begins first is not cut."""
    wave, picture = tmp_path / "clicks.wav", numbered_video("picture.mp4", 75, 25)
    _clicks(wave, [0.2, 1.7], 2.5)
    for sound_late, picture_late in ((0.48, 0.0), (0.0, 0.52)):
        path = tmp_path / f"late.{container}"
        ffmpeg(
            *("-itsoffset", str(picture_late), "-i", picture, "-itsoffset", str(sound_late), "-i", wave),
            *("-c:v", "copy", "-c:a", "aac", path),
        )
        info = probe(path)
        clicks = _click_times(load_sound(path, settings, sr=SR).samples, SR)
        distance = [click - info.start for click in clicks]
        expected = [sound_late - picture_late + time for time in (0.2, 1.7)]
        assert distance == pytest.approx(expected, abs=0.003)
        later = load_sound(path, settings, sr=SR, start=1.5)
        assert [time + 1.5 for time in _click_times(later.samples, SR)] == pytest.approx(clicks[1:], abs=1e-3)


def test_hole_in_the_sound_is_filled(tmp_path: Path, ffmpeg: Run, settings: Settings) -> None:
    """A recorder that drops packets: what comes after the hole is still in its place."""
    wave, path = tmp_path / "clicks.wav", tmp_path / "hole.mkv"
    times = [0.5, 3.5, 5.5]
    _clicks(wave, times, 6.0)
    ffmpeg("-i", wave, "-c:a", "aac", "-bsf:a", "noise=drop='between(n,70,110)'", path)
    samples = load_sound(path, settings, sr=SR).samples
    assert _click_times(samples, SR) == pytest.approx(times, abs=0.005)


def test_wave_files_are_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "声音 1.wav"
    tone = (0.5 * np.sin(np.arange(48000) / 20)).astype(np.float32)
    assert write_sound(path, [tone[:1000], tone[1000:]], 48000) == 48000
    read, sr = soundfile.read(path, dtype="float32")
    assert sr == 48000
    assert np.allclose(read, tone, atol=1e-4)
    save_audio(path, Audio(np.stack([tone, tone * 3], 1), 24000))
    read, sr = soundfile.read(path, dtype="float32")
    assert (sr, read.shape) == (24000, (48000, 2))
    assert read[:, 1].max() <= 1.0
    assert read[:, 1].min() >= -1.0

    def broken() -> object:
        yield tone
        raise RuntimeError("engine failed")

    before = path.read_bytes()
    with pytest.raises(RuntimeError):
        write_sound(path, broken(), 48000)  # type: ignore[arg-type]
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "front", [b"\0" * 5000, b"ID3\x03\x00\x00\x00\x00\x00\x0aTIT2?", b"<html>not found</html>\n"]
)
def test_an_mp3_with_rubbish_before_its_first_frame_is_read(
    front: bytes, tmp_path: Path, ffmpeg: Run, settings: Settings
) -> None:
    """Phones and web pages put all sorts of bytes there; other programs stop at "header missing"."""
    wave, whole, path = tmp_path / "clicks.wav", tmp_path / "a.mp3", tmp_path / "手机 录音.mp3"
    times = [0.5, 3.25, 7.75]
    _clicks(wave, times, 9.0)
    ffmpeg("-i", wave, "-c:a", "libmp3lame", "-q:a", "6", "-id3v2_version", "0", "-write_xing", "0", whole)
    path.write_bytes(front + whole.read_bytes())
    heard = _click_times(load_sound(path, settings, sr=SR).samples, SR)
    assert heard == pytest.approx(times, abs=0.06)  # without the Xing header nobody knows the encoder's delay


def test_an_mp3_cut_off_in_the_middle_is_as_long_as_what_is_there(
    tmp_path: Path, ffmpeg: Run, settings: Settings
) -> None:
    wave, whole, path = tmp_path / "clicks.wav", tmp_path / "a.mp3", tmp_path / "half.mp3"
    _clicks(wave, [0.5, 3.25, 7.75], 10.0)
    ffmpeg("-i", wave, "-c:a", "libmp3lame", "-b:a", "64k", whole)
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size * 6 // 10])
    sound = load_sound(path, settings, sr=SR)
    assert sound.duration == pytest.approx(6.0, abs=0.2)
    assert _click_times(sound.samples, SR) == pytest.approx([0.5, 3.25], abs=0.01)
