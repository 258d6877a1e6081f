"""Mandarin through misaki's first Chinese notation (the one Kokoro v1.0 voices were trained with): IPA with tone arrows."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable
from functools import cache

from pipelines.g2p import espeak
from pipelines.g2p.symbols import kept
from pipelines.g2p.tokens import CJK, Unit

STRETCH = re.compile(rf"[{CJK}]+|[^{CJK}]+")


@cache
def _parts() -> tuple[Callable[[str], list[str]], Callable[[str], str]]:
    """jieba's word cutter and misaki's word reader (loaded once; jieba warns about its own use of pkg_resources)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
        from misaki.zh import ZHG2P

    jieba.setLogLevel(logging.WARNING)
    return jieba.lcut, ZHG2P.word2ipa


def _words(text: str) -> list[Unit]:
    cut, read = _parts()
    said = [(word, read(word).replace("\u032f", "")) for word in cut(text)]
    return [Unit(word, symbols) for word, ipa in said if (symbols := kept(ipa))]


def units(text: str, language: str) -> tuple[Unit, ...]:
    """Chinese words by jieba and pypinyin; Latin words inside go to the English part."""
    found: list[Unit] = []
    for stretch in STRETCH.findall(text):
        if re.match(rf"[{CJK}]", stretch):
            found.extend(_words(stretch))
        else:
            found.extend(espeak.units(stretch, "en"))
    return tuple(found)
