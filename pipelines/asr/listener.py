"""How Whisper is listened with, whatever computes it: speech first, windows cut in pauses, doubtful text taken out.

Two passes over the file, neither of which holds more than five minutes of it: the first finds the speech (voice
activity) and asks for the language on speech only; the second hears windows of speech that are cut in pauses.
Facts behind the settings: conditioning on earlier text off (it loops), word times on (cues follow words), beam 5.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.asr import Recognition, RecognitionOptions
from pipelines.asr.chinese import Script
from pipelines.asr.filters import Heard, believable
from pipelines.asr.hearing import find_speech, sound_blocks
from pipelines.asr.vad import RATE, SpeechMap
from pipelines.asr.windows import Window, cut, plan_windows
from pipelines.asr.words import finished
from pipelines.attentive import attentive
from pipelines.errors import Message, OptionError
from pipelines.languages import language_code, language_name
from pipelines.progress import Report
from pipelines.settings import Settings
from pipelines.types import Samples, Segment, Word

STAGE = "listen"
# Keeps Mandarin in simplified characters with punctuation; both go missing without it.
MANDARIN_PROMPT = "以下是普通话的句子。"
TRADITIONAL_PROMPT = "以下是普通話的句子。"
LANGUAGE_SAMPLES, SAMPLE_SECONDS = 4, 30.0
WHISPER_CODES = {"jv": "jw", "nb": "no"}  # its own spelling of ours
NOTHING_LEFT = 0.15  # seconds of speech after a segment that are worth decoding


class WhisperListener:
    """What the engines that run Whisper share; ``model`` has the interface of ``faster_whisper.WhisperModel``."""

    def __init__(self, settings: Settings, model: Any) -> None:
        self._settings = settings
        self._model = model

    def recognize(self, path: Path, options: RecognitionOptions, report: Report) -> Recognition:
        """Listen to any media file; see ``Recognizer.recognize``.

        Raises:
            NoSoundTrack, MediaError: from reading the file. OptionError: a language Whisper does not know.
        """
        asked = self._asked_language(options.language)
        speech = find_speech(path, options, self._settings, report)
        windows = plan_windows(speech, options=options.vad)
        if not windows:
            return Recognition(asked or "und", 0.0, speech.duration, 0.0, iter(()), speech)
        language, probability = (asked, 1.0) if asked else self._detect(path, options, windows, report)
        return Recognition(
            language=language,
            language_probability=probability,
            duration=speech.duration,
            speech_seconds=speech.seconds,
            segments=self._segments(path, options, language, speech, windows, report),
            speech=speech,
        )

    def _asked_language(self, language: str | None) -> str | None:
        if not language or language == "auto":
            return None
        code = language_code(language)
        if WHISPER_CODES.get(code, code) not in self._model.supported_languages:
            name = language_name(code)
            raise OptionError(
                Message(f"Whisper does not understand {name.en}", f"Whisper 不支持{name.zh}"),
                Message("Choose another language or let it be detected.", "请选择其他语言,或使用自动检测。"),
            )
        return code

    def _detect(
        self, path: Path, options: RecognitionOptions, windows: tuple[Window, ...], report: Report
    ) -> tuple[str, float]:
        """The language with the highest mean probability over samples of speech spread over the file."""
        total: dict[str, float] = {}
        samples = language_samples(windows)
        for sample in samples:
            report.step(STAGE, 0, unit="s")
            blocks = sound_blocks(path, options, self._settings, sample.start, sample.end)
            shift = sample.pieces[0][0]
            near = Window(tuple((first - shift, last - shift) for first, last in sample.pieces))
            for _, sound in cut(blocks, (near,)):
                _, _, probabilities = self._model.detect_language(sound)
                for code, probability in probabilities:
                    total[code] = total.get(code, 0.0) + probability / len(samples)
        best = max(total, key=lambda code: total[code]) if total else "en"
        return language_code(best), total.get(best, 0.0)

    def _segments(
        self,
        path: Path,
        options: RecognitionOptions,
        language: str,
        speech: SpeechMap,
        windows: tuple[Window, ...],
        report: Report,
    ) -> Iterator[Segment]:
        prompt = prompt_for(language, options.hotwords, options.prompt, options.script)
        heard = self._heard(path, options, language, prompt, speech, windows, report)
        for segment in believable(heard, speech, prompt):
            done = finished(segment, language, options.script)
            if not done.text:
                continue
            words = done.words if options.word_times else ()
            yield shifted(dataclasses.replace(done, words=words), options.start)
        report.step(STAGE, speech.duration, speech.duration, "s")

    def _heard(
        self,
        path: Path,
        options: RecognitionOptions,
        language: str,
        prompt: str,
        speech: SpeechMap,
        windows: tuple[Window, ...],
        report: Report,
    ) -> Iterator[Heard]:
        blocks = sound_blocks(path, options, self._settings)
        for window, sound in cut(blocks, windows):
            position = window.start

            def look() -> None:
                report.step(STAGE, position, speech.duration, "s")  # noqa: B023  # called within this round only

            look()
            for raw in attentive(self._decode(sound, language, prompt, options.quick), look):
                pieces = placed(raw, window)
                yield from pieces
                position = max(position, pieces[-1].segment.end)
                look()
                if speech.within(position, window.end) < NOTHING_LEFT:
                    break  # what follows is silence, on which Whisper makes things up, slowly

    def _decode(self, sound: Samples, language: str, prompt: str, quick: bool) -> Iterator[Any]:
        segments, _ = self._model.transcribe(
            sound,
            language=WHISPER_CODES.get(language, language),
            beam_size=1 if quick else 5,
            condition_on_previous_text=False,
            word_timestamps=not quick,
            hotwords=prompt or None,
        )
        yield from segments


def prompt_for(
    language: str, hotwords: tuple[str, ...], prompt: str = "", script: Script = "simplified"
) -> str:
    """What Whisper is told before every stretch of 30 s: a sentence for its style, then the hotwords.

    Whisper keeps about 220 tokens of it from the beginning, so the most important hotwords come first.
    """
    words = [word.strip() for word in hotwords if word.strip()]
    style = prompt.strip()
    if language == "zh":
        style = style or (TRADITIONAL_PROMPT if script == "traditional" else MANDARIN_PROMPT)
        return style + "".join(f"{word}。" for word in words)
    return " ".join(part for part in (style, ", ".join(words)) if part)


def language_samples(windows: tuple[Window, ...]) -> tuple[Window, ...]:
    """Up to four stretches of at most 30 s of speech, the first at the beginning, the others spread evenly."""
    wanted = int(SAMPLE_SECONDS * RATE)
    pieces = [
        (at, min(at + wanted, last))
        for window in windows
        for first, last in window.pieces
        for at in range(first, last, wanted)
    ]
    samples: list[list[tuple[int, int]]] = []
    held = 0
    for first, last in pieces:
        if not samples or held + last - first > wanted:
            samples.append([])
            held = 0
        samples[-1].append((first, last))
        held += last - first
    chosen = sorted({round(i) for i in np.linspace(0, len(samples) - 1, LANGUAGE_SAMPLES)})
    return tuple(Window(tuple(samples[number])) for number in chosen)


def placed(raw: Any, window: Window) -> tuple[Heard, ...]:
    """A faster-whisper segment on the file's clock, parted where the window's sound was joined."""
    parts: dict[int, list[Word]] = {}
    for word in raw.words or ():
        start, end, piece = window.place(float(word.start), float(word.end))
        parts.setdefault(piece, []).append(Word(start, end, word.word, float(word.probability)))
    doubts = float(raw.no_speech_prob), float(raw.avg_logprob)
    if not parts:
        start, end, _ = window.place(float(raw.start), float(raw.end))
        return (Heard(Segment(start, end, raw.text), *doubts),)
    return tuple(
        Heard(Segment(words[0].start, words[-1].end, "".join(w.text for w in words), tuple(words)), *doubts)
        for words in parts.values()
    )


def shifted(segment: Segment, seconds: float) -> Segment:
    """The segment with all its times moved by ``seconds``."""
    if not seconds:
        return segment
    words = tuple(dataclasses.replace(w, start=w.start + seconds, end=w.end + seconds) for w in segment.words)
    return dataclasses.replace(segment, start=segment.start + seconds, end=segment.end + seconds, words=words)
