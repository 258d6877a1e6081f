"""English readings that the grammar alone gets wrong: cents, decades, letter-and-number names, addresses, units."""

from __future__ import annotations

import re

from pipelines.text.roman import arabic

MONEY = {"$": ("dollar", "cent"), "£": ("pound", "pence"), "€": ("euro", "cent")}
SCALE = r"(?:\s*(?:million|billion|trillion|thousand|[kKmMbB]n?)\b)?"
CENTS = re.compile(r"([$£€])\s?(\d[\d,]*)\.(\d\d)(?!\d)(?!\s*(?:million|billion|trillion))")
DECADE = re.compile(r"\b(1[1-9]|20)(\d)0'?s\b")
SHORT_DECADE = re.compile(r"'(\d)0s\b")
TENS = (
    "",
    "tens",
    "twenties",
    "thirties",
    "forties",
    "fifties",
    "sixties",
    "seventies",
    "eighties",
    "nineties",
)
CENTURY = {"11": "eleven", "12": "twelve", "13": "thirteen", "14": "fourteen", "15": "fifteen", "16": "sixteen",
           "17": "seventeen", "18": "eighteen", "19": "nineteen", "20": "twenty"}  # fmt: skip
PERSON_SAINT = re.compile(r"\bSt\.\s+(?=[A-Z])")
UNITS = {
    "g": "grams", "kg": "kilograms", "mg": "milligrams", "m": "meters", "km": "kilometers", "cm": "centimeters",
    "mm": "millimeters", "ml": "milliliters", "l": "liters", "lb": "pounds", "lbs": "pounds", "oz": "ounces",
    "ft": "feet", "mph": "miles per hour", "km/h": "kilometers per hour", "GB": "gigabytes", "MB": "megabytes",
    "TB": "terabytes", "kB": "kilobytes", "GHz": "gigahertz", "MHz": "megahertz", "kHz": "kilohertz", "Hz": "hertz",
    "fps": "frames per second", "ms": "milliseconds", "W": "watts", "kW": "kilowatts", "V": "volts",
}  # fmt: skip
UNIT = re.compile(
    r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)\s?("
    + "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
    + r")(?![\w/])"
)
VERSION = re.compile(r"\bv?(\d+)((?:\.\d+){2,})\b")
TELEPHONE = re.compile(r"(?<![\w.-])(?:\+\d{1,3}[ -])?(?:\(\d{3}\) ?|\d{3}[ -])?\d{3}-\d{4}(?![\w-])")
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
EVEN = re.compile(r"(?<![\d/])(\d0)/\1(?![\d/])")  # fifty fifty
SIGNED = re.compile(r"(^|(?:to|and|or|from|of|by|at) )([+-])(?=\d)")
NAME_NUMBER = re.compile(r"(?<=[A-Za-z])[-_]?(?=\d)(?<!\$)")
NUMBER_NAME = re.compile(r"(?<=\d)(?=[A-Za-z])(?!(?:st|nd|rd|th|s|am|pm|AM|PM|a\.m|p\.m)\b)")
# Years are read in pairs only where the words around them say that a year is meant; elsewhere it is a quantity.
QUANTITY = re.compile(r"(?<![\d.,$€£/:-])(?<!\bin )(?<!\bsince )(?<!\byear )(?<!\bof )(?<!\bby )(?<!\buntil )"
                      r"(?<!\bfrom )(?<!\bto )(?<!\bafter )(?<!\bbefore )(?<!\baround )(?<!, )\b([2-9]\d{3})\b(?![-/.:,]?\d)"
                      r"(?!s\b)")  # fmt: skip
ADDRESS = re.compile(r"\b(?:https?://)?(?:www\.)?((?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,})((?:/[^\s,;]*)?)")
MAIL = re.compile(r"\b([\w.+-]+)@((?:[\w-]+\.)+\w{2,})\b")
ABBREVIATED = {
    r"\bNo\.\s?(?=\d)": "number ", r"\bvs\.?(?=\s)": "versus", r"\be\.g\.": "for example", r"\bi\.e\.": "that is",
    r"\betc\.": "et cetera", r"\bapprox\.": "approximately", r"\bMr\.": "Mister", r"\bMrs\.": "Missus",
    r"\bMs\.": "Miss", r"\bDr\.(?=\s+[A-Z])": "Doctor", r"\bProf\.": "Professor", r"\s&\s": " and ",
    r"(?<=\d)\s?%": " percent", r"\s\+\s": " plus ", r"\s=\s": " equals ", r"(?<=\d)\s?[x×]\s?(?=\d)": " by ",
    r"(?<=\d)\s?–\s?(?=[\d$£€])": " to ", r"#(?=\d)": "number ", r"§\s?": "section ",
}  # fmt: skip


def _cents(match: re.Match[str]) -> str:
    unit, small = MONEY[match[1]]
    whole, part = int(match[2].replace(",", "")), int(match[3])
    said = f"{whole} {unit}{'' if whole == 1 else 's'}"
    if not part:
        return said
    return f"{said} and {part} {small if part == 1 or small == 'pence' else small + 's'}"


def _decade(match: re.Match[str]) -> str:
    if match[2] == "0":
        return "two thousands" if match[1] == "20" else f"{CENTURY[match[1]]} hundreds"
    return f"{CENTURY[match[1]]} {TENS[int(match[2])]}"


def _path(text: str) -> str:
    for sign, said in (("/", "slash"), ("?", "question mark"), ("=", "equals"), ("&", "and"), ("#", "hash")):
        text = text.replace(sign, f" {said} ")
    return text


def _dotted(text: str) -> str:
    return text.replace(".", " dot ").replace("-", " dash ").replace("_", " underscore ")


def _version(match: re.Match[str]) -> str:
    """``1.2.3`` is read number by number with points between."""
    return match[1] + match[2].replace(".", " point ")


def _telephone(match: re.Match[str]) -> str:
    """Group by group, digit by digit: ``555-0199`` is "five five five, zero one nine nine"."""
    groups = [" ".join(DIGITS[int(digit)] for digit in group) for group in re.findall(r"\d+", match[0])]
    return ("plus " if match[0].startswith("+") else "") + ", ".join(groups)


def prepare_english(text: str) -> str:
    """Spell out what WeText's English grammar misreads; the rest is left to the grammar."""
    text = TELEPHONE.sub(_telephone, arabic(text))
    text = SIGNED.sub(lambda match: match[1] + ("plus " if match[2] == "+" else "minus "), text)
    text = MAIL.sub(lambda match: f"{_dotted(match[1])} at {_dotted(match[2])}", text)
    text = ADDRESS.sub(lambda match: _dotted(match[1]) + _path(match[2]), text)
    for pattern, said in ABBREVIATED.items():
        text = re.sub(pattern, said, text)
    text = PERSON_SAINT.sub("Saint ", text)
    text = CENTS.sub(_cents, text)
    text = DECADE.sub(_decade, text)
    text = SHORT_DECADE.sub(lambda match: TENS[int(match[1])] or match[0], text)
    text = UNIT.sub(lambda match: f"{match[1]} {_singular(match[1], UNITS[match[2]])}", text)
    text = VERSION.sub(_version, text)
    text = EVEN.sub(r"\1 \1", text)
    text = re.sub(r"\b([CF])#(?!\w)", r"\1 sharp", text)
    text = re.sub(
        r"(?<![\d,.$£€])1,?000(?![\d,.])", "one thousand", text
    )  # the grammar says a bare "thousand"
    text = NAME_NUMBER.sub(" ", text)
    text = NUMBER_NAME.sub(" ", text)
    return QUANTITY.sub(
        lambda match: f"{match[1][0]},{match[1][1:]}" if match[1][1:] != "000" else match[1], text
    )


def _singular(number: str, unit: str) -> str:
    if number != "1":
        return unit
    head, _, rest = unit.partition(" ")
    head = {"feet": "foot", "hertz": "hertz", "gigahertz": "gigahertz"}.get(head, head.removesuffix("s"))
    return f"{head} {rest}".strip()


def finish_english(text: str) -> str:
    """Tidy what the grammar leaves: points between words, doubled stops, blanks before marks."""
    text = re.sub(r"(?<=[a-z])\.(?=[a-z])", " point ", text)
    text = re.sub(r"\s+([,.;:!?…])", r"\1", text)
    return re.sub(r"\s+", " ", text).strip()
