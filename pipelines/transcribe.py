"""The flow behind the Transcription tab and ``app.py transcribe``: any media file to a transcript and subtitle files.

Options: ``input`` (path), ``engine``, ``language`` (None: detect), ``stream``, ``channel``, ``start``, ``end``,
``hotwords`` (list, or one string with commas), ``itn`` (bool), ``formats`` (list of srt, vtt, ass, json, txt).
Result: ``{"transcript": "transcript.json", "language", "language_probability", "duration", "speech_seconds",
"segments", "files": {format: name}}``.

While it runs, every finished line is appended to ``partial.jsonl`` (one segment a line) for the page to show.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipelines import subtitles
from pipelines.artifacts import fingerprint, options_key, run_stage
from pipelines.asr import RECOGNIZERS, EngineContext, RecognitionOptions, itn
from pipelines.asr.sentences import lines
from pipelines.cues import cues
from pipelines.errors import InputError, Message, OptionError
from pipelines.files import read_json, write_json
from pipelines.languages import language_code
from pipelines.progress import Report
from pipelines.records import segment_from
from pipelines.types import Segment, Transcript

TRANSCRIPT, PARTIAL, FACTS = "transcript.json", "partial.jsonl", "listened.json"
FORMATS = ("srt", "vtt", "ass", "json", "txt")


def run(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Transcribe ``options["input"]`` into ``folder``; see the module's first lines.

    Raises:
        InputError, OptionError, NoSoundTrack, MediaError, EngineMissing, WeightsMissing.
    """
    formats = _formats(options)
    facts = listen(folder, options, context, report)
    shown = as_read(folder / TRANSCRIPT)
    ends = float(options.get("start") or 0.0) + facts["duration"]
    files = {}
    for wanted in formats:
        name = f"transcript.{wanted}" if wanted != "json" else TRANSCRIPT
        if wanted != "json":
            subtitles.write(folder / name, shown if wanted == "txt" else cues(shown, until=ends), wanted)
        files[wanted] = name
    return {"transcript": TRANSCRIPT, **facts, "files": files}


def listen(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """The stage ``listen``: ``transcript.json`` in ``folder``, skipped when it is there from the same file and options.

    Returns:
        ``language``, ``language_probability``, ``duration``, ``speech_seconds`` (seconds), ``segments`` (count).
    """
    source = Path(options["input"])
    if not source.is_file():
        raise InputError(
            Message("The file is not there", "文件不存在"),
            Message("Check its name and place.", "请检查文件名和位置。"),
            str(source),
        )
    engine = options.get("engine") or RECOGNIZERS.infos()[0].name
    asked = recognition_options(options)
    in_digits = bool(options.get("itn", False))
    key = options_key(file=fingerprint(source), engine=engine, itn=in_digits, **dataclasses.asdict(asked))

    def make() -> None:
        recognition = RECOGNIZERS.get(engine, context).recognize(source, asked, report)
        found = _written_down(folder, lines(recognition.segments, recognition.language))
        segments = list(found)
        if not segments:
            report.note(
                Message(
                    "Nobody speaks in this sound: the transcript is empty.", "没有检测到人声,文字稿为空。"
                ),
                "warning",
            )
        _save(folder, Transcript(recognition.language, tuple(segments)), in_digits, report)
        write_json(
            folder / FACTS,
            {
                "language": recognition.language,
                "language_probability": round(recognition.language_probability, 4),
                "duration": recognition.duration,
                "speech_seconds": recognition.speech_seconds,
                "segments": len(segments),
            },
        )

    run_stage(folder, "listen", key, [TRANSCRIPT, FACTS], make)
    facts: dict[str, Any] = read_json(folder / FACTS)
    return facts


def recognition_options(options: dict[str, Any]) -> RecognitionOptions:
    """The engine's options from the flow's.

    Raises:
        OptionError: an unknown language, or a range that is none.
    """
    language = options.get("language")
    start, end = float(options.get("start") or 0.0), options.get("end")
    if start < 0 or (end is not None and float(end) <= start):
        raise OptionError(
            Message(f"The range {start} to {end} s is empty", f"时间范围 {start}–{end} 秒为空"),
            Message("Give an end after the start.", "结束时间必须晚于开始时间。"),
        )
    return RecognitionOptions(
        language=None if language in (None, "", "auto") else language_code(language),
        stream=options.get("stream"),
        channel=options.get("channel"),
        start=start,
        end=None if end is None else float(end),
        hotwords=hotword_list(options.get("hotwords")),
    )


def hotword_list(value: str | list[str] | None) -> tuple[str, ...]:
    """Hotwords from a list or from a text with commas or line breaks between them; doubles are dropped."""
    if isinstance(value, str):
        for mark in "\uff0c\u3001;\uff1b\n":
            value = value.replace(mark, ",")
        value = value.split(",")
    return tuple(dict.fromkeys(word.strip() for word in value or () if word.strip()))


def as_read(transcript: Path) -> tuple[Segment, ...]:
    """Segments of a ``transcript.json`` as they are shown: normalised text where there is one."""
    record = read_json(transcript)
    return tuple(
        dataclasses.replace(segment_from(entry), text=entry.get("normalised") or entry["text"])
        for entry in record["segments"]
    )


def _formats(options: dict[str, Any]) -> list[subtitles.Format]:
    formats = list(options.get("formats") or ["srt"])
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise OptionError(
            Message(f"There is no subtitle format {unknown[0]!r}", f"没有字幕格式 {unknown[0]!r}"),
            Message(f"Choose from {', '.join(FORMATS)}.", f"请从 {', '.join(FORMATS)} 中选择。"),
        )
    return formats


def _written_down(folder: Path, segments: Iterator[Segment]) -> Iterator[Segment]:
    """Append each line to the partial file as it is found, so that the page can show it at once."""
    with (folder / PARTIAL).open("w", encoding="utf-8") as file:
        for segment in segments:
            file.write(json.dumps(dataclasses.asdict(segment), ensure_ascii=False) + "\n")
            file.flush()
            yield segment


def _save(folder: Path, transcript: Transcript, in_digits: bool, report: Report) -> None:
    """``transcript.json`` in the form of ``pipelines.records``, with ``normalised`` beside ``text`` when asked."""
    record = dataclasses.asdict(transcript)
    if in_digits and transcript.language not in itn.LANGUAGES:
        report.note(
            Message(
                "Numbers can be written in digits for Chinese and English only; the text is as it was heard.",
                "数字规整目前仅支持中文和英文,文字保持原样。",
            )
        )
    elif in_digits:
        for entry in record["segments"]:
            entry["normalised"] = itn.normalised(entry["text"], transcript.language)
    write_json(folder / TRANSCRIPT, record)
