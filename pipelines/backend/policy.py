"""How engines must behave on this machine: one frozen object that everything reads, and how it is chosen."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from pipelines.errors import Message, OptionError

if TYPE_CHECKING:
    from pipelines.backend.probe import Device, Probe

Family = Literal["cuda", "rocm", "mps", "cpu"]
Precision = Literal["float32", "bfloat16", "float16"]
GIB = 1024**3
ALLOCATOR_SETTINGS = ("PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
# Cards whose half precision is known to give NaN (the same list stands in facefusion, InvokeAI and A1111).
BROKEN_HALF = ("1630", "1650", "1660", "MX450", "MX550", "T500", "T550", "T600")
NO_CARDS = {"CUDA_VISIBLE_DEVICES": "-1", "HIP_VISIBLE_DEVICES": "-1"}


@dataclass(frozen=True, slots=True)
class Policy:
    """What an engine may use.

    Attributes:
        family: which kind of machine torch engines run on.
        device: torch device string (``cpu``, ``cuda:0``, ``mps``).
        precision: number format of torch engines.
        safe_mode: the cautious mode for AMD cards (no half, capped working size).
        short_side_cap: the picture that a network sees a part of has at most this short side in pixels, or None. A
            network with a small input of its own (``wav2lip``: 96 px) gets its faces out of a picture reduced so far;
            what it draws is laid into the picture at full size.
        fps_cap: a network draws for at most so many frames a second, or None; above it each drawing serves several
            frames of the picture, which keeps its rate.
        batch: how many items a network computes at once.
        threads: CPU threads of an engine.
        compile: networks are compiled by torch (NVIDIA cards, when asked for).
        graphs: a network's kernels are recorded once and replayed as a CUDA graph (NVIDIA cards, when asked for).
        benchmark: cuDNN tries its algorithms for every new shape and keeps the quickest.
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
    compile: bool = False
    graphs: bool = False
    benchmark: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    reason: str = ""


def choose(
    probe: Probe,
    *,
    device: str = "auto",
    cpu: bool = False,
    safe_mode: bool | None = None,
    no_half: bool = False,
    compile: bool = False,
    graphs: bool = False,
    threads: int = 2,
    environment: Mapping[str, str] | None = None,
) -> Policy:
    """The policy for what the probe found and the user asked.

    Args:
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:N`` (AMD cards too: torch calls them cuda) or ``mps``.
        cpu: the same as ``device="cpu"``.
        safe_mode: True or False when the user said so; None turns it on for AMD cards.
        no_half: 32-bit floats only; sizes stay.
        compile, graphs: see ``Policy``; for NVIDIA cards outside safe mode only.
        environment: the variables that are set already (``os.environ``); a user's own choice is never overwritten.

    Raises:
        OptionError: the device asked for is not there, or cannot be used; the message says what is. Or it is none on
            which networks are compiled or recorded.
    """
    env = os.environ if environment is None else environment
    chosen = _chosen(probe, "cpu" if cpu else device.strip().lower(), safe_mode, no_half, threads, env)
    if not (compile or graphs):
        return chosen
    if chosen.family != "cuda" or chosen.safe_mode:
        raise OptionError(
            Message(
                "Networks are compiled (--compile) or recorded (--graphs) on NVIDIA cards outside safe mode only",
                "仅在 NVIDIA 显卡且未启用安全模式时才能编译(--compile)或录制(--graphs)网络",
            ),
            Message("Leave the flag out.", "请去掉该参数。"),
        )
    return replace(chosen, compile=compile, graphs=graphs)


def _chosen(
    probe: Probe, wanted: str, safe_mode: bool | None, no_half: bool, threads: int, env: Mapping[str, str]
) -> Policy:
    if wanted == "cpu":
        return Policy(
            threads=threads, safe_mode=bool(safe_mode), environment=NO_CARDS, reason="the CPU was asked for"
        )
    if wanted == "auto":
        best = _best(probe)
        if best is None:
            few = _threads(threads, env)
            return Policy(threads=threads, safe_mode=bool(safe_mode), environment=few, reason=probe.reason)
    else:
        best = _asked(probe, wanted)
    return _on_card(probe, best, safe_mode, no_half, threads, env)


def _threads(threads: int, env: Mapping[str, str]) -> dict[str, str]:
    return {} if "OMP_NUM_THREADS" in env else {"OMP_NUM_THREADS": str(threads)}


def _best(probe: Probe) -> Device | None:
    """The working device with most memory; graphics inside a processor only when there is no other."""
    working = [device for device in probe.devices if device.works]
    return max(working, key=lambda device: (not device.integrated, device.memory or 0), default=None)


def _asked(probe: Probe, wanted: str) -> Device:
    match = re.fullmatch(r"(cuda|mps)(?::(\d+))?", wanted)
    names = ", ".join(["auto", "cpu", *(device.name_for_torch(probe.build) for device in probe.devices)])
    todo = Message(f"Choose one of: {names}.", f"请从中选择:{names}。")
    if not match:
        raise OptionError(
            Message(f"There is no device called {wanted!r}", f"没有名为 {wanted!r} 的设备"), todo
        )
    fitting = probe.build == "mps" if match.group(1) == "mps" else probe.build in ("cuda", "rocm")
    found = [device for device in probe.devices if fitting and device.index == int(match.group(2) or 0)]
    if not found:
        raise OptionError(
            Message(
                f"The device {wanted} is not there: {probe.reason}", f"设备 {wanted} 不存在:{probe.reason}"
            ),
            todo,
        )
    if not found[0].works:
        raise OptionError(
            Message(
                f"{found[0].name} cannot be used: {found[0].why}", f"{found[0].name} 无法使用:{found[0].why}"
            ),
            todo,
        )
    return found[0]


def _on_card(
    probe: Probe, device: Device, asked_safe: bool | None, no_half: bool, threads: int, env: Mapping[str, str]
) -> Policy:
    family: Family = probe.build
    translated = device.name.endswith("[ZLUDA]")  # a CUDA build on an AMD card through a translation layer
    safe = asked_safe if asked_safe is not None else family == "rocm" or translated
    name = device.name_for_torch(family)
    extra = _threads(threads, env)
    if family == "rocm":
        extra |= _rocm_environment(probe, device, env)
    if "HIP_VISIBLE_DEVICES" in extra:
        name = "cuda:0"
    memory = (device.memory or 0) / GIB
    return Policy(
        family=family,
        device=name,
        precision="float32" if safe or no_half else _precision(family, device),
        safe_mode=safe,
        short_side_cap=720 if safe else None,
        fps_cap=30 if safe else None,
        batch=_batch(memory, safe),
        threads=threads,
        benchmark=family == "cuda" and not safe,
        environment=extra,
        reason=f"{device.name} passed the test computation",
    )


def _precision(family: Family, device: Device) -> Precision:
    """bfloat16 before float16, each only where it was seen to work; Apple's half precision gives NaN in attention."""
    if family == "mps":
        return "float32"
    if "bfloat16" in device.precisions and (family == "rocm" or device.capability >= (8, 0)):
        return "bfloat16"
    broken = any(name in device.name for name in BROKEN_HALF)
    if "float16" in device.precisions and family == "cuda" and device.capability >= (7, 0) and not broken:
        return "float16"
    return "float32"


def _batch(memory_gib: float, safe: bool) -> int:
    """Frames at once, by the card's memory; 32-bit floats need twice the room, so safe mode takes a quarter."""
    full = 4 if memory_gib < 6 else 8 if memory_gib < 12 else 16 if memory_gib < 24 else 32
    return max(1, full // 4) if safe else full


def _rocm_environment(probe: Probe, device: Device, env: Mapping[str, str]) -> dict[str, str]:
    """Variables the HIP runtime reads once, at its start, so they must be set before the worker begins."""
    extra = {}
    if "MIOPEN_FIND_MODE" not in env:
        extra["MIOPEN_FIND_MODE"] = "FAST"  # heuristics instead of minutes of search for every new shape
    if len(probe.devices) > 1 and "HIP_VISIBLE_DEVICES" not in env and "ROCR_VISIBLE_DEVICES" not in env:
        extra["HIP_VISIBLE_DEVICES"] = str(device.index)  # hides the processor's graphics from every library
    for name in ALLOCATOR_SETTINGS:
        kept = [
            part
            for part in env.get(name, "").split(",")
            if part and not part.startswith("expandable_segments")
        ]
        if name in env and ",".join(kept) != env[name]:
            extra[name] = ",".join(kept)  # expandable segments can hang a HIP process beyond interruption
    return extra
