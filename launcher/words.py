"""Saying things to the person at the terminal, in the language of the terminal."""

from __future__ import annotations

import os
import sys


class LauncherError(Exception):
    """Set-up or start cannot go on; the text says what happened and what to do.

    Args:
        en, zh: the sentence in both languages.
        code: exit code of the command: 1 failed, 2 wrong option, 3 something has to be installed first.
    """

    def __init__(self, en: str, zh: str, code: int = 1) -> None:
        super().__init__(choose(en, zh))
        self.code = code


def choose(en: str, zh: str) -> str:
    """The sentence in the terminal's language (LC_ALL, LC_MESSAGES or LANG, the first that is set)."""
    language = next(
        (os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), ""
    )
    return zh if language.lower().startswith("zh") else en


def say(en: str, zh: str) -> None:
    """One line on stdout, seen at once also when it goes to a file."""
    encoding = sys.stdout.encoding or "utf-8"
    line = choose(en, zh) + "\n"
    sys.stdout.write(line.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


def ask(en: str, zh: str) -> bool:
    """Ask yes or no, yes by default; without a terminal the answer is no."""
    if not sys.stdin.isatty():
        return False
    sys.stdout.write(choose(en, zh) + " [Y/n] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("", "y", "yes", "是")
