"""The doctor: is everything here that a dub needs, and if not, what is the next step."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

from pipelines.asr import RECOGNIZERS
from pipelines.backend.policy import Policy
from pipelines.errors import Message
from pipelines.lipsync import LIP_ENGINES
from pipelines.registry import EngineContext, EngineState
from pipelines.settings import Settings
from pipelines.translate import TRANSLATORS
from pipelines.voice import VOICES

Verdict = Literal["ok", "warning", "problem"]
ENOUGH_MEMORY = 4 * 1024**3
ENOUGH_DISK = 2 * 1024**3
NOTHING = Message("", "")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: ``group`` (machine, backend, engines…), what was found, and what to do about it."""

    group: str
    name: str
    verdict: Verdict
    found: Message
    todo: Message = NOTHING


@dataclass(frozen=True, slots=True)
class Examination:
    """All checks; the application is usable when none of them is a problem."""

    checks: tuple[Check, ...]

    @property
    def usable(self) -> bool:
        """Whether a dub can be made here."""
        return all(check.verdict != "problem" for check in self.checks)


def examine(settings: Settings, policy: Policy) -> Examination:
    """Look at the machine, the backend, the programs, the folders, the engines and their weights."""
    context = EngineContext(settings, policy)
    return Examination(
        (
            _python(),
            _memory(),
            _ffmpeg(settings),
            _backend(policy),
            *(_folder(name, getattr(settings, name)) for name in ("jobs", "outputs", "cache", "logs")),
            *_engines(context),
        )
    )


def _same(text: str) -> Message:
    return Message(text, text)


def _python() -> Check:
    version = f"{platform.python_version()} ({sys.executable}), {platform.platform()}"
    if (3, 11) <= sys.version_info[:2] <= (3, 12):
        return Check("machine", "python", "ok", _same(version))
    todo = Message(
        "Use Python 3.11 or 3.12: bash start_app.sh finds it.",
        "请使用 Python 3.11 或 3.12(start_app.sh 会自动查找)。",
    )
    return Check("machine", "python", "problem", _same(version), todo)


def _memory() -> Check:
    memory = psutil.virtual_memory()
    found = _same(f"{memory.available / 1e9:.1f} / {memory.total / 1e9:.1f} GB, {os.cpu_count()} CPU")
    if memory.total >= ENOUGH_MEMORY:
        return Check("machine", "memory", "ok", found)
    todo = Message("Long videos may need more memory than this computer has.", "处理长视频时内存可能不足。")
    return Check("machine", "memory", "warning", found, todo)


def _backend(policy: Policy) -> Check:
    mode = ", safe mode" if policy.safe_mode else ""
    found = f"{policy.family}: {policy.device}, {policy.precision}{mode}, {policy.threads} threads ({policy.reason})"
    wrong_build = "installed PyTorch is the" in policy.reason
    return Check("backend", "device", "warning" if wrong_build else "ok", _same(found))


def _ffmpeg(settings: Settings) -> Check:
    """The binary must be there and start."""
    path = settings.ffmpeg
    if path is None:
        try:
            path = Path(importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe())
        except (ImportError, RuntimeError):
            path = Path("ffmpeg")
    try:
        done = subprocess.run(
            [str(path), "-version"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError) as error:
        todo = Message(
            "Run `bash start_app.sh --setup-only` to repair it.",
            "请运行 `bash start_app.sh --setup-only` 修复。",
        )
        return Check("machine", "ffmpeg", "problem", _same(f"{path}: {error}"), todo)
    return Check("machine", "ffmpeg", "ok", _same(f"{' '.join(done.stdout.split()[:3])} ({path})"))


def _folder(name: str, path: Path) -> Check:
    """Writable, with room; a folder that is not there yet is judged by where it will be made."""
    place = path
    while not place.exists():
        place = place.parent
    if not os.access(place, os.W_OK | os.X_OK):
        todo = Message(
            f"Make it writable, or set DUBWRIGHT_{name.upper()}.",
            f"请设为可写,或设置 DUBWRIGHT_{name.upper()}。",
        )
        return Check(
            "folders", name, "problem", Message(f"{path} cannot be written to", f"{path} 不可写"), todo
        )
    free = shutil.disk_usage(place).free
    found = Message(f"{path}, {free / 1e9:.1f} GB free", f"{path},可用 {free / 1e9:.1f} GB")
    if free >= ENOUGH_DISK:
        return Check("folders", name, "ok", found)
    return Check("folders", name, "warning", found, Message("Free some space.", "请释放磁盘空间。"))


def _engines(context: EngineContext) -> list[Check]:
    """Every engine's state; a part without a ready engine is a problem, except translation: lines can be typed."""
    checks = []
    for part, registry in (
        ("transcription", RECOGNIZERS),
        ("voice", VOICES),
        ("lips", LIP_ENGINES),
        ("translation", TRANSLATORS),
    ):
        states = registry.states(context)
        lacking: Verdict = (
            "warning" if part == "translation" or any(s.ready for s in states.values()) else "problem"
        )
        checks += [_engine(part, name, state, lacking) for name, state in states.items()]
    return checks


def _engine(part: str, name: str, state: EngineState, lacking: Verdict) -> Check:
    if state.ready:
        return Check(part, name, "ok", Message("ready", "可用"))
    todo = NOTHING
    if state.state == "missing weights":
        todo = Message("Fetch them: python app.py weights --default", "获取:python app.py weights --default")
    if state.state == "missing package":
        todo = Message("Install them: bash start_app.sh --setup-only", "安装:bash start_app.sh --setup-only")
    return Check(part, name, lacking, state.reason, todo)
