"""From the cards, the installed torch and the user's flags to the policy, without importing torch.

What torch was built for is read from its ``version.py``; whether a card's kernels really run shows only in a worker.
"""

from __future__ import annotations

import ast
import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipelines.backend.hardware import Card, Hardware
from pipelines.backend.policy import Family, Policy, Precision
from pipelines.errors import Message, OptionError

TorchBuild = Literal["cuda", "rocm", "cpu", "none"]
SAFE_SHORT_SIDE, SAFE_FPS, SAFE_BATCH = 720, 30, 2
# Cards whose half precision is known to give NaN (the same list stands in facefusion, InvokeAI and A1111).
BROKEN_HALF = ("1630", "1650", "1660", "MX450", "MX550", "T500", "T550", "T600")


@dataclass(frozen=True, slots=True)
class Asked:
    """The user's flags: ``device`` (auto, cpu, cuda:N, mps), ``safe_mode`` (None: by the card), ``no_half``."""

    device: str = "auto"
    safe_mode: bool | None = None
    no_half: bool = False


def torch_build(version_file: Path | None = None) -> TorchBuild:
    """What the installed torch was built for; ``none`` when there is none."""
    if version_file is None:
        found = importlib.util.find_spec("torch")
        if found is None or found.origin is None:
            return "none"
        version_file = Path(found.origin).with_name("version.py")
    facts = _constants(version_file)
    return "rocm" if facts.get("hip") else "cuda" if facts.get("cuda") else "cpu"


def _constants(path: Path) -> dict[str, object]:
    """The plain values that a module assigns, read without running it."""
    try:
        statements = ast.parse(path.read_text(encoding="utf-8")).body
    except (OSError, SyntaxError):
        return {}
    found: dict[str, object] = {}
    for line in statements:
        targets = (
            line.targets
            if isinstance(line, ast.Assign)
            else [line.target]
            if isinstance(line, ast.AnnAssign)
            else []
        )
        value = line.value if isinstance(line, ast.Assign | ast.AnnAssign) else None
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
                found[target.id] = value.value
    return found


def choose(
    hardware: Hardware,
    build: TorchBuild,
    asked: Asked,
    threads: int,
    environment: Mapping[str, str] = os.environ,
) -> Policy:
    """The policy for this computer.

    Raises:
        OptionError: the device asked for makes no sense or cannot be used, with the reason.
    """
    index = _index(asked.device)
    family, reason, cards = _best(hardware, build)
    if asked.device == "cpu":
        family, reason = "cpu", "asked for"
    elif asked.device == "mps" and family != "mps":
        raise _unusable(asked.device, "this is not an Apple chip" if not hardware.apple else reason)
    elif index is not None and (family not in ("cuda", "rocm") or index >= len(cards)):
        raise _unusable(
            asked.device, reason if family == "cpu" else f"there are {len(cards)} cards, counted from 0"
        )
    card = cards[index or 0] if cards and family in ("cuda", "rocm") else None
    device = f"cuda:{index or 0}" if card else family
    safe = asked.safe_mode if asked.safe_mode is not None else family == "rocm"
    return Policy(
        family=family,
        device=device,
        precision=_precision(family, card, safe or asked.no_half),
        safe_mode=safe,
        short_side_cap=SAFE_SHORT_SIDE if safe else None,
        fps_cap=SAFE_FPS if safe else None,
        batch=SAFE_BATCH if safe else 8,
        threads=threads,
        environment=_environment(family, safe, threads, environment),
        reason=reason,
    )


def _index(device: str) -> int | None:
    """The card asked for; None for auto, cpu and mps."""
    if device in ("auto", "cpu", "mps"):
        return None
    head, colon, number = device.partition(":")
    if head != "cuda" or (colon and not number.isdecimal()):
        raise OptionError(
            Message(f"There is no device {device!r}", f"没有设备 {device!r}"),
            Message(
                "Choose auto, cpu, mps or cuda:N (AMD cards are called cuda too).",
                "可选:auto、cpu、mps 或 cuda:N(AMD 显卡也用 cuda)。",
            ),
        )
    return int(number or 0)


def _best(hardware: Hardware, build: TorchBuild) -> tuple[Family, str, tuple[Card, ...]]:
    """The family that cards and torch agree on, why, and its cards, those with memory of their own first."""
    nvidia = tuple(card for card in hardware.of("nvidia") if card.driver)
    amd = tuple(sorted(hardware.of("amd"), key=lambda card: card.integrated)) if hardware.kfd else ()
    if nvidia and build == "cuda":
        return "cuda", nvidia[0].name, nvidia
    if amd and build == "rocm":
        return "rocm", amd[0].name, amd
    if hardware.apple and build != "none":
        return "mps", "Apple chip", ()
    if build == "none":
        return "cpu", "PyTorch is not installed", ()
    if nvidia or amd:
        wanted = "cuda" if nvidia else "rocm"
        name = (nvidia or amd)[0].name
        return (
            "cpu",
            f"{name} is there, but the installed PyTorch is the {build} build: bash start_app.sh --backend {wanted}",
            (),
        )
    return "cpu", hardware.notes[0] if hardware.notes else "no graphics card was found", ()


def _precision(family: Family, card: Card | None, full: bool) -> Precision:
    if full or card is None or family != "cuda":
        return "float32"  # half precision is not trusted on AMD and Apple before it was tried there
    if any(name in card.name for name in BROKEN_HALF) or (0, 0) < card.capability < (7, 0):
        return "float32"
    return "float16"


def _environment(family: Family, safe: bool, threads: int, environment: Mapping[str, str]) -> dict[str, str]:
    """Variables of the worker; what the user set himself stays."""
    wanted = {"OMP_NUM_THREADS": str(threads)}
    if family == "rocm" and safe:
        wanted["MIOPEN_FIND_MODE"] = "FAST"  # no search for the fastest kernel: minutes saved, hangs avoided
    return {name: value for name, value in wanted.items() if name not in environment}


def _unusable(device: str, reason: str) -> OptionError:
    return OptionError(
        Message(f"The device {device} cannot be used: {reason}", f"无法使用设备 {device}:{reason}"),
        Message("Leave --device away, or use --cpu.", "请去掉 --device,或使用 --cpu。"),
    )
