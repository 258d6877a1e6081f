"""Who speaks when: windows of speech as voice vectors, grouped by likeness, and the groups laid over a transcript."""

from pipelines.diarise.labels import labelled
from pipelines.diarise.turns import MOST_SPEAKERS, Turn, find_turns

__all__ = ["MOST_SPEAKERS", "Turn", "find_turns", "labelled"]
