"""The stage ``listen``: one recogniser over a file, its lines kept as they come; a channel is heard by itself where asked."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pipelines import phones
from pipelines.artifacts import fingerprint, options_key, run_stage
from pipelines.asr import (
    RECOGNIZERS,
    EngineContext,
    Recognition,
    RecognitionOptions,
    Recognizer,
    SpeechMap,
    itn,
)
from pipelines.asr.found import register_found
from pipelines.asr.known_text import lay_over
from pipelines.asr.marks import unpunctuated
from pipelines.asr.picture import speech_picture, together
from pipelines.asr.sentences import lines
from pipelines.clock import clock
from pipelines.diarise import find_turns, labelled
from pipelines.errors import InputError, Message
from pipelines.files import read_json, write_json
from pipelines.media import choose_track, read_sound
from pipelines.progress import NoteLevel, Report
from pipelines.records import save_speech_times, save_transcript
from pipelines.settings import Settings
from pipelines.speakers import speaker_id, speakers_of
from pipelines.transcribe.files import PHONES
from pipelines.transcribe.options import EACH, channel_of, known_text, recognition_options
from pipelines.transcribe.options import speakers_of as wanted_speakers
from pipelines.types import Samples, Segment, Transcript

TRANSCRIPT, PARTIAL, FACTS, SPEECH = "transcript.json", "partial.jsonl", "listened.json", "speech.json"


def listen(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """``transcript.json`` in ``folder``, skipped when it is there from the same file and options.

    Returns:
        ``language``, ``language_probability``, ``duration``, ``speech_seconds`` (seconds), ``segments`` (count),
        ``speakers`` (names).

    Raises:
        InputError: the file is not there, or its known text is another one. OptionError.
    """
    source = Path(options["input"])
    if not source.is_file():
        raise InputError(
            Message("The file is not there", "文件不存在"),
            Message("Check its name and place.", "请检查文件名和位置。"),
            str(source),
        )
    register_found(context.settings)
    engine = options.get("engine") or RECOGNIZERS.infos()[0].name
    asked, channel, speakers = recognition_options(options), channel_of(options), wanted_speakers(options)
    text = known_text(options)
    style = {"itn": bool(options.get("itn", False)), "punctuation": bool(options.get("punctuation", True))}
    if text:  # it is written as it is wanted
        style = {"itn": False, "punctuation": True}
    key = options_key(
        file=fingerprint(source),
        engine=engine,
        each=channel == EACH,
        speakers=speakers,
        text=text,
        **style,
        **dataclasses.asdict(asked),
    )

    def make() -> None:
        (folder / PHONES).unlink(missing_ok=True)  # of a text that was known before
        heard = _Heard(folder, source, RECOGNIZERS.get(engine, context), report)
        if channel == EACH:
            heard.each_channel(asked)
        else:
            heard.once(asked)
            if text:
                heard.put_on(text, asked, context.settings)
            if speakers is not None:
                heard.tell_apart(asked, context.settings, speakers if isinstance(speakers, int) else None)
        heard.save(**style)

    run_stage(folder, "listen", key, [TRANSCRIPT, FACTS, SPEECH, *([PHONES] if text else [])], make)
    facts: dict[str, Any] = read_json(folder / FACTS)
    return facts


class _Heard:
    """What one recogniser hears in a file, written down as it comes."""

    def __init__(self, folder: Path, source: Path, engine: Recognizer, report: Report) -> None:
        self._folder, self._source, self._engine, self._report = folder, source, engine, report
        self._segments: list[Segment] = []
        self._first: Recognition | None = None  # the one whose language and length count
        self._maps: list[SpeechMap] = []
        self._speech_seconds = 0.0
        (folder / PARTIAL).write_text("", encoding="utf-8")

    def once(
        self, asked: RecognitionOptions, speaker: str | None = None, report: Report | None = None
    ) -> None:
        """Listen to one mix or channel; with ``speaker`` its lines are all that speaker's."""
        recognition = self._engine.recognize(self._source, asked, report or self._report)
        if self._first is None or not self._segments:
            self._first = recognition
        self._maps.append(recognition.speech)
        write_json(self._folder / SPEECH, speech_picture(together(self._maps), asked.start))
        self._speech_seconds += recognition.speech_seconds
        for line in lines(recognition.segments, recognition.language):
            self._keep(dataclasses.replace(line, speaker=speaker) if speaker else line)

    def each_channel(self, asked: RecognitionOptions) -> None:
        """Listen to every channel by itself: its number is the speaker."""
        channels = choose_track(self._source, asked.stream).channels
        for number in range(channels):
            part = _PartOfSeveral(self._report, number, channels)
            self.once(dataclasses.replace(asked, channel=number), speaker_id(number), part)

    def tell_apart(self, asked: RecognitionOptions, settings: Settings, count: int | None) -> None:
        """Give every line its speaker, by the sound of the voices."""
        if self._first is None or not self._segments:
            return
        speech = self._first.speech
        turns = find_turns(self._source, asked, speech, settings, self._report, count)
        self._segments = list(labelled(self._segments, turns, self._first.language))

    def put_on(self, text: str, asked: RecognitionOptions, settings: Settings) -> None:
        """The known text in the place of what was heard, with exact times; what does not fit is told."""
        if self._first is None or not self._segments:
            save_speech_times(self._folder / PHONES, (), ())
            return
        sound = read_sound(
            self._source, settings, sr=phones.SR, stream=asked.stream, channel=asked.channel,
            start=asked.start, end=asked.end,
        )  # fmt: skip
        heard = phones.hear(self._watched(sound, self._first.duration))
        laid = lay_over(text, self._segments, self._first.language, heard, asked.start)
        self._segments = list(laid.segments)
        save_speech_times(self._folder / PHONES, laid.phones, ())
        for part in laid.unheard:
            self._report.note(Message(f"Not heard in the sound: {part}", f"音频中没有听到:{part}"), "warning")
        for other in laid.unwritten:
            self._report.note(
                Message(
                    f"Said at {clock(other.start)}, but not in the text: {other.text}",
                    f"{clock(other.start)} 处说了文字中没有的内容:{other.text}",
                ),
                "warning",
            )

    def _watched(self, sound: Iterable[Samples], duration: float) -> Iterator[Samples]:
        done = 0
        for block in sound:
            yield block
            done += len(block)
            self._report.step("align", min(done / phones.SR, duration), duration, "s")

    def _keep(self, segment: Segment) -> None:
        """Append a line to the partial file, so that the page can show it at once."""
        self._segments.append(segment)
        with (self._folder / PARTIAL).open("a", encoding="utf-8") as file:
            file.write(json.dumps(dataclasses.asdict(segment), ensure_ascii=False) + "\n")

    def save(self, itn: bool, punctuation: bool) -> None:
        """The transcript and the facts about it, lines in order of time."""
        first = self._first
        if first is None:  # a track without channels does not exist
            raise RuntimeError("nothing was listened to")
        if not self._segments:
            self._report.note(NOBODY, "warning")
        segments = tuple(sorted(self._segments, key=lambda line: line.start))
        segments = tuple(_written(segments, first.language, itn, self._report))
        if not punctuation:
            segments = tuple(unpunctuated(segment) for segment in segments)
        save_transcript(self._folder / TRANSCRIPT, Transcript(first.language, segments))
        write_json(
            self._folder / FACTS,
            {
                "language": first.language,
                "language_probability": round(first.language_probability, 4),
                "duration": first.duration,
                "speech_seconds": self._speech_seconds,
                "segments": len(segments),
                "speakers": list(speakers_of(segments)),
            },
        )


NOBODY = Message("Nobody speaks in this sound: the transcript is empty.", "没有检测到人声,文字稿为空。")


def _written(
    segments: tuple[Segment, ...], language: str, in_digits: bool, report: Report
) -> Iterator[Segment]:
    """The segments with ``normalised`` beside ``text`` when asked."""
    if not in_digits or language not in itn.LANGUAGES:
        if in_digits and segments:
            report.note(
                Message(
                    "Numbers can be written in digits for Chinese and English only; the text is as it was heard.",
                    "数字规整目前仅支持中文和英文,文字保持原样。",
                )
            )
        yield from segments
        return
    for segment in segments:
        yield dataclasses.replace(segment, normalised=itn.normalised(segment.text, language))


class _PartOfSeveral:
    """Shows one of several equal passes over a file as its part of the whole."""

    def __init__(self, report: Report, number: int, count: int) -> None:
        self._report, self._number, self._count = report, number, count

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        """Report, as a place within all passes."""
        if total is None:
            self._report.step(stage, done, total, unit)
        else:
            self._report.step(stage, done + self._number * total, total * self._count, unit)

    def note(self, message: Message, level: NoteLevel = "hint") -> None:
        """Pass the note on."""
        self._report.note(message, level)
