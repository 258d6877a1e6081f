"""Characters that are never spoken are taken out; look-alikes become the one sign the speech parts know."""

from __future__ import annotations

import re
import unicodedata

# Signs of category "other symbol" that people do say; every other one (emoji, dingbats, arrows…) is dropped.
SPOKEN_SYMBOLS = frozenset("°℃℉№")
REPLACEMENTS = {
    "\u2018": "'", "\u2019": "'", "\u02bc": "'", "\uff07": "'", "`": "'", "\u00b4": "'",
    "\u201e": "“", "\u201f": "“", "\u2033": '"', "\uff02": '"',
    "\u2010": "-", "\u2011": "-", "\u2012": "-", "\uff0d": "-", "\u2212": "-",
    "\u2013": "–", "\u2015": "—", "\u2026": "…", "\u22ef": "…",
    "\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u3000": " ",
}  # fmt: skip
TABLE = str.maketrans(REPLACEMENTS)
DASHES = re.compile(r"\s*(?:—+|-{2,}|(?<=\s)[–-](?=\s))\s*")
# A full-width full stop, comma or letter is the same sign in another width (U+FF01–FF5E); Chinese marks stay.
FULL_WIDTH = re.compile(r"[Ａ-Ｚａ-ｚ０-９％＋＄＃＆＠／]")


def _spoken(character: str) -> bool:
    category = unicodedata.category(character)
    if character == "\n":
        return True
    if category in ("So", "Sk"):
        return character in SPOKEN_SYMBOLS
    return category not in ("Cc", "Cf", "Cs", "Co", "Cn", "Me") and not "\ufe00" <= character <= "\ufe0f"


def clean(text: str) -> str:
    """Drop emoji, control and invisible characters; unify quotes, dashes, widths and blanks.

    A dash between words becomes a comma's pause, a line break a blank (after a full stop if the line had no end mark).
    """
    text = unicodedata.normalize("NFC", text).replace("\t", " ").replace("\r", "\n")
    text = "".join(character for character in text if _spoken(character)).translate(TABLE)
    text = FULL_WIDTH.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    text = re.sub(r"(?<=\w)[ ]*\n\s*", ". ", text).replace("\n", " ")
    text = re.sub(r"\.{2,}|。{2,}|…+", "… ", text)
    text = DASHES.sub(lambda match: ", " if match.start() and match.end() < len(match.string) else " ", text)
    text = re.sub(r"[*_~^|<>\\{}=#]+(?=\s|$)|(?<=\s)[*_~^|<>\\{}=]+|^[*_~^|<>\\{}=#]+(?!\d)", " ", text)
    text = re.sub(r"([!?！？])[!?！？]+", r"\1", text)
    return re.sub(r"\s+", " ", text).strip()
