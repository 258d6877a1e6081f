"""What makes a single picture live: the inside of a mouth it does not show, blinking eyes, a head that moves a little."""

from __future__ import annotations

__all__: list[str] = []
