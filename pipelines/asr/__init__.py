"""Speech to text: the protocol every recogniser keeps, and the registry of recognisers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pipelines.asr.chinese import Script
from pipelines.asr.vad import SpeechMap
from pipelines.asr.vad_options import VadOptions, vad_options
from pipelines.errors import Message
from pipelines.progress import Report
from pipelines.registry import EngineContext, EngineInfo, Registry
from pipelines.types import Segment

__all__ = [
    "RECOGNIZERS",
    "EngineContext",
    "Recognition",
    "RecognitionOptions",
    "Recognizer",
    "Script",
    "SpeechMap",
    "VadOptions",
    "vad_options",
]


@dataclass(frozen=True, slots=True)
class RecognitionOptions:
    """What to listen for.

    Attributes:
        language: ISO 639-1 code, or None to detect it on the first speech.
        stream: absolute stream index of the sound track, or None for the default track.
        channel: None for a mono mix, else 0, 1… for one channel alone.
        start, end: range in seconds of the file (end None: to the end).
        hotwords: words to expect, the most important first, for engines with the feature ``hotwords``.
        word_times: whether words with times are wanted.
        prompt: a sentence in the style of the text that is wanted, for engines with the feature ``prompt``.
        vad: what counts as speech.
        script: characters that Chinese is written in; ``heard`` leaves them as the engine writes them.
        quick: a first guess soon rather than the best one, for text that is heard again anyway.
    """

    language: str | None = None
    stream: int | None = None
    channel: int | None = None
    start: float = 0.0
    end: float | None = None
    hotwords: tuple[str, ...] = ()
    word_times: bool = True
    prompt: str = ""
    vad: VadOptions = field(default_factory=VadOptions)
    script: Script = "simplified"
    quick: bool = False


@dataclass(frozen=True, slots=True)
class Recognition:
    """A running recognition: the language is known first, segments arrive while the file is being heard.

    Segments are in order of time, do not overlap, and lie inside the file; on silence, noise or music there are none.
    ``speech`` is where somebody speaks, in seconds from the start of the asked range.
    """

    language: str
    language_probability: float
    duration: float
    speech_seconds: float
    segments: Iterator[Segment]
    speech: SpeechMap


class Recognizer(Protocol):
    """An engine that turns speech into text; built with an ``EngineContext``."""

    def recognize(self, path: Path, options: RecognitionOptions, report: Report) -> Recognition:
        """Listen to any media file in constant memory; segments carry words when ``word_times`` is set.

        Raises:
            NoSoundTrack: the file has no sound. MediaError: it cannot be read.
        """
        ...


RECOGNIZERS: Registry[Recognizer] = Registry(Message("transcription", "语音识别"))


WHISPER_FEATURES = frozenset(
    {"language", "hotwords", "prompt", "itn", "word-times", "speakers", "punctuation"}
)
WHISPER_LIMITS = (
    (
        "hotword-weights",
        Message(
            "Whisper knows no weights: the heaviest hotwords come first, and stay when the list is too long.",
            "Whisper 不支持权重:权重高的热词排在前面,列表过长时优先保留。",
        ),
    ),
)


def _add_whisper(name: str, item: str, kind: str, label: Message) -> None:
    """CTranslate2's engine for a model; from PyPI it has no backend for AMD cards and Apple's graphics."""
    RECOGNIZERS.add(
        EngineInfo(
            name=name,
            label=label,
            licence="MIT (code and weights)",
            packages=("faster_whisper", "ctranslate2"),
            weights=(item,),
            families=frozenset({"cuda", "cpu"}),
            runs_on="device",
            features=WHISPER_FEATURES,
            limits=WHISPER_LIMITS,
            stand_in=f"{name}-torch",
        ),
        f"pipelines.asr.whisper:{kind}",
    )


def _add_whisper_torch(name: str, item: str, kind: str, label: Message) -> None:
    """The same model by torch: several times slower on a CPU, so it never comes before the other."""
    RECOGNIZERS.add(
        EngineInfo(
            name=f"{name}-torch",
            label=Message(
                f"{label.en} by PyTorch, for AMD and Apple graphics",
                f"{label.zh} PyTorch 版,适用于 AMD 与 Apple 显卡",
            ),
            licence="MIT (code and weights)",
            packages=("faster_whisper", "torch", "torchaudio", "safetensors"),
            weights=(item,),
            runs_on="device",
            features=WHISPER_FEATURES,
            limits=WHISPER_LIMITS,
        ),
        f"pipelines.asr.whisper_torch.engine:{kind}Torch",
    )


# One engine for every model that weights/manifest.toml offers; the larger ones are ready once their files are there.
_MODELS = (
    ("whisper", "whisper-base", "Whisper", Message("Whisper (base, multilingual)", "Whisper(base,多语言)")),
    (
        "whisper-small",
        "whisper-small",
        "WhisperSmall",
        Message("Whisper (small: fewer mistakes, slower)", "Whisper(small:更准,较慢)"),
    ),
    (
        "whisper-large-v3",
        "whisper-large-v3",
        "WhisperLarge",
        Message("Whisper (large v3: best with a graphics card)", "Whisper(large v3:建议使用显卡)"),
    ),
)
for _model in _MODELS:
    _add_whisper(*_model)
for _model in _MODELS:
    _add_whisper_torch(*_model)

FUNASR_PACKAGES = ("funasr", "kaldi_native_fbank", "torch", "faster_whisper")
NO_STYLE = (
    "prompt",
    Message("FunASR's models take no style prompt.", "FunASR 模型不支持风格提示。"),
)
RECOGNIZERS.add(
    EngineInfo(
        name="funasr",
        label=Message("FunASR Paraformer (Mandarin, with hotwords)", "FunASR Paraformer(普通话,支持热词)"),
        licence="MIT (code); FunASR model licence (weights)",
        packages=FUNASR_PACKAGES,
        weights=("funasr-paraformer",),
        optional_weights=("funasr-punc",),
        runs_on="device",
        features=frozenset({"hotwords", "itn", "word-times", "speakers", "punctuation"}),
        limits=(
            (
                "language",
                Message(
                    "This model hears Mandarin, with some English words.", "该模型识别普通话及少量英文单词。"
                ),
            ),
            (
                "hotword-weights",
                Message(
                    "This model knows no weights: the fifty heaviest hotwords are used.",
                    "该模型不支持权重:使用权重最高的 50 个热词。",
                ),
            ),
            NO_STYLE,
        ),
    ),
    "pipelines.asr.funasr.engine:Paraformer",
)
RECOGNIZERS.add(
    EngineInfo(
        name="funasr-sensevoice",
        label=Message("FunASR SenseVoice (zh, en, yue, ja, ko)", "FunASR SenseVoice(中、英、粤、日、韩)"),
        licence="MIT (code); FunASR model licence (weights)",
        packages=FUNASR_PACKAGES,
        weights=("funasr-sensevoice",),
        optional_weights=("funasr-punc",),
        runs_on="device",
        features=frozenset({"language", "itn", "word-times", "speakers", "punctuation"}),
        limits=(
            ("hotwords", Message("SenseVoice has no hotwords.", "SenseVoice 不支持热词。")),
            ("hotword-weights", Message("SenseVoice has no hotwords.", "SenseVoice 不支持热词。")),
            NO_STYLE,
        ),
    ),
    "pipelines.asr.funasr.engine:SenseVoice",
)
