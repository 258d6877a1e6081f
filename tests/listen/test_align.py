"""Phones of recognised speech: the right sounds in the right order inside the words' times."""

from __future__ import annotations

import itertools

import pytest

from pipelines.asr.align import by_letter, in_phones, phones
from pipelines.errors import Message
from pipelines.progress import NoteLevel, NullReport
from pipelines.types import Phone, Segment, Word


def spoken(*words: tuple[float, float, str]) -> Segment:
    made = tuple(Word(*word) for word in words)
    return Segment(made[0].start, made[-1].end, " ".join(w.text for w in made), made)


def during(found: tuple[Phone, ...], start: float, end: float) -> str:
    return "".join(p.symbol for p in found if start <= (p.start + p.end) / 2 < end)


def plain(symbols: str) -> str:
    return "".join(c for c in symbols if c not in "ˈˌː→↗↘↓ʲ")


def test_each_word_keeps_its_time() -> None:
    found = phones([spoken((1.0, 1.4, "Buy"), (1.4, 1.9, "my"), (3.0, 3.5, "map."))], "en")
    assert plain(during(found, 1.0, 1.4)) == "bI"
    assert plain(during(found, 1.4, 1.9)) == "mI"
    assert plain(during(found, 3.0, 3.5)) == "mæp"
    assert during(found, 2.0, 3.0) == ""
    assert all(a.end <= b.start + 1e-9 for a, b in itertools.pairwise(found))
    assert (found[0].start, found[-1].end) == (1.0, pytest.approx(3.5))


def test_vowels_are_longer_than_stops() -> None:
    b, i = phones([spoken((0.0, 0.2, "buy"))], "en")
    assert i.end - i.start > 1.5 * (b.end - b.start)


def test_a_word_stretched_over_a_pause_does_not_hold_its_vowel() -> None:
    found = phones([spoken((0.0, 3.0, "go"))], "en")
    assert found[-1].end < 0.6


def test_numbers_written_in_digits() -> None:
    found = phones(
        [spoken((0.0, 0.3, "We"), (0.3, 0.6, "have"), (0.6, 1.4, "25"), (1.4, 1.8, "maps."))], "en"
    )
    assert plain(during(found, 0.6, 1.4)).startswith("tw")
    assert plain(during(found, 1.4, 1.8)).startswith("mæp")


def test_mandarin_by_characters() -> None:
    segment = Segment(
        0.0, 1.6, "欢迎大家\u3002", tuple(Word(i * 0.4, i * 0.4 + 0.4, c) for i, c in enumerate("欢迎大家"))
    )
    found = phones([segment], "zh")
    assert plain(during(found, 0.8, 1.2))[0] in "tT"  # d of 大 is an unaspirated t
    assert during(found, 0.0, 0.4) and during(found, 1.2, 1.6)
    assert found[-1].end <= 1.6


def test_russian_through_espeak() -> None:
    found = phones([spoken((0.0, 0.5, "Мама"), (0.5, 1.0, "папа"))], "ru")
    first, second = plain(during(found, 0.0, 0.5)), plain(during(found, 0.5, 1.0))
    assert first.count("m") == 2 and first.count("p") == 0
    assert second.count("p") == 2 and second.count("m") == 0


def test_an_unknown_language_goes_by_its_letters_and_says_so() -> None:
    notes: list[str] = []

    class Notes(NullReport):
        def note(self, message: Message, level: NoteLevel = "hint") -> None:
            notes.append(message.en)

    found = phones([spoken((0.0, 0.6, "mbope"), (0.6, 1.0, "pm"))], "ln", Notes())
    assert plain(during(found, 0.0, 0.6)) == "mbope"
    assert len(notes) == 1 and "Lingala" in notes[0]
    assert by_letter("\u0431\u043c") != () and by_letter("감") != ()


def test_a_segment_without_words_and_one_without_text() -> None:
    found = phones([Segment(2.0, 3.0, "Buy a map"), Segment(4.0, 5.0, "..."), Segment(6.0, 6.0, "a")], "en")
    assert plain("".join(p.symbol for p in found)).startswith("bI")
    assert found[0].start >= 2.0 and found[-1].end <= 3.0 + 1e-9


def test_marks_join_their_phone() -> None:
    assert in_phones("həlˈO wˈɜːld, ma↘") == ["h", "ə", "l", "ˈO", "w", "ˈɜː", "l", "d", "m", "a↘"]
