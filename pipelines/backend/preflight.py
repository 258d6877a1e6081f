"""Checks of the machine, each with what was read, what it means and what to do: the doctor's rows below the engines.

No root, no network, a few seconds at most. A *hint* never blocks: a diagnostic tool that is missing is no fault.
Only the standard library is needed, so this also runs before anything is installed
(``python -m pipelines.backend.preflight``).
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

from pipelines.backend.amd import amd_rows
from pipelines.backend.cards import apple_rows, head_room_rows, nvidia_row, translated_rows
from pipelines.backend.hardware import Hardware, read_hardware, run_tool
from pipelines.backend.probe import Probe
from pipelines.backend.rows import NOTHING, Level, Row, render
from pipelines.errors import Message
from pipelines.settings import Settings

GB = 1000**3
DISK_FAIL, DISK_WARN = 1 * GB, 10 * GB
MEMORY_WARN = 6 * GB


def machine(settings: Settings, probe: Probe, root: Path = Path("/")) -> tuple[Row, ...]:
    """All checks of the machine; ``root`` is where ``dev``, ``proc`` and ``sys`` are (another folder in tests)."""
    return (
        _python(),
        _platform(),
        _disk(settings),
        *_folders(settings),
        _memory(root),
        _ffmpeg(settings),
        _torch(probe),
        *_cards(probe, root),
    )


def _python() -> Row:
    version = sys.version_info[:2]
    good = (3, 11) <= version <= (3, 12)
    return Row(
        "python",
        "ok" if good else "problem",
        Message("Python", "Python"),
        f"{platform.python_version()} at {sys.executable}",
        NOTHING if good else Message("Only 3.11 and 3.12 work", "仅支持 3.11 和 3.12"),
        NOTHING
        if good
        else Message("Start with bash start_app.sh, which finds one.", "请用 bash start_app.sh 启动。"),
    )


def _platform() -> Row:
    system, machine_name = platform.system(), platform.machine()
    tested = (system, machine_name) == ("Linux", "x86_64")
    translated = system == "Darwin" and machine_name == "x86_64"
    meaning = Message("Tested on Linux x86-64 only", "仅在 Linux x86-64 上测试过")
    return Row(
        "platform",
        "ok" if tested else "warning",
        Message("System", "系统"),
        platform.platform(),
        NOTHING if tested else meaning,
        Message("On an Apple chip use an arm64 Python.", "Apple 芯片请使用 arm64 版 Python。")
        if translated
        else NOTHING,
    )


def _disk(settings: Settings) -> Row:
    place = next(folder for folder in (settings.jobs, *settings.jobs.parents) if folder.is_dir())
    free = shutil.disk_usage(place).free
    level: Level = "problem" if free < DISK_FAIL else "warning" if free < DISK_WARN else "ok"
    return Row(
        "disk",
        level,
        Message("Room for jobs", "任务磁盘空间"),
        f"{free / GB:.1f} GB free in {place}",
        NOTHING
        if level == "ok"
        else Message("A dub of a long video may fill the disk", "长视频配音可能会占满磁盘"),
        NOTHING
        if level == "ok"
        else Message(
            "Delete old jobs on the Jobs tab, or move them with DUBWRIGHT_JOBS.",
            "请在“任务”页删除旧任务,或用 DUBWRIGHT_JOBS 换到其他磁盘。",
        ),
    )


def _folders(settings: Settings) -> Iterator[Row]:
    for name in ("outputs", "jobs", "cache", "logs"):
        folder: Path = getattr(settings, name)
        problem = _cannot_write(folder)
        if problem:
            yield Row(
                f"folder.{name}",
                "problem",
                Message(f"Folder for {name}", f"文件夹 {name}"),
                f"{folder}: {problem}",
                Message("Nothing can be saved there", "无法保存文件"),
                Message(
                    f"Change its owner or set DUBWRIGHT_{name.upper()} to another folder.",
                    f"请更改文件夹所有者,或将 DUBWRIGHT_{name.upper()} 设为其他文件夹。",
                ),
            )


def _cannot_write(folder: Path) -> str:
    """The system's reason, or nothing; a folder that is not there yet is tried at its nearest parent."""
    place = next(path for path in (folder, *folder.parents) if path.exists())
    test = place / f".write-test-{uuid.uuid4().hex[:8]}"
    try:
        test.touch()
        test.unlink()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _memory(root: Path) -> Row:
    title = Message("Memory", "内存")
    try:
        text = (root / "proc/meminfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return Row("memory", "hint", title, "not readable on this system")
    facts = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    available, total = (int(facts.get(name, "0").split()[0]) * 1024 for name in ("MemAvailable", "MemTotal"))
    low = available < MEMORY_WARN
    return Row(
        "memory",
        "warning" if low else "ok",
        title,
        f"{available / GB:.1f} of {total / GB:.1f} GB available",
        Message("A dub needs 2 to 4 GB", "配音需要 2 至 4 GB") if low else NOTHING,
        Message("Close other programs while a job runs.", "任务运行时请关闭其他程序。") if low else NOTHING,
    )


def _ffmpeg(settings: Settings) -> Row:
    title = Message("ffmpeg", "ffmpeg")
    binary = settings.ffmpeg or _carried_ffmpeg()
    if binary is None:
        return Row(
            "ffmpeg",
            "problem",
            title,
            "the package imageio-ffmpeg is not installed",
            Message("Videos can be neither read nor written", "无法读写视频"),
            Message("Run bash start_app.sh --setup-only.", "请运行 bash start_app.sh --setup-only。"),
        )
    code, text = run_tool([str(binary), "-hide_banner", "-version"])
    first = text.strip().splitlines()[0] if text.strip() else f"exit code {code}"
    return Row(
        "ffmpeg",
        "ok" if code == 0 else "problem",
        title,
        f"{first.partition(' Copyright')[0]} ({binary})",
        NOTHING if code == 0 else Message("This ffmpeg does not run", "此 ffmpeg 无法运行"),
        NOTHING
        if code == 0
        else Message(
            "Unset DUBWRIGHT_FFMPEG to use the one that comes with Dubwright.",
            "请取消 DUBWRIGHT_FFMPEG 以使用自带的 ffmpeg。",
        ),
    )


def _carried_ffmpeg() -> Path | None:
    spec = importlib.util.find_spec("imageio_ffmpeg")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        found = sorted((Path(folder) / "binaries").glob("ffmpeg*"))
        if found:
            return found[0]
    return None


def _torch(probe: Probe) -> Row:
    title = Message("torch", "torch")
    if not probe.torch:
        return Row(
            "torch",
            "warning",
            title,
            probe.reason or "not installed",
            Message(
                "Dubbing works without it; engines that need torch do not",
                "不影响配音,但依赖 torch 的引擎不可用",
            ),
            Message(
                "Run bash start_app.sh --setup-only to repair it.",
                "请运行 bash start_app.sh --setup-only 修复。",
            ),
        )
    # Looked at from outside only, nobody knows whether torchaudio imports.
    audio = f", torchaudio {probe.torchaudio or 'does not import'}" if probe.asked else ""
    found = f"{probe.torch}{audio}, build {probe.build} {probe.runtime}".strip()
    pair = not probe.asked or bool(probe.torchaudio)
    return Row(
        "torch",
        "ok" if pair else "warning",
        title,
        found,
        NOTHING
        if pair
        else Message("torch and torchaudio are of different builds", "torch 与 torchaudio 的版本不匹配"),
        NOTHING
        if pair
        else Message(
            "Remove .venv and run bash start_app.sh --setup-only.",
            "请删除 .venv 后运行 bash start_app.sh --setup-only。",
        ),
    )


# ----------------------------------------------------------------------------------------------- graphics cards


def _cards(probe: Probe, root: Path) -> Iterator[Row]:
    hardware = probe.hardware
    yield _device(probe)
    for index, card in enumerate(hardware.of("nvidia")):
        yield nvidia_row(card, index, probe)
    yield from amd_rows(probe, root)
    yield from translated_rows(probe)
    yield from head_room_rows(probe)
    yield from apple_rows(hardware, platform.mac_ver()[0])


def _device(probe: Probe) -> Row:
    title = Message("Test computation", "试算")
    working = [device for device in probe.devices if device.works]
    if working:
        listed = ", ".join(f"{device.name} ({', '.join(device.precisions)})" for device in working)
        return Row("device", "ok", title, listed)
    has_card = bool(probe.hardware.cards) or probe.hardware.apple
    if not probe.asked and has_card:
        return Row("device", "hint", title, probe.reason)
    return Row(
        "device",
        "warning" if has_card else "ok",
        title,
        probe.reason,
        Message("Everything runs on the CPU", "全部使用 CPU 运行"),
        Message("See the rows below.", "请查看下面各行。") if has_card else NOTHING,
    )


def outside(settings: Settings, hardware: Hardware, root: Path = Path("/")) -> tuple[Row, ...]:
    """The checks that mean something before anything is installed."""
    probe = Probe(hardware=hardware, reason="not set up yet")
    cards = tuple(row for row in _cards(probe, root) if row.id != "device")
    return (_python(), _platform(), _disk(settings), *_folders(settings), _memory(root), *cards)


if __name__ == "__main__":
    here = outside(Settings.load(), read_hardware())
    if "--json" in sys.argv:
        sys.stdout.write(json.dumps([row.plain() for row in here], ensure_ascii=False, indent=1) + "\n")
    else:
        sys.stdout.write(render(here, os.environ.get("LC_ALL") or os.environ.get("LANG", "")))
