"""Word and character error rates with one stated normaliser, for reports, tests and benchmarks.

Normaliser: Unicode NFKC, lower case, Chinese folded to simplified characters, apostrophes and the hyphens inside words
dropped, every other mark that is not a letter or digit is a space. Words are what stands between spaces; characters are
counted without spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.languages import UNSPACED
from pipelines.text.chinese import simplified

APOSTROPHES = "'\u2019\u02bc"
HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u2011](?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class Score:
    """Errors (substituted, left out, put in) against the number of words or characters that were really said."""

    errors: int
    total: int

    @property
    def rate(self) -> float:
        """Errors divided by total; with nothing said, every error counts whole."""
        return self.errors / max(self.total, 1)

    def __add__(self, other: Score) -> Score:
        return Score(self.errors + other.errors, self.total + other.total)


def normalised(text: str) -> str:
    """The text as it is compared; see the module's first lines."""
    folded = simplified(unicodedata.normalize("NFKC", text)).lower()
    kept = HYPHEN.sub("", "".join(c for c in folded if c not in APOSTROPHES))
    marks = (c if unicodedata.category(c)[0] in "LMN" else " " for c in kept)
    return " ".join("".join(marks).split())


def units(text: str, language: str) -> list[str]:
    """Words, or characters for languages written without spaces."""
    text = normalised(text)
    return list(text.replace(" ", "")) if language in UNSPACED else text.split()


def distance(said: Sequence[str], heard: Sequence[str]) -> int:
    """Levenshtein distance: fewest units to substitute, leave out or put in."""
    row = list(range(len(heard) + 1))
    for number, unit in enumerate(said, start=1):
        diagonal, row[0] = row[0], number
        for column, other in enumerate(heard, start=1):
            best = min(row[column] + 1, row[column - 1] + 1, diagonal + (unit != other))
            diagonal, row[column] = row[column], best
    return row[-1]


def score(said: str, heard: str, language: str) -> Score:
    """Errors in ``heard`` against ``said``: words, or characters for Chinese, Japanese, Thai and their like."""
    wanted = units(said, language)
    return Score(distance(wanted, units(heard, language)), len(wanted))
