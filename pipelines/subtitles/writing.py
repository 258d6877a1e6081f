"""Subtitle and transcript files written so that players, editors and tables take them.

SRT and WebVTT have milliseconds, ASS and LRC hundredths of a second. WebVTT, ASS, JSON, CSV and TextGrid carry the speaker;
JSON everything (words, probabilities, both texts). Where a line has a normalised text, that is the one people are shown.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pysubs2

from pipelines.files import write_text
from pipelines.subtitles.formats import Format, format_of
from pipelines.subtitles.reading import one_line
from pipelines.subtitles.styles import AssStyle, style_name, styled_file
from pipelines.subtitles.textgrid import textgrid
from pipelines.text.encodings import plain_lines
from pipelines.types import Segment

BOM = "\ufeff"  # without it Excel reads a CSV file's Chinese in the computer's old encoding


def write(
    path: Path, segments: Sequence[Segment], form: Format | None = None, *, style: AssStyle | None = None
) -> None:
    """Write segments as they are (``cues`` first makes them readable), whole or not at all.

    Args:
        form: the format; by default the one the file name asks for. style: how ASS looks.
    """
    write_text(path, as_text(segments, form or format_of(path), style=style))


def as_text(segments: Sequence[Segment], form: Format, *, style: AssStyle | None = None) -> str:
    """The content of a subtitle file."""
    if form == "ass":
        return _ass(segments, style or AssStyle())
    writers: dict[Format, Callable[[Sequence[Segment]], str]] = {
        "srt": _srt, "vtt": _vtt, "json": _json, "txt": _txt, "csv": _csv, "lrc": _lrc, "textgrid": textgrid
    }  # fmt: skip
    return writers[form](segments)


def _clock(seconds: float, point: str) -> str:
    thousandths = max(round(seconds * 1000), 0)
    minutes, rest = divmod(thousandths, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{rest // 1000:02d}{point}{rest % 1000:03d}"


def _cue_lines(text: str) -> str:
    """Lines without blanks between them: a blank line would end the cue."""
    return "\n".join(line.strip() for line in plain_lines(text).split("\n") if line.strip())


def _srt(segments: Sequence[Segment]) -> str:
    parts = []
    for number, segment in enumerate(segments, start=1):
        text = _cue_lines(segment.shown).replace("-->", "→")
        parts.append(f"{number}\n{_clock(segment.start, ',')} --> {_clock(segment.end, ',')}\n{text}\n")
    return "\n".join(parts)


def _vtt(segments: Sequence[Segment]) -> str:
    parts = ["WEBVTT\n"]
    for segment in segments:
        text = _escaped(_cue_lines(segment.shown))
        if segment.speaker:
            text = f"<v {_escaped(one_line(segment.speaker))}>{text}"
        parts.append(f"{_clock(segment.start, '.')} --> {_clock(segment.end, '.')}\n{text}\n")
    return "\n".join(parts)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _ass(segments: Sequence[Segment], style: AssStyle) -> str:
    file = styled_file(style)
    for segment in segments:
        # Braces begin style codes and a backslash N is a line break: look-alikes keep them visible as text.
        text = _cue_lines(segment.shown).replace("{", "｛").replace("}", "｝").replace("\\", "＼")
        event = pysubs2.SSAEvent(
            round(segment.start * 1000), round(segment.end * 1000), text.replace("\n", "\\N")
        )
        event.name = one_line(segment.speaker or "").replace(",", "，")
        event.style = style_name(style, segment.speaker)
        file.append(event)
    return file.to_string("ass")


def _json(segments: Sequence[Segment]) -> str:
    items = [
        {
            "start": round(segment.start, 3),
            "end": round(segment.end, 3),
            "text": segment.text,
            "normalised": segment.normalised,
            "speaker": segment.speaker,
            "words": [
                {
                    "start": round(word.start, 3),
                    "end": round(word.end, 3),
                    "text": word.text,
                    "prob": round(word.prob, 4),
                }
                for word in segment.words
            ],
        }
        for segment in segments
    ]
    return json.dumps({"segments": items}, ensure_ascii=False, indent=1) + "\n"


def _txt(segments: Sequence[Segment]) -> str:
    return "".join(f"{one_line(segment.shown)}\n" for segment in segments)


def _csv(segments: Sequence[Segment]) -> str:
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(["start", "end", "speaker", "text", "normalised"])
    for segment in segments:
        times = f"{segment.start:.3f}", f"{segment.end:.3f}"
        rows.writerow([*times, segment.speaker or "", one_line(segment.text), one_line(segment.normalised)])
    return BOM + table.getvalue()


def _lrc(segments: Sequence[Segment]) -> str:
    """Lyrics: a line at its start; an empty one where nobody speaks for a second or longer, to clear the display."""
    lines = []
    ordered = sorted(segments, key=lambda segment: segment.start)
    for number, segment in enumerate(ordered):
        lines.append(f"[{_lrc_clock(segment.start)}]{one_line(segment.shown)}\n")
        following = ordered[number + 1].start if number + 1 < len(ordered) else float("inf")
        if following - segment.end >= 1.0:
            lines.append(f"[{_lrc_clock(segment.end)}]\n")
    return "".join(lines)


def _lrc_clock(seconds: float) -> str:
    minutes, hundredths = divmod(max(round(seconds * 100), 0), 6000)
    return f"{minutes:02d}:{hundredths // 100:02d}.{hundredths % 100:02d}"
