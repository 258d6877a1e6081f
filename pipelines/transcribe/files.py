"""The files of a finished transcript: every format that is asked for, and the video with its subtitles in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from pipelines.cues import CueRules, cue_rules
from pipelines.errors import Message, OptionError
from pipelines.exports import export
from pipelines.files import write_text
from pipelines.media import SubtitleTrack, add_soft, burn_in
from pipelines.progress import Report
from pipelines.records import load_speech_times
from pipelines.settings import Settings
from pipelines.subtitles import EXPORT_FORMATS, EXTENSIONS, AssStyle, Format, ass_style
from pipelines.subtitles.textgrid import textgrid
from pipelines.types import Transcript

STEM = "transcript"
PHONES = "phones.json"  # of a sound whose text was known
BURNED = "burned.mp4"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be written.

    Attributes:
        formats: transcript and subtitle files. burn_in: also the video with the subtitles drawn on it.
        soft: also the video with a subtitle track, as that kind of file ("" for none).
    """

    formats: tuple[Format, ...]
    rules: CueRules
    style: AssStyle
    burn_in: bool = False
    soft: Literal["", "mp4", "mkv"] = ""


def wanted_files(options: Mapping[str, Any]) -> Wanted:
    """What a job's options ask for.

    Raises:
        OptionError: a format that cannot be written, or a rule or style that cannot be.
    """
    formats = tuple(options.get("formats") or ("srt",))
    soft = options.get("soft_subtitles") or ""
    for name, known in (*((name, EXPORT_FORMATS) for name in formats), (soft, ("", "mp4", "mkv"))):
        if name not in known:
            listed = ", ".join(filter(None, known))
            raise OptionError(
                Message(f"There is no subtitle format {name!r}", f"没有字幕格式 {name!r}"),
                Message(f"Choose from {listed}.", f"请从 {listed} 中选择。"),
            )
    return Wanted(
        formats,
        cue_rules(options.get("cues")),
        ass_style(options.get("style")),
        bool(options.get("burn_in", False)),
        cast("Literal['', 'mp4', 'mkv']", soft),
    )


def write_files(
    folder: Path,
    source: Path,
    transcript: Transcript,
    wanted: Wanted,
    until: float,
    settings: Settings,
    report: Report,
) -> dict[str, str]:
    """Write what is wanted into ``folder``; returns format → file name, ``burned`` and ``subtitled`` among them.

    Args:
        source: the media file. until: where it ends, seconds on its clock.
    """
    files: dict[str, str] = {}
    for form in wanted.formats:
        files[form] = _one(folder, transcript, form, wanted, until)
    if not transcript.segments:
        return files
    if wanted.burn_in:
        drawn = _one(folder, transcript, "ass", wanted, until)
        burn_in(source, folder / drawn, folder / BURNED, settings, report)
        files["burned"] = BURNED
    if wanted.soft:
        name = f"subtitled.{wanted.soft}"
        track = SubtitleTrack(folder / _one(folder, transcript, "srt", wanted, until), transcript.language)
        add_soft(source, [track], folder / name, settings, report)
        files["subtitled"] = name
    return files


def _one(folder: Path, transcript: Transcript, form: Format, wanted: Wanted, until: float) -> str:
    """One transcript or subtitle file; the JSON one is the transcript itself."""
    name = f"{STEM}.{EXTENSIONS[form]}"
    if form == "textgrid" and (folder / PHONES).is_file():
        write_text(folder / name, textgrid(transcript.segments, load_speech_times(folder / PHONES)[0]))
    elif form != "json":
        export(
            folder / name,
            transcript.segments,
            form,
            rules=wanted.rules,
            recut=True,
            style=wanted.style,
            until=until,
        )
    return name
