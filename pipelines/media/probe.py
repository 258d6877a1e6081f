"""What a media file is, read by going through all its packets: sizes, rates, tracks, offsets, colours.

Headers lie (browser recordings say 1000 frames a second, phones say 30 and mean 29.4), so frames are counted from the
packets themselves. That is trusted only when the decoder agrees with the packets on the first frames; where it does
not (packed B-frames, hidden frames, packets without times) every frame is decoded and counted, which is slower.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import ffmpeg
import numpy as np
from av.stream import Disposition

from pipelines.errors import MediaError, Message
from pipelines.media.ffmpeg import target
from pipelines.media.still import is_still, probe_still
from pipelines.media.timeline import Times, timeline
from pipelines.types import AudioTrack, ColorSpace, VideoInfo

HEAD_FRAMES = 30
SAME_TIME = 2e-3  # seconds: the coarsest container clock is 1 ms
PQ, HLG = 16, 18  # ITU-T H.273 transfer characteristics
BT2020_MATRICES = frozenset({9, 10})
MATRIX_NAMES: dict[int, ColorSpace] = {1: "bt709", 5: "bt470bg", 6: "smpte170m"}
HD_WIDTH, HD_HEIGHT = 1280, 720  # players read untagged pictures of this size as bt709
PICTURES_BESIDE = Disposition.attached_pic | Disposition.timed_thumbnails


@dataclass(frozen=True, slots=True)
class StreamScan:
    """One stream as its packets show it: times in seconds on the file's clock."""

    times: Times
    end: float
    last_duration: float | None


def probe(path: Path) -> VideoInfo:
    """Look at a video or a still picture; remembered until the file changes.

    Raises:
        MediaError: missing, empty, not a media file, cut off, protected, or without a picture.
    """
    return _probe(*_identity(path))


def sound_tracks(path: Path) -> tuple[AudioTrack, ...]:
    """The sound tracks of any media file in file order, empty when there are none; remembered until it changes.

    Raises:
        MediaError: the file cannot be read as a media file.
    """
    return _sound_tracks(*_identity(path))


def clock_input(path: Path, **options: Any) -> Any:
    """An ffmpeg-python input whose time stamps are seconds on the file's clock, whatever they are in the file."""
    return ffmpeg.input(target(path), itsoffset=f"{-_file_zero(*_identity(path)):.6f}", **options)


@functools.lru_cache(maxsize=64)
def _file_zero(path: Path, _size: int, _changed: int) -> float:
    with _open(path) as container:
        return _zero(container)


def _identity(path: Path) -> tuple[Path, int, int]:
    """The path with size and change time, which tell one content from the next."""
    try:
        facts = path.stat()
    except OSError as error:
        raise MediaError(
            Message("There is no such file", "找不到该文件"),
            Message("Check the name, or choose the file again.", "请检查文件名或重新选择文件。"),
            str(path),
        ) from error
    if path.is_dir():
        raise MediaError(
            Message("This is a folder, not a file", "这是文件夹,不是文件"),
            Message("Choose a file inside it.", "请选择其中的文件。"),
            str(path),
        )
    if facts.st_size == 0:
        raise MediaError(
            Message("The file is empty (0 bytes)", "文件为空(0 字节)"),
            Message(
                "Copy or download it again; the transfer was probably cut off.",
                "请重新复制或下载,传输可能中断了。",
            ),
            str(path),
        )
    return path, facts.st_size, facts.st_mtime_ns


@functools.lru_cache(maxsize=64)
def _probe(path: Path, _size: int, _changed: int) -> VideoInfo:
    if is_still(path):
        return probe_still(path)
    with _open(path) as container:
        video = _video_stream(container, path)
        head = _decode_head(container, video, path)
    with _open(path) as container:
        scans = _scan(container)
        start = _zero(container)
        video = _video_stream(container, path)
        scan = scans.get(video.index)
        if scan is None or not _trusted(scan.times, _frame_times(head, start)):
            scan = _scan_by_decoding(path, scan)
        return _info(path, container, video, head[0], scan, scans)


@functools.lru_cache(maxsize=64)
def _sound_tracks(path: Path, _size: int, _changed: int) -> tuple[AudioTrack, ...]:
    if is_still(path):
        return ()
    with _open(path) as container:
        return _audio(container, _scan(container))


def _open(path: Path) -> Any:
    """The file opened for demuxing (an ``av`` input container).

    Raises:
        MediaError: it is no media file, or its index is missing.
    """
    try:
        return av.open(str(path.absolute()), metadata_errors="replace")
    except av.error.FFmpegError as error:
        raise _unreadable(path) from error


def _unreadable(path: Path) -> MediaError:
    with path.open("rb") as file:
        head = file.read(16)
    if head[4:8] == b"ftyp":
        return MediaError(
            Message(
                "The file is incomplete: its index (moov) is missing or damaged",
                "文件不完整:索引(moov)缺失或损坏",
            ),
            Message(
                "The recording or copy was cut off; copy it again or repair it with the recorder's own tool.",
                "录制或复制被中断,请重新复制,或用录制软件修复。",
            ),
            str(path),
        )
    return MediaError(
        Message("This is not a video or sound file that can be read", "无法识别为视频或音频文件"),
        Message(
            "Use an mp4, mov, mkv, webm, avi, wav, mp3, m4a or flac file.",
            "请使用 mp4、mov、mkv、webm、avi、wav、mp3、m4a 或 flac 文件。",
        ),
        str(path),
    )


def _video_stream(container: Any, path: Path) -> Any:
    """The picture to work on: the default one, else the first; covers and thumbnails do not count."""
    streams = [stream for stream in container.streams.video if not stream.disposition & PICTURES_BESIDE]
    if not streams:
        raise MediaError(
            Message("This file has no picture, only sound", "该文件没有画面,只有声音"),
            Message("Choose a video or a photo.", "请选择视频或照片。"),
            str(path),
        )
    return streams[0]


def _decode_head(container: Any, video: Any, path: Path) -> list[Any]:
    """The first frames, decoded.

    Raises:
        MediaError: not one frame can be decoded; names the codec.
    """
    codec = video.codec_context.name if video.codec_context else "unknown"
    frames: list[Any] = []
    try:
        for frame in itertools.islice(container.decode(video), HEAD_FRAMES):
            frames.append(frame)
    except av.error.FFmpegError:
        pass  # damage after the first good frames is the reader's business
    if frames:
        return frames
    raise MediaError(
        Message(f"The picture ({codec}) cannot be decoded", f"无法解码画面({codec})"),
        Message(
            "The file is damaged or protected; play it in another program and export it as mp4.",
            "文件已损坏或受保护,请在其他软件中打开并导出为 mp4。",
        ),
        f"{path}, stream {video.index}",
    )


def _zero(container: Any) -> float:
    """Where the file's clock starts, in its own time stamps: with the earliest stream."""
    return float(container.start_time or 0) / av.time_base


def _scan(container: Any) -> dict[int, StreamScan]:
    """Go through all packets once, without decoding: the times of every video and audio stream."""
    zero = _zero(container)
    streams = [*container.streams.video, *container.streams.audio]
    ticks: dict[int, list[int]] = {stream.index: [] for stream in streams}
    last: dict[int, tuple[int, int]] = {}
    if streams:
        for packet in _packets(container, streams):
            tick = packet.pts if packet.pts is not None else packet.dts
            if tick is None or packet.is_discard or _hidden(packet):
                continue
            ticks[packet.stream_index].append(tick)
            if tick >= last.get(packet.stream_index, (tick, 0))[0]:
                last[packet.stream_index] = (tick, packet.duration or 0)
    bases = {stream.index: float(stream.time_base) for stream in streams}
    scans = {}
    for index, values in ticks.items():
        if values:
            times = np.sort(np.asarray(values, np.int64)) * bases[index] - zero
            length = last[index][1] * bases[index]
            scans[index] = StreamScan(times, float(times[-1]) + length, length or None)
    return scans


def _packets(container: Any, streams: list[Any]) -> Iterator[Any]:
    """All packets up to the first place that cannot be read: a cut-off file ends there."""
    try:
        yield from container.demux(streams)
    except av.error.FFmpegError:
        return


def _hidden(packet: Any) -> bool:
    """VP8 packets may hold a reference picture that is never shown (RFC 6386 §9.1, bit show_frame)."""
    return (
        packet.stream.codec_context.name in ("vp8", "libvpx")
        and packet.size > 0
        and not bytes(packet)[0] & 0x10
    )


def _frame_times(frames: list[Any], zero: float) -> Times:
    return np.asarray(
        [float(frame.pts * frame.time_base) - zero for frame in frames if frame.pts is not None], np.float64
    )


def _trusted(times: Times, head: Times) -> bool:
    """Whether the packets tell what the decoder shows: same times for the first frames, after undecodable leaders."""
    if not len(head):
        return False
    known = times[times >= head[0] - SAME_TIME][: len(head)]
    return len(known) == len(head) and bool(np.all(np.abs(known - head) <= SAME_TIME))


def _scan_by_decoding(path: Path, packets: StreamScan | None) -> StreamScan:
    """Frame times by decoding everything: for streams whose packets do not tell."""
    with _open(path) as container:
        video = _video_stream(container, path)
        video.thread_type = "AUTO"
        zero = _zero(container)
        step = 1 / float(video.average_rate or video.guessed_rate or 25)
        times: list[float] = []
        for frame in _decoded(container, video):
            after = times[-1] + step if times else 0.0
            times.append(after if frame.pts is None else float(frame.pts * frame.time_base) - zero)
    ordered = np.sort(np.asarray(times, np.float64))
    return StreamScan(ordered, float(ordered[-1]) + step, packets.last_duration if packets else None)


def _decoded(container: Any, video: Any) -> Iterator[Any]:
    try:
        yield from container.decode(video)
    except av.error.FFmpegError:
        return


def _info(
    path: Path, container: Any, video: Any, frame: Any, scan: StreamScan, scans: dict[int, StreamScan]
) -> VideoInfo:
    declared = [Fraction(rate) for rate in (video.average_rate, video.guessed_rate, video.base_rate) if rate]
    line = timeline(scan.times, scan.last_duration, declared)
    width, height, rotation = displayed_size(frame.width, frame.height, _pixel_aspect(video), frame.rotation)
    hdr = int(frame.color_trc) in (PQ, HLG)
    return VideoInfo(
        path=path,
        duration=float(line.frames / line.fps),
        fps=line.fps,
        width=width,
        height=height,
        frames=line.frames,
        rotation=rotation,
        vfr=line.vfr,
        audio=_audio(container, scans),
        codec=video.codec_context.name,
        pixel_format=frame.format.name,
        hdr=hdr,
        alpha=_has_alpha(video, frame),
        still=False,
        start=float(scan.times[0]),
        phase=line.phase,
        color=_color(frame, hdr, width, height),
        container=container.format.name,
        interlaced=bool(frame.interlaced_frame),
    )


def displayed_size(width: int, height: int, aspect: Fraction, turned: int) -> tuple[int, int, int]:
    """Size on the screen with square pixels, and the clockwise rotation that makes it upright.

    The side that non-square pixels make longer is stretched (to an even number), so no detail is lost.

    Args:
        width, height: coded size. aspect: width of a pixel by its height. turned: PyAV's rotation, anticlockwise.
    """
    if aspect > 1:
        width = 2 * round(width * aspect / 2)
    elif aspect < 1:
        height = 2 * round(height / aspect / 2)
    rotation = -turned % 360
    return (height, width, rotation) if rotation in (90, 270) else (width, height, rotation)


def _pixel_aspect(video: Any) -> Fraction:
    aspect = video.sample_aspect_ratio or video.codec_context.sample_aspect_ratio
    return Fraction(aspect) if aspect and Fraction(1, 10) < aspect < 10 else Fraction(1)


def _has_alpha(video: Any, frame: Any) -> bool:
    named = frame.format.name
    planar = named.startswith(("yuva", "gbrap", "ya8", "ya16", "rgba", "bgra", "argb", "abgr", "pal8"))
    return bool(planar or "1" in (video.metadata.get("alpha_mode"), video.metadata.get("ALPHA_MODE")))


def _color(frame: Any, hdr: bool, width: int, height: int) -> ColorSpace:
    matrix = int(frame.colorspace)
    if hdr or matrix in BT2020_MATRICES:
        return "bt709"
    if matrix in MATRIX_NAMES:
        return MATRIX_NAMES[matrix]
    return "bt709" if max(width, height) >= HD_WIDTH or min(width, height) >= HD_HEIGHT else "smpte170m"


def _audio(container: Any, scans: dict[int, StreamScan]) -> tuple[AudioTrack, ...]:
    """All sound streams that hold at least one packet."""
    tracks = []
    for stream in container.streams.audio:
        scan = scans.get(stream.index)
        if scan is None:
            continue
        start = float(scan.times[0])
        tracks.append(
            AudioTrack(
                stream=stream.index,
                codec=stream.codec_context.name if stream.codec_context else "unknown",
                sr=stream.sample_rate or 0,
                channels=stream.channels or 0,
                language=_tag(stream.metadata.get("language"), "und"),
                title=_tag(
                    stream.metadata.get("title") or stream.metadata.get("handler_name"), *HANDLER_NAMES
                ),
                default=bool(stream.disposition & Disposition.default),
                start=start,
                duration=max(scan.end - start, 0.0),
            )
        )
    return tuple(tracks)


HANDLER_NAMES = ("SoundHandler", "Core Media Audio", "Sound Media Handler", "SoundHandle")


def _tag(value: str | None, *meaningless: str) -> str | None:
    return value if value and value not in meaningless else None
