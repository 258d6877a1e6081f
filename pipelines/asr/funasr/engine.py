"""Recognisers over FunASR's Paraformer and SenseVoice: speech first, short windows cut in pauses, marks by ct-punc."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from pipelines import weights
from pipelines.asr import EngineContext, Recognition, RecognitionOptions
from pipelines.asr.funasr.loading import load, model_kind
from pipelines.asr.funasr.results import punctuated, words_of
from pipelines.asr.hearing import find_speech, sound_blocks
from pipelines.asr.listener import STAGE, shifted
from pipelines.asr.vad import RATE, SpeechMap
from pipelines.asr.windows import Window, cut, plan_windows
from pipelines.asr.words import line_text, words_in_script
from pipelines.attentive import attentive
from pipelines.errors import Message, OptionError
from pipelines.languages import language_name
from pipelines.progress import Report
from pipelines.types import Samples, Segment, Word

PUNCTUATION = "funasr-punc"  # id in weights/manifest.toml
LONGEST = 28.0  # seconds: more in one window costs memory by the square
SHORTEST = 0.1  # seconds: FunASR divides by zero on less
MOST_HOTWORDS = 50  # SeACo keeps the best fifty


class FunasrModel(ABC):
    """What the engines share; ``languages`` are those a model can be told, the first is assumed."""

    item: ClassVar[str]
    languages: ClassVar[tuple[str, ...]]

    def __init__(self, context: EngineContext) -> None:
        settings, policy = context.settings, context.policy
        self._settings = settings
        self._folder = weights.locate(settings, self.item)
        self._model = load(self._folder, policy)
        self._marks = (
            load(weights.locate(settings, PUNCTUATION), policy)
            if weights.present(settings, PUNCTUATION)
            else None
        )

    def recognize(self, path: Path, options: RecognitionOptions, report: Report) -> Recognition:
        """Listen to any media file; see ``Recognizer.recognize``.

        Raises:
            NoSoundTrack, MediaError: from reading the file. OptionError: a language the model does not know.
        """
        language = self._language(options.language)
        speech = find_speech(path, options, self._settings, report)
        windows = plan_windows(speech, LONGEST, options.vad)
        return Recognition(
            language=language,
            language_probability=1.0 if options.language else 0.0,
            duration=speech.duration,
            speech_seconds=speech.seconds,
            segments=self._segments(path, options, language, speech, windows, report),
            speech=speech,
        )

    def _language(self, asked: str | None) -> str:
        if asked and asked not in self.languages:
            name = language_name(asked)
            raise OptionError(
                Message(f"This model does not understand {name.en}", f"该模型不支持{name.zh}"),
                Message("Choose another language or engine.", "请选择其他语言或引擎。"),
                str(self._folder.name),
            )
        return asked or self.languages[0]

    def _segments(
        self,
        path: Path,
        options: RecognitionOptions,
        language: str,
        speech: SpeechMap,
        windows: tuple[Window, ...],
        report: Report,
    ) -> Iterator[Segment]:
        for window, sound in cut(sound_blocks(path, options, self._settings), windows):
            position = window.start

            def look() -> None:
                report.step(STAGE, position, speech.duration, "s")  # noqa: B023  # called within this round only

            look()
            for words in attentive(self._heard(sound, language, options), look):
                yield from self._placed(words, window, language, options)
        report.step(STAGE, speech.duration, speech.duration, "s")

    def _heard(
        self, sound: Samples, language: str, options: RecognitionOptions
    ) -> Iterator[tuple[Word, ...]]:
        """The words of one window, in seconds from its beginning, with marks."""
        seconds = len(sound) / RATE
        if seconds < SHORTEST:
            return
        answers = self._answers(sound, language, options)
        words = words_of(answers[0], seconds) if answers else ()
        if words and self._marks is not None:
            found = self._marks.generate(input=" ".join(word.text for word in words))
            words = punctuated(words, str(found[0].get("text") or "")) if found else words
        if words:
            yield words

    @abstractmethod
    def _answers(self, sound: Samples, language: str, options: RecognitionOptions) -> list[dict[str, Any]]:
        """What the model says of one window, as FunASR returns it."""

    def _placed(
        self, words: tuple[Word, ...], window: Window, language: str, options: RecognitionOptions
    ) -> Iterator[Segment]:
        """A window's words on the file's clock, parted where its sound was joined."""
        parts: dict[int, list[Word]] = {}
        for word in words_in_script(words, options.script) if language == "zh" else words:
            start, end, piece = window.place(word.start, word.end)
            parts.setdefault(piece, []).append(Word(start, end, word.text, word.prob))
        for part in parts.values():
            text = line_text(part, language)
            kept = tuple(part) if options.word_times else ()
            yield shifted(Segment(part[0].start, part[-1].end, text, kept), options.start)


class Paraformer(FunasrModel):
    """Paraformer-large, with hotwords where it is the SeACo one; follows the ``Recognizer`` protocol."""

    item = "funasr-paraformer"
    languages = ("zh",)

    def _answers(self, sound: Samples, language: str, options: RecognitionOptions) -> list[dict[str, Any]]:
        told = {"hotword": told_hotwords(options.hotwords)} if "Seaco" in model_kind(self._folder) else {}
        answers: list[dict[str, Any]] = self._model.generate(input=sound, fs=RATE, **told)
        return answers


class SenseVoice(FunasrModel):
    """SenseVoiceSmall: five languages, no hotwords; follows the ``Recognizer`` protocol.

    With ct-punc it is asked for the bare words, so that numbers stay as they were said; alone it sets marks, and digits, itself.
    """

    item = "funasr-sensevoice"
    languages = ("zh", "en", "ja", "ko", "yue")

    def _answers(self, sound: Samples, language: str, options: RecognitionOptions) -> list[dict[str, Any]]:
        asked = {
            "input": sound,
            "fs": RATE,
            "language": language if options.language else "auto",
            "use_itn": self._marks is None,
        }
        try:
            answers: list[dict[str, Any]] = self._model.generate(**asked, output_timestamp=True)
        except (IndexError, RuntimeError):  # its alignment fails on some sounds: without times they are heard
            answers = self._model.generate(**asked)
        return answers


def told_hotwords(hotwords: tuple[str, ...]) -> str | None:
    """Hotwords as FunASR takes them, separated by spaces.

    It would fetch a text that begins with "http" and open one that ends in ".txt" as a file: such words are left out.
    """
    words = [part for word in hotwords for part in word.split()]
    safe = [
        word for word in words if not word.lower().startswith("http") and not word.lower().endswith(".txt")
    ]
    return " ".join(safe[:MOST_HOTWORDS]) or None
