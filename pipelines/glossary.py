"""The user's glossary: how names and words are said, kept as lines ``word = says`` in a text file that a person can edit.

What stands behind the sign may be plain words (``Dubwright = dub right``), pinyin (``行 = HANG2``), IPA or ARPABET.
"""

from __future__ import annotations

import re
from pathlib import Path

from pipelines.errors import InputError, Message
from pipelines.files import write_text
from pipelines.settings import Settings
from pipelines.text.marks import MARK

FILE = "glossary.txt"
LINE = re.compile(r"(?P<word>[^=\n<>|]+?)\s*=\s*(?P<says>[^=\n<>|]+)")
Glossary = dict[str, str]


def parse(text: str) -> Glossary:
    """Words and how they are said; empty lines and those beginning with # are left out.

    Raises:
        InputError: a line is not ``word = says``.
    """
    found: Glossary = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = LINE.fullmatch(line.strip())
        if match is None:
            raise InputError(
                Message(
                    f"Line {number} of the glossary is not “word = says”",
                    f"词汇表第 {number} 行不是“词 = 读法”",
                ),
                Message(
                    "Write one word a line, as Dubwright = dub right.", "请每行写一个词，如 行 = HANG2。"
                ),
                line.strip()[:60],
            )
        found[match["word"]] = match["says"].strip()
    return found


def path(settings: Settings) -> Path:
    """Where the glossary is."""
    return settings.jobs / FILE


def text_of(settings: Settings) -> str:
    """The glossary as it was written; empty when there is none."""
    return path(settings).read_text(encoding="utf-8") if path(settings).is_file() else ""


def load(settings: Settings) -> Glossary:
    """The user's glossary.

    Raises:
        InputError: the file was edited into something else.
    """
    return parse(text_of(settings))


def save(settings: Settings, text: str) -> None:
    """Keep a glossary.

    Raises:
        InputError: a line is not ``word = says``; nothing is changed then. DiskFull.
    """
    parse(text)
    write_text(path(settings), text.strip() + "\n" if text.strip() else "")


def marked(text: str, glossary: Glossary) -> str:
    """The text with every word of the glossary marked by how it is said, whatever its case; the writer's own marks win.

    A word in an alphabet counts where it stands alone, one of Chinese or Japanese characters anywhere.
    """
    if not glossary:
        return text
    ways = {word.casefold(): says for word, says in glossary.items()}
    longest_first = sorted(glossary, key=len, reverse=True)
    words = re.compile("|".join(_alone(word) for word in longest_first), re.IGNORECASE)

    def mark(stretch: str) -> str:
        return words.sub(lambda match: f"<{match[0]}|{ways[match[0].casefold()]}>", stretch)

    found, done = "", 0
    for kept in MARK.finditer(text):
        found += mark(text[done : kept.start()]) + kept[0]
        done = kept.end()
    return found + mark(text[done:])


def _alone(word: str) -> str:
    edge = re.compile(r"[A-Za-z\d\u00c0-\u024f]")
    before = r"(?<![A-Za-z\d\u00c0-\u024f])" if edge.match(word[0]) else ""
    after = r"(?![A-Za-z\d\u00c0-\u024f])" if edge.match(word[-1]) else ""
    return before + re.escape(word) + after
