"""Subtitles in a video: burned into the picture by libass, or carried as a track that a player switches on and off."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ffmpeg

from pipelines.errors import Message, OptionError
from pipelines.files import part_file
from pipelines.media import ffmpeg as program
from pipelines.media.encoder import x264
from pipelines.media.ffmpeg import command, target
from pipelines.media.frames import SCALING, input_matrix, on_grid, sdr
from pipelines.media.mux import AAC_BITRATE, COPIED, SUBTITLE_CODECS, SubtitleTrack, container, three_letters
from pipelines.media.probe import clock_input, probe
from pipelines.progress import NullReport, Report
from pipelines.settings import Settings
from pipelines.types import AudioTrack

STAGE = "mux"
BURNING = Message("The subtitles could not be burned into the video", "无法将字幕烧录到视频中")
CARRYING = Message("The subtitles could not be added to the video", "无法将字幕添加到视频中")


def burn_in(
    video: Path,
    subtitles: Path,
    out: Path,
    settings: Settings,
    report: Report | None = None,
    *,
    fonts: Path | None = None,
) -> None:
    """Draw a styled subtitle file over every frame; the sound is copied where an mp4 can hold it.

    Args:
        subtitles: an ASS file. out: an mp4. fonts: a folder of fonts to use besides the computer's own.

    Raises:
        MediaError: the video cannot be read, or ffmpeg failed. DiskFull: no room. Stopped: the user asked.
    """
    info = probe(video)
    picture = sdr(on_grid(clock_input(video)["V:0"], info, -info.phase), info)
    picture = picture.filter(
        "scale", "trunc(iw/2)*2", "trunc(ih/2)*2", flags=SCALING,
        in_color_matrix=input_matrix(info), out_color_matrix="bt709",
    )  # fmt: skip
    chosen = {"fontsdir": str(fonts.absolute())} if fonts else {}
    picture = picture.filter("format", "yuv420p").filter("ass", filename=str(subtitles.absolute()), **chosen)
    picture = picture.filter(
        "setparams", colorspace="bt709", color_primaries="bt709", color_trc="bt709", range="tv"
    )
    encoder = x264()
    options: dict[str, Any] = {"format": "mp4", "movflags": "+faststart", "map_metadata": -1}
    options |= {"c:v": encoder.name, **dict(encoder.options), "frames:v": info.frames}
    sound, tags = _sound(video, info.audio, options)
    with part_file(out) as part:
        output = ffmpeg.output(picture, *sound, target(part), **options)
        arguments = command(settings, output)
        arguments[-1:-1] = tags
        program.run(arguments, report or NullReport(), STAGE, info.duration, BURNING, str(video))


def add_soft(
    video: Path,
    subtitles: Sequence[SubtitleTrack],
    out: Path,
    settings: Settings,
    report: Report | None = None,
) -> None:
    """Put subtitle tracks beside picture and sound, which are copied; the first is shown by default.

    Args:
        subtitles: UTF-8 SRT files. out: an mp4 (``mov_text``) or an mkv (SRT), which holds every kind of picture and sound.

    Raises:
        OptionError: another kind of file is asked for. MediaError: ffmpeg failed. DiskFull: no room. Stopped: the user asked.
    """
    form = out.suffix.lower()
    if form not in SUBTITLE_CODECS:
        raise OptionError(
            Message(f"Subtitles cannot be added to {out.name!r}", f"无法将字幕添加到 {out.name!r}"),
            Message("Choose mp4 or mkv.", "请选择 mp4 或 mkv。"),
        )
    info = probe(video)
    options = container(out) | {"c:v": "copy"}
    sound, tags = _sound(video, info.audio, options, every=form == ".mkv")
    streams = [clock_input(video)["V:0"], *sound]
    for number, track in enumerate(subtitles):
        streams.append(ffmpeg.input(target(track.path), format="srt")["s:0"])
        options[f"c:s:{number}"] = SUBTITLE_CODECS[form]
        options[f"disposition:s:{number}"] = "default" if number == 0 else "0"
        tags += _tags(f"s:{number}", track.language, track.title)
    with part_file(out) as part:
        arguments = command(settings, ffmpeg.output(*streams, target(part), **options))
        arguments[-1:-1] = tags
        program.run(arguments, report or NullReport(), STAGE, info.duration, CARRYING, str(video))


def _sound(
    video: Path, tracks: Sequence[AudioTrack], options: dict[str, Any], *, every: bool = False
) -> tuple[list[Any], list[str]]:
    """All sound tracks, copied where the container holds them (``every``: it holds all); adds their options, gives tags."""
    streams, tags = [], []
    for number, track in enumerate(tracks):
        streams.append(clock_input(video)[str(track.stream)])
        copied = every or track.codec in COPIED
        options[f"c:a:{number}"] = "copy" if copied else "aac"
        if not copied:
            options[f"b:a:{number}"] = AAC_BITRATE
        options[f"disposition:a:{number}"] = "default" if track.default else "0"
        tags += _tags(f"a:{number}", track.language, track.title)
    return streams, tags


def _tags(stream: str, language: str | None, title: str | None) -> list[str]:
    tags = [f"language={three_letters(language)}"] if language else []
    tags += [f"title={title}", f"handler_name={title}"] if title else []
    return [part for tag in tags for part in (f"-metadata:s:{stream}", tag)]
