"""Spanish, French, Italian, Portuguese and Hindi: numbers, dates, times, money and units as words (num2words)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spelling:
    """How one language says numbers and signs.

    Attributes:
        code: num2words' language code; empty where it has none and the pronunciation engine reads digits itself.
        point: said for the decimal mark; ``minus``, ``percent``, ``degrees``, ``to`` likewise.
        date: pattern with {day}, {month}, {year}; months in order.
        hour: patterns for a time with and without minutes.
        money, units: sign → (one, many).
        small: word between money and cents.
        signs: other signs and abbreviations.
    """

    code: str
    point: str
    minus: str
    percent: str
    degrees: tuple[str, str]
    to: str
    date: str
    months: tuple[str, ...]
    hour: tuple[str, str]
    money: dict[str, tuple[str, str]]
    small: str
    units: dict[str, tuple[str, str]]
    signs: dict[str, str]
    first: str = ""


def _units(*words: str) -> dict[str, tuple[str, str]]:
    keys = ("kg", "g", "km/h", "km", "cm", "mm", "m", "ml", "l", "h", "min", "GB", "MB", "Hz")
    pairs = (word.split("|") for word in words)
    return {key: (pair[0], pair[-1]) for key, pair in zip(keys, pairs, strict=True)}


def _months(names: str) -> tuple[str, ...]:
    return tuple(names.split())


SPELLINGS: dict[str, Spelling] = {
    "es": Spelling(
        "es", "coma", "menos", "por ciento", ("grado", "grados"), "a", "{day} de {month} de {year}",
        _months("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
        ("las {hour} en punto", "las {hour} y {minute}"),
        {"€": ("euro", "euros"), "$": ("dólar", "dólares"), "£": ("libra", "libras"), "¥": ("yen", "yenes")}, "con",
        _units("kilo|kilos", "gramo|gramos", "kilómetros por hora", "kilómetro|kilómetros", "centímetro|centímetros",
               "milímetro|milímetros", "metro|metros", "mililitro|mililitros", "litro|litros", "hora|horas",
               "minuto|minutos", "gigabyte|gigabytes", "megabyte|megabytes", "hercio|hercios"),
        {"&": " y ", "+": " más ", "=": " igual a ", "Sr.": "señor", "Sra.": "señora", "Dr.": "doctor",
         "Dra.": "doctora", "Ud.": "usted", "Uds.": "ustedes", "EE. UU.": "Estados Unidos", "EE.UU.": "Estados Unidos",
         "p. ej.": "por ejemplo", "etc.": "etcétera", "n.º": "número ", "N.º": "número "},
        "uno"),
    "fr": Spelling(
        "fr", "virgule", "moins", "pour cent", ("degré", "degrés"), "à", "{day} {month} {year}",
        _months("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
        ("{hour} heures", "{hour} heures {minute}"),
        {"€": ("euro", "euros"), "$": ("dollar", "dollars"), "£": ("livre", "livres"), "¥": ("yen", "yens")}, "",
        _units("kilo|kilos", "gramme|grammes", "kilomètres par heure", "kilomètre|kilomètres", "centimètre|centimètres",
               "millimètre|millimètres", "mètre|mètres", "millilitre|millilitres", "litre|litres", "heure|heures",
               "minute|minutes", "gigaoctet|gigaoctets", "mégaoctet|mégaoctets", "hertz"),
        {"&": " et ", "+": " plus ", "=": " égale ", "M.": "monsieur", "Mme": "madame", "Mlle": "mademoiselle",
         "Dr": "docteur", "etc.": "et cetera", "n°": "numéro ", "N°": "numéro "},
        "premier"),
    "it": Spelling(
        "it", "virgola", "meno", "per cento", ("grado", "gradi"), "a", "{day} {month} {year}",
        _months("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
        ("le {hour}", "le {hour} e {minute}"),
        {"€": ("euro", "euro"), "$": ("dollaro", "dollari"), "£": ("sterlina", "sterline"), "¥": ("yen", "yen")}, "e",
        _units("chilo|chili", "grammo|grammi", "chilometri all'ora", "chilometro|chilometri", "centimetro|centimetri",
               "millimetro|millimetri", "metro|metri", "millilitro|millilitri", "litro|litri", "ora|ore",
               "minuto|minuti", "gigabyte", "megabyte", "hertz"),
        {"&": " e ", "+": " più ", "=": " uguale ", "Sig.": "signor", "Sig.ra": "signora", "Dott.": "dottor",
         "ecc.": "eccetera", "n.": "numero"},
        "primo"),
    "pt": Spelling(
        "pt_BR", "vírgula", "menos", "por cento", ("grau", "graus"), "a", "{day} de {month} de {year}",
        _months("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
        ("{hour} horas", "{hour} e {minute}"),
        {"R$": ("real", "reais"), "€": ("euro", "euros"), "$": ("dólar", "dólares"), "£": ("libra", "libras")}, "e",
        _units("quilo|quilos", "grama|gramas", "quilômetros por hora", "quilômetro|quilômetros",
               "centímetro|centímetros", "milímetro|milímetros", "metro|metros", "mililitro|mililitros",
               "litro|litros", "hora|horas", "minuto|minutos", "gigabyte|gigabytes", "megabyte|megabytes", "hertz"),
        {"&": " e ", "+": " mais ", "=": " igual a ", "Sr.": "senhor", "Sra.": "senhora", "Dr.": "doutor",
         "Dra.": "doutora", "etc.": "etcétera", "n.º": "número ", "nº": "número "},
        "primeiro"),
    "hi": Spelling(
        "", "दशमलव", "माइनस", "प्रतिशत", ("डिग्री", "डिग्री"), "से", "{day} {month} {year}",
        _months("जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर"),
        ("{hour} बजे", "{hour} बजकर {minute} मिनट"),
        {"₹": ("रुपया", "रुपये"), "$": ("डॉलर", "डॉलर"), "€": ("यूरो", "यूरो"), "£": ("पाउंड", "पाउंड")}, "",
        _units("किलो", "ग्राम", "किलोमीटर प्रति घंटा", "किलोमीटर", "सेंटीमीटर", "मिलीमीटर", "मीटर", "मिलीलीटर",
               "लीटर", "घंटा|घंटे", "मिनट", "गीगाबाइट", "मेगाबाइट", "हर्ट्ज़"),
        {"&": " और ", "+": " जमा ", "=": " बराबर ", "डॉ.": "डॉक्टर"}),
}  # fmt: skip

NUMBER = r"\d{1,3}(?:[. ,]\d{3})+(?!\d)|\d+"
AMOUNT = rf"(?:{NUMBER})(?:[.,]\d+)?"
DATE = re.compile(r"\b(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})\b")
ISO_DATE = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
TIME = re.compile(r"\b([01]?\d|2[0-3])[:h]([0-5]\d)\b(?!:)(?:\s?बजे)?")
ORDINAL = re.compile(r"\b(\d{1,4})\s?\.?(º|ª|°(?!\s?[CF])|er|re|ème|e)(?!\w)")


def _integer(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def say_number(text: str, spelling: Spelling) -> str:
    """Words for ``1.500``, ``1 500``, ``3,5``, ``3.5``, ``007``: three digits after a mark are a group, else decimals."""
    decimals = re.fullmatch(r"(.*?)[.,](\d{1,2}|\d{4,})", text)
    grouped = re.fullmatch(r"\d{1,3}(?:[. ,]\d{3})+", text)
    whole, part = (text, "") if grouped or not decimals else (decimals[1], decimals[2])
    if not spelling.code:
        said, digits = str(_integer(whole)), " ".join(part)
    else:
        from num2words import num2words

        def words(value: int) -> str:
            return str(num2words(value, lang=spelling.code)).replace(",", "")

        said = (
            " ".join(words(int(digit)) for digit in whole)
            if re.fullmatch(r"0\d+", whole)
            else words(_integer(whole))
        )
        leading = [words(0)] * (len(part) - len(part.lstrip("0")))
        rest = part.lstrip("0")
        digits = " ".join(
            [*leading, *([words(int(rest))] if rest and len(rest) <= 2 else [words(int(d)) for d in rest])]
        )
    return f"{said} {spelling.point} {digits}" if part else said


def _date(day: str, month: str, year: str, spelling: Spelling, otherwise: str) -> str:
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return otherwise
    first = spelling.first if int(day) == 1 and spelling.first else say_number(str(int(day)), spelling)
    return spelling.date.format(
        day=first, month=spelling.months[int(month) - 1], year=say_number(year, spelling)
    )


def _clock(match: re.Match[str], spelling: Spelling) -> str:
    hour, minute = say_number(str(int(match[1])), spelling), int(match[2])
    article = re.compile(r"^(las|le) ")
    pattern = spelling.hour[1] if minute else spelling.hour[0]
    before = match.string[: match.start()].rstrip().lower()
    if re.search(r"\b(las|la|le|alle|dalle|delle|às|as|à)$", before):
        pattern = article.sub("", pattern)
    return pattern.format(hour=hour, minute=say_number(str(minute), spelling))


def _ordinal(match: re.Match[str], spelling: Spelling) -> str:
    if not spelling.code:
        return match[0]
    from num2words import num2words

    said = str(num2words(int(match[1]), lang=spelling.code, to="ordinal"))
    return said[:-1] + "a" if match[2] == "ª" and said.endswith("o") else said


def _counted(number: str, forms: tuple[str, str], spelling: Spelling) -> str:
    one = number in ("1", "01")
    said = say_number(number, spelling)
    if one and spelling.code in ("es", "it") and said.startswith("uno"):
        said = "un" if not forms[0].endswith("a") else "una"
    return f"{said} {forms[0] if one else forms[1]}"


def _before_noun(said: str, spelling: Spelling, noun: str) -> str:
    """Spanish shortens *uno* before a noun: veintiún años, un día."""
    if noun and spelling.code == "es" and said.endswith("uno"):
        said = "veintiún" if said == "veintiuno" else said[:-1]
    return said + noun


def _money(match: re.Match[str], spelling: Spelling) -> str:
    sign = match["before"] or match["after"]
    amount = match["amount"]
    cents = re.fullmatch(r"(.*?)[.,](\d\d)", amount)
    if not cents or cents[2] == "00":
        return _counted(cents[1] if cents else amount, spelling.money[sign], spelling)
    small = f" {spelling.small} " if spelling.small else " "
    return (
        _counted(cents[1], spelling.money[sign], spelling) + small + say_number(str(int(cents[2])), spelling)
    )


def spell_out(text: str, spelling: Spelling) -> str:
    """Numbers, dates, times, money, units and signs of one clause as words."""
    for written, said in spelling.signs.items():
        start = r"(?<!\w)" if written[0].isalpha() else ""
        text = re.sub(start + re.escape(written) + (r"(?!\w)" if written[-1].isalpha() else ""), said, text)
    signs = "|".join(sorted(map(re.escape, spelling.money), key=len, reverse=True))
    units = "|".join(sorted(map(re.escape, spelling.units), key=len, reverse=True))
    rules: list[tuple[str | re.Pattern[str], Callable[[re.Match[str]], str]]] = [
        (ISO_DATE, lambda m: _date(m[3], m[2], m[1], spelling, m[0])),
        (DATE, lambda m: _date(m[1], m[2], m[3], spelling, m[0])),
        (TIME, lambda m: _clock(m, spelling)),
        (rf"(?<=\d)\s?[-–]\s?(?={NUMBER})", lambda m: f" {spelling.to} "),
        (rf"(?<!\w)-(?={NUMBER})", lambda m: f"{spelling.minus} "),
        (rf"(?P<before>{signs})\s?(?P<amount>{AMOUNT})(?P<after>)", lambda m: _money(m, spelling)),
        (rf"(?P<before>)(?P<amount>{AMOUNT})\s?(?P<after>{signs})", lambda m: _money(m, spelling)),
        (rf"({AMOUNT})\s?%", lambda m: f"{say_number(m[1], spelling)} {spelling.percent}"),
        (rf"({AMOUNT})\s?(?:°\s?C?|℃)", lambda m: _counted(m[1], spelling.degrees, spelling)),
        (
            rf"(?<![\w.,])({AMOUNT})\s?({units})(?![\w/])",
            lambda m: _counted(m[1], spelling.units[m[2]], spelling),
        ),
        (ORDINAL, lambda m: _ordinal(m, spelling)),
        (r"(?<=[^\W\d_])[-_]?(?=\d)|(?<=\d)(?=[^\W\d_])", lambda m: " "),
        (
            rf"({AMOUNT})(\s+[^\W\d_])?",
            lambda m: _before_noun(say_number(m[1], spelling), spelling, m[2] or ""),
        ),
    ]
    for pattern, say in rules:
        text = re.sub(pattern, say, text)
    return re.sub(r"\s+", " ", text).strip()
