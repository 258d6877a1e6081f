"""The doctor: machine, weights and engines, each with what was found, what it means and what to do."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Iterator
from typing import Any

from pipelines import weights
from pipelines.backend.policy import Policy
from pipelines.backend.preflight import machine
from pipelines.backend.probe import Probe
from pipelines.backend.rows import NOTHING, Level, Row
from pipelines.errors import Message
from pipelines.registry import EngineContext, EngineState, Registry
from pipelines.settings import Settings

REGISTRIES = {
    "transcription": ("pipelines.asr", "RECOGNIZERS"),
    "voice": ("pipelines.voice", "VOICES"),
    "lips": ("pipelines.lipsync", "LIP_ENGINES"),
    "translation": ("pipelines.translate", "TRANSLATORS"),
}


def doctor(settings: Settings, policy: Policy, found: Probe) -> tuple[Row, ...]:
    """Every check; ``usable(rows)`` says whether a dub can be made (a translator is not required)."""
    return (
        *machine(settings, found),
        *_weights(settings),
        *_engines(EngineContext(settings, policy)),
        _node(),
    )


def registries() -> dict[str, Registry[Any]]:
    """The four families of engines by the part they play."""
    return {
        part: getattr(importlib.import_module(module), name) for part, (module, name) in REGISTRIES.items()
    }


def engine_states(context: EngineContext) -> dict[str, EngineState]:
    """The state of every engine of every family."""
    return {
        f"{part}/{name}": state
        for part, registry in registries().items()
        for name, state in registry.states(context).items()
    }


def _weights(settings: Settings) -> Iterator[Row]:
    for state in weights.states(settings):
        item = state.item
        if not item.default and state.state == "missing":
            continue  # optional model files that nobody asked for are no finding
        level: Level = (
            "ok" if state.state == "ready" else "warning" if state.state == "partial" else "problem"
        )
        if not item.default and level == "problem":
            level = "warning"
        yield Row(
            f"weights.{item.id}",
            level,
            item.title,
            f"{state.state}, {state.there} of {len(item.files)} files in {state.folder}",
            state.note,
            NOTHING
            if level == "ok"
            else Message(
                f"Run `python app.py weights {item.id}`.", f"请运行 `python app.py weights {item.id}`。"
            ),
        )


def _engines(context: EngineContext) -> Iterator[Row]:
    for part, registry in registries().items():
        states = registry.states(context)
        ready = [name for name, state in states.items() if state.ready]
        listed = ", ".join(
            name if state.ready else f"{name} ({state.reason.en or state.state})"
            for name, state in states.items()
        )
        needed = part != "translation"
        level: Level = "ok" if ready else "problem" if needed else "warning"
        remedy = (
            NOTHING
            if ready
            else Message("Run bash start_app.sh --setup-only.", "请运行 bash start_app.sh --setup-only。")
        )
        meaning = NOTHING if ready else Message("No engine is ready", "没有可用的引擎")
        yield Row(
            f"engines.{part}",
            level,
            Message(f"Engines: {registry.part.en}", f"引擎:{registry.part.zh}"),
            listed,
            meaning,
            remedy,
        )
    yield _apertium()


def _apertium() -> Row:
    found = shutil.which("apertium")
    title = Message("Offline translator", "离线翻译")
    if found:
        return Row("apertium", "ok", title, found)
    return Row(
        "apertium",
        "hint",
        title,
        "apertium is not installed",
        Message("Lines are typed, pasted, read from an SRT or sent to a language model of yours",
                "译文可手动输入、粘贴、从 SRT 读取,或使用您自己的语言模型"),
        Message("English ↔ Spanish offline: sudo apt install apertium-eng-spa",
                "英语↔西班牙语离线翻译:sudo apt install apertium-eng-spa"),
    )  # fmt: skip


def _node() -> Row:
    found = shutil.which("npm") or ""
    return Row(
        "npm",
        "ok" if found else "hint",
        Message("npm (voice packs)", "npm(音色包)"),
        found or "not installed",
    )
