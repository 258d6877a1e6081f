"""The one sentence about this machine on top of the page: device, backend, precision, safe mode, engines."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pipelines.backend.policy import GIB, Policy
from pipelines.backend.probe import Device, Probe
from pipelines.errors import Message

if TYPE_CHECKING:
    from pipelines.registry import EngineState

RUNTIME_NAMES = {"cuda": "CUDA", "rocm": "ROCm", "mps": "Metal", "cpu": "CPU"}
PRECISION_NAMES = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}


def device_name(policy: Policy, probe: Probe) -> str:
    """What the device is called: ``NVIDIA GeForce RTX 3060 · CUDA 12.8 · 12.0 GiB`` or ``CPU (8 threads)``."""
    device = _device(policy, probe)
    if device is None:
        name = platform.processor() or platform.machine()
        return f"CPU ({name}, {policy.threads} threads)"
    runtime = ".".join(probe.runtime.split(".")[:2])
    parts = [device.name, f"{RUNTIME_NAMES[policy.family]} {runtime}".strip()]
    if device.memory:
        parts.append(f"{device.memory / GIB:.1f} GiB" + (" shared" if device.integrated else ""))
    return " · ".join(parts)


def place(runs_on: str, policy: Policy, probe: Probe) -> str:
    """Where an engine computes: the card's name when it follows the policy and there is one, else ``CPU``."""
    device = _device(policy, probe)
    return device.name if device is not None and runs_on == "device" else "CPU"


def _device(policy: Policy, probe: Probe) -> Device | None:
    if policy.family == "cpu":
        return None
    hidden = policy.environment.get("HIP_VISIBLE_DEVICES")
    index = int(hidden) if hidden and hidden.isdigit() else int(policy.device.partition(":")[2] or 0)
    return next((device for device in probe.devices if device.index == index), None)


def banner(policy: Policy, probe: Probe, states: Mapping[str, EngineState]) -> Message:
    """The banner's sentence; ``states`` are the engines of all registries by name."""
    ready = sum(state.ready for state in states.values())
    name = device_name(policy, probe)
    precision = PRECISION_NAMES[policy.precision]
    english = [name, precision]
    chinese = [name, precision]
    if policy.safe_mode:  # its caps on size and batch are named when an engine reads them
        english.append("safe mode")
        chinese.append("安全模式")
    elif policy.family == "rocm":
        english.append("safe mode off")
        chinese.append("安全模式已关闭")
    english.append(f"{ready} of {len(states)} engines ready")
    chinese.append(f"{len(states)} 个引擎中 {ready} 个就绪")
    if policy.family == "cpu" and probe.hardware.cards and policy.reason:
        english.append(f"CPU because: {policy.reason}")
        chinese.append(f"使用 CPU 的原因:{policy.reason}")
    return Message(" · ".join(english), " · ".join(chinese))
