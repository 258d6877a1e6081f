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
PRECISIONS = {
    "float32": Message("full precision (fp32)", "全精度(fp32)"),
    "bfloat16": Message("half precision (bf16)", "半精度(bf16)"),
    "float16": Message("half precision (fp16)", "半精度(fp16)"),
}


def device_name(policy: Policy, probe: Probe) -> str:
    """What the device is called: ``RTX 3060 · CUDA 12.8 (torch 2.11) · 12.0 GiB`` or ``CPU (x86_64, 8 threads)``."""
    device = _device(policy, probe)
    if device is None:
        name = platform.processor() or platform.machine()
        return f"CPU ({name}, {policy.threads} threads)"
    runtime, torch = (".".join(version.split(".")[:2]) for version in (probe.runtime, probe.torch))
    parts = [device.name, f"{RUNTIME_NAMES[policy.family]} {runtime}".strip() + f" (torch {torch})"]
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


def facts(policy: Policy, probe: Probe, ready: int, engines: int) -> tuple[Message, ...]:
    """What the banner says, one by one: device, precision with safe mode, engines that are ready."""
    name = device_name(policy, probe)
    return (
        Message(name, name),
        _mode(policy),
        Message(f"{ready} of {engines} engines ready", f"{engines} 个引擎中 {ready} 个就绪"),
    )


def _mode(policy: Policy) -> Message:
    """``safe mode: no-half (fp32), 720p30``, ``half precision (bf16)``; that a mode is off is news on AMD cards only."""
    if policy.safe_mode:
        caps = ""
        if policy.short_side_cap and policy.fps_cap:  # of stages on the card; on a processor there are none
            caps = f", {policy.short_side_cap}p{policy.fps_cap}"
        return Message(f"safe mode: no-half (fp32){caps}", f"安全模式:不使用半精度(fp32){caps}")
    mode = PRECISIONS[policy.precision]
    off = policy.family == "rocm"
    return Message(
        mode.en + ", safe mode off" * off + ", compiled" * policy.compile + ", CUDA graphs" * policy.graphs,
        mode.zh + ",安全模式已关闭" * off + ",已编译" * policy.compile + ",CUDA 图" * policy.graphs,
    )


def banner(policy: Policy, probe: Probe, states: Mapping[str, EngineState]) -> Message:
    """The banner's sentence; ``states`` are the engines of all registries by name."""
    said = list(facts(policy, probe, sum(state.ready for state in states.values()), len(states)))
    if policy.family == "cpu" and probe.hardware.cards and policy.reason:
        said.append(Message(f"CPU because: {policy.reason}", f"使用 CPU 的原因:{policy.reason}"))
    return Message(" · ".join(fact.en for fact in said), " · ".join(fact.zh for fact in said))
