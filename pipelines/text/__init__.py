"""Written text made ready to be spoken: cleaned, spelled out, and cut into clauses by script and into sentences.

What a person reads stays as it is; ``normalise`` gives what a person would *say*. Everything here is pure text.
"""

from __future__ import annotations

from pipelines.text.cleaning import clean
from pipelines.text.scripts import Clause, clauses
from pipelines.text.sentences import pieces, sentences
from pipelines.text.spoken import normalise

__all__ = ["Clause", "clauses", "clean", "normalise", "pieces", "sentences"]
