"""Marks in a text to be spoken: ``[0.5s]`` a pause, ``<行|XING2>`` how something is said, ``*word*`` emphasis."""

from __future__ import annotations

import re
from dataclasses import dataclass

SAID = re.compile(r"<([^<>|\n]+)\|([^<>|\n]+)>")
PAUSE = re.compile(r"\s*\[(\d{1,2}(?:\.\d{1,3})?)\s?s\]\s*", re.IGNORECASE)
EMPHASIS = re.compile(r"(?<![*\w])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![*\w])")
MARK = re.compile(rf"{SAID.pattern}|{EMPHASIS.pattern}|{PAUSE.pattern}", re.IGNORECASE)
LONGEST_PAUSE = 30.0  # seconds


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a text: ``says`` is how it is said where the writer says so; ``pause``: seconds, the text is empty."""

    text: str
    says: str = ""
    emphasis: bool = False
    pause: float = 0.0


def parts(text: str) -> tuple[Part, ...]:
    """The text cut at its marks; one plain part where there are none."""
    found: list[Part] = []
    done = 0
    for match in MARK.finditer(text):
        if match.start() > done:
            found.append(Part(text[done : match.start()]))
        written, says, stressed, seconds = match.groups()
        if says is not None:
            found.append(Part(written, says=says.strip()))
        elif stressed is not None:
            found.append(Part(stressed, emphasis=True))
        else:
            found.append(Part("", pause=min(float(seconds), LONGEST_PAUSE)))
        done = match.end()
    if done < len(text):
        found.append(Part(text[done:]))
    return tuple(found)


def written(text: str) -> str:
    """The text as a reader sees it, without its marks."""
    text = PAUSE.sub(" ", text)
    return EMPHASIS.sub(r"\1", SAID.sub(r"\1", text)).strip()


def between_pauses(text: str) -> tuple[tuple[str, float], ...]:
    """The stretches between pause marks, each with the seconds of silence after it."""
    found: list[tuple[str, float]] = []
    done = 0
    for match in PAUSE.finditer(text):
        found.append((text[done : match.start()], min(float(match[1]), LONGEST_PAUSE)))
        done = match.end()
    found.append((text[done:], 0.0))
    return tuple(found)
