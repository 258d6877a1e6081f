"""A text as the symbol strings the graph takes, with the place of every written word in them."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.errors import InputError, Message
from pipelines.pronunciation import Pronounced, pronounce
from pipelines.text import pieces
from pipelines.voice.kokoro.graph import MOST
from pipelines.voice.kokoro.times import Spelled

LIMIT = 400  # symbols spoken in one breath; the graph takes 510, and its pace suffers before that
OPENING = frozenset("“(")
ENDING = frozenset(".!?…")


@dataclass(frozen=True, slots=True)
class Line:
    """Symbols for one run of the graph and the words they spell."""

    symbols: tuple[str, ...]
    words: tuple[Spelled, ...]


def assemble(said: tuple[Pronounced, ...]) -> Line:
    """Words with blanks between them, marks on the word before (opening ones on the word after), an end mark last."""
    symbols: list[str] = []
    words: list[Spelled] = []
    glued = True
    for item in said:
        opening = item.mark and item.symbols[0] in OPENING
        if not glued and (opening or not item.mark):
            symbols.append(" ")
        words.append(Spelled(item.text, len(symbols), len(symbols) + len(item.symbols), item.mark))
        symbols.extend(item.symbols)
        glued = opening
    while symbols and symbols[-1] in ",;:—( “":
        symbols.pop()
    if symbols and not ENDING.intersection(symbols[-2:]):
        symbols.append(".")
    return Line(tuple(symbols), tuple(words))


def lines(text: str, language: str) -> tuple[Line, ...]:
    """The text in one line or, when it is long, several, cut after sentences, then clauses, then words.

    Raises:
        InputError: nothing in the text can be spoken. OptionError: the language cannot be spoken here.
    """
    whole = pronounce(text, language)
    if not any(not item.mark for item in whole):
        raise InputError(
            Message("There is nothing to say in this text", "这段文字没有可以朗读的内容"),
            Message("Write at least one word or number.", "请至少写一个词或数字。"),
            text[:40],
        )
    line = assemble(whole)
    if len(line.symbols) <= LIMIT:
        return (line,)

    def size(part: str) -> int:
        return len(assemble(pronounce(part, language)).symbols)

    found = (assemble(pronounce(part, language)) for part in pieces(text, size, LIMIT))
    return tuple(_cropped(line) for line in found if any(not word.mark for word in line.words))


def _cropped(line: Line) -> Line:
    """A piece that could not be cut any smaller (one endless word) ends where the graph's input ends."""
    return line if len(line.symbols) <= MOST else Line(line.symbols[:MOST], line.words)
