"""What a writer may ask for inside a text, and the glossary: words that are said as the user says."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines import glossary
from pipelines.errors import InputError, OptionError
from pipelines.g2p.given import emphasised, given_symbols
from pipelines.pronunciation import pronounce, reading
from pipelines.settings import Settings
from pipelines.text.marks import Part, between_pauses, parts, written


def test_marks_are_told_from_the_text() -> None:
    text = "Go [0.5s] <live|L AY1 V> and *really* win 5 < 6 * 7 | x [note]"
    assert parts(text) == (
        Part("Go"),
        Part("", pause=0.5),
        Part("live", says="L AY1 V"),
        Part(" and "),
        Part("really", emphasis=True),
        Part(" win 5 < 6 * 7 | x [note]"),
    )
    assert written(text) == "Go live and really win 5 < 6 * 7 | x [note]"
    assert parts("plain * text * here") == (Part("plain * text * here"),)
    assert between_pauses("One. [1.5S] Two [99s]") == (("One.", 1.5), ("Two", 30.0), ("", 0.0))


@pytest.mark.parametrize(
    ("says", "language", "symbols"),
    [
        ("XING2", "zh", "ɕi↗ŋ"),
        ("hang2 ye4", "zh", "xa↗ŋje↘"),
        ("lü4", "zh", "ly↘"),
        ("/ˈmɪnɪt/", "en", "ˈmɪnɪt"),
        ("/təˈmeɪtoʊ/", "en", "təˈmAtO"),
        ("M IH1 N AH0 T", "en", "mˈɪnət"),
        ("dub right", "en", None),
        ("IBM", "en", None),
        ("A B", "en", None),
    ],
)
def test_pronunciations_that_are_given(says: str, language: str, symbols: str | None) -> None:
    found = given_symbols(says, language)
    assert found == (None if symbols is None else tuple(symbols))


@pytest.mark.parametrize("says", ["/ˈʘa/", "XQZ2"])
def test_a_sound_nobody_knows_is_refused(says: str) -> None:
    with pytest.raises(OptionError, match="do not know the sound"):
        given_symbols(says, "zh")


def test_emphasis_stresses_the_vowel_and_makes_it_long() -> None:
    assert emphasised(tuple("ɹˈɛd")) == tuple("ɹˈɛːd")
    assert emphasised(tuple("ju")) == tuple("jˈuː")
    assert emphasised(tuple("ˌʌp")) == tuple("ˈʌːp")
    assert emphasised(tuple("s")) == ("s",)
    assert emphasised(emphasised(tuple("ɹˈɛd"))) == tuple("ɹˈɛːd")


def test_a_marked_text_is_said_as_marked_and_read_as_written() -> None:
    said = {item.text: "".join(item.symbols) for item in pronounce("They <live|L AY1 V> *here* now.", "en")}
    assert list(said) == ["They", "live", "here", "now", "."]
    assert said["live"] == "lˈIv" and "ˈ" in said["here"] and "ː" in said["here"]
    plain = {item.text: item.symbols for item in pronounce("They live here now.", "en")}
    assert plain["now"] == tuple(said["now"]) and "".join(plain["live"]) != "lˈIv"
    bank = pronounce("他在银<行|HANG2>工作", "zh")
    assert [item.text for item in bank] == ["他", "在", "银", "行", "工作"]
    assert bank[3].symbols == tuple("xa↗ŋ")
    assert [item.text for item in pronounce("One [1s] two", "en")] == ["One", "…", "two"]


def test_what_is_read_is_told_before_it_is_said() -> None:
    assert reading("v2 costs $3.50 [0.5s] at <行|XING2>", "en") == (
        "v two costs three dollars and fifty cents [0.5 s] at ‹XING2›"
    )
    assert reading("<Dubwright|dub right 2> *now* 😀", "en") == "dub right two now"
    assert reading("😀 。", "zh") == ""


def test_the_glossary_marks_whole_words_of_any_case() -> None:
    words = glossary.parse("# names\nDubwright = dub right\n\n行长 = HANG2 ZHANG3\nDub=dʌb\n")
    assert words == {"Dubwright": "dub right", "行长": "HANG2 ZHANG3", "Dub": "dʌb"}
    assert glossary.marked("dubwright's Dubwrights, a dub", words) == (
        "<dubwright|dub right>'s Dubwrights, a <dub|dʌb>"
    )
    assert glossary.marked("他是行长", words) == "他是<行长|HANG2 ZHANG3>"
    assert glossary.marked("<Dubwright|x> [1s] *Dub*", words) == "<Dubwright|x> [1s] *Dub*", "own marks win"
    assert glossary.marked("as it is", {}) == "as it is"


def test_the_glossary_is_kept_and_a_wrong_line_changes_nothing(settings: Settings) -> None:
    assert glossary.load(settings) == {} and glossary.text_of(settings) == ""
    glossary.save(settings, "GIF = jif\n")
    with pytest.raises(InputError, match="Line 2 of the glossary is not"):
        glossary.save(settings, "a = b\nno sign")
    assert glossary.load(settings) == {"GIF": "jif"}
    assert Path(glossary.path(settings)).read_text(encoding="utf-8") == "GIF = jif\n"
