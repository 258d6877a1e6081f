"""Subtitle files in and out: read as people really have them, written so that players take them."""

from pipelines.cues import CueRules, cues
from pipelines.subtitles.formats import EXPORT_FORMATS, EXTENSIONS, WITHOUT_CUES, Format, format_of
from pipelines.subtitles.reading import one_line, read, without_overlaps
from pipelines.subtitles.styles import AssStyle, ass_style
from pipelines.subtitles.writing import as_text, write

__all__ = [
    "EXPORT_FORMATS",
    "EXTENSIONS",
    "WITHOUT_CUES",
    "AssStyle",
    "CueRules",
    "Format",
    "as_text",
    "ass_style",
    "cues",
    "format_of",
    "one_line",
    "read",
    "without_overlaps",
    "write",
]
