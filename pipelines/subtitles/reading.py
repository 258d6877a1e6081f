"""Subtitle files read as people really have them: SRT, WebVTT, ASS and JSON of any encoding and sloppiness.

SRT and WebVTT are parsed here, because errors must name the line and nothing of the text may be lost (numbers as last
line, notes, entities); ASS goes through pysubs2.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pysubs2

from pipelines.cues import CueRules, reading_time
from pipelines.errors import InputError, Message
from pipelines.subtitles.formats import Format
from pipelines.text.encodings import decoded
from pipelines.types import Segment, Word

TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,:](\d{1,3}))?"
TIMING = re.compile(rf"^\s*{TIME}\s*-+>\s*{TIME}(?:\s.*)?$")
ARROW = re.compile(r"^\s*\d.*-->")
SRT_TAGS = re.compile(r"</?(?:i|b|u|s|font|span|c)(?:[\s.][^>]*)?>|\{\\[^}]*\}", re.IGNORECASE)
VTT_TAGS = re.compile(r"</?(?:i|b|u|c|v|ruby|rt|lang)(?:[\s.][^>]*)?>|<[\d:.]+>")
VTT_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
ASS_START = re.compile(r"(?:[;!].*\n)*\s*\[(?:Script Info|V4\+? Styles|Events)\]", re.IGNORECASE)
MAX_BYTES = 50_000_000
# A cue shorter than this, or ending before it begins, is shown as long as reading takes (seconds).
SHORTEST = 0.05


def read(path: Path, *, keep_lines: bool = False) -> tuple[Segment, ...]:
    """Read a subtitle file of any usual encoding, in order of time.

    Styling is dropped, entities are resolved, empty cues are left out; a cue without length is given reading time up
    to the next. Cues may overlap, as in the file (``without_overlaps`` cuts them).

    Args:
        path: ``.srt``, ``.vtt``, ``.ass``/``.ssa`` or our ``.json``; the content decides.
        keep_lines: keep a cue's line breaks; by default its lines are joined to one text, as it is spoken.

    Raises:
        InputError: no such file, not subtitles, or a line that cannot be read (the message names it).
    """
    text = _decode(path)
    kind = _kind(text, path)
    if kind == "json":
        segments = _read_json(text, path)
    elif kind == "ass":
        segments = _read_ass(text, path)
    else:
        segments = list(_read_timed(text, path, vtt=kind == "vtt"))
    segments = [segment for segment in segments if segment.text.strip()]
    if not segments:
        raise _unusable(path, Message("The subtitle file has no text", "字幕文件中没有文字"), Message("", ""))
    if not keep_lines:
        segments = [_with(segment, text=one_line(segment.text)) for segment in segments]
    return _repaired(segments)


def _decode(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _unusable(path, Message("This is too large for a subtitle file", "文件过大,不是字幕文件"))
        data = path.read_bytes()
    except OSError as error:
        raise _unusable(
            path, Message("The subtitle file cannot be opened", "无法打开字幕文件"), CHECK_NAME
        ) from error
    text = decoded(data)
    if text is None:
        raise _unusable(path, NOT_SUBTITLES)
    return text


CHECK_NAME = Message("Check the name, or choose the file again.", "请检查文件名或重新选择文件。")
NOT_SUBTITLES = Message("This is not a subtitle file", "这不是字幕文件")
USE_FORMATS = Message("Use an SRT, VTT or ASS file.", "请使用 SRT、VTT 或 ASS 文件。")


def _unusable(path: Path, what: Message, todo: Message = USE_FORMATS, line: int | None = None) -> InputError:
    return InputError(what, todo, str(path) if line is None else f"{path}, line {line}")


def _kind(text: str, path: Path) -> Format:
    start = text.lstrip()[:2000]
    if start.startswith("WEBVTT"):
        return "vtt"
    if start.startswith(("{", "[")) and path.suffix.lower() == ".json":
        return "json"
    if ASS_START.match(start):
        return "ass"
    if any("-->" in line for line in text.splitlines()):
        return "srt"
    raise _unusable(path, NOT_SUBTITLES)


def _read_timed(text: str, path: Path, *, vtt: bool) -> Iterable[Segment]:
    """Cues of SRT and WebVTT: everything between one timing line and the next, less numbers, names and notes."""
    lines = text.split("\n")
    at = [number for number, line in enumerate(lines) if _is_timing(line, number, path)]
    for place, number in enumerate(at):
        last = at[place + 1] if place + 1 < len(at) else len(lines)
        body = _body(lines[number + 1 : last], ends=last < len(lines), vtt=vtt)
        match = TIMING.match(lines[number])
        if match is None:  # _is_timing matched it
            continue
        start, end = _seconds(match.groups()[:4]), _seconds(match.groups()[4:])
        yield _vtt_segment(start, end, body) if vtt else Segment(start, end, SRT_TAGS.sub("", body).strip())


def _is_timing(line: str, number: int, path: Path) -> bool:
    if TIMING.match(line):
        return True
    if ARROW.match(line) and re.search(r"\d{1,2}:\d{1,2}", line):
        what = Message(
            f"The time in line {number + 1} cannot be read: {line.strip()[:60]}",
            f"第 {number + 1} 行的时间无法识别:{line.strip()[:60]}",
        )
        todo = Message(
            "Write it like 00:01:02,500 --> 00:01:04,000.", "应写成 00:01:02,500 --> 00:01:04,000。"
        )
        raise _unusable(path, what, todo, number + 1)
    return False


def _body(lines: list[str], *, ends: bool, vtt: bool) -> str:
    """The text of a cue, without the number or name of the next one (``ends``: there is a next one)."""
    if vtt:
        blank = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
        return "\n".join(line.strip() for line in lines[:blank])
    if ends:
        kept = len(lines)
        while kept and not lines[kept - 1].strip():
            kept -= 1
        if kept and re.fullmatch(r"\s*\d+\s*", lines[kept - 1]):
            lines = lines[: kept - 1]
    return "\n".join(line.strip() for line in lines if line.strip())


def _vtt_segment(start: float, end: float, body: str) -> Segment:
    voice = VTT_VOICE.search(body)
    text = html.unescape(VTT_TAGS.sub("", body)).replace("\u200e", "").replace("\u200f", "")
    speaker = html.unescape(voice.group(1)).strip() if voice else None
    return Segment(start, end, text.replace("\xa0", " ").strip(), (), speaker)


def _seconds(parts: Sequence[str | None]) -> float:
    hours, minutes, seconds, fraction = parts
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return (whole * 1000 + int((fraction or "0").ljust(3, "0"))) / 1000


def _read_ass(text: str, path: Path) -> list[Segment]:
    try:
        events = pysubs2.SSAFile.from_string(text, format_="ass")
    except (pysubs2.Pysubs2Error, ValueError, KeyError, IndexError) as error:
        raise _unusable(path, Message("The ASS file is damaged", "ASS 字幕文件已损坏")) from error
    return [
        Segment(event.start / 1000, event.end / 1000, event.plaintext.strip(), (), event.name.strip() or None)
        for event in events
        if not event.is_comment and not event.is_drawing
    ]


def _read_json(text: str, path: Path) -> list[Segment]:
    try:
        value = json.loads(text)
        items = value["segments"] if isinstance(value, dict) else value
        return [_segment_from(item) for item in items]
    except json.JSONDecodeError as error:
        what = Message(f"The JSON is broken in line {error.lineno}", f"JSON 第 {error.lineno} 行有误")
        raise _unusable(path, what, line=error.lineno) from error
    except (KeyError, TypeError, ValueError) as error:
        what = Message(
            "The JSON has no segments with start, end and text", "JSON 中没有带 start、end、text 的片段"
        )
        raise _unusable(path, what) from error


def _segment_from(item: dict[str, Any]) -> Segment:
    words = tuple(
        Word(float(word["start"]), float(word["end"]), str(word["text"]), float(word.get("prob", 1.0)))
        for word in item.get("words") or ()
    )
    speaker = item.get("speaker")
    return Segment(
        float(item["start"]),
        float(item["end"]),
        str(item["text"]),
        words,
        str(speaker) if speaker else None,
        str(item.get("normalised") or ""),
    )


def _with(
    segment: Segment, *, start: float | None = None, end: float | None = None, text: str | None = None
) -> Segment:
    return Segment(
        segment.start if start is None else start,
        segment.end if end is None else end,
        segment.text if text is None else text,
        segment.words,
        segment.speaker,
    )


def _repaired(segments: list[Segment]) -> tuple[Segment, ...]:
    ordered = sorted(segments, key=lambda segment: segment.start)
    repaired = []
    for number, segment in enumerate(ordered):
        if segment.end - segment.start < SHORTEST:
            wanted = segment.start + max(reading_time(segment.text, CueRules()), CueRules().shortest)
            later = (other.start for other in ordered[number + 1 :] if other.start > segment.start)
            end = max(min(wanted, next(later, wanted)), segment.start + 2 * SHORTEST)
            segment = _with(segment, end=end)
        repaired.append(segment)
    return tuple(repaired)


def one_line(text: str) -> str:
    """A cue's lines as one text: joined by a space, and by nothing between Chinese or Japanese characters."""
    joined = ""
    for line in (part.strip() for part in text.split("\n")):
        wide = bool(joined and line) and _wide(joined[-1]) and _wide(line[0])
        joined += line if wide or not joined else f" {line}" if line else ""
    return joined


def _wide(letter: str) -> bool:
    return "\u2e80" <= letter <= "\u9fff" or "\uff00" <= letter <= "\uffef" or "\u3000" <= letter <= "\u30ff"


def without_overlaps(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """In order of time, each ending before the next begins; cues that begin together become one of several lines."""
    joined: list[Segment] = []
    for segment in sorted(segments, key=lambda item: (item.start, item.end)):
        if joined and segment.start - joined[-1].start < SHORTEST:
            before = joined[-1]
            text = f"{before.text}\n{segment.text}"
            words = (*before.words, *segment.words)
            joined[-1] = Segment(before.start, max(before.end, segment.end), text, words, before.speaker)
        else:
            joined.append(segment)
    following = [segment.start for segment in joined[1:]]
    return tuple(
        _with(segment, end=min(segment.end, limit))
        for segment, limit in zip(joined, [*following, float("inf")], strict=True)
    )
