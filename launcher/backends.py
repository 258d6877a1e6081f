"""Which requirement file this computer needs, and from where its torch comes."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipelines.backend.hardware import Card, Hardware

Backend = Literal["cuda", "rocm", "cpu"]
BACKENDS: tuple[Backend, ...] = ("cuda", "rocm", "cpu")
TORCH_INDEX = "https://download.pytorch.org/whl/"
# Targets with kernels in the wheels that requirements-rocm.txt names (PyTorch release notes and build scripts).
ROCM_WHEEL_TARGETS = frozenset(
    [
        "gfx900",
        "gfx906",
        "gfx908",
        "gfx90a",
        "gfx942",
        "gfx950",
        "gfx1030",
        "gfx1100",
        "gfx1101",
        "gfx1102",
        "gfx1150",
        "gfx1151",
        "gfx1200",
        "gfx1201",
    ]
)
# NVIDIA driver that each CUDA build needs at least, newest first (CUDA release notes).
CUDA_DRIVERS = {"cu130": 580, "cu128": 570, "cu126": 525}
# Targets of one generation run each other's kernels; the value of HSA_OVERRIDE_GFX_VERSION names one that the wheels have.
SUBSTITUTES = {
    **dict.fromkeys(("gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"), "10.3.0"),
    "gfx1103": "11.0.0",
}
PYPI_CUDA_DRIVER = 580  # PyPI's torch 2.11 is a CUDA 13 build


@dataclass(frozen=True, slots=True)
class Choice:
    """A backend, why it was chosen (both languages), and the build of torch it takes (``cpu``, ``cu128``…)."""

    backend: Backend
    build: str
    reason_en: str
    reason_zh: str

    @property
    def index(self) -> str:
        """Address of the index that has this build; empty where PyPI has it (macOS)."""
        return "" if self.build == "pypi" else TORCH_INDEX + self.build


@dataclass(frozen=True, slots=True)
class Size:
    """What an install costs: download and disk in bytes, Linux x86-64, model files included, caches not.

    ``pypi`` was measured; the others differ by their torch wheels, whose sizes the publishers' indexes state.
    """

    download: int
    disk: int


GB = 1000**3
SIZES = {
    "cpu": Size(int(1.3 * GB), int(4.2 * GB)),
    "pypi": Size(int(4.0 * GB), int(8.0 * GB)),
    "cuda": Size(int(4.2 * GB), int(8.5 * GB)),
    "rocm": Size(int(6.0 * GB), int(18 * GB)),
}


def choose_backend(hardware: Hardware, asked: Backend | None = None) -> Choice:
    """NVIDIA → cuda, AMD → rocm when its wheels fit the card, else cpu; ``asked`` wins over what was found."""
    if asked == "cuda" or (asked is None and any(card.driver for card in hardware.of("nvidia"))):
        return _cuda(hardware.of("nvidia"))
    if asked == "rocm":
        return Choice("rocm", "rocm7.2", "asked for with --backend", "由 --backend 指定")
    cpu_build = "pypi" if platform.system() == "Darwin" else "cpu"
    if asked == "cpu":
        return Choice("cpu", cpu_build, "asked for with --backend", "由 --backend 指定")
    if hardware.of("amd"):
        return _amd(hardware, cpu_build)
    if hardware.apple:
        return Choice(
            "cpu", "pypi", "Apple chip (torch for macOS includes it)", "Apple 芯片(macOS 版 torch 已支持)"
        )
    if hardware.of("nvidia"):
        note = hardware.notes[0]
        return Choice("cpu", cpu_build, note, f"检测到 NVIDIA 显卡,但驱动没有响应({note})")
    return Choice("cpu", cpu_build, "no graphics card was found", "没有找到显卡")


def _cuda(cards: tuple[Card, ...]) -> Choice:
    if not cards:
        return Choice(
            "cuda",
            "cu128",
            "asked for with --backend; no NVIDIA card was seen",
            "由 --backend 指定;未检测到 NVIDIA 显卡",
        )
    best = max(cards, key=lambda card: card.capability)
    name = f"{best.name}, driver {best.driver or 'unknown'}"
    oldest = min((card.capability for card in cards if card.driver), default=best.capability)
    old_card = (0, 0) < best.capability < (7, 5)  # cu128 and cu130 have kernels from Turing (7.5) on
    old_driver = 0 < best.driver_major < CUDA_DRIVERS["cu128"]
    new = best.driver_major >= CUDA_DRIVERS["cu130"] and oldest >= (7, 5)
    build = "cu126" if old_card or old_driver else "cu130" if new else "cu128"
    return Choice("cuda", build, name, name)


def _amd(hardware: Hardware, cpu_build: str) -> Choice:
    fitting = [card for card in hardware.of("amd") if card.architecture in ROCM_WHEEL_TARGETS]
    seen = ", ".join(f"{card.name} {card.architecture}".strip() for card in hardware.of("amd"))
    if not hardware.kfd:
        return Choice(
            "cpu",
            cpu_build,
            f"{seen}, but /dev/kfd is not there: the amdgpu driver is not loaded, or this container was not given it",
            f"{seen},但没有 /dev/kfd:amdgpu 驱动未加载,或容器没有获得该设备",
        )
    if fitting:
        return Choice("rocm", "rocm7.2", seen, seen)
    return _outside_the_wheels(hardware.of("amd")[0], seen, cpu_build)


def _outside_the_wheels(card: Card, seen: str, cpu_build: str) -> Choice:
    """The CPU, with the ways that lead to the card: a user chooses them, for nobody tried them on this machine."""
    english = [f"{seen}: PyTorch's ROCm wheels have no kernels for it"]
    chinese = [f"{seen}:PyTorch 的 ROCm 版本不支持这块显卡"]
    if card.architecture:
        english.append(
            f"AMD's own index may have: torch[device-{card.architecture}], see requirements-rocm.txt"
        )
        chinese.append(f"AMD 官方软件源可能支持:torch[device-{card.architecture}],见 requirements-rocm.txt")
    if value := SUBSTITUTES.get(card.architecture):
        way = f"HSA_OVERRIDE_GFX_VERSION={value} bash start_app.sh --backend rocm"
        english.append(f"or try {way}; the card is used only if it passes the test computation")
        chinese.append(f"或尝试 {way};只有通过试算才会使用显卡")
    return Choice("cpu", cpu_build, "; ".join(english), ";".join(chinese))


def torch_lines(requirements: Path, choice: Choice, *, from_index: bool) -> list[str]:
    """The torch lines of a requirement file, for the chosen build, or without build when PyPI has to serve them.

    >>> torch_lines(Path("requirements-cpu.txt"), choice, from_index=False)
    ['torch==2.11.0; sys_platform != "darwin"', ...]
    """
    lines = []
    for line in requirements.read_text(encoding="utf-8").splitlines():
        if not line.startswith(("torch==", "torchaudio==")):
            continue
        pin, semicolon, marker = line.partition(";")
        version, plus, _ = pin.strip().partition("+")
        if plus and from_index:
            version = f"{version}+{choice.build}"
        lines.append(version + (f";{marker}" if semicolon else ""))
    return lines
