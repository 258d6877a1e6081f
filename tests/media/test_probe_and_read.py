"""Every source frame counts: what probe says is what the reader delivers, for the files people really have."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from pipelines.media import frame_at, probe, read_frames
from pipelines.settings import Settings
from tests.media.conftest import Make, Run, number_of, numbered

X264 = ("-c:v", "libx264", "-pix_fmt", "yuv420p", "-preset", "ultrafast", "-crf", "10", "-g", "20")
X264_B = (
    "-c:v",
    "libx264",
    "-pix_fmt",
    "yuv420p",
    "-preset",
    "veryfast",
    "-crf",
    "10",
    "-g",
    "20",
    "-bf",
    "3",
)
FILES = {
    "b-frames.mp4": X264_B,
    "b-frames.mkv": X264_B,
    "stream.ts": X264_B,
    "old.avi": ("-c:v", "mpeg4", "-q:v", "3", "-g", "20"),
    "hevc.mov": ("-c:v", "libx265", "-pix_fmt", "yuv420p", "-x265-params", "log-level=none:keyint=20", "-tag:v", "hvc1"),
    "vp8.webm": ("-c:v", "libvpx", "-pix_fmt", "yuv420p", "-auto-alt-ref", "1", "-lag-in-frames", "16", "-b:v", "1M"),
    "vp9.webm": ("-c:v", "libvpx-vp9", "-pix_fmt", "yuv420p", "-deadline", "realtime", "-b:v", "1M"),
    "av1.mp4": ("-c:v", "libsvtav1", "-preset", "12", "-pix_fmt", "yuv420p"),
    "intra.mov": ("-c:v", "mjpeg", "-q:v", "2", "-pix_fmt", "yuvj420p"),
    "movie.wmv": ("-c:v", "wmv2", "-q:v", "2"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_every_frame_once_in_every_container(name: str, numbered_video: Make, settings: Settings) -> None:
    info = probe(numbered_video(name, 70, 30, FILES[name]))
    assert (info.fps, info.frames, info.vfr) == (30, 70, False)
    assert (info.width, info.height) == (192, 112)
    assert [number_of(frame) for frame in read_frames(info, settings)] == list(range(70))


@pytest.mark.parametrize("name", FILES)
def test_any_frame_can_be_the_first(name: str, numbered_video: Make, settings: Settings) -> None:
    info = probe(numbered_video(name, 150, 30, FILES[name]))
    for start in (0, 1, 59, 60, 61, 97, 148, 149):
        shown = [number_of(frame) for frame in read_frames(info, settings, start=start, count=3)]
        assert shown == list(range(start, min(start + 3, 150))), start


@pytest.mark.parametrize(
    "rate", ["24000/1001", "24", "25", "30000/1001", "30", "50", "60000/1001", "12.5", "240"]
)
@pytest.mark.parametrize("container", ["mp4", "webm"])
def test_rates_are_exact_fractions(
    rate: str, container: str, numbered_video: Make, settings: Settings
) -> None:
    codec = (
        X264
        if container == "mp4"
        else ("-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-pix_fmt", "yuv420p")
    )
    info = probe(numbered_video(f"clip.{container}", 100, Fraction(rate), codec))
    assert (info.fps, info.vfr, info.frames) == (Fraction(rate), False, 100)
    assert info.duration == pytest.approx(float(100 / Fraction(rate)), abs=1e-9)
    assert [number_of(frame) for frame in read_frames(info, settings)] == list(range(100))


def test_browser_recording_with_nonsense_header(numbered_video: Make, settings: Settings) -> None:
    """A live webm has no duration, no frame rate and millisecond times: OpenCV reads 1000 fps, −9e15 frames."""
    path = numbered_video(
        "browser.webm",
        90,
        30,
        ("-c:v", "libvpx", "-deadline", "realtime", "-pix_fmt", "yuv420p", "-fps_mode", "passthrough", "-enc_time_base", "1/1000",
         "-live", "1", "-f", "webm"),
    )  # fmt: skip
    info = probe(path)
    with av.open(str(path)) as container:  # the trap is there: no length in the header
        assert (container.duration, container.streams.video[0].frames) == (None, 0)
    assert (info.fps, info.frames, info.vfr) == (30, 90, False)
    assert [number_of(frame) for frame in read_frames(info, settings)] == list(range(90))


def test_avi_with_b_frames_begins_one_frame_late(numbered_video: Make, settings: Settings) -> None:
    """AVI stores no presentation times: with B-frames the picture comes a frame after the sound, as players show it."""
    codec = ("-c:v", "mpeg4", "-q:v", "3", "-bf", "2", "-g", "20")
    info = probe(numbered_video("old.avi", 70, 30, codec))
    assert (info.frames, info.vfr) == (71, False)
    assert [number_of(frame) for frame in read_frames(info, settings)] == [0, *range(70)]


def _vfr(numbered_video: Make, name: str, times: str, count: int) -> Path:
    codec = X264 if name.endswith((".mp4", ".mkv")) else ("-c:v", "libvpx", "-pix_fmt", "yuv420p")
    filters = (
        "-vf",
        f"settb=1/90000,setpts='{times}'",
        "-fps_mode",
        "passthrough",
        "-enc_time_base",
        "1/90000",
    )
    return numbered_video(name, count, 30, (*codec, *filters))


@pytest.mark.parametrize("name", ["phone.mp4", "phone.mkv"])
def test_variable_rate_follows_the_clock(name: str, numbered_video: Make, settings: Settings) -> None:
    """30 fps for 2 s, then 10 fps for 2 s: the picture at t is the one that was shown at t, to half a frame."""
    times = "if(lt(N,60),N*3000,180000+(N-60)*9000)"
    info = probe(_vfr(numbered_video, name, times, 80))
    assert info.vfr
    assert info.fps == 30
    shown = [number_of(frame) for frame in read_frames(info, settings)]
    assert len(shown) == info.frames
    assert info.duration == pytest.approx(4.0, abs=0.07)
    assert shown[:60] == list(range(60))
    for second in np.arange(2.0, 3.9, 0.05):
        assert abs(shown[round(second * 30)] - (60 + (second - 2) * 10)) <= 1.0


def test_variable_rate_read_from_the_middle(numbered_video: Make, settings: Settings) -> None:
    """A still of three seconds in a screen recording: reading may begin inside it."""
    info = probe(_vfr(numbered_video, "screen.mp4", "if(lt(N,40),N*3000,(N-40)*3000+390000)", 80))
    assert info.vfr
    whole = [number_of(frame) for frame in read_frames(info, settings)]
    assert whole[60] == 39
    assert len(whole) == info.frames
    for start in (20, 41, 90, 128, 131, info.frames - 2):
        part = [number_of(frame) for frame in read_frames(info, settings, start=start, count=6)]
        assert part == whole[start : start + 6], start


def test_one_lost_frame_moves_nothing_after_it(numbered_video: Make, settings: Settings) -> None:
    info = probe(_vfr(numbered_video, "drop.mp4", "if(lt(N,50),N,N+1)*3000", 100))
    shown = [number_of(frame) for frame in read_frames(info, settings)]
    assert (info.fps, info.frames) == (30, 101)
    assert shown == [*range(50), 49, *range(50, 100)]


def test_last_frame_held_long(numbered_video: Make, settings: Settings) -> None:
    """A slide that stays for 3 s as the last frame of an mp4 counts with its time."""
    path = numbered_video(
        "slides.mp4", 11, 1, (*X264, "-vf", "setpts='if(lt(N,10),N,12)/TB'", "-fps_mode", "passthrough")
    )
    info = probe(path)
    shown = [number_of(frame) for frame in read_frames(info, settings)]
    assert len(shown) == info.frames
    assert shown[-1] == 10
    assert shown[round(11.4 * info.fps)] == 9


@pytest.mark.parametrize(
    ("turn", "size"), [(0, (192, 112)), (90, (112, 192)), (180, (192, 112)), (270, (112, 192))]
)
def test_rotation_metadata_is_applied_once(
    turn: int, size: tuple[int, int], numbered_video: Make, ffmpeg: Run, settings: Settings, tmp_path: Path
) -> None:
    """A phone stores a sideways picture and an angle; the reader hands out what the phone shows."""
    stored = numbered_video("stored.mp4", 10, 25, X264)
    path = tmp_path / "phone.mp4"
    ffmpeg("-display_rotation", str(-turn), "-i", stored, "-c", "copy", path)
    info = probe(path)
    assert (info.width, info.height) == size
    assert info.rotation == turn
    frames = list(read_frames(info, settings))
    assert len(frames) == info.frames == 10
    assert frames[7].shape == (size[1], size[0], 3)
    assert number_of(np.ascontiguousarray(np.rot90(frames[7], turn // 90))) == 7


def test_non_square_pixels_are_stretched(numbered_video: Make, settings: Settings) -> None:
    wide = probe(numbered_video("pal.mp4", 5, 25, (*X264, "-vf", "setsar=64/45")))
    assert (wide.width, wide.height) == (2 * round(192 * 64 / 45 / 2), 112)
    tall = probe(numbered_video("tall.mp4", 5, 25, (*X264, "-vf", "setsar=1/2")))
    assert (tall.width, tall.height) == (192, 224)
    assert next(read_frames(wide, settings)).shape == (112, wide.width, 3)
    assert next(read_frames(tall, settings)).shape == (224, 192, 3)


def test_odd_sizes_are_read_as_they_are(numbered_video: Make, settings: Settings) -> None:
    info = probe(numbered_video("odd.mkv", 5, 25, ("-c:v", "ffv1", "-pix_fmt", "bgr0"), size=(255, 143)))
    assert (info.width, info.height) == (255, 143)
    frame = next(read_frames(info, settings))
    assert frame.shape == (143, 255, 3)
    assert np.array_equal(frame, numbered(0, 255, 143))


@pytest.mark.parametrize(("video", "audio"), [("0.0", "0.48"), ("0.48", "0.0"), ("0.013", "0.0")])
@pytest.mark.parametrize("container", ["mp4", "mkv", "ts"])
def test_late_streams_keep_their_place(
    video: str,
    audio: str,
    container: str,
    numbered_video: Make,
    ffmpeg: Run,
    settings: Settings,
    tmp_path: Path,
) -> None:
    """The clock starts with the earliest stream: a late picture is preceded by its first frame, a late sound waits."""
    picture = numbered_video("picture.mp4", 50, 25, X264)
    path = tmp_path / f"late.{container}"
    ffmpeg(
        *("-itsoffset", video, "-i", picture, "-itsoffset", audio, "-f", "lavfi", "-i", "sine=d=2"),
        *("-map", "0:v", "-map", "1:a", "-c:v", "copy", "-c:a", "aac", path),
    )
    info = probe(path)
    assert info.start == pytest.approx(float(video) - min(float(video), float(audio)), abs=0.03)
    assert info.audio[0].start == pytest.approx(float(audio) - min(float(video), float(audio)), abs=0.03)
    shown = [number_of(frame) for frame in read_frames(info, settings)]
    lead = len(shown) - 50
    assert abs(lead / 25 - info.start) <= 0.5 / 25 + 1e-3
    assert shown == [0] * lead + list(range(50))
    assert [number_of(frame) for frame in read_frames(info, settings, start=30, count=2)] == [
        30 - lead,
        31 - lead,
    ]


def test_frame_at_a_time(numbered_video: Make, settings: Settings) -> None:
    info = probe(numbered_video("clip.mp4", 100, Fraction(30000, 1001), X264_B))
    for second in (0.0, 0.51, 1.7, 3.3, 99.0, -1.0):
        expected = min(max(int(second * 30000 / 1001), 0), 99)
        assert number_of(frame_at(info, second, settings)) == expected


def test_edited_mp4_shows_only_what_the_edit_list_says(
    numbered_video: Make, ffmpeg: Run, settings: Settings, tmp_path: Path
) -> None:
    """Cut without re-encoding: the packets before the cut are in the file, but a player does not show them."""
    whole = numbered_video("whole.mp4", 100, 25, X264)
    path = tmp_path / "cut.mp4"
    ffmpeg("-ss", "1.2", "-i", whole, "-c", "copy", path)
    info = probe(path)
    shown = [number_of(frame) for frame in read_frames(info, settings)]
    assert len(shown) == info.frames
    assert shown == list(range(30, 100))


def test_interlaced_fields_are_joined(numbered_video: Make, settings: Settings) -> None:
    path = numbered_video("camcorder.mp4", 40, 25, (*X264, "-flags", "+ilme+ildct", "-vf", "setfield=tff"))
    info = probe(path)
    assert info.interlaced
    assert [number_of(frame) for frame in read_frames(info, settings)] == list(range(40))


def test_animated_gif_is_a_video(numbered_video: Make, settings: Settings) -> None:
    info = probe(numbered_video("moving.gif", 20, 10, ("-pix_fmt", "rgb8")))
    assert not info.still
    assert (info.fps, info.frames) == (10, 20)
    assert [number_of(frame) for frame in read_frames(info, settings)] == list(range(20))


def test_paths_with_spaces_chinese_emoji_and_signs(
    numbered_video: Make, settings: Settings, tmp_path: Path
) -> None:
    plain = numbered_video("plain.mp4", 5, 25, X264)
    for name in ("my clip.mp4", "视频 测试 🎬.mp4", "a:b 'c' \"d\" [e] 50%d.mp4", "-start.mp4"):
        folder = tmp_path / "新 文件夹 🙂"
        folder.mkdir(exist_ok=True)
        path = folder / name
        path.write_bytes(plain.read_bytes())
        assert [number_of(frame) for frame in read_frames(probe(path), settings)] == [0, 1, 2, 3, 4]


def test_probe_sees_a_changed_file(numbered_video: Make) -> None:
    path = numbered_video("clip.mp4", 5, 25, X264)
    assert probe(path).frames == 5
    numbered_video("clip.mp4", 9, 25, X264)
    assert probe(path).frames == 9


@pytest.mark.parametrize(
    ("name", "codec", "size", "fps", "frames"),
    [
        ("talk_outdoor_10s.mp4", "hevc", (1080, 1920), 25, 250),
        ("talk_room_20s.mp4", "hevc", (1080, 1920), 30, 600),
        ("talk_512_8s.mp4", "mpeg4", (512, 512), 25, 200),
        ("face_512_silent_3s.mp4", "h264", (512, 512), 25, 78),
    ],
)
def test_real_recordings(
    name: str, codec: str, size: tuple[int, int], fps: int, frames: int, data: Path, settings: Settings
) -> None:
    info = probe(data / "video" / name)
    assert (info.codec, info.width, info.height, info.fps, info.frames) == (codec, *size, fps, frames)
    assert not info.vfr
    first = list(read_frames(info, settings, start=20, count=12))
    assert len(first) == 12
    assert np.array_equal(next(read_frames(info, settings, start=30)), first[10])
    assert len(list(read_frames(info, settings, start=frames - 2))) == 2
