"""Signs that a translated line is no translation: left as it was, in another script, far too long, numbers lost."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Fault = Literal["untranslated", "wrong script", "too long", "numbers lost"]

_SCRIPTS: dict[str, tuple[str, ...]] = {
    "zh": ("CJK",), "yue": ("CJK",), "ja": ("CJK", "HIRAGANA", "KATAKANA"), "ko": ("HANGUL",), "ru": ("CYRILLIC",),
    "uk": ("CYRILLIC",), "be": ("CYRILLIC",), "bg": ("CYRILLIC",), "ar": ("ARABIC",), "fa": ("ARABIC",), "ur": ("ARABIC",),
    "he": ("HEBREW",), "hi": ("DEVANAGARI",), "mr": ("DEVANAGARI",), "ne": ("DEVANAGARI",), "th": ("THAI",), "el": ("GREEK",),
    "bn": ("BENGALI",), "ta": ("TAMIL",), "te": ("TELUGU",), "ka": ("GEORGIAN",), "hy": ("ARMENIAN",),
}  # fmt: skip
_COMPACT = ("zh", "yue", "ja", "ko")  # one character says about what three letters say
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def faults(source: str, target: str, source_language: str, target_language: str) -> list[Fault]:
    """What looks wrong with a line's translation; an empty list when nothing does."""
    found: list[Fault] = []
    if same_text(source, target):
        found.append("untranslated")
    elif not in_script(target, target_language):
        found.append("wrong script")
    weight = _length(source, source_language)
    if _length(target, target_language) > 3.0 * weight + 30:
        found.append("too long")
    if lost_numbers(source, target):
        found.append("numbers lost")
    return found


def same_text(source: str, target: str) -> bool:
    """Whether the line came back as it went; single words may be names and are let pass."""
    one, other = (" ".join(re.findall(r"\w+", text.lower())) for text in (source, target))
    long_enough = len(one.split()) >= 3 or sum(unicodedata.name(c, "").startswith("CJK") for c in one) >= 4
    return one == other and long_enough


def in_script(text: str, language: str) -> bool:
    """Whether some of the letters belong to the language's script; Latin-script languages want some Latin letter."""
    letters = [c for c in text if c.isalpha()]
    if len(letters) < 4:
        return True
    scripts = _SCRIPTS.get(language, ("LATIN",))
    fitting = sum(unicodedata.name(c, "").startswith(scripts) for c in letters)
    least = 0.2 if language in _SCRIPTS else 0.5  # names in Latin letters are common in other scripts
    return fitting >= least * len(letters)


def lost_numbers(source: str, target: str) -> list[str]:
    """Numbers of two digits and more in the source that stand nowhere in the target, grouping marks left aside."""
    there = {_digits(number) for number in _NUMBER.findall(target)}
    joined = "".join(c for c in target if c.isdigit())
    numbers = [number for number in _NUMBER.findall(source) if len(_digits(number)) >= 2]
    return [number for number in numbers if _digits(number) not in there and _digits(number) not in joined]


def _digits(number: str) -> str:
    return "".join(c for c in number if c.isdigit())


def _length(text: str, language: str) -> float:
    return len(text) * (3.0 if language in _COMPACT else 1.0)
