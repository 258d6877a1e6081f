"""Kokoro's symbol set (vocab.json of Kokoro-82M v1.0) and how symbols group into phones."""

from __future__ import annotations

from collections.abc import Iterable

# Checked against the weights' own vocab.json when the engine is loaded.
PUNCTUATION = frozenset(';:,.!?—…"()“”')
LETTERS = (
    "̃ʣʥʦʨᵝꭧAIOQSTWYᵊabcdefhijklmnopqrstuvwxyzɑɐɒæβɔɕçɖðʤəɚɛɜɟɡɥɨɪʝɯɰŋɳɲɴøɸθœɹɾɻʁɽʂʃʈʧʊʋʌɣɤχʎʒʔˈˌːʰʲ↓→↗↘ᵻ"
)
SYMBOLS = frozenset(LETTERS) | PUNCTUATION | {" "}
STRESS = frozenset("ˈˌ")  # stand before the phone they belong to
MODIFIERS = frozenset("ːʰʲ̃ᵝ↓→↗↘")  # stand after it
VOWELS = frozenset("AIOQWYaeiouyɑɐɒæɔəɚɛɜɨɪɯøœʊʌɤᵊᵻ")


def kept(symbols: Iterable[str]) -> tuple[str, ...]:
    """The symbols the voice knows, in order; ``g`` is the IPA letter ɡ."""
    return tuple(symbol for symbol in (("ɡ" if s == "g" else s) for s in symbols) if symbol in SYMBOLS)
