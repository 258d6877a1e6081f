"""Media for *Try it with an example*: made for Dubwright, part of it, free to use (docs/LICENCES.md)."""

from __future__ import annotations

from pathlib import Path

SPEECH = "Every voice has a story. Say yours once, and let the whole world hear it in its own language."
LANGUAGE = "en"  # what she speaks
FOLDER = Path(__file__).resolve().parent.parent / "examples"


def talker() -> str:
    """A drawn woman speaking English for eight seconds."""
    return str(FOLDER / "talker.mp4")


def sample() -> str:
    """The same voice alone."""
    return str(FOLDER / "sample.wav")


def other_sample() -> str:
    """Other words in the same voice, for the talking head."""
    return str(FOLDER / "other.wav")


def target(wanted: str | None) -> str:
    """A language to dub the example into: the one wanted, unless it is spoken in it already (then Spanish)."""
    return "es" if wanted in (None, "", LANGUAGE) else str(wanted)
