"""Words a recogniser was not sure of, found again in the text of their line so that they can be marked."""

from __future__ import annotations

from pipelines.types import Segment, Word

UNSURE = 0.5  # probability of a word below which it is worth a second look


def doubtful(segment: Segment, below: float = UNSURE) -> tuple[Word, ...]:
    """Words with a probability under ``below`` that have letters or digits."""
    return tuple(word for word in segment.words if word.prob < below and any(map(str.isalnum, word.text)))


def marked(segment: Segment, below: float = UNSURE) -> list[tuple[str, bool]]:
    """The line's text in pieces, True where the recogniser was unsure; the pieces join to ``segment.text``.

    Words that an edit has removed from the text are passed over.
    """
    pieces: list[tuple[str, bool]] = []
    place = 0
    for word in segment.words:
        at = segment.text.find(word.text, place)
        if at < 0 or not word.text:
            continue
        if word in doubtful(segment, below):
            pieces += [(segment.text[place:at], False)] if at > place else []
            pieces.append((word.text, True))
            place = at + len(word.text)
        elif place < at + len(word.text):
            end = at + len(word.text)
            pieces.append((segment.text[place:end], False))
            place = end
    if place < len(segment.text):
        pieces.append((segment.text[place:], False))
    return _joined(pieces)


def _joined(pieces: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Neighbours of one kind as one piece."""
    joined: list[tuple[str, bool]] = []
    for text, unsure in pieces:
        if joined and joined[-1][1] == unsure:
            joined[-1] = (joined[-1][0] + text, unsure)
        else:
            joined.append((text, unsure))
    return joined
