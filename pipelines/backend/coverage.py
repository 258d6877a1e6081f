"""Whether a build of torch has kernels for a card: NVIDIA and AMD name architectures differently and mean it differently."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

Coverage = Literal["covered", "missing", "unknown"]


def coverage(architecture: str, targets: Sequence[str]) -> Coverage:
    """Compare within one namespace only; *unknown* when either side does not say.

    Args:
        architecture: ``gfx90a:sramecc+:xnack-`` (AMD) or ``sm_89`` (NVIDIA).
        targets: what ``torch.cuda.get_arch_list()`` of the build says.

    AMD: the exact target, features after the colon left out. NVIDIA: a kernel of the same major generation and not
    newer than the card, or intermediate code (``compute_``) not newer than the card; a suffix ``a`` holds for exactly
    that card, ``f`` for its family. So a card of 8.9, which no build names, is covered by ``sm_86``.
    """
    if architecture.startswith("gfx"):
        listed = {target.partition(":")[0] for target in targets if target.startswith("gfx")}
        if not listed:
            return "unknown"
        return "covered" if architecture.partition(":")[0] in listed else "missing"
    card = _number(architecture)
    listed = {target for target in targets if target.startswith(("sm_", "compute_"))}
    if card is None or not listed:
        return "unknown"
    return "covered" if any(_runs(card, target) for target in listed) else "missing"


def _number(architecture: str) -> tuple[int, int] | None:
    match = re.fullmatch(r"sm_(\d+)(\d)", architecture)
    return (int(match.group(1)), int(match.group(2))) if match else None


def _runs(card: tuple[int, int], target: str) -> bool:
    match = re.fullmatch(r"(sm|compute)_(\d+)(\d)([af]?)", target)
    if match is None:
        return False
    kind, version, suffix = match.group(1), (int(match.group(2)), int(match.group(3))), match.group(4)
    if suffix == "a":
        return card == version
    if kind == "compute" and not suffix:
        return version <= card
    return version[0] == card[0] and version[1] <= card[1]
