"""Subtitle files: SRT, WebVTT, ASS and JSON read as people really have them, and written so that players take them.

SRT and WebVTT are parsed here, because errors must name the line and nothing of the text may be lost (numbers as last
line, notes, entities); ASS goes through pysubs2.
"""

from __future__ import annotations

import codecs
import html
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import charset_normalizer
import pysubs2

from pipelines.cues import CueRules, cues, reading_time
from pipelines.errors import InputError, Message, OptionError
from pipelines.files import write_text
from pipelines.types import Segment, Word

__all__ = ["CueRules", "Format", "cues", "format_of", "one_line", "read", "without_overlaps", "write"]

Format = Literal["srt", "vtt", "ass", "json", "txt"]
TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,:](\d{1,3}))?"
TIMING = re.compile(rf"^\s*{TIME}\s*-+>\s*{TIME}(?:\s.*)?$")
ARROW = re.compile(r"^\s*\d.*-->")
SRT_TAGS = re.compile(r"</?(?:i|b|u|s|font|span|c)(?:[\s.][^>]*)?>|\{\\[^}]*\}", re.IGNORECASE)
VTT_TAGS = re.compile(r"</?(?:i|b|u|c|v|ruby|rt|lang)(?:[\s.][^>]*)?>|<[\d:.]+>")
VTT_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
ASS_START = re.compile(r"(?:[;!].*\n)*\s*\[(?:Script Info|V4\+? Styles|Events)\]", re.IGNORECASE)
BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LEGACY = ["gb18030", "big5", "shift_jis", "euc_kr", "cp1252", "cp1251", "cp1250", "cp1253", "cp1256"]
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
    for mark, encoding in BOMS:
        if data.startswith(mark):
            return _lines_normal(data.decode(encoding, "replace"))
    zeros = (data[:400:2].count(0), data[1:400:2].count(0))
    if max(zeros) > 40:
        return _lines_normal(data.decode("utf-16-be" if zeros[0] > zeros[1] else "utf-16-le", "replace"))
    if 0 in data:
        raise _unusable(path, NOT_SUBTITLES)
    try:
        return _lines_normal(data.decode("utf-8"))
    except UnicodeDecodeError:
        guess = charset_normalizer.from_bytes(data, cp_isolation=LEGACY).best()
        return _lines_normal(str(guess) if guess is not None else data.decode("gb18030", "replace"))


def _lines_normal(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


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
        float(item["start"]), float(item["end"]), str(item["text"]), words, str(speaker) if speaker else None
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


def format_of(path: Path) -> Format:
    """The format that a file name asks for.

    Raises:
        OptionError: none that can be written.
    """
    name = path.suffix.lower().lstrip(".")
    formats: dict[str, Format] = {
        "srt": "srt",
        "vtt": "vtt",
        "ass": "ass",
        "ssa": "ass",
        "json": "json",
        "txt": "txt",
    }
    if name in formats:
        return formats[name]
    raise OptionError(
        Message(f"Subtitles cannot be written as {path.name!r}", f"无法将字幕写成 {path.name!r}"),
        Message("Use .srt, .vtt, .ass, .json or .txt.", "请使用 .srt、.vtt、.ass、.json 或 .txt。"),
        str(path),
    )


def write(path: Path, segments: Sequence[Segment], form: Format | None = None) -> None:
    """Write segments as they are (``cues`` first makes them readable), whole or not at all.

    SRT and WebVTT have milliseconds, ASS has hundredths; WebVTT and ASS carry the speaker, JSON everything; TXT is the
    text alone, a line for each segment.

    Args:
        form: the format; by default the one the file name asks for.
    """
    writers = {"srt": _srt, "vtt": _vtt, "ass": _ass, "json": _json, "txt": _txt}
    write_text(path, writers[form or format_of(path)](segments))


def _clock(seconds: float, point: str) -> str:
    thousandths = max(round(seconds * 1000), 0)
    minutes, rest = divmod(thousandths, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{rest // 1000:02d}{point}{rest % 1000:03d}"


def _cue_lines(text: str) -> str:
    """Lines without blanks between them: a blank line would end the cue."""
    return "\n".join(line.strip() for line in _lines_normal(text).split("\n") if line.strip())


def _srt(segments: Sequence[Segment]) -> str:
    parts = []
    for number, segment in enumerate(segments, start=1):
        text = _cue_lines(segment.text).replace("-->", "→")
        parts.append(f"{number}\n{_clock(segment.start, ',')} --> {_clock(segment.end, ',')}\n{text}\n")
    return "\n".join(parts)


def _vtt(segments: Sequence[Segment]) -> str:
    parts = ["WEBVTT\n"]
    for segment in segments:
        text = _escaped(_cue_lines(segment.text))
        if segment.speaker:
            text = f"<v {_escaped(one_line(segment.speaker))}>{text}"
        parts.append(f"{_clock(segment.start, '.')} --> {_clock(segment.end, '.')}\n{text}\n")
    return "\n".join(parts)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _ass(segments: Sequence[Segment]) -> str:
    file = pysubs2.SSAFile()
    file.info |= {"PlayResX": "1920", "PlayResY": "1080", "WrapStyle": "0", "ScaledBorderAndShadow": "yes"}
    file.styles["Default"] = pysubs2.SSAStyle(
        fontname="Arial", fontsize=60, outline=3, shadow=1, marginv=54, marginl=60, marginr=60
    )
    for segment in segments:
        # Braces begin style codes and a backslash N is a line break: look-alikes keep them visible as text.
        text = _cue_lines(segment.text).replace("{", "｛").replace("}", "｝").replace("\\", "＼")
        name = one_line(segment.speaker or "").replace(",", "，")
        event = pysubs2.SSAEvent(
            round(segment.start * 1000), round(segment.end * 1000), text.replace("\n", "\\N")
        )
        event.name = name
        file.append(event)
    return file.to_string("ass")


def _json(segments: Sequence[Segment]) -> str:
    items = [
        {
            "start": round(segment.start, 3),
            "end": round(segment.end, 3),
            "text": segment.text,
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
    return "".join(f"{one_line(segment.text)}\n" for segment in segments)
