"""A text spoken: in pieces that can each be said again, joined, brought to a loudness and written in the asked format."""

from __future__ import annotations

from pipelines.speak.flow import TIMES, run

__all__ = ["TIMES", "run"]
