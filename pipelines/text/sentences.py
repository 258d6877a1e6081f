"""Text cut where a speaker would breathe: after sentences, else after clauses, else between words."""

from __future__ import annotations

import re
from collections.abc import Callable

# A Latin full stop ends a sentence only before a blank and not after a single capital, an abbreviation or a number.
ABBREVIATIONS = (
    "mr mrs ms dr prof sr jr st vs etc e.g i.e no vol fig inc ltd co dept approx gen col capt lt sgt rev hon "
    "sra srta dña ud uds ee.uu p.ej núm pág av m mme mlle sig dott ing avv p.es dra exmo jan feb mar apr jun jul "
    "aug sep sept oct nov dec mt ave blvd a.m p.m u.s u.k"
)
SHORT_FORMS = frozenset(ABBREVIATIONS.split())
BOUNDARY = re.compile(r"(?<=[。！？])[”」』）\"']*\s*|(?<=[.!?…।])[”\"')\]]*\s+|(?<=[!?])(?=[\u3040-\u9fff])")
CLAUSE = re.compile(r"(?<=[,;:，；：、—])\s*")


def _ends_in_short_form(text: str) -> bool:
    word = re.search(r"([^\s.]+(?:\.[^\s.]+)*)\.$", text)
    if not word or not text.endswith("."):
        return False
    last = word[1].lower().lstrip("(“\"'¿¡")
    return last in SHORT_FORMS or (len(last) == 1 and last.isalpha() and last not in "aiyoeu")


def sentences(text: str) -> tuple[str, ...]:
    """Split text into sentences, end marks and closing quotes kept with their sentence."""
    found: list[str] = []
    start = 0
    for match in BOUNDARY.finditer(text):
        piece = text[start : match.end()].strip()
        if not piece or _ends_in_short_form(piece):
            continue
        found.append(piece)
        start = match.end()
    if text[start:].strip():
        found.append(text[start:].strip())
    return tuple(found)


def _halves(text: str) -> tuple[str, str]:
    """Cut in two as evenly as possible: at a clause mark, else at a blank, else in the middle."""
    middle = len(text) / 2
    for pattern in (CLAUSE, re.compile(r"\s+")):
        cuts = [match.end() for match in pattern.finditer(text) if 0 < match.end() < len(text)]
        inner = [cut for cut in cuts if 0.15 < cut / len(text) < 0.85] or cuts
        if inner:
            cut = min(inner, key=lambda place: abs(place - middle))
            return text[:cut].strip(), text[cut:].strip()
    cut = int(middle)
    return text[:cut], text[cut:]


def pieces(text: str, size: Callable[[str], int], limit: int) -> tuple[str, ...]:
    """Pack whole sentences into pieces of at most ``limit`` as measured by ``size``; longer sentences are halved.

    Args:
        size: what a text measures (phonemes, characters…); called on parts of the text.
        limit: largest allowed size of a piece.
    """
    queue = list(sentences(text))
    fitting: list[tuple[str, int]] = []
    while queue:
        part = queue.pop(0)
        measure = size(part)
        if measure > limit and len(part) > 1:
            queue[:0] = [half for half in _halves(part) if half]
        else:
            fitting.append((part, measure))
    packed: list[tuple[str, int]] = []
    for part, measure in fitting:
        if packed and packed[-1][1] + measure + 1 <= limit:
            packed[-1] = (f"{packed[-1][0]} {part}", packed[-1][1] + measure + 1)
        else:
            packed.append((part, measure))
    return tuple(part for part, _ in packed)
