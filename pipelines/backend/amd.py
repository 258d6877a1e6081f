"""Checks of AMD cards: driver, kernels in the wheel, access to the device files, known-bad systems, overrides."""

from __future__ import annotations

import grp
import os
import platform
from collections.abc import Iterator
from pathlib import Path

from pipelines.backend.hardware import Card, Hardware
from pipelines.backend.probe import Probe
from pipelines.backend.rows import Row
from pipelines.errors import Message

# Kernels with page faults on AMD cards, first and last bad one (ROCm/amdgpu issue 204).
BAD_KERNELS = ((6, 18, 3), (6, 18, 6))


def amd_rows(probe: Probe, root: Path) -> Iterator[Row]:
    """All checks of AMD cards; nothing where there is none."""
    cards = probe.hardware.of("amd")
    for index, card in enumerate(cards):
        yield card_row(card, index, probe)
    if cards:
        yield from access_rows(probe.hardware, root)
        yield from kernel_rows(platform.release())
        yield from override_rows(probe, os.environ.get("HSA_OVERRIDE_GFX_VERSION", ""))


def card_row(card: Card, index: int, probe: Probe) -> Row:
    """Driver and target of a card, against the kernels the installed torch has."""
    target = card.architecture or "unknown target"
    found = f"{card.name}, {target}, driver {card.driver or 'not loaded'}"
    title = Message("AMD card", "AMD 显卡")
    if not card.driver:
        remedy = Message(
            "Look whether Secure Boot, nomodeset or a kernel without amdgpu keeps it away.",
            "请检查是否因安全启动、nomodeset 或内核缺少 amdgpu 而未加载驱动。",
        )
        return Row(
            f"amd.{index}", "warn", title, found, Message("amdgpu is not loaded", "amdgpu 驱动未加载"), remedy
        )
    if (
        probe.build == "rocm"
        and probe.targets
        and card.architecture
        and card.architecture not in probe.targets
    ):
        return Row(
            f"amd.{index}",
            "warn",
            title,
            found,
            Message(
                f"The installed torch has no kernels for {target}; it has {', '.join(probe.targets)}",
                f"已安装的 torch 不支持 {target};支持的有 {', '.join(probe.targets)}",
            ),
            Message(
                f"AMD's own index has builds for more cards: torch[device-{target}] (see requirements-rocm.txt).",
                f"AMD 官方软件源支持更多显卡:torch[device-{target}](见 requirements-rocm.txt)。",
            ),
        )
    return Row(f"amd.{index}", "ok", title, found)


def access_rows(hardware: Hardware, root: Path) -> Iterator[Row]:
    """/dev/kfd and the render nodes: present, and open to this user (access is tried, not group membership)."""
    title = Message("Access to the AMD card", "AMD 显卡访问权限")
    kfd = root / "dev/kfd"
    if hardware.wsl and (root / "dev/dxg").exists():
        yield Row("amd.kfd", "ok", title, "WSL2 (/dev/dxg)")
        return
    if not kfd.exists():
        inside = (root / ".dockerenv").exists() or (root / "run/.containerenv").exists()
        remedy = (
            Message(
                "Start the container with --device /dev/kfd --device /dev/dri.",
                "启动容器时请加 --device /dev/kfd --device /dev/dri。",
            )
            if inside
            else Message(
                "Load the amdgpu driver (sudo modprobe amdgpu).", "请加载 amdgpu 驱动(sudo modprobe amdgpu)。"
            )
        )
        yield Row(
            "amd.kfd",
            "warn",
            title,
            "/dev/kfd is not there",
            Message("ROCm cannot start", "ROCm 无法启动"),
            remedy,
        )
        return
    closed = [path for path in (kfd, *sorted((root / "dev/dri").glob("renderD*"))) if not _open(path)]
    if not closed:
        yield Row("amd.kfd", "ok", title, "/dev/kfd and the render nodes can be opened")
        return
    group, number = _group_of(closed[0])
    yield Row(
        "amd.kfd",
        "warn",
        title,
        f"{', '.join(str(path) for path in closed)} cannot be opened (group {group}, number {number})",
        Message("This user may not use the card", "当前用户无权使用显卡"),
        Message(
            f"sudo usermod -aG {group} $USER, then log out and in; in a container: --group-add {number}.",
            f"sudo usermod -aG {group} $USER,然后注销并重新登录;容器内请加 --group-add {number}。",
        ),
    )


def _open(path: Path) -> bool:
    return os.access(path, os.R_OK | os.W_OK)


def _group_of(path: Path) -> tuple[str, int]:
    number = path.stat().st_gid
    try:
        return grp.getgrgid(number).gr_name, number
    except KeyError:
        return str(number), number


def kernel_rows(release: str) -> Iterator[Row]:
    """A warning for kernels that are known to be bad."""
    numbers = release.split("-")[0].split(".")
    version = tuple(int(part) for part in numbers[:3] if part.isdigit())
    if BAD_KERNELS[0] <= version <= BAD_KERNELS[1]:
        yield Row(
            "amd.kernel",
            "warn",
            Message("Kernel", "内核"),
            release,
            Message("This kernel is known for page faults on AMD cards", "此内核在 AMD 显卡上存在页错误问题"),
            Message("Use an older or a newer kernel.", "请使用更旧或更新的内核。"),
        )


def override_rows(probe: Probe, value: str) -> Iterator[Row]:
    """What the user's HSA_OVERRIDE_GFX_VERSION does: a needless one is a known cause of "no card found"."""
    if not value:
        return
    title = Message("HSA_OVERRIDE_GFX_VERSION", "HSA_OVERRIDE_GFX_VERSION")
    parts = value.split(".")
    target = (
        f"gfx{parts[0]}{int(parts[1]):x}{int(parts[2]):x}"
        if len(parts) == 3 and all(map(str.isdigit, parts))
        else ""
    )
    real = [card.architecture for card in probe.hardware.of("amd")]
    if not target:
        meaning = Message("It is not of the form 11.0.0", "格式应为 11.0.0")
    elif probe.targets and target not in probe.targets:
        meaning = Message(
            f"The installed torch has no kernels for {target} either", f"已安装的 torch 也不支持 {target}"
        )
    elif any(card in probe.targets for card in real):
        meaning = Message(
            "This card needs no override, and a needless one can hide it",
            "这块显卡无需覆盖,多余的覆盖可能使其不可见",
        )
    else:
        yield Row("amd.override", "ok", title, value)
        return
    yield Row(
        "amd.override",
        "warn",
        title,
        value,
        meaning,
        Message("Unset it and start again.", "请取消该变量后重新启动。"),
    )
