"""Which graphics cards are in this computer, read without torch, without root and without the network.

Sources in order: NVIDIA from ``nvidia-smi`` and the PCI bus; AMD from the kernel's KFD topology (the truth even under
``HSA_OVERRIDE_GFX_VERSION``), then the PCI bus; names, and what the kernel does not say, from ``amd-smi``, else
``rocm-smi``, else ``rocminfo`` (WSL has no KFD). A tool that is missing means "unknown", never "no card". Intel graphics are
only noted. Only the standard library is used: the launcher reads this before anything is installed.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipelines.backend.smi import AMD_SMI, ROCM_SMI, parse_amd_smi, parse_rocm_smi

Vendor = Literal["nvidia", "amd"]
TOOL_SECONDS = 4.0
DISPLAY_CLASSES = ("0x0300", "0x0302", "0x0380", "0x1200")  # VGA, 3D, other display, accelerator
WSL_NVIDIA_SMI = "/usr/lib/wsl/lib/nvidia-smi"
# Graphics inside AMD processors, by kernel target; what counts is that they share the computer's memory.
AMD_APUS = frozenset(
    [
        "gfx902",
        "gfx909",
        "gfx90c",
        "gfx1013",
        "gfx1033",
        "gfx1035",
        "gfx1036",
        "gfx1037",
        "gfx1103",
        "gfx1150",
        "gfx1151",
        "gfx1152",
        "gfx1153",
    ]
)


@dataclass(frozen=True, slots=True)
class Card:
    """One graphics card.

    Attributes:
        vendor: who made it. name: what it is called, or its PCI number.
        driver: version of the driver (``inbox`` for the kernel's own), or empty when no driver drives it.
        architecture: CUDA capability such as ``8.6``, or AMD target such as ``gfx1100``; empty when unknown.
        memory: bytes of its own memory, or None when unknown.
        integrated: graphics inside a processor, sharing its memory.
    """

    vendor: Vendor
    name: str
    driver: str = ""
    architecture: str = ""
    memory: int | None = None
    integrated: bool = False

    @property
    def driver_major(self) -> int:
        """First number of the driver version; 0 when unknown."""
        head = self.driver.partition(".")[0]
        return int(head) if head.isdigit() else 0

    @property
    def capability(self) -> tuple[int, int]:
        """CUDA capability as numbers; (0, 0) when unknown or not an NVIDIA card."""
        major, _, minor = self.architecture.partition(".")
        return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else (0, 0)


@dataclass(frozen=True, slots=True)
class Hardware:
    """The computer as far as it matters for choosing a backend.

    Attributes:
        cards: of NVIDIA and AMD. apple: an Apple chip, asked by an arm64 Python.
        wsl: Linux inside Windows. kfd: AMD's compute device is there (``/dev/kfd``, in WSL ``/dev/dxg``).
        notes: what could not be read, and why. others: graphics that no engine uses (Intel's).
        rosetta: an Apple chip, but this Python is an Intel one and cannot use it.
    """

    cards: tuple[Card, ...] = ()
    apple: bool = False
    wsl: bool = False
    kfd: bool = False
    notes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    rosetta: bool = False

    def of(self, vendor: Vendor) -> tuple[Card, ...]:
        """The cards of one maker."""
        return tuple(card for card in self.cards if card.vendor == vendor)


def read_hardware(root: Path = Path("/")) -> Hardware:
    """Look at the computer. ``root`` is where ``sys``, ``proc`` and ``dev`` are (another folder in tests)."""
    nvidia, nvidia_notes = _nvidia(root)
    amd, amd_notes = _amd(root)
    return Hardware(
        cards=(*nvidia, *amd),
        apple=platform.system() == "Darwin" and platform.machine() == "arm64",
        wsl="microsoft" in _text(root / "proc/version").lower(),
        kfd=(root / "dev/kfd").exists() or (root / "dev/dxg").exists(),
        notes=(*nvidia_notes, *amd_notes),
        others=tuple(f"Intel graphics {_text(device / 'device')}" for device in displays(root, "0x8086")),
        rosetta=_rosetta(),
    )


def _rosetta() -> bool:
    """Whether macOS translates this very process from Intel code."""
    if (platform.system(), platform.machine()) != ("Darwin", "x86_64"):
        return False
    return run_tool(["sysctl", "-n", "sysctl.proc_translated"])[1].strip() == "1"


def run_tool(command: Sequence[str], seconds: float = TOOL_SECONDS) -> tuple[int, str]:
    """Exit code and output (stdout, then stderr) of a diagnostic tool; code -1 when it is absent, hangs or cannot run."""
    try:
        done = subprocess.run(
            list(command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return -1, str(error)
    return done.returncode, done.stdout + done.stderr


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def displays(root: Path, vendor: str) -> list[Path]:
    """PCI devices of a maker that are displays or accelerators."""
    found = []
    for device in sorted((root / "sys/bus/pci/devices").glob("*")):
        is_display = _text(device / "class")[:6] in DISPLAY_CLASSES
        if is_display and _text(device / "vendor") == vendor:
            found.append(device)
    return found


# ---------------------------------------------------------------------------------------------------- NVIDIA


def nvidia_smi() -> str | None:
    """NVIDIA's tool, which in WSL need not be on the PATH; None when it is not installed."""
    return shutil.which("nvidia-smi") or (WSL_NVIDIA_SMI if Path(WSL_NVIDIA_SMI).exists() else None)


def _nvidia(root: Path) -> tuple[list[Card], list[str]]:
    tool = nvidia_smi()
    reason = "nvidia-smi is not installed"
    if tool:
        code, text = _query_nvidia(tool)
        cards = parse_nvidia_smi(text) if code == 0 else []
        if cards:
            return cards, []
        reason = text.strip().splitlines()[0] if text.strip() else f"nvidia-smi ended with code {code}"
    on_bus = displays(root, "0x10de")
    if not on_bus:
        return [], []
    cards = [Card("nvidia", f"NVIDIA card {_text(device / 'device')}") for device in on_bus]
    return cards, [f"An NVIDIA card is there, but its driver does not answer: {reason}"]


def _query_nvidia(tool: str) -> tuple[int, str]:
    fields = "name,driver_version,memory.total,compute_cap"
    code, text = run_tool([tool, f"--query-gpu={fields}", "--format=csv,noheader,nounits"])
    if code != 0 and "not a valid field" in text:  # drivers before R495 do not know compute_cap
        fields = fields.removesuffix(",compute_cap")
        code, text = run_tool([tool, f"--query-gpu={fields}", "--format=csv,noheader,nounits"])
    return code, text


def parse_nvidia_smi(text: str) -> list[Card]:
    """Cards from lines ``name, driver, memory in MiB[, capability]``; values may be ``[N/A]``."""
    cards = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) < 3 or not re.fullmatch(r"\d+(\.\d+)*", parts[1]):
            continue
        memory = int(parts[2]) * 1024**2 if parts[2].isdigit() else None
        capability = parts[3] if len(parts) > 3 and re.fullmatch(r"\d+\.\d+", parts[3]) else ""
        cards.append(Card("nvidia", parts[0], parts[1], capability, memory))
    return cards


# ------------------------------------------------------------------------------------------------------- AMD


def gfx_name(version: int) -> str:
    """AMD target name of a KFD ``gfx_target_version``: 110000 → gfx1100, 90010 → gfx90a (the step is hexadecimal)."""
    return f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"


def _amd(root: Path) -> tuple[list[Card], list[str]]:
    nodes, on_bus = _kfd_nodes(root), displays(root, "0x1002")
    described, notes = _described(need_targets=not nodes)
    if not nodes and not on_bus:
        return described, notes if not described and (root / "dev/kfd").exists() else []
    driver = _text(root / "sys/module/amdgpu/version") or (
        "inbox" if (root / "sys/module/amdgpu").exists() else ""
    )
    names: dict[str, list[Card]] = {}
    for card in described:
        names.setdefault(card.architecture, []).append(card)
    cards = [_amd_card(gfx, device, names, driver) for gfx, device in nodes]
    seen = {device.resolve() for _, device in nodes if device}
    unseen = [device for device in on_bus if device.resolve() not in seen and (not nodes or seen)]
    guesses = [card.architecture for card in described] if not nodes and len(described) == len(unseen) else []
    for index, device in enumerate(unseen):
        cards.append(_amd_card(guesses[index] if guesses else "", device, names, driver))
    if not driver:
        notes = ["An AMD card is there, but the amdgpu driver is not loaded", *notes]
    return cards, notes


def _described(need_targets: bool) -> tuple[list[Card], list[str]]:
    """Cards as the first tool tells that has an answer, and the complaints of those that had none.

    A tool that hangs is the last one asked: the others would wait for the same driver.
    """
    notes: list[str] = []
    for command, parse in (
        (AMD_SMI, _from_amd_smi),
        (ROCM_SMI, _from_rocm_smi),
        (("rocminfo",), parse_rocminfo),
    ):
        if shutil.which(command[0]) is None:
            continue
        code, text = run_tool(command)
        cards = parse(text)
        if cards and all(card.architecture for card in cards) | (not need_targets):
            return cards, []
        complaint = next(
            (line.strip() for line in reversed(text.splitlines()) if line.strip()), f"exit code {code}"
        )
        hangs = code == -1 and "timed out" in text
        notes.append(
            f"{command[0]} did not answer in {TOOL_SECONDS:.0f} s"
            if hangs
            else f"{command[0]}: {complaint}"[:200]
        )
        if hangs:
            break
    return [], notes


def _from_amd_smi(text: str) -> list[Card]:
    return [_card_as_told(told.name, told.target, told.memory) for told in parse_amd_smi(text)]


def _from_rocm_smi(text: str) -> list[Card]:
    return [_card_as_told(told.name, told.target, told.memory) for told in parse_rocm_smi(text)]


def _card_as_told(name: str, target: str, memory: int | None) -> Card:
    return Card("amd", name or f"AMD card {target}".strip(), "rocm", target, memory, target in AMD_APUS)


def _amd_card(gfx: str, device: Path | None, names: dict[str, list[Card]], driver: str) -> Card:
    """A card of the kernel's list; two cards of one target take the names of that target in order."""
    memory = _text(device / "mem_info_vram_total") if device else ""
    number = _text(device / "device") if device else gfx
    told = names.get(gfx) or [Card("amd", "")]
    first = told.pop(0) if len(told) > 1 else told[0]
    name = first.name or (_text(device / "product_name") if device else "") or f"AMD card {number}"
    size = int(memory) if memory.isdigit() else first.memory
    return Card("amd", name, driver, gfx, size, gfx in AMD_APUS)


def _kfd_nodes(root: Path) -> list[tuple[str, Path | None]]:
    """Target and PCI device of every GPU node, in the runtime's order; the processor's node has version 0."""
    found = []
    for node in sorted(
        (root / "sys/class/kfd/kfd/topology/nodes").glob("*"), key=lambda path: path.name.zfill(4)
    ):
        facts = dict(line.split(" ", 1) for line in _text(node / "properties").splitlines() if " " in line)
        version = facts.get("gfx_target_version", "0")
        if version.isdigit() and int(version):
            device = root / f"sys/class/drm/renderD{facts.get('drm_render_minor', '')}/device"
            found.append((gfx_name(int(version)), device if device.exists() else None))
    return found


def parse_rocminfo(text: str) -> list[Card]:
    """Cards from ``rocminfo``: agents after ``HSA Agents`` whose name is a gfx target.

    A processor's marketing name may contain "Radeon", the ISA block repeats the target deeper, and complaints about
    ``lsmod`` may precede perfectly good agents: none of them counts.
    """
    _, marker, agents = text.partition("HSA Agents")
    cards = []
    for agent in re.split(r"^Agent \d+\s*$", agents, flags=re.MULTILINE) if marker else []:
        name = re.search(r"^  Name:\s+(gfx[0-9a-f]+)\s*$", agent, re.MULTILINE)
        if not name:
            continue
        marketing = re.search(r"^  Marketing Name:[ \t]*(.*)$", agent, re.MULTILINE)
        label = marketing.group(1).strip() if marketing else ""
        gfx = name.group(1)
        cards.append(_card_as_told("" if label == "N/A" else label, gfx, None))
    return cards
