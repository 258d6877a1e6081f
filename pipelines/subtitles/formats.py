"""The subtitle and transcript formats that can be written, by name, extension and nature."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pipelines.errors import Message, OptionError

Format = Literal["srt", "vtt", "ass", "txt", "json", "csv", "lrc", "textgrid"]
EXPORT_FORMATS: tuple[Format, ...] = ("srt", "vtt", "ass", "txt", "json", "csv", "lrc", "textgrid")
EXTENSIONS: dict[Format, str] = {form: form for form in EXPORT_FORMATS} | {"textgrid": "TextGrid"}
# Written from the transcript's own lines: they are data or text, nobody reads them off a screen against the clock.
WITHOUT_CUES = frozenset({"txt", "json", "csv", "textgrid"})


def format_of(path: Path) -> Format:
    """The format that a file name asks for.

    Raises:
        OptionError: none that can be written.
    """
    name = path.suffix.lower().lstrip(".")
    formats: dict[str, Format] = {form: form for form in EXPORT_FORMATS} | {"ssa": "ass"}
    if name in formats:
        return formats[name]
    listed = ", ".join(f".{EXTENSIONS[form]}" for form in EXPORT_FORMATS)
    raise OptionError(
        Message(f"Subtitles cannot be written as {path.name!r}", f"无法将字幕写成 {path.name!r}"),
        Message(f"Use one of: {listed}.", f"可用格式:{listed}。"),
        str(path),
    )
