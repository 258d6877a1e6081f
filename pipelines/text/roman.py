"""Roman numerals in English text, where the word before says that a number is meant: Chapter IV, World War II, Louis XIV."""

from __future__ import annotations

import re

VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
NUMERAL = r"(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
COUNTED = re.compile(
    r"\b(Chapter|Part|Section|Volume|Vol\.|Book|Act|Scene|Phase|Type|Stage|Class|Article|Appendix|Title|Figure|Table|"
    rf"World War|Super Bowl|Rocky|Apollo|Saturn|Mark|Episode|Season|Grade)\s+({NUMERAL})\b(?!')",
    re.IGNORECASE,
)
RULERS = re.compile(
    r"\b(Louis|Henry|Charles|George|Edward|Richard|William|James|Elizabeth|Mary|Catherine|Frederick|Philip|Ferdinand|"
    r"Francis|Napoleon|Alexander|Nicholas|Peter|Paul|John Paul|Pius|Benedict|Leo|Gregory|Innocent|Urban|Clement|Ramses|"
    rf"Ptolemy|Gustav|Christian|Otto|Rudolf|Leopold|Victor Emmanuel|Alfonso|Juan Carlos)\s+({NUMERAL})\b(?!')"
)


def value(numeral: str) -> int:
    """The number a well-formed numeral stands for."""
    digits = [VALUES[sign] for sign in numeral.upper()]
    return sum(-one if one < after else one for one, after in zip(digits, [*digits[1:], 0], strict=True))


def arabic(text: str) -> str:
    """Numerals as digits: after a counted thing the number, after a ruler's name "the" and its ordinal."""
    text = COUNTED.sub(lambda match: f"{match[1]} {value(match[2])}", text)
    return RULERS.sub(lambda match: f"{match[1]} the {value(match[2])}{_ending(value(match[2]))}", text)


def _ending(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
