"""Times as people read them."""

from __future__ import annotations


def clock(seconds: float) -> str:
    """``0:07``, ``12:30`` or ``1:02:03``."""
    whole = max(0, round(seconds))
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"
