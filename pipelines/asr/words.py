"""From a recogniser's pieces to words as they are written: joined, tidied, and put together into a line of text."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable

from pipelines.asr.chinese import Script, in_script, tidy
from pipelines.languages import UNSPACED
from pipelines.types import Segment, Word

_LATIN_END = re.compile(r"[A-Za-z0-9]$")
_LATIN_START = re.compile(r"^[A-Za-z]")


def finished(segment: Segment, language: str, script: Script = "simplified") -> Segment:
    """Whisper's pieces (which carry their own leading spaces) as whole words, and the text they spell."""
    words = words_in_script(segment.words, script) if language == "zh" else segment.words
    if language not in UNSPACED:
        words = whole_words(words)
    words = tuple(dataclasses.replace(word, text=word.text.strip()) for word in words if word.text.strip())
    text = line_text(words, language, script) if words else segment.text.strip()
    return dataclasses.replace(segment, text=text, words=words)


def whole_words(pieces: Iterable[Word]) -> tuple[Word, ...]:
    """Pieces without a leading space belong to the word before: "forty" + "-two"; the surer half never hides the other."""
    words: list[Word] = []
    for piece in pieces:
        if words and not piece.text.startswith(" "):
            before = words[-1]
            words[-1] = Word(before.start, piece.end, before.text + piece.text, min(before.prob, piece.prob))
        else:
            words.append(piece)
    return tuple(words)


def words_in_script(words: tuple[Word, ...], script: Script) -> tuple[Word, ...]:
    """Words in the asked characters, converted in the context of the whole line (OpenCC goes phrase by phrase)."""
    before = "".join(word.text for word in words)
    after = in_script(before, script)
    if len(after) != len(before):  # a phrase changed its length: fall back to word by word
        return tuple(dataclasses.replace(word, text=in_script(word.text, script)) for word in words)
    done, position = [], 0
    for word in words:
        done.append(dataclasses.replace(word, text=after[position : position + len(word.text)]))
        position += len(word.text)
    return tuple(done)


def line_text(words: Iterable[Word], language: str, script: Script = "heard") -> str:
    """Words as a line: spaces between them where the language writes any; Chinese with full-width punctuation."""
    if language not in UNSPACED:
        return " ".join(word.text for word in words)
    line = ""
    for word in words:
        latin = _LATIN_END.search(line) and _LATIN_START.search(word.text)
        line += f" {word.text}" if latin else word.text
    return tidy(line, script) if language == "zh" else line
