"""The Kokoro voice engine: 82 M parameters, eight languages, exact length, phone times, matched to a reference."""

from __future__ import annotations

from pipelines.voice.kokoro.engine import Kokoro

__all__ = ["Kokoro"]
