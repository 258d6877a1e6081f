"""Machines as recorded texts: what their tools print, what their kernel shows, and what torch says on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

GIB = 1024**3
UPSTREAM = ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1200",
            "gfx1201", "gfx950", "gfx1150", "gfx1151"]  # fmt: skip
CU128 = ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"]
CU126 = ["sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90"]


@dataclass(frozen=True)
class Seen:
    """A device as torch shows it; ``fails`` is the text of the exception its first computation raises, by precision."""

    name: str
    arch: str
    memory: int = 16 * GIB
    free: int | None = None
    fails: dict[str, str] = field(default_factory=dict)
    off: float = 0.0  # how far from the CPU's result


@dataclass(frozen=True)
class Torch:
    """A build of torch and the devices it shows."""

    version: str
    family: str = "cpu"
    runtime: str = ""
    targets: tuple[str, ...] = ()
    devices: tuple[Seen, ...] = ()
    mps: str = ""  # "", "built" or "available"
    xpu: bool = False


CPU_TORCH = Torch("2.11.0+cpu")
CUDA_TORCH = Torch("2.11.0+cu128", "cuda", "12.8", tuple(CU128))
ROCM_TORCH = Torch("2.11.0+rocm7.2", "rocm", "7.2.53211", tuple(UPSTREAM))


def put(root: Path, name: str, text: str = "") -> Path:
    """Write a file below a stand-in for ``/``."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@dataclass(frozen=True)
class Node:
    """An AMD or NVIDIA card in the kernel's trees; ``version`` 0 leaves it out of the KFD topology."""

    version: int = 0
    vram: int = 0
    number: str = "0x744c"
    vendor: str = "0x1002"
    name: str = ""
    kind: str = "0x030000"


def plant(root: Path, nodes: tuple[Node, ...], *, driver: str | None = "", kfd: bool = True) -> None:
    """Make the kernel's trees: PCI bus, KFD topology (node 0 is the processor), render nodes, driver, /dev/kfd."""
    put(root, "sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 16\ngfx_target_version 0\n")
    for index, node in enumerate(nodes, start=1):
        slot = f"0000:{index:02x}:00.0"
        folder = f"sys/bus/pci/devices/{slot}"
        for key, text in (("class", node.kind), ("vendor", node.vendor), ("device", node.number)):
            put(root, f"{folder}/{key}", text)
        if node.vram:
            put(root, f"{folder}/mem_info_vram_total", str(node.vram))
        if node.name:
            put(root, f"{folder}/product_name", node.name)
        if node.version:
            minor = 127 + index
            put(
                root,
                f"sys/class/kfd/kfd/topology/nodes/{index}/properties",
                f"simd_count 96\ngfx_target_version {node.version}\nvendor_id 4098\ndrm_render_minor {minor}\n",
            )
            link = root / f"sys/class/drm/renderD{minor}"
            link.mkdir(parents=True)
            (link / "device").symlink_to(root / folder)
    amd = any(node.vendor == "0x1002" for node in nodes)
    if amd and driver is not None:
        put(root, "sys/module/amdgpu/version" if driver else "sys/module/amdgpu/refcnt", driver or "1")
    if amd and kfd:
        put(root, "dev/kfd")


def rocminfo(*agents: tuple[str, str], head: str = "ROCk module is loaded") -> str:
    """Text of rocminfo with the processor as agent 1."""
    parts = [
        f"{head}\n=====================\nHSA System Attributes\n=====================\nRuntime Version:         1.15\n"
        "==========\nHSA Agents\n==========\n*******\nAgent 1\n*******\n"
        "  Name:                    AMD Ryzen 7 8845HS w/ Radeon 780M Graphics\n"
        "  Marketing Name:          AMD Ryzen 7 8845HS w/ Radeon 780M Graphics\n  Device Type:             CPU\n"
    ]
    for number, (gfx, name) in enumerate(agents, start=2):
        parts.append(
            f"*******\nAgent {number}\n*******\n  Name:                    {gfx}\n"
            f"  Marketing Name:          {name}\n  Device Type:             GPU\n  ISA Info:\n    ISA 1\n"
            f"      Name:                    amdgcn-amd-amdhsa--{gfx}\n"
        )
    return "".join(parts) + "*** Done ***"


def fake_torch(torch: Torch) -> Any:
    """A module that answers like torch on such a machine; the computation itself is not in it."""
    hip = torch.runtime if torch.family == "rocm" else None
    cuda = torch.runtime if torch.family == "cuda" else None

    def properties(index: int) -> Any:
        seen = torch.devices[index]
        facts: dict[str, Any] = {"name": seen.name, "total_memory": seen.memory, "is_integrated": 0}
        if hip:
            return SimpleNamespace(gcnArchName=seen.arch, major=11, minor=0, **facts)
        return SimpleNamespace(major=int(seen.arch[3:-1]), minor=int(seen.arch[-1]), **facts)

    def memory(index: int) -> tuple[int, int]:
        seen = torch.devices[index]
        return (seen.memory if seen.free is None else seen.free), seen.memory

    return SimpleNamespace(
        __version__=torch.version,
        version=SimpleNamespace(hip=hip, cuda=cuda),
        cuda=SimpleNamespace(
            is_available=lambda: bool(torch.devices) and torch.family in ("cuda", "rocm"),
            device_count=lambda: len(torch.devices),
            get_arch_list=lambda: list(torch.targets),
            get_device_properties=properties,
            mem_get_info=memory,
        ),
        backends=SimpleNamespace(
            mps=SimpleNamespace(
                is_built=lambda: bool(torch.mps), is_available=lambda: torch.mps == "available"
            )
        ),
        xpu=SimpleNamespace(is_available=lambda: torch.xpu),
    )
