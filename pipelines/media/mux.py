"""Picture, sound and subtitles into one mp4 or mkv: the picture is copied, sound and picture end together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ffmpeg

from pipelines.errors import Message, OptionError
from pipelines.files import part_file
from pipelines.media.ffmpeg import command, run, target
from pipelines.media.probe import clock_input, probe
from pipelines.media.sound import choose_track
from pipelines.progress import NullReport, Report
from pipelines.settings import Settings

DUB_METADATA: Mapping[str, str] = {"comment": "AI-dubbed by Dubwright"}
AAC_BITRATE = "192k"
# Sound that an mp4 can hold and browsers or players decode as it is.
COPIED = frozenset({"aac", "mp3", "ac3", "eac3", "alac", "flac", "opus"})
SUBTITLE_CODECS = {".mp4": "mov_text", ".mkv": "srt"}
# ISO 639-1 to the 639-2/T codes that mp4 stores.
THREE_LETTERS = {
    "ar": "ara", "de": "deu", "en": "eng", "es": "spa", "fr": "fra", "hi": "hin", "it": "ita", "ja": "jpn",
    "ko": "kor", "nl": "nld", "pl": "pol", "pt": "por", "ru": "rus", "tr": "tur", "uk": "ukr", "vi": "vie",
    "zh": "zho",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ExtraSound:
    """Another sound track for the result, such as the original; copied where the container can hold it."""

    path: Path
    stream: int | None = None
    language: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class SubtitleTrack:
    """A subtitle file (UTF-8 SRT) to be carried as soft subtitles."""

    path: Path
    language: str | None = None
    title: str | None = None


def mux(
    video: Path,
    sound: Path,
    out: Path,
    settings: Settings,
    *,
    stream: int | None = None,
    language: str | None = None,
    extra_sounds: Sequence[ExtraSound] = (),
    subtitles: Sequence[SubtitleTrack] = (),
    metadata: Mapping[str, str] = DUB_METADATA,
    report: Report | None = None,
) -> None:
    """Put ``sound`` under the picture of ``video`` as AAC, in an mkv or in an mp4 that starts to play while it loads.

    Sound keeps its place on the clock of its file (one that begins late stays late) and is cut or continued with
    silence to the length of the picture.

    Args:
        video: its first picture stream is copied. sound: any file with sound; ``stream`` names its track.
        language: of the sound, ISO 639-1 or 639-2. metadata: tags of the file. out: ``.mp4`` or ``.mkv``.

    Raises:
        OptionError: another kind of file is asked for.
        NoSoundTrack: ``sound`` has none. MediaError: ffmpeg failed. DiskFull: no room. Stopped: the user asked.
    """
    form, info = container(out), probe(video)
    picture = clock_input(video)
    track = choose_track(sound, stream)
    voice = (
        clock_input(sound)[str(track.stream)]
        .filter("aresample", **{"async": 1, "first_pts": 0})
        .filter("apad", whole_dur=f"{info.duration:.6f}")
        .filter("atrim", end=f"{info.duration:.6f}")
    )
    streams: list[Any] = [picture["V:0"], voice]
    options: dict[str, Any] = {
        **form,
        **{"c:v": "copy", "map_metadata": -1},
        **{"c:a:0": "aac", "b:a:0": AAC_BITRATE, "disposition:a:0": "default"},
    }
    tags = [part for name, value in metadata.items() for part in ("-metadata", f"{name}={value}")]
    tags += _tags("a:0", language, None)
    for number, extra in enumerate(extra_sounds, start=1):
        chosen = choose_track(extra.path, extra.stream)
        streams.append(clock_input(extra.path)[str(chosen.stream)])
        holds = chosen.codec in COPIED or out.suffix.lower() == ".mkv"
        options[f"c:a:{number}"] = "copy" if holds else "aac"
        options[f"disposition:a:{number}"] = "0"
        tags += _tags(f"a:{number}", extra.language or chosen.language, extra.title)
    for number, subtitle in enumerate(subtitles):
        streams.append(ffmpeg.input(target(subtitle.path), format="srt")["s:0"])
        options[f"c:s:{number}"] = SUBTITLE_CODECS[out.suffix.lower()]
        options[f"disposition:s:{number}"] = "0"
        tags += _tags(f"s:{number}", subtitle.language, subtitle.title)
    with part_file(out) as part:
        output = ffmpeg.output(*streams, target(part), t=f"{info.duration:.6f}", **options)
        what = Message("Picture and sound could not be joined", "无法合成画面和声音")
        arguments = command(settings, output)
        arguments[-1:-1] = tags  # ffmpeg-python cannot repeat an option
        run(arguments, report or NullReport(), "mux", info.duration, what, str(out))


def container(out: Path) -> dict[str, Any]:
    """ffmpeg's options for a file of this name.

    Raises:
        OptionError: it is neither an mp4 nor an mkv.
    """
    if out.suffix.lower() == ".mp4":
        return {"format": "mp4", "movflags": "+faststart"}
    if out.suffix.lower() == ".mkv":
        return {"format": "matroska", "default_mode": "infer_no_subs"}
    raise OptionError(
        Message(f"A video cannot be written as {out.name!r}", f"无法将视频写成 {out.name!r}"),
        Message("Choose mp4 or mkv.", "请选择 mp4 或 mkv。"),
    )


def three_letters(language: str) -> str:
    """ISO 639-2 code of a language given as ``es``, ``pt-BR`` or already as ``spa``."""
    first = language.lower().replace("_", "-").partition("-")[0]
    return THREE_LETTERS.get(first, first)


def _tags(stream: str, language: str | None, title: str | None) -> list[str]:
    tags = []
    if language:
        tags.append(f"language={three_letters(language)}")
    if title:
        tags += [f"title={title}", f"handler_name={title}"]  # mp4 keeps, and players show, the handler's name
    return [part for tag in tags for part in (f"-metadata:s:{stream}", tag)]
