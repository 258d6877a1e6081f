"""What the mouth will say: phones heard in a sound track, or spoken from a text.

The words of a sound track are recognised and their phones laid over the sound. Where no words are found (singing, a
language nobody here knows) the mouth follows the phones that are heard; music alone moves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipelines import media, phones
from pipelines.artifacts import fingerprint, options_key, run_stage
from pipelines.asr import RECOGNIZERS, RecognitionOptions, SpeechMap, align
from pipelines.errors import Message
from pipelines.progress import OneStage, Report
from pipelines.records import load_speech_times, save_speech_times
from pipelines.registry import EngineContext
from pipelines.sync.options import SyncOptions
from pipelines.types import Phone, Samples, Segment, Word

PHONES = "phones.json"
RECOGNIZER = "whisper"
MOSTLY = 0.5  # share of a phone that must lie in speech


def hear(
    folder: Path, asked: SyncOptions, audio: Path, context: EngineContext, report: Report
) -> tuple[Phone, ...]:
    """Phones of a sound track: recognised (or the given text laid over what was heard); none when nobody speaks."""
    key = options_key(audio=fingerprint(audio), text=asked.text, language=asked.language, version=3)

    def make() -> None:
        save_speech_times(folder / PHONES, _heard_phones(asked, audio, context, report), ())

    run_stage(folder, "listen", key, [PHONES], make)
    return load_speech_times(folder / PHONES)[0]


def _heard_phones(
    asked: SyncOptions, audio: Path, context: EngineContext, report: Report
) -> tuple[Phone, ...]:
    recognizer = RECOGNIZERS.get(RECOGNIZER, context)
    listening = OneStage(report, "listen")
    recognition = recognizer.recognize(audio, RecognitionOptions(language=asked.language), listening)
    segments: list[Segment] = []
    for segment in recognition.segments:
        segments.append(segment)
        report.step("listen", min(segment.end, recognition.duration), recognition.duration, "s")
    report.step("listen", recognition.duration, recognition.duration, "s")
    heard = phones.hear(_sound(audio, context, report, recognition.duration))
    if segments:
        return align.align_segments(follow_text(segments, asked.text), recognition.language, heard).phones
    found = voiced(phones.decode(heard), recognition.speech)
    if found:
        report.note(WORDLESS)
    return found


def voiced(heard: tuple[Phone, ...], speech: SpeechMap) -> tuple[Phone, ...]:
    """The phones that lie in speech: the network takes chords and tones for vowels, the voice activity network does not."""
    return tuple(phone for phone in heard if speech.share(phone.start, phone.end) > MOSTLY)


WORDLESS = Message(
    "No words were recognised in this sound: the lips follow what is heard, sound by sound.",
    "未能识别出文字:口型将直接跟随声音。",
)


def _sound(audio: Path, context: EngineContext, report: Report, duration: float) -> Iterator[Samples]:
    """The sound track for the phone network, in blocks."""
    done = 0
    for block in media.read_sound(audio, context.settings, sr=phones.SR):
        yield block
        done += len(block)
        report.step("listen", min(done / phones.SR, duration), duration, "s")


def follow_text(segments: list[Segment], text: str) -> list[Segment]:
    """What was heard, with the text that is known to be said in its place; nothing heard stays nothing."""
    if not text or not segments:
        return segments
    words = [
        word
        for segment in segments
        for word in (segment.words or (Word(segment.start, segment.end, segment.text),))
    ]
    return [Segment(segments[0].start, segments[-1].end, text, tuple(words))]


def speak(
    folder: Path, asked: SyncOptions, context: EngineContext, report: Report
) -> tuple[Path, tuple[Phone, ...]]:
    """Say the text in the reference's voice (else a stock voice); returns the sound file and its phones."""
    reference = Path(asked.reference)
    options: dict[str, Any] = {
        "text": asked.text,
        "language": asked.language,
        "engine": asked.voice_engine,
        "reference": str(reference) if asked.reference and reference.is_file() else None,
        "voice": asked.reference if asked.reference and not reference.is_file() else None,
    }
    from pipelines.speak import run as say

    spoken = say(folder, options, context, report)
    return folder / str(spoken["audio"]), load_speech_times(folder / PHONES)[0]
