"""Text files as people have them: with and without a byte order mark, UTF-16, and the old encodings of many countries."""

from __future__ import annotations

import codecs
import re

import charset_normalizer

BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SHORT = 400  # bytes: the statistics of a guess go wrong on less
LEGACY = ["gb18030", "big5", "shift_jis", "euc_kr", "cp1252", "cp1251", "cp1250", "cp1253", "cp1256"]


def decoded(data: bytes) -> str | None:
    """The text of a file with plain line ends, or None for bytes that are no text."""
    for mark, encoding in BOMS:
        if data.startswith(mark):
            return plain_lines(data.decode(encoding, "replace"))
    zeros = (data[:400:2].count(0), data[1:400:2].count(0))
    if max(zeros) > 40:
        return plain_lines(data.decode("utf-16-be" if zeros[0] > zeros[1] else "utf-16-le", "replace"))
    if 0 in data:
        return None
    try:
        return plain_lines(data.decode("utf-8"))
    except UnicodeDecodeError:
        if len(data) <= SHORT and _common_chinese(data):
            return plain_lines(data.decode("gb18030"))
        guess = charset_normalizer.from_bytes(data, cp_isolation=LEGACY).best()
        return plain_lines(str(guess) if guess is not None else data.decode("gb18030", "replace"))


def _common_chinese(data: bytes) -> bool:
    """Whether bytes are ASCII, Chinese marks and the 3755 common characters of GB 2312: a guess needs more text than that."""
    pairs = re.sub(rb"[\x00-\x7f]+", b" ", data).split(b" ")
    return all(re.fullmatch(rb"(?:[\xa1-\xa3\xb0-\xd7][\xa1-\xfe])*", pair) for pair in pairs)


def plain_lines(text: str) -> str:
    """The text without a mark at its beginning, its lines ended by a newline alone."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
