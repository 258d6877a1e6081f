"""The classes the network tells apart: the symbols of all languages merged by how they are made.

Voicing, aspiration, length, tone, stress and nasality are left out, and what differs little between languages is one
class: 46 in all, silence first. A diphthong is two classes one after the other.
"""

from __future__ import annotations

from pipelines.g2p.symbols import MODIFIERS, PUNCTUATION, STRESS

SILENCE = 0
# One row a class: the symbols in it. The first stands for the class where a symbol is asked for.
_ROWS = (
    "aɐ", "ɑ", "æ", "ʌɜɝ", "ɔɒ", "o", "e", "ɛ", "əᵊɚɘᵻS", "ɪɨ", "i", "yɥøœ", "u", "ʊ", "ɯɤɰ", "p", "b", "m", "t", "d", "n",
    "k", "ɡgqcɟɢ", "ŋɴ", "fɸ", "vβʋ", "θ", "ð", "s", "zʣ", "ʃʒ", "ʂʐ", "ɕʑç", "hxχħɦʁ", "lɫɬɭʎ", "ɹɻɽ", "rɾTʀ", "wʍ", "jʝ",
    "ɲɳ", "ʧʤꭧ", "ʨʥ", "ʦ", "ɣ", "ʔ",
)  # fmt: skip
# Symbols whose sound is another's: retroflex stops are alveolar ones here.
_ALIASES = {"ʈ": "t", "ɖ": "d"}
NAMES = ("", *(row[0] for row in _ROWS))
COUNT = len(NAMES)
_NUMBER = {symbol: number for number, row in enumerate(_ROWS, 1) for symbol in row}
_NUMBER |= {symbol: _NUMBER[other] for symbol, other in _ALIASES.items()}
DIPHTHONGS = {"A": "eɪ", "I": "aɪ", "O": "oʊ", "Q": "əʊ", "W": "aʊ", "Y": "ɔɪ"}
# What quick speech leaves out or makes too short to be seen.
WEAK = frozenset(_NUMBER[symbol] for symbol in "əhʔɣ")


def classes(phone: str) -> tuple[int, ...]:
    """The classes of one phone as the pronunciation parts write it, in order; none where no letter is known."""
    letters = [c for c in phone if c not in STRESS and c not in MODIFIERS and c not in PUNCTUATION]
    plain = "".join(DIPHTHONGS.get(letter, letter) for letter in letters)
    return tuple(_NUMBER[letter] for letter in plain if letter in _NUMBER)
