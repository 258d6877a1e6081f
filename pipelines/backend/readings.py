"""What the graphics cards do at this moment: memory, load, temperature, power; nothing where nothing tells.

NVIDIA from ``nvidia-smi``. AMD from the kernel's files (no root, no process, no driver call), else from ``amd-smi metric``
(WSL has no such files). A card that sleeps is left asleep. Shapes are those of the tools' and amdgpu's documentation.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.backend.hardware import Vendor, displays, nvidia_smi, run_tool
from pipelines.backend.smi import first_json, leaves

MIB = 1024**2
AMD_METRIC = ("amd-smi", "metric", "--mem-usage", "--usage", "--temperature", "--power", "--json")
BASIC = ("index", "memory.used", "memory.total", "utilization.gpu", "temperature.gpu", "power.draw")
SLOWED = ("clocks_throttle_reasons.hw_thermal_slowdown", "clocks_throttle_reasons.sw_thermal_slowdown")
SENSORS = ("edge", "junction", "mem")

TOLD_SENSORS = {"edge": "edge", "hotspot": "junction", "mem": "mem"}  # amd-smi's names


@dataclass(frozen=True, slots=True)
class Reading:
    """One card now; None or empty where it does not tell.

    Attributes:
        vendor: who made it. index: its number among the vendor's cards, as the tool or the bus orders them.
        used, total: bytes of its memory. busy: 0 to 1. watts: power drawn.
        celsius: (sensor, temperature) with the sensors ``gpu``, ``edge``, ``junction``, ``mem``.
        throttled: whether heat slows it down now.
    """

    vendor: Vendor
    index: int
    used: float | None = None
    total: float | None = None
    busy: float | None = None
    watts: float | None = None
    celsius: tuple[tuple[str, float], ...] = ()
    throttled: bool | None = None


def read_cards(root: Path = Path("/")) -> tuple[Reading, ...]:
    """Ask all cards; at most a few seconds, never an exception. ``root`` is where ``sys`` is (another folder in tests)."""
    amd = read_amdgpu(root)
    if not amd and not _amdgpu_devices(root) and shutil.which(AMD_METRIC[0]):
        amd = parse_amd_metric(run_tool(AMD_METRIC)[1])
    return (*_nvidia(root), *amd)


def _nvidia(root: Path) -> tuple[Reading, ...]:
    tool, cards = nvidia_smi(), displays(root, "0x10de")
    if tool is None or (cards and all(map(_sleeps, cards))):  # the tool would wake them
        return ()
    code, text = _query(tool, (*BASIC, *SLOWED))
    if code != 0 and "not a valid field" in text:  # the reasons' names differ between drivers
        code, text = _query(tool, BASIC)
    return parse_nvidia_query(text) if code == 0 else ()


def _query(tool: str, fields: tuple[str, ...]) -> tuple[int, str]:
    return run_tool([tool, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"])


def parse_nvidia_query(text: str) -> tuple[Reading, ...]:
    """Readings from lines of ``BASIC``, or ``BASIC`` and ``SLOWED``; memory in MiB, load in percent, ``[N/A]`` is nothing."""
    found = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) < len(BASIC) or not parts[0].isdigit():
            continue
        used, total, busy, celsius, watts = (_number(part) for part in parts[1 : len(BASIC)])
        reasons = [part for part in parts[len(BASIC) :] if part in ("Active", "Not Active")]
        found.append(
            Reading(
                vendor="nvidia",
                index=int(parts[0]),
                used=_times(used, MIB),
                total=_times(total, MIB),
                busy=_times(busy, 0.01),
                watts=watts,
                celsius=() if celsius is None else (("gpu", celsius),),
                throttled="Active" in reasons if reasons else None,
            )
        )
    return tuple(found)


def read_amdgpu(root: Path) -> tuple[Reading, ...]:
    """Readings from ``/sys/class/drm/card*/device``; cards that sleep (runtime power management) are left out."""
    devices = enumerate(_amdgpu_devices(root))
    return tuple(_amdgpu(index, device) for index, device in devices if not _sleeps(device))


def _amdgpu_devices(root: Path) -> list[Path]:
    """AMD's devices in the bus's order, whether or not they sleep."""
    places = (root / "sys/class/drm").glob("card*")
    devices = [place / "device" for place in places if re.fullmatch(r"card\d+", place.name)]
    own = [device.resolve() for device in devices if _text(device / "vendor") == "0x1002"]
    return sorted(own, key=lambda device: device.name)


def _sleeps(device: Path) -> bool:
    return _text(device / "power/runtime_status") == "suspended"


def _amdgpu(index: int, device: Path) -> Reading:
    sensors = sorted((device / "hwmon").glob("hwmon*"))[:1]
    power = [_number(_text(place / name)) for place in sensors for name in ("power1_average", "power1_input")]
    microwatts = next((value for value in power if value is not None), None)
    return Reading(
        vendor="amd",
        index=index,
        used=_number(_text(device / "mem_info_vram_used")),
        total=_number(_text(device / "mem_info_vram_total")),
        busy=_times(_number(_text(device / "gpu_busy_percent")), 0.01),
        watts=_times(microwatts, 1e-6),
        celsius=tuple(pair for place in sensors for pair in _temperatures(place)),
    )


def _temperatures(place: Path) -> list[tuple[str, float]]:
    """Sensors that the driver names; values are thousandths of a degree."""
    found = []
    for file in sorted(place.glob("temp[0-9]_input")):
        value = _number(_text(file))
        name = _text(file.with_name(file.name.replace("_input", "_label")))
        if value is not None and name in SENSORS:
            found.append((name, value / 1000))
    return found


def parse_amd_metric(text: str) -> tuple[Reading, ...]:
    """Readings from ``amd-smi metric --json``: a bare list, or one inside ``gpu_data``; memory in MB of two's powers."""
    whole = first_json(text)
    entries = whole.get("gpu_data") if isinstance(whole, dict) else whole
    found = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    return tuple(_told(position, entry) for position, entry in enumerate(found))


def _told(position: int, entry: dict[str, Any]) -> Reading:
    values = dict(leaves(entry))
    celsius = {name: values.get(f"temperature.{key}") for key, name in TOLD_SENSORS.items()}
    return Reading(
        vendor="amd",
        index=int(values.get("gpu", position)),
        used=_times(values.get("mem_usage.used_vram"), MIB),
        total=_times(values.get("mem_usage.total_vram"), MIB),
        busy=_times(values.get("usage.gfx_activity"), 0.01),
        watts=values.get("power.socket_power"),
        celsius=tuple((name, value) for name, value in celsius.items() if value is not None),
    )


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"-?\d+(\.\d+)?", text) else None


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:  # a card that falls asleep while it is asked says EBUSY or EPERM
        return ""
