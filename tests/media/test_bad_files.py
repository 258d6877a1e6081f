"""Files that are not what they seem: one plain sentence that names the file, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.errors import MediaError, MissingError, NoSoundTrack
from pipelines.media import (
    ffmpeg_path,
    ffmpeg_version,
    load_sound,
    probe,
    read_frames,
    read_sound,
    sound_tracks,
)
from pipelines.settings import Settings
from tests.media.conftest import Make, Run, number_of

X264 = ("-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "10")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.mp4", b"", "empty"),
        ("letter.mp4", b"Dear Sir or Madam,\nthis is a letter.\n" * 40, "not a video or sound file"),
        ("cut.mp4", b"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00isomiso2avc1mp41" + bytes(5000), "incomplete"),
        ("noise.mkv", bytes(range(256)) * 30, "not a video or sound file"),
    ],
)
def test_not_media(name: str, content: bytes, says: str, tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    for look in (probe, sound_tracks, lambda file: next(read_sound(file, settings, sr=16000))):
        with pytest.raises(MediaError, match=says) as caught:
            look(path)
        assert name in caught.value.sentence("en")
        assert name in caught.value.sentence("zh")
        assert caught.value.todo.en and caught.value.todo.zh


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="no such file"):
        probe(tmp_path / "nothing.mp4")
    with pytest.raises(MediaError, match="folder"):
        probe(tmp_path)


def test_moov_cut_off(numbered_video: Make, tmp_path: Path) -> None:
    """A phone whose battery died: the data is there, the index at the end is not."""
    whole = numbered_video("whole.mp4", 60, 30, X264)
    path = tmp_path / "died.mp4"
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with pytest.raises(MediaError, match="incomplete"):
        probe(path)


@pytest.mark.parametrize("container", ["mkv", "ts", "faststart.mp4"])
def test_cut_off_file_is_read_to_where_it_ends(
    container: str, numbered_video: Make, tmp_path: Path, settings: Settings
) -> None:
    extra = ("-movflags", "+faststart") if container.endswith("mp4") else ()
    whole = numbered_video(f"whole.{container}", 90, 30, (*X264, "-g", "10", *extra))
    path = tmp_path / f"cut.{container}"
    path.write_bytes(whole.read_bytes()[: int(whole.stat().st_size * 0.6)])
    info = probe(path)
    shown = [number_of(frame) for frame in read_frames(info, settings)]
    assert len(shown) == info.frames
    assert 20 <= info.frames < 80
    assert shown[:20] == list(range(20))


def test_damaged_in_the_middle_stays_in_step(
    numbered_video: Make, tmp_path: Path, settings: Settings
) -> None:
    whole = numbered_video("whole.mkv", 120, 30, (*X264, "-g", "10"))
    data = bytearray(whole.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 400] = bytes(400)
    path = tmp_path / "scratched.mkv"
    path.write_bytes(data)
    info = probe(path)
    shown = [number_of(frame) for frame in read_frames(info, settings)]
    assert len(shown) == info.frames
    assert shown[100:118] == list(range(100, 118))


def test_picture_that_stops_decoding_is_refused(
    numbered_video: Make, tmp_path: Path, settings: Settings
) -> None:
    """The packets are all there but the second half is garbage: said, not shown as a frozen picture."""
    whole = numbered_video("whole.mov", 120, 30, ("-c:v", "prores_ks", "-pix_fmt", "yuv422p10le"))
    data = bytearray(whole.read_bytes())
    start = data.index(b"mdat") + 4
    half = start + (data.rindex(b"moov") - start) // 2
    data[half : data.rindex(b"moov") - 4] = bytes(data.rindex(b"moov") - 4 - half)
    path = tmp_path / "garbage.mov"
    path.write_bytes(data)
    info = probe(path)
    assert info.frames == 120
    with pytest.raises(MediaError, match=r"up to (1\.[5-9]|2\.[0-3]) s of 4.0 s"):
        for _ in read_frames(info, settings):
            pass


def test_unknown_codec_is_named_as_the_trouble(numbered_video: Make, tmp_path: Path) -> None:
    """A protected or exotic picture: the container is fine, nothing can decode what is in it."""
    path = tmp_path / "protected.mp4"
    path.write_bytes(numbered_video("plain.mp4", 10, 25, X264).read_bytes().replace(b"avc1", b"xqz1"))
    with pytest.raises(MediaError, match=r"cannot be decoded.*protected\.mp4, stream 0"):
        probe(path)


def test_no_sound_track(numbered_video: Make, settings: Settings) -> None:
    path = numbered_video("silent.mp4", 10, 25, X264)
    assert probe(path).audio == ()
    with pytest.raises(NoSoundTrack, match=r"silent\.mp4"):
        load_sound(path, settings, sr=16000)


def test_sound_without_picture(tmp_path: Path, ffmpeg: Run) -> None:
    path = tmp_path / "song.mp3"
    ffmpeg("-f", "lavfi", "-i", "sine=d=1", "-c:a", "libmp3lame", path)
    with pytest.raises(MediaError, match="no picture"):
        probe(path)
    assert [track.codec for track in sound_tracks(path)] == ["mp3float"]


def test_ffmpeg_setting(settings: Settings, tmp_path: Path) -> None:
    assert ffmpeg_version(settings).startswith("ffmpeg version")
    wrong = Settings.load({"DUBWRIGHT_HOME": str(tmp_path), "DUBWRIGHT_FFMPEG": str(tmp_path / "none")})
    with pytest.raises(MissingError, match="DUBWRIGHT_FFMPEG"):
        ffmpeg_path(wrong)
    broken = tmp_path / "ffmpeg"
    broken.write_text("not a program")
    broken.chmod(0o755)
    with pytest.raises(MissingError, match="does not run"):
        ffmpeg_version(Settings.load({"DUBWRIGHT_HOME": str(tmp_path), "DUBWRIGHT_FFMPEG": str(broken)}))
