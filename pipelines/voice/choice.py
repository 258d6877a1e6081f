"""Whose voice speaks: that of a recording, a saved one, or one that comes with the engine."""

from __future__ import annotations

from pathlib import Path

from pipelines.errors import Message, OptionError
from pipelines.progress import Report
from pipelines.settings import Settings
from pipelines.types import VoiceProfile
from pipelines.voice import StockVoices, VoiceEngine
from pipelines.voice.library import list_voices, load_voice

LONGEST_REFERENCE = 300.0  # seconds of a recording that are searched for its cleanest stretch
REFERENCE_RATE = 48_000  # voice matching looks at the whole bandwidth of the recording


def learn(
    engine: VoiceEngine,
    recording: Path,
    settings: Settings,
    report: Report,
    *,
    stream: int | None = None,
    start: float = 0.0,
    end: float = LONGEST_REFERENCE,
) -> VoiceProfile:
    """A voice like that of a sound or video file, named after the file.

    Args:
        stream: absolute index of the sound track, None for the default one; start, end: seconds of it to look at.

    Raises:
        NoSpeech: less than 3 s of speech. MediaError: the file cannot be read.
    """
    from pipelines.media import load_sound

    report.step("voice", 0, None, "steps")
    sound = load_sound(recording, settings, sr=REFERENCE_RATE, stream=stream, start=start, end=end)
    return engine.enroll(sound, recording.stem, report)


def find(engine: VoiceEngine, name: str | None, language: str, settings: Settings) -> VoiceProfile:
    """The voice of that name, saved ones first; without a name the engine's own for the language.

    Raises:
        OptionError: there is no voice of that name, or the engine has none of its own.
        InputError: the saved voice cannot be read.
    """
    saved = settings.outputs / "voices"
    if name and (name in list_voices(saved) or not isinstance(engine, StockVoices)):
        return load_voice(saved, name)
    if isinstance(engine, StockVoices):
        return engine.stock(name, language)
    raise OptionError(
        Message("This engine has no voice of its own", "该引擎没有内置声音"),
        Message("Give a recording of the voice, 3 to 15 s long.", "请提供 3 到 15 秒的参考音频。"),
    )
