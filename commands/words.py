"""The language of the terminal, and small phrases with numbers."""

from __future__ import annotations

import os


def language() -> str:
    """``zh`` in a Chinese terminal, otherwise ``en`` (LC_ALL, LC_MESSAGES, LANG in this order)."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if os.environ.get(name):
            return "zh" if os.environ[name].lower().startswith("zh") else "en"
    return "en"


def clock(seconds: float) -> str:
    """``0:07``, ``12:30``, ``1:02:03``."""
    whole = int(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
