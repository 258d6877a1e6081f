"""The language of a text: single sentences and short phrases of every language that can be spoken."""

from __future__ import annotations

import socket

import pytest

from pipelines.errors import OptionError
from pipelines.text.detection import find_language

SPEAKABLE = ("en", "zh", "es", "fr", "it", "pt", "hi", "ja")
SENTENCES = {
    "en": (
        "We need to travel to Shanghai by train.",
        "Good morning, all 3 of you.",
        "Thank you very much",
        "My name is Anna.",
    ),
    "es": (
        "Necesitamos viajar a Shanghái en tren.",
        "¿Dónde estás?",
        "Hoy hace buen tiempo",
        "Muchas gracias",
    ),
    "fr": ("Nous devons aller à Shanghai en train.", "Merci beaucoup", "Je m'appelle Anne.", "À demain"),
    "it": ("Dobbiamo andare a Shanghai in treno.", "Sì, certo", "Mi chiamo Anna.", "Oggi fa bel tempo"),
    "pt": ("Precisamos viajar para Xangai de trem.", "Onde você está?", "Até amanhã", "Eu não sei"),
    "hi": ("आप कैसे हैं?",),
    "zh": ("我们坐火车去上海。", "我的 iPhone 很好用"),
    "ja": ("東京へ行きます", "ありがとう"),
}


@pytest.mark.parametrize("language", SENTENCES)
def test_sentences_and_phrases_are_told_apart(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert {text: find_language(text, SPEAKABLE).code for text in SENTENCES[language]} == dict.fromkeys(
        SENTENCES[language], language
    )


def test_a_whole_sentence_is_sure_and_a_word_or_a_number_is_not() -> None:
    assert find_language("Necesitamos viajar a Shanghái en tren.", SPEAKABLE).sure
    assert not find_language("Hola.", SPEAKABLE).sure
    assert find_language("2026 😀", SPEAKABLE) == find_language("…", SPEAKABLE)
    assert find_language("2026 😀", SPEAKABLE).code == "en" and not find_language("2026 😀", SPEAKABLE).sure


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Wir müssen mit dem Zug nach Shanghai fahren.", "German"),
        ("Мы едем на поезде.", "Russian"),
        ("안녕하세요", "Korean"),
    ],
)
def test_a_language_nobody_speaks_is_refused_by_name(text: str, name: str) -> None:
    with pytest.raises(OptionError, match=f"in {name}, which no voice here speaks"):
        find_language(text, SPEAKABLE)


def test_only_what_the_engine_speaks_is_ever_found() -> None:
    assert find_language("Muchas gracias", ("en", "pt")).code in ("en", "pt")
