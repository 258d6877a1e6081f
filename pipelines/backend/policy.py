"""How engines must behave on this machine: one frozen object that everything reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Family = Literal["cuda", "rocm", "mps", "cpu"]
Precision = Literal["float32", "bfloat16", "float16"]


@dataclass(frozen=True, slots=True)
class Policy:
    """What an engine may use.

    Attributes:
        family: which kind of machine torch engines run on.
        device: torch device string (``cpu``, ``cuda:0``, ``mps``).
        precision: number format of torch engines.
        safe_mode: the cautious mode for AMD cards (no half, capped working size).
        short_side_cap: largest short side in pixels for stages on the GPU, or None.
        fps_cap: largest frame rate for stages on the GPU, or None.
        batch: largest batch for stages on the GPU.
        threads: CPU threads of an engine.
        environment: variables the worker's process gets before it starts.
        reason: why this family was chosen, for banner and doctor.
    """

    family: Family = "cpu"
    device: str = "cpu"
    precision: Precision = "float32"
    safe_mode: bool = False
    short_side_cap: int | None = None
    fps_cap: int | None = None
    batch: int = 8
    threads: int = 2
    environment: dict[str, str] = field(default_factory=dict)
    reason: str = ""
