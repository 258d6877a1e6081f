"""What is made: playable everywhere, whole or not at all, sound and picture of one length, no process left."""

from __future__ import annotations

import gc
import os
import threading
import time
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import psutil
import pytest
import soundfile

from pipelines.errors import DiskFull, InputError, MediaError, Stopped
from pipelines.media import (
    ExtraSound,
    FrameWriter,
    SubtitleTrack,
    choose_encoder,
    load_sound,
    make_proxy,
    mux,
    plays_in_browser,
    probe,
    read_frames,
    read_sound,
)
from pipelines.media import proxy as proxy_flow
from pipelines.media.encoder import x264
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from tests.media.conftest import Make, Run, number_of, numbered
from tests.media.test_sound import SR, _click_times, _clicks

X264 = ("-c:v", "libx264", "-pix_fmt", "yuv420p", "-preset", "ultrafast", "-crf", "10")


def _children() -> list[str]:
    return [child.name() for child in psutil.Process().children(recursive=True) if "ffmpeg" in child.name()]


def _write(
    path: Path, count: int, fps: Fraction, settings: Settings, size: tuple[int, int] = (192, 112)
) -> Path:
    with FrameWriter(path, *size, fps, settings) as writer:
        for number in range(count):
            writer.write(numbered(number, *size))
    return path


@pytest.mark.parametrize("rate", ["24000/1001", "25", "30000/1001", "60", "12.5"])
def test_written_video_is_what_browsers_play(rate: str, tmp_path: Path, settings: Settings) -> None:
    path = _write(tmp_path / "结果 🎬.mp4", 60, Fraction(rate), settings)
    info = probe(path)
    assert (info.fps, info.frames, info.vfr, info.start) == (Fraction(rate), 60, False, 0.0)
    assert (info.codec, info.pixel_format, info.color) == ("h264", "yuv420p", "bt709")
    assert [number_of(frame) for frame in read_frames(info, settings)] == list(range(60))
    assert plays_in_browser(info)
    head = path.read_bytes()
    assert head.index(b"moov") < head.index(b"mdat")
    with av.open(str(path)) as container:
        frame = next(container.decode(video=0))
        assert (frame.colorspace, frame.color_primaries, frame.color_trc, frame.color_range) == (1, 1, 1, 1)


@pytest.mark.parametrize("size", [(255, 143), (192, 113), (193, 112)])
def test_odd_sizes_become_even_by_repeating_the_edge(
    size: tuple[int, int], tmp_path: Path, settings: Settings
) -> None:
    path = _write(tmp_path / "odd.mp4", 3, Fraction(25), settings, size)
    info = probe(path)
    assert (info.width, info.height) == (size[0] + size[0] % 2, size[1] + size[1] % 2)
    frame = next(read_frames(info, settings)).astype(int)
    expected = numbered(0, *size)[-1, -1].astype(int)
    assert np.abs(frame[-1, -1] - expected).max() <= 6  # the added column is the picture's own, not black
    assert np.abs(frame[size[1] // 2 + 4, -1] - expected).max() <= 6


def test_failed_writing_leaves_nothing(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "out.mp4"
    path.write_bytes(b"an earlier result")
    with pytest.raises(Stopped), FrameWriter(path, 192, 112, Fraction(25), settings) as writer:
        for number in range(30):
            writer.write(numbered(number))
        raise Stopped
    assert path.read_bytes() == b"an earlier result"
    with (
        pytest.raises(ValueError, match="expected uint8"),
        FrameWriter(path, 192, 112, Fraction(25), settings) as writer,
    ):
        writer.write(numbered(0, 200, 112))
    with pytest.raises(MediaError, match="no frame"), FrameWriter(path, 192, 112, Fraction(25), settings):
        pass
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["out.mp4"]
    assert _children() == []


def test_encoder_that_gives_up_says_why(tmp_path: Path, settings: Settings) -> None:
    wrong = x264(preset="impossible")
    with (
        pytest.raises(MediaError, match="impossible"),
        FrameWriter(tmp_path / "out.mp4", 192, 112, Fraction(25), settings, encoder=wrong) as writer,
    ):
        for number in range(2000):
            writer.write(numbered(number))
    assert list(tmp_path.glob("*.mp4*")) == []
    assert _children() == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_full_disk_is_called_so(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.media.writer.target", lambda part: "file:/dev/full")
    with (
        pytest.raises(DiskFull, match="no room"),
        FrameWriter(tmp_path / "out.mp4", 192, 112, Fraction(25), settings) as writer,
    ):
        for number in range(400):
            writer.write(numbered(number))
    assert _children() == []


def test_abandoned_readers_and_writers_leave_no_process(
    numbered_video: Make, tmp_path: Path, settings: Settings
) -> None:
    info = probe(numbered_video("clip.mp4", 200, 25, X264))
    frames = read_frames(info, settings)
    next(frames)
    assert len(_children()) == 1
    del frames
    gc.collect()
    assert _children() == []
    _clicks(tmp_path / "long.wav", [0.5], 120.0)
    sound = read_sound(tmp_path / "long.wav", settings, sr=SR, block_seconds=0.1)
    next(sound)
    sound.close()  # type: ignore[attr-defined]  # it is a generator
    assert _children() == []
    writer = FrameWriter(tmp_path / "left.mp4", 192, 112, Fraction(25), settings)
    writer.__enter__()
    writer.write(numbered(0))
    assert len(_children()) == 1
    del writer
    gc.collect()
    assert _children() == []
    assert list(tmp_path.glob("*left*")) == list(tmp_path.glob(".left*")) == []


def test_readers_are_bounded(numbered_video: Make, settings: Settings) -> None:
    """A reader nobody reads from decodes only what fits its pipe: it does not fill the memory."""
    info = probe(numbered_video("clip.mp4", 600, 25, X264))
    others = set(psutil.Process().children())  # a whole test run keeps a browser too
    frames = read_frames(info, settings)
    next(frames)
    (running,) = set(psutil.Process().children()) - others
    time.sleep(1.0)
    before = running.cpu_times().user
    time.sleep(0.5)
    assert running.cpu_times().user - before < 0.1
    frames.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("rate", ["24000/1001", "25", "30", "60000/1001"])
@pytest.mark.parametrize("seconds", [2.0, 3.7, 4.3])
def test_sound_and_picture_end_together(
    rate: str, seconds: float, tmp_path: Path, settings: Settings
) -> None:
    """Shorter sound is continued with silence, longer sound is cut: both end within one frame."""
    fps = Fraction(rate)
    video = _write(tmp_path / "video.mp4", round(3.7 * fps), fps, settings)
    sound, out = tmp_path / "sound.wav", tmp_path / "out.mp4"
    _clicks(sound, [0.25, 1.5], seconds)
    mux(video, sound, out, settings)
    info = probe(out)
    assert info.frames == round(3.7 * fps)
    assert [number_of(frame) for frame in read_frames(info, settings)] == list(range(info.frames))
    (track,) = info.audio
    assert abs(track.start + (track.duration or 0) - info.duration) <= float(1 / fps)
    assert track.codec == "aac"
    assert (track.sr, track.start) == (48000, 0.0)
    heard = load_sound(out, settings, sr=48000)
    assert abs(heard.duration - info.duration) <= float(1 / fps)
    assert _click_times(heard.samples, 48000) == pytest.approx([0.25, 1.5], abs=0.001)


@pytest.mark.parametrize("container", ["mp4", "mkv", "ts"])
def test_muxing_a_late_sound_keeps_it_late(
    container: str, tmp_path: Path, ffmpeg: Run, numbered_video: Make, settings: Settings
) -> None:
    """The source's own sound under new frames: a lip at 1.7 s still closes on the sound at 1.7 s."""
    wave = tmp_path / "clicks.wav"
    _clicks(wave, [0.2, 1.7], 2.4)
    source, out = tmp_path / f"source.{container}", tmp_path / "out.mp4"
    picture = numbered_video("picture.mp4", 75, 25, X264)
    ffmpeg("-i", picture, "-itsoffset", "0.48", "-i", wave, "-c:v", "copy", "-c:a", "aac", source)
    info = probe(source)
    with FrameWriter(tmp_path / "new.mp4", 192, 112, info.fps, settings) as writer:
        for frame in read_frames(info, settings):
            writer.write(frame)
    mux(
        tmp_path / "new.mp4", source, out, settings, extra_sounds=[ExtraSound(source, title="Original sound")]
    )
    made = probe(out)
    assert [number_of(frame) for frame in read_frames(made, settings)][5:] == list(range(5, 75))
    for track in made.audio:
        sound = load_sound(out, settings, sr=SR, stream=track.stream).samples
        assert _click_times(sound, SR) == pytest.approx([0.68, 2.18], abs=0.004), track


def test_original_sound_subtitles_and_tags(
    tmp_path: Path, ffmpeg: Run, numbered_video: Make, settings: Settings
) -> None:
    source, out = tmp_path / "source.mkv", tmp_path / "out.mp4"
    ffmpeg(
        *("-i", numbered_video("picture.mp4", 50, 25, X264), "-f", "lavfi", "-i", "sine=440:d=2:r=44100"),
        *("-c:v", "copy", "-c:a", "libvorbis", "-metadata:s:a:0", "language=rus", source),
    )
    dub = tmp_path / "dub.wav"
    soundfile.write(dub, np.zeros((96000, 2)), 48000)
    subtitles = tmp_path / "字幕.srt"
    subtitles.write_text("1\n00:00:00,500 --> 00:00:01,500\n你好, <world>\n", encoding="utf-8")
    mux(
        source,
        dub,
        out,
        settings,
        language="en",
        extra_sounds=[ExtraSound(source, title="Original (русский)")],
        subtitles=[SubtitleTrack(subtitles, "zh", "中文")],
    )
    first, second = probe(out).audio
    assert (first.language, first.default, first.codec, first.channels) == ("eng", True, "aac", 2)
    assert (second.language, second.default, second.codec) == ("rus", False, "aac")
    assert second.title == "Original (русский)"
    with av.open(str(out)) as container:
        assert container.metadata["comment"] == "AI-dubbed by Dubwright"
        (stream,) = container.streams.subtitles
        assert (stream.codec_context.name, stream.language) == ("mov_text", "zho")
        cues = [bytes(packet)[2:].decode() for packet in container.demux(stream) if packet.size > 2]
        assert any("你好" in cue for cue in cues)
    head = out.read_bytes()
    assert head.index(b"moov") < head.index(b"mdat")


class _StopAfter(NullReport):
    """Presses Stop at the first sign of progress."""

    def __init__(self) -> None:
        self.steps: list[tuple[float, float | None]] = []

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        self.steps.append((done, total))
        if len(self.steps) > 2:
            raise Stopped


def test_stop_kills_ffmpeg_and_leaves_no_file(tmp_path: Path, ffmpeg: Run, settings: Settings) -> None:
    path, out = tmp_path / "long.mkv", tmp_path / "proxy.mp4"
    ffmpeg(
        "-f", "lavfi", "-i", "testsrc2=s=640x360:r=30:d=60", "-c:v", "libx264", "-preset", "ultrafast", path
    )
    report = _StopAfter()
    with pytest.raises(Stopped):
        make_proxy(path, out, settings, report)
    assert report.steps[0] == (0.0, 60.0)
    assert _children() == []
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["long.mkv"]


def test_proxy_plays_on_the_same_clock(tmp_path: Path, ffmpeg: Run, settings: Settings) -> None:
    """MPEG-4 part 2 in mkv with late sound becomes H.264/AAC; a click stands where it stood."""
    wave, path, out = tmp_path / "clicks.wav", tmp_path / "source.mkv", tmp_path / "proxy.mp4"
    _clicks(wave, [0.3, 1.1], 2.0)
    ffmpeg(
        *("-f", "lavfi", "-i", "testsrc2=s=1600x900:r=15:d=2", "-itsoffset", "0.4", "-i", wave),
        *("-c:v", "mpeg4", "-q:v", "4", "-c:a", "pcm_s16le", path),
    )
    assert not plays_in_browser(probe(path))
    make_proxy(path, out, settings, NullReport())
    info = probe(out)
    assert plays_in_browser(info)
    assert (info.width, info.height, info.frames, info.fps) == (1280, 720, 30, 15)
    assert _click_times(load_sound(out, settings, sr=SR).samples, SR) == pytest.approx([0.7, 1.5], abs=0.003)


def test_proxy_of_a_sound_file(tmp_path: Path, ffmpeg: Run, settings: Settings) -> None:
    path, out = tmp_path / "memo.wma", tmp_path / "proxy.mp4"
    ffmpeg("-f", "lavfi", "-i", "sine=d=2", "-c:a", "wmav2", path)
    make_proxy(path, out, settings, NullReport())
    assert load_sound(out, settings, sr=SR).duration == pytest.approx(2.0, abs=0.15)


def test_proxy_flow_makes_it_once(tmp_path: Path, numbered_video: Make, settings: Settings) -> None:
    context = EngineContext(settings, policy=None)  # type: ignore[arg-type]  # the flow needs no policy
    path = numbered_video("old.avi", 20, 25, ("-c:v", "mpeg4"))
    first = proxy_flow.run(tmp_path, {"path": str(path)}, context, NullReport())
    again = proxy_flow.run(tmp_path, {"path": str(path)}, context, NullReport())
    assert first["made"] is True
    assert again == {"proxy": first["proxy"], "made": False}
    assert probe(Path(first["proxy"])).frames == 20
    assert Path(first["proxy"]).is_relative_to(settings.cache)
    with pytest.raises(InputError):
        proxy_flow.run(tmp_path, {}, context, NullReport())


def test_two_jobs_write_the_same_name_at_once(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "same.mp4"
    threads = [threading.Thread(target=_write, args=(path, 40, Fraction(25), settings)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    info = probe(path)
    assert [number_of(frame) for frame in read_frames(info, settings)] == list(range(40))
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["same.mp4"]


def _fake_ffmpeg(folder: Path, settings: Settings, works: str) -> Settings:
    """The real ffmpeg behind a script in which one hardware encoder 'works' (by way of x264)."""
    from pipelines.media import ffmpeg_path

    script = folder / "ffmpeg"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *"-c:v {works} "*) exit 0;; *) exec "{ffmpeg_path(settings)}" "$@";; esac\n'
    )
    script.chmod(0o755)
    return Settings.load({"DUBWRIGHT_HOME": str(folder), "DUBWRIGHT_FFMPEG": str(script)})


def test_hardware_encoder_only_when_a_trial_works(tmp_path: Path, settings: Settings) -> None:
    assert choose_encoder(settings).arguments == (
        *("-c:v", "libx264", "-preset", "veryfast"),
        *("-crf", "17", "-profile:v", "high"),
    )
    if not any(Path(device).exists() for device in ("/dev/nvidia0", "/dev/dri", "/dev/kfd")):
        assert (
            choose_encoder(settings, hardware=True).name == "libx264"
        )  # all trials fail on a machine without
    pretended = _fake_ffmpeg(tmp_path, settings, "h264_amf")
    assert choose_encoder(pretended, hardware=True).name in ("h264_nvenc", "h264_amf")
    assert choose_encoder(pretended).name == "libx264"


def test_still_picture_to_video(tmp_path: Path, settings: Settings) -> None:
    """A still is one frame; a flow repeats it for as long as the sound lasts."""
    from PIL import Image

    path = tmp_path / "portrait.png"
    Image.fromarray(numbered(5)[:, :, ::-1].copy()).save(path)
    info = probe(path)
    (frame,) = read_frames(info, settings)
    with FrameWriter(tmp_path / "talk.mp4", info.width, info.height, info.fps, settings) as writer:
        for _ in range(30):
            writer.write(frame)
    made = probe(tmp_path / "talk.mp4")
    assert (made.frames, made.fps) == (30, 25)
    assert {number_of(shown) for shown in read_frames(made, settings)} == {5}


@pytest.mark.slow
def test_memory_does_not_grow_with_length(tmp_path: Path, ffmpeg: Run, settings: Settings) -> None:
    """Reading and writing a minute takes no more memory than four seconds (a frame is 0.7 MB, a minute 1 GB)."""
    process = psutil.Process(os.getpid())
    peaks = []
    for seconds in (4, 60):
        path = tmp_path / f"{seconds}.mp4"
        ffmpeg(
            *("-f", "lavfi", "-i", f"testsrc2=s=640x360:r=25:d={seconds}"),
            *("-c:v", "libx264", "-preset", "ultrafast", path),
        )
        info = probe(path)
        peak = 0
        with FrameWriter(tmp_path / "copy.mp4", 640, 360, info.fps, settings, preset="ultrafast") as writer:
            for number, frame in enumerate(read_frames(info, settings)):
                writer.write(frame)
                if number % 50 == 0:
                    peak = max(peak, process.memory_info().rss)
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 30 * 2**20
