"""Which phone sounds when: a small network that hears phones in any language, and known phones laid over what it hears.

Knows nothing of engines; whoever has sound may ask (``asr`` for word times, the flows for lips without words).
"""

from __future__ import annotations

from pipelines.phones.alignment import Span, align
from pipelines.phones.classes import classes
from pipelines.phones.decoding import decode
from pipelines.phones.features import SR
from pipelines.phones.network import STEP, Heard, hear

__all__ = ["SR", "STEP", "Heard", "Span", "align", "classes", "decode", "hear"]
