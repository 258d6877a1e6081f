"""English and other alphabets through espeak-ng (inside the package espeakng-loader), in Kokoro's notation.

The mappings follow misaki's (hexgrad/misaki, espeak.py), with which Kokoro was trained: diphthongs and affricates are
single symbols. A whole run of words is spoken at once, so that weak forms and liaisons come out right; where espeak
writes words together ("ʌvðə") they are told apart by aligning with the words said alone.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from pipelines.g2p.symbols import STRESS, kept
from pipelines.g2p.tokens import Unit, is_mark, mark_unit, tokens

if TYPE_CHECKING:
    from phonemizer.backend import EspeakBackend

VOICES = {"en": "en-us", "es": "es", "fr": "fr-fr", "it": "it", "pt": "pt-br", "hi": "hi"}
COMMON = (
    ("a^ɪ", "I"), ("a^ʊ", "W"), ("d^z", "ʣ"), ("d^ʒ", "ʤ"), ("e^ɪ", "A"), ("o^ʊ", "O"), ("ə^ʊ", "Q"), ("s^s", "S"),
    ("t^s", "ʦ"), ("t^ʃ", "ʧ"), ("ɔ^ɪ", "Y"),
)  # fmt: skip
ENGLISH = (
    ("ʔˌn\u0329", "ʔn"), ("ʔn\u0329", "ʔn"), ("a^ɪ", "I"), ("a^ʊ", "W"), ("d^ʒ", "ʤ"), ("e^ɪ", "A"), ("t^ʃ", "ʧ"),
    ("ɔ^ɪ", "Y"), ("o^ʊ", "O"), ("ə^l", "ᵊl"), ("ʲo", "jo"), ("ʲə", "jə"), ("ʲ", ""), ("ɚ", "əɹ"), ("r", "ɹ"),
    ("x", "k"), ("ç", "k"), ("ɐ", "ə"), ("ɬ", "l"), ("\u0303", ""), ("ɜːɹ", "ɜɹ"), ("ɜː", "ɜɹ"), ("ɪə", "iə"),
    ("ː", ""), ("e", "A"), ("o", "ɔ"), ("ɾ", "T"), ("ʔ", "t"),
)  # fmt: skip


@cache
def _backend(voice: str) -> EspeakBackend:
    import espeakng_loader
    from phonemizer.backend import EspeakBackend
    from phonemizer.backend.espeak.wrapper import EspeakWrapper

    EspeakWrapper.set_library(espeakng_loader.get_library_path())
    EspeakWrapper.set_data_path(espeakng_loader.get_data_path())
    quiet = logging.getLogger("pipelines.g2p.espeak")
    quiet.setLevel(logging.ERROR)
    return EspeakBackend(voice, with_stress=True, tie="^", language_switch="remove-flags", logger=quiet)


def reads(language: str) -> bool:
    """Whether espeak-ng has pronunciation rules for the language, with or without a voice of ours that speaks it."""
    voice = VOICES.get(language, language)
    return voice in _backend(VOICES["en"]).supported_languages()


def _notation(text: str, language: str) -> str:
    """espeak's IPA in Kokoro's notation."""
    for old, new in ENGLISH if language == "en" else COMMON:
        text = text.replace(old, new)
    if language == "en":
        text = re.sub(r"(\S)\u0329", r"ᵊ\1", text)
    return text.replace("\u0329", "").replace("^", "").replace("-", "").strip()


def _say(phrases: Sequence[str], language: str) -> list[str]:
    return [
        _notation(said, language)
        for said in _backend(VOICES.get(language, language)).phonemize(list(phrases), strip=True)
    ]


@cache
def _alone(word: str, language: str) -> str:
    return _say([word], language)[0].replace(" ", "")


def split_like(said: str, words: Sequence[str]) -> list[str]:
    """Cut one string of symbols into as many parts as there are ``words`` (symbols of each said alone).

    Boundaries follow the best alignment of the two; stress marks go with the phone after them.
    """
    whole = "".join(words)
    match = SequenceMatcher(None, whole, said, autojunk=False)
    place = _mapping(match, len(whole), len(said))
    cuts, length = [0], 0
    for word in words[:-1]:
        length += len(word)
        cut = max(place[length], cuts[-1])
        while cut > cuts[-1] and said[cut - 1] in STRESS:
            cut -= 1
        cuts.append(cut)
    cuts.append(len(said))
    return [said[start:end] for start, end in pairwise(cuts)]


def _mapping(match: SequenceMatcher[str], size: int, other: int) -> list[int]:
    """Place in the second string for every place in the first, straight lines between the parts that agree."""
    place = [0] * (size + 1)
    place[size] = other
    for _, start, end, begin, stop in match.get_opcodes():
        for index in range(start, end):
            place[index] = begin + round((index - start) * (stop - begin) / (end - start))
    return place


def _run(words: Sequence[str], language: str) -> list[Unit]:
    """Words between two marks, said in one go."""
    said = _say([" ".join(words)], language)[0]
    parts = said.split()
    if len(parts) != len(words):
        alone = [_alone(word, language) for word in words]
        parts = split_like("".join(parts), alone)
    found = [Unit(word, kept(part)) for word, part in zip(words, parts, strict=True)]
    return [unit for unit in found if unit.symbols]


def units(text: str, language: str) -> tuple[Unit, ...]:
    """Words and marks of one clause; words without any sound are left out."""
    found: list[Unit] = []
    run: list[str] = []
    for token in (*tokens(text), ""):
        if token and not is_mark(token):
            run.append(token)
            continue
        if run:
            found.extend(_run(run, language))
            run = []
        if token and (mark := mark_unit(token)):
            found.append(mark)
    return tuple(found)
