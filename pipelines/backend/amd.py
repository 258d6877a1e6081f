"""Checks of AMD cards: driver, kernels in the wheel, access to the device files, known-bad systems, overrides."""

from __future__ import annotations

import grp
import os
import platform
from collections.abc import Collection, Iterator
from pathlib import Path

from pipelines.backend.hardware import Card, Hardware
from pipelines.backend.probe import Probe
from pipelines.backend.rows import Row
from pipelines.errors import Message

# First Linux whose own driver is good for a generation (AMD's lists of supported systems; a judgement, so it only warns).
FLOORS = {"gfx110": (6, 8), "gfx115": (6, 14), "gfx12": (6, 12)}
SMALL_SHM = 1024**3  # bytes
# Kernels with page faults on AMD cards, first and last bad one (ROCm/amdgpu issue 204).
BAD_KERNELS = ((6, 18, 3), (6, 18, 6))


def amd_rows(probe: Probe, root: Path) -> Iterator[Row]:
    """All checks of AMD cards; nothing where there is none."""
    cards = probe.hardware.of("amd")
    for index, card in enumerate(cards):
        yield card_row(card, index, probe)
    if cards:
        yield from access_rows(probe.hardware, root)
        yield from kernel_rows(platform.release(), [card.architecture for card in cards])
        yield from override_rows(probe, os.environ.get("HSA_OVERRIDE_GFX_VERSION", ""))
        yield from wheel_rows(probe)
        yield from several_rows(probe.hardware, root)
        yield from shared_memory_rows(root)


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
            f"amd.{index}",
            "warning",
            title,
            found,
            Message("amdgpu is not loaded", "amdgpu 驱动未加载"),
            remedy,
        )
    if (
        probe.build == "rocm"
        and probe.targets
        and card.architecture
        and card.architecture not in probe.targets
    ):
        return Row(
            f"amd.{index}",
            "warning",
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
            "warning",
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
        "warning",
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


def kernel_rows(release: str, targets: Collection[str] = ()) -> Iterator[Row]:
    """A warning for kernels that are known to be bad, and a hint where one is older than a card's generation."""
    numbers = release.split("-")[0].split(".")
    version = tuple(int(part) for part in numbers[:3] if part.isdigit())
    if BAD_KERNELS[0] <= version <= BAD_KERNELS[1]:
        yield Row(
            "amd.kernel",
            "warning",
            Message("Kernel", "内核"),
            release,
            Message("This kernel is known for page faults on AMD cards", "此内核在 AMD 显卡上存在页错误问题"),
            Message("Use an older or a newer kernel.", "请使用更旧或更新的内核。"),
        )
    floor = max(
        (least for start, least in FLOORS.items() if any(t.startswith(start) for t in targets)),
        default=(5, 14),
    )
    if version[:2] < floor and ".el" not in release:  # Red Hat carries newer drivers in older kernels
        needed = ".".join(map(str, floor))
        yield Row(
            "amd.kernel",
            "warning",
            Message("Kernel", "内核"),
            release,
            Message(
                f"For this card Linux {needed} or newer is usual",
                f"这块显卡通常需要 Linux {needed} 或更新版本",
            ),
            Message(
                "Install your distribution's newest kernel if the card fails.",
                "如显卡出错,请安装发行版的最新内核。",
            ),
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
        "warning",
        title,
        value,
        meaning,
        Message("Unset it and start again.", "请取消该变量后重新启动。"),
    )


def wheel_rows(probe: Probe) -> Iterator[Row]:
    """A torch that was not built for AMD cards beside an AMD card that is the only one."""
    if probe.torch and probe.build != "rocm" and not probe.hardware.of("nvidia"):
        yield Row(
            "amd.torch",
            "warning",
            Message("torch for AMD cards", "AMD 版 torch"),
            f"{probe.torch}, build {probe.build}",
            Message(
                "This build cannot use an AMD card; the display driver alone does not change that",
                "此版本无法使用 AMD 显卡,仅安装显卡驱动没有帮助",
            ),
            Message("Run bash start_app.sh --backend rocm.", "请运行 bash start_app.sh --backend rocm。"),
        )


def several_rows(hardware: Hardware, root: Path) -> Iterator[Row]:
    """Several AMD cards: which is used, and the kernel option without which they are known to hang."""
    cards = hardware.of("amd")
    own, inside = [c for c in cards if not c.integrated], [c for c in cards if c.integrated]
    if own and inside:
        yield Row(
            "amd.igpu",
            "ok",
            Message("Processor graphics", "核显"),
            f"{own[0].name} is used, {', '.join(card.name for card in inside)} is hidden from the engines",
        )
    iommu = root / "sys/class/iommu"
    options = _text(root / "proc/cmdline").split()
    if len(own) > 1 and iommu.is_dir() and any(iommu.iterdir()) and "iommu=pt" not in options:
        yield Row(
            "amd.iommu",
            "warning",
            Message("Several AMD cards", "多块 AMD 显卡"),
            f"{len(own)} cards, IOMMU on, iommu=pt not among the kernel's options",
            Message("Copies between cards are known to hang", "显卡之间的复制可能卡死"),
            Message("Add iommu=pt to the kernel's options.", "请在内核启动参数中加入 iommu=pt。"),
        )


def shared_memory_rows(root: Path) -> Iterator[Row]:
    """In a container: /dev/shm is 64 MB unless asked for."""
    inside = (root / ".dockerenv").exists() or (root / "run/.containerenv").exists()
    place = root / "dev/shm"
    if not inside or not place.is_dir():
        return
    usage = os.statvfs(place)
    size = usage.f_frsize * usage.f_blocks
    if size < SMALL_SHM:
        yield Row(
            "amd.shm",
            "warning",
            Message("Shared memory of the container", "容器共享内存"),
            f"{size / 1024**2:.0f} MiB in /dev/shm",
            Message("Large tensors may not fit between processes", "进程间可能放不下大张量"),
            Message(
                "Start the container with --ipc=host or --shm-size=8g.",
                "启动容器时请加 --ipc=host 或 --shm-size=8g。",
            ),
        )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
