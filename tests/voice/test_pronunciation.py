"""Every written word gets its symbols, all of them known to the voice, in every language."""

from __future__ import annotations

import json

import pytest

from pipelines.errors import OptionError
from pipelines.g2p.symbols import SYMBOLS
from pipelines.pronunciation import pronounce, speakable_languages
from pipelines.settings import Settings

TEXTS = {
    "en": "Dr. Smith paid $3.50 for 25 cats; we'll see the head of the state -- text-to-speech! 😀",
    "zh": "我们在 Python 3 里，用了25个模型。“好的”，COVID-19！",
    "es": "El 12/05/2023 pagué 1.500,50 € ¿verdad? ¡Sí!",
    "fr": "Les enfants vont à l’école aujourd’hui, n’est-ce pas ? 25",
    "it": "Andiamo a casa, 25 amici.",
    "pt": "Nós não vamos à praia às 15:30.",
    "hi": "नमस्ते, आप कैसे हैं 25?",
    "ja": "2023年12月5日の午後2時に会いましょう。私はSonyのカメラを買った。",
}


def said(text: str, language: str) -> list[tuple[str, str]]:
    return [(item.text, "".join(item.symbols)) for item in pronounce(text, language)]


def test_all_eight_languages_can_be_spoken() -> None:
    assert set(speakable_languages()) == set(TEXTS)


def test_symbols_are_those_of_the_weights() -> None:
    table = json.loads((Settings.load().weights / "kokoro" / "vocab.json").read_text("utf-8"))["vocab"]
    assert set(table) == SYMBOLS


@pytest.mark.parametrize("language", TEXTS)
def test_every_symbol_is_known_and_no_word_is_lost(language: str) -> None:
    found = pronounce(TEXTS[language], language)
    assert found
    for item in found:
        assert item.symbols and set(item.symbols) <= SYMBOLS, item
    letters = "".join(c for c in TEXTS[language].replace("’", "'") if c.isalpha() or c.isdigit())
    kept = "".join(c for item in found for c in item.text if c.isalpha() or c.isdigit())
    assert kept == letters


def test_english_in_the_notation_of_the_voice() -> None:
    assert said("My boy, go now: they judge much.", "en") == [
        ("My", "mI"),
        ("boy", "bˈY"),
        (",", ","),
        ("go", "ɡˌO"),
        ("now", "nˈW"),
        (":", ":"),
        ("they", "ðA"),
        ("judge", "ʤˈʌʤ"),
        ("much", "mˈʌʧ"),
        (".", "."),
    ]


def test_words_that_espeak_joins_are_told_apart() -> None:
    assert said("the head of the state was in the house", "en") == [
        ("the", "ðə"),
        ("head", "hˈɛd"),
        ("of", "ʌv"),
        ("the", "ðə"),
        ("state", "stˈAt"),
        ("was", "wʌz"),
        ("in", "ɪn"),
        ("the", "ðə"),
        ("house", "hˈWs"),
    ]


def test_a_written_number_carries_the_spoken_one() -> None:
    assert said("paid $3.50 for 25 cats", "en") == [
        ("paid", "pˈAd"),
        ("$3.50", "θɹˈi dˈɑləɹz ænd fˈɪfti sˈɛnts"),
        ("for", "fɔɹ"),
        ("25", "twˈɛnti fˈIv"),
        ("cats", "kˈæts"),
    ]


def test_latin_words_in_chinese_are_said_in_english() -> None:
    assert said("我用 Python 写代码。", "zh") == [
        ("我用", "wo↓jʊ↘ŋ"),
        ("Python", "pˈIθən"),
        ("写", "ɕje↓"),
        ("代码", "tai↘ma↓"),
        ("。", "."),
    ]


def test_traditional_characters_are_read_as_simplified_and_shown_as_written() -> None:
    one, other = pronounce("後來的軟體", "zh"), pronounce("后来的软体", "zh")
    assert [item.symbols for item in one] == [item.symbols for item in other]
    assert "".join(item.text for item in one) == "後來的軟體"


def test_chinese_clause_in_english_text_is_said_in_chinese() -> None:
    assert said("Hello, 你好!", "en")[2:] == [("你好", "ni↓xau↓"), ("!", "!")]


def test_japanese_counts_hours_as_people_do() -> None:
    assert "".join(symbols for _, symbols in said("2時に", "ja")) == "ɲiʥiɲi"


@pytest.mark.parametrize("text", ["", "😀", "...", "。。。"])
def test_nothing_to_say(text: str) -> None:
    assert pronounce(text, "en") == ()


def test_unknown_language_is_refused_with_the_list() -> None:
    with pytest.raises(OptionError, match=r"'xx' is not available.*en, zh, es"):
        pronounce("hello", "xx")
