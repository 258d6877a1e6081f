"""Which language a text is in, found offline: lingua's n-gram models (P. M. Stahl, github.com/pemistahl/lingua-py).

Of the small detectors it errs least on single sentences among those that live with numpy 1.26. Only a few languages
compete, which helps short texts most; German, Russian, Korean and Arabic are among them so that a text nobody here can
speak is not read out in another language's sounds.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.errors import Message, OptionError
from pipelines.languages import language_name

if TYPE_CHECKING:
    from lingua import LanguageDetector

ALSO_KNOWN = ("de", "ru", "ko", "ar")
LONGEST = 4000  # characters that are looked at
SURE = 0.5  # confidence below which the answer is a guess


@dataclass(frozen=True, slots=True)
class FoundLanguage:
    """The language of a text (ISO 639-1), and whether the text was long or typical enough to be sure."""

    code: str
    sure: bool


def find_language(text: str, speakable: Sequence[str]) -> FoundLanguage:
    """The likeliest of the ``speakable`` languages; the first of them, unsure, for a text without letters.

    Raises:
        OptionError: the text is clearly in a language that nobody here speaks.
    """
    codes = tuple(dict.fromkeys((*speakable, *ALSO_KNOWN)))
    ranked = [
        (value.language.iso_code_639_1.name.lower(), value.value)
        for value in _detector(codes).compute_language_confidence_values(text[:LONGEST])
    ]
    code, confidence = ranked[0] if ranked else (speakable[0], 0.0)
    if confidence == 0.0:
        return FoundLanguage(speakable[0], False)
    if code not in speakable and confidence >= SURE:
        raise _not_spoken(code, speakable)
    code, confidence = next(entry for entry in ranked if entry[0] in speakable)
    return FoundLanguage(code, confidence >= SURE)


def confidence_of(language: str, text: str, *, against: str) -> float:
    """How likely the text is in ``language`` rather than in the language ``against``, 0 to 1.

    0.5 where the detector does not know both, or the text has no letters.
    """
    from lingua import Language

    known = {one.iso_code_639_1.name.lower() for one in Language.all()}
    if language == against or not {language, against} <= known or not any(c.isalpha() for c in text):
        return 0.5
    for value in _detector((language, against)).compute_language_confidence_values(text[:LONGEST]):
        if value.language.iso_code_639_1.name.lower() == language:
            return float(value.value)
    return 0.5


def _not_spoken(code: str, speakable: Sequence[str]) -> OptionError:
    name = language_name(code)
    able = [language_name(other) for other in speakable]
    return OptionError(
        Message(
            f"This text is in {name.en}, which no voice here speaks",
            f"这段文字是{name.zh},本机没有会说的语音",
        ),
        Message(
            f"Choose the language if that is wrong. Languages spoken here: {', '.join(one.en for one in able)}.",
            f"如果识别有误,请自行选择语言。可合成的语言:{'、'.join(one.zh for one in able)}。",
        ),
    )


@functools.cache
def _detector(codes: tuple[str, ...]) -> LanguageDetector:
    from lingua import IsoCode639_1, Language, LanguageDetectorBuilder

    known = [Language.from_iso_code_639_1(IsoCode639_1.from_str(code)) for code in codes]
    return LanguageDetectorBuilder.from_languages(*known).build()
