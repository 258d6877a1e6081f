"""Text cut into words and punctuation marks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipelines.g2p.symbols import PUNCTUATION

CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
KANA = "\u3040-\u30ff"
# A number keeps its signs ($3.50, 12/05/2023, 50%), a word its apostrophes and hyphens (we'll, text-to-speech).
NUMBER = r"(?:R?[$€£¥￥₹]\s?|(?<![\w-])-)?\d+(?:[.,:/-]\d+)*(?:\s?[%€£°℃℉](?:[CF]\b)?)?"
WORD = re.compile(
    rf"{NUMBER}(?![A-Za-z])|[{CJK}]|[{KANA}]+|(?:(?![{CJK}{KANA}])[\w\u0900-\u097f\u0300-\u036f])+(?:['-](?![{CJK}])[\w\u0300-\u036f]+)*|[^\s\w]"
)
MARKS = {
    "。": ".", "．": ".", "।": ".", "，": ",", "、": ",", "；": ";", "：": ":", "！": "!", "？": "?", "–": "—",
    "（": "(", "）": ")", "《": "“", "》": "”", "「": "“", "」": "”", "『": "“", "』": "”", "【": "“", "】": "”",
    "«": "“", "»": "”", "[": "(", "]": ")", "/": ",",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unit:
    """A spoken word or mark with its symbols."""

    text: str
    symbols: tuple[str, ...]

    @property
    def mark(self) -> bool:
        """Whether it is punctuation."""
        return bool(self.symbols) and all(symbol in PUNCTUATION for symbol in self.symbols)


def tokens(text: str) -> tuple[str, ...]:
    """Words (a Han character counts as one) and single marks, blanks left out."""
    return tuple(match[0] for match in WORD.finditer(text))


def is_mark(token: str) -> bool:
    """Whether a token is punctuation rather than a word."""
    return not any(character.isalnum() for character in token)


def mark_unit(token: str) -> Unit | None:
    """The unit of a punctuation token; None when the voice has no symbol for it (it is then not spoken)."""
    symbol = MARKS.get(token, token)
    return Unit(token, (symbol,)) if symbol in PUNCTUATION else None
