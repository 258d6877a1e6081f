"""Copies that a browser can play, for previews of files it cannot: H.264 and AAC, at most 1280 pixels, SDR."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ffmpeg

from pipelines.artifacts import options_key
from pipelines.errors import InputError, MediaError, Message
from pipelines.files import part_file
from pipelines.media import ffmpeg as program
from pipelines.media.encoder import x264
from pipelines.media.ffmpeg import command, target
from pipelines.media.frames import SCALING, input_matrix, on_grid, sdr
from pipelines.media.probe import clock_input, probe, sound_tracks
from pipelines.media.sound import choose_track
from pipelines.progress import Report
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.types import VideoInfo

MAX_SIDE = 1280
CRF = 23
AAC_BITRATE = "128k"
STAGE = "preview copy"
BROWSER_SOUND = frozenset({"aac", "mp3", "opus", "vorbis", "flac"})
MAKING = Message("The preview copy could not be made", "无法生成预览文件")


def plays_in_browser(info: VideoInfo) -> bool:
    """Whether every current browser plays the file as it is (H.264 in mp4/mov, VP8/VP9/AV1 in webm or mp4)."""
    if info.still:
        return info.codec in ("jpeg", "png", "webp", "gif", "bmp")
    mp4 = info.container.startswith("mov,mp4") and info.path.suffix.lower() in (".mp4", ".m4v", ".mov")
    webm = info.container.startswith("matroska,webm") and info.path.suffix.lower() == ".webm"
    picture = (info.codec == "h264" and mp4) or (
        info.codec in ("vp8", "vp9", "av1", "libdav1d") and (webm or mp4)
    )
    plain = info.pixel_format in ("yuv420p", "yuvj420p") and not info.hdr
    return picture and plain and all(track.codec in BROWSER_SOUND for track in info.audio)


def make_proxy(path: Path, out: Path, settings: Settings, report: Report) -> None:
    """Make a copy that every browser plays, on the same clock as the original; a sound file becomes an AAC file.

    Raises:
        MediaError: it cannot be read. DiskFull: no room. Stopped: the user asked.
    """
    tracks = sound_tracks(path)
    info = None if _only_sound(path, bool(tracks)) else probe(path)
    streams: list[Any] = [] if info is None else [_picture(info)]
    if tracks:
        streams.append(_sound(path, info))
    seconds = info.duration if info is not None else tracks[0].duration
    with part_file(out) as part:
        output = ffmpeg.output(*streams, target(part), format="mp4", movflags="+faststart", **_options(info))
        program.run(command(settings, output), report, STAGE, seconds, MAKING, str(path))


def _only_sound(path: Path, sound: bool) -> bool:
    try:
        probe(path)
    except MediaError:
        if sound:
            return True
        raise
    return False


def _picture(info: VideoInfo) -> Any:
    shrink = min(1.0, MAX_SIDE / max(info.width, info.height))
    width, height = (2 * max(round(side * shrink / 2), 1) for side in (info.width, info.height))
    picture = on_grid(clock_input(info.path)["V:0"], info, -info.phase)
    picture = sdr(picture, info).filter(
        "scale", width, height, flags=SCALING, in_color_matrix=input_matrix(info), out_color_matrix="bt709"
    )
    picture = picture.filter("format", "yuv420p")
    return picture.filter(
        "setparams", colorspace="bt709", color_primaries="bt709", color_trc="bt709", range="tv"
    )


def _sound(path: Path, info: VideoInfo | None) -> Any:
    sound = clock_input(path)[str(choose_track(path, None).stream)]
    sound = sound.filter("aresample", 48000, **{"async": 1, "first_pts": 0})
    if info is None:
        return sound
    return sound.filter("apad", whole_dur=f"{info.duration:.6f}").filter("atrim", end=f"{info.duration:.6f}")


def _options(info: VideoInfo | None) -> dict[str, Any]:
    options: dict[str, Any] = {"c:a": "aac", "b:a": AAC_BITRATE, "ac": 2}
    if info is not None:
        encoder = x264(CRF)
        options |= {"c:v": encoder.name, **dict(encoder.options), "frames:v": info.frames}
    return options


def proxy_path(path: Path, settings: Settings) -> Path:
    """Where the preview copy of this content of the file is kept."""
    facts = path.stat()
    key = options_key(path=str(path.absolute()), size=facts.st_size, changed=facts.st_mtime_ns, side=MAX_SIDE)
    return settings.cache / "proxies" / f"{key[:32]}.mp4"


def run(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """The flow ``proxy``: option ``path`` (a media file); result ``proxy``, the copy's path, and whether it was ``made``.

    The copy is kept in the cache and made once for each content of the file.
    """
    if not options.get("path"):
        raise InputError(Message("No file was given", "未指定文件"))
    path = Path(options["path"])
    sound_tracks(path)  # says what is wrong with the file before its times are asked for
    out = proxy_path(path, context.settings)
    made = not out.is_file()
    if made:
        make_proxy(path, out, context.settings, report)
    return {"proxy": str(out), "made": made}
