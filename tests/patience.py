"""How long to wait on a machine that has other things to do: limits of the specification hold for one that has not."""

from __future__ import annotations

import os


def patience() -> float:
    """How much slower than alone this machine is just now, by its load; 1 when it is idle."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
