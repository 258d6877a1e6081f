"""Checks of NVIDIA and Apple devices, of translation layers, and of the memory that is free on a card."""

from __future__ import annotations

from collections.abc import Iterator

from pipelines.backend.coverage import coverage
from pipelines.backend.hardware import Card, Hardware
from pipelines.backend.probe import Probe
from pipelines.backend.rows import NOTHING, Row
from pipelines.errors import Message

HEAD_ROOM = 4 * 1024**3  # bytes on a card
OLDEST_MACOS = 14
# Drivers that a CUDA runtime needs at least, newest first (CUDA release notes).
CUDA_NEEDS = (((13, 0), 580), ((12, 0), 525))
CARD_USELESS = Message("The card cannot be used", "无法使用这块显卡")
OTHER_BUILD = Message(
    "Run bash start_app.sh --backend cuda, which takes the build for this card and driver.",
    "请运行 bash start_app.sh --backend cuda,它会选择适合该显卡和驱动的版本。",
)


def nvidia_row(card: Card, index: int, probe: Probe) -> Row:
    """Driver and capability of a card, against what the installed torch needs and has."""
    memory = f", {card.memory / 1024**3:.1f} GiB" if card.memory else ""
    capability = f", compute capability {card.architecture}" if card.architecture else ""
    found = f"{card.name}, driver {card.driver or 'does not answer'}{capability}{memory}"
    title, name = Message("NVIDIA card", "NVIDIA 显卡"), f"nvidia.{index}"
    if not card.driver:
        note = next((note for note in probe.hardware.notes if "NVIDIA" in note), "")
        remedy = Message(
            "Install NVIDIA's driver, or restart after an update of it.",
            "请安装 NVIDIA 驱动;更新驱动后请重启电脑。",
        )
        return Row(name, "warning", title, f"{found} ({note})", CARD_USELESS, remedy)
    needed = next((least for runtime, least in CUDA_NEEDS if _runtime_at_least(probe, runtime)), 0)
    if probe.build == "cuda" and 0 < card.driver_major < needed:
        meaning = Message(
            f"CUDA {probe.runtime} needs driver {needed} or newer",
            f"CUDA {probe.runtime} 需要 {needed} 或更新的驱动",
        )
        return Row(name, "warning", title, found, meaning, OTHER_BUILD)
    architecture = f"sm_{card.architecture.replace('.', '')}" if card.architecture else ""
    if probe.build == "cuda" and coverage(architecture, probe.targets) == "missing":
        meaning = Message(
            f"The installed torch has no kernels for it; it has {', '.join(probe.targets)}",
            f"已安装的 torch 不支持这块显卡;支持的有 {', '.join(probe.targets)}",
        )
        return Row(name, "warning", title, found, meaning, OTHER_BUILD)
    return Row(name, "ok", title, found)


def _runtime_at_least(probe: Probe, least: tuple[int, int]) -> bool:
    """Whether the build's CUDA or HIP version is at least ``least``; versions count by numbers: 7.14 is above 7.2."""
    numbers = [int(part) for part in probe.runtime.split(".")[:2] if part.isdigit()]
    return tuple(numbers) >= least


def translated_rows(probe: Probe) -> Iterator[Row]:
    """A CUDA build that is translated for an AMD card."""
    for device in probe.devices:
        if device.translated:
            yield Row(
                "zluda",
                "warning",
                Message("Translation layer", "转译层"),
                device.name,
                Message("CUDA programs translated for an AMD card are not supported; safe mode is on",
                        "不支持为 AMD 显卡转译的 CUDA 程序;已启用安全模式"),
                Message("Use a ROCm build of torch: bash start_app.sh --backend rocm",
                        "请使用 ROCm 版 torch:bash start_app.sh --backend rocm"),
            )  # fmt: skip


def head_room_rows(probe: Probe) -> Iterator[Row]:
    """Memory that is free on the cards torch sees; a card that also draws the screen needs some of it."""
    for device in probe.devices:
        if device.free is None or not device.works:
            continue
        low = device.free < HEAD_ROOM
        shared = ", shared with the computer" if device.integrated else ""
        yield Row(
            f"card-memory.{device.index}",
            "warning" if low else "ok",
            Message("Memory of the graphics card", "显存"),
            f"{device.free / 1024**3:.1f} of {(device.memory or 0) / 1024**3:.1f} GiB free on {device.name}{shared}",
            Message("Less than 4 GiB are free", "空闲显存不足 4 GiB") if low else NOTHING,
            Message("Close other programs that use the card.", "请关闭其他占用显卡的程序。")
            if low
            else NOTHING,
        )


def apple_rows(hardware: Hardware, system: str) -> Iterator[Row]:
    """On macOS: a Python that can use the chip, and a system whose Metal knows all operators."""
    title = Message("Apple chip", "Apple 芯片")
    if hardware.rosetta:
        yield Row(
            "apple",
            "warning",
            title,
            "this Python is translated by Rosetta",
            Message("It cannot use the chip's graphics", "无法使用芯片的图形处理器"),
            Message("Install an arm64 Python and set up again.", "请安装 arm64 版 Python 后重新安装。"),
        )
    elif hardware.apple:
        major = int(head) if (head := system.partition(".")[0]).isdigit() else 0
        old = 0 < major < OLDEST_MACOS
        yield Row(
            "apple",
            "warning" if old else "ok",
            title,
            f"macOS {system}",
            Message("Its Metal lacks operators that engines use", "系统的 Metal 缺少部分算子")
            if old
            else NOTHING,
            Message("Update macOS to 14 or newer.", "请将 macOS 升级到 14 或更新版本。") if old else NOTHING,
        )
