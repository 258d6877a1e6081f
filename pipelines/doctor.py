"""The doctor: machine, weights and engines in one report, for ``app.py doctor``, ``start_app.sh --check`` and the page."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from pipelines import weights
from pipelines.backend.banner import banner
from pipelines.backend.policy import Policy
from pipelines.backend.policy import choose as choose_policy
from pipelines.backend.preflight import machine
from pipelines.backend.probe import Probe, probe
from pipelines.backend.rows import NOTHING, Level, Row, render, usable
from pipelines.errors import Message, PipelineError
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
        level: Level = "ok" if state.state == "ready" else "warn" if state.state == "partial" else "fail"
        if not item.default and level == "fail":
            level = "warn"
        yield Row(
            f"weights.{item.id}",
            level,
            item.title,
            f"{state.state}, {state.there} of {len(item.files)} files in {state.folder}",
            state.note,
            NOTHING
            if level == "ok"
            else Message(f"python app.py weights {item.id}", f"运行 python app.py weights {item.id}"),
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
        level: Level = "ok" if ready else "fail" if needed else "warn"
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
        "unknown",
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
        "ok" if found else "unknown",
        Message("npm (voice packs)", "npm(音色包)"),
        found or "not installed",
    )


def report(settings: Settings, policy: Policy, found: Probe) -> dict[str, Any]:
    """The doctor's findings as JSON."""
    rows = doctor(settings, policy, found)
    return {
        "usable": usable(rows),
        "policy": dataclasses.asdict(policy),
        "probe": dataclasses.asdict(found),
        "rows": [row.plain() for row in rows],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: exit code 0 usable, 1 not, 2 a device that is not there."""
    options = _parse(arguments)
    settings, language = Settings.load(), os.environ.get("LC_ALL") or os.environ.get("LANG") or "en"
    found = probe(settings, fresh=options.fresh)
    safe = True if options.safe_mode else False if options.no_safe_mode else None
    try:
        policy = choose_policy(
            found,
            device=options.device,
            cpu=options.cpu,
            safe_mode=safe,
            no_half=options.no_half,
            threads=settings.threads,
        )
    except PipelineError as error:
        sys.stderr.write(f"{error.sentence(language)}\n")
        return error.exit_code
    rows = doctor(settings, policy, found)
    if options.json:
        sys.stdout.write(json.dumps(report(settings, policy, found), ensure_ascii=False, indent=1) + "\n")
    else:
        sys.stdout.write(render(rows, language))
        sys.stdout.write(
            f"\n{banner(policy, found, engine_states(EngineContext(settings, policy))).text(language)}\n"
        )
    return 0 if usable(rows) else 1


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="app.py doctor", description="Look at this computer: what works, what does not."
    )
    parser.add_argument("--json", action="store_true", help="for scripts")
    parser.add_argument("--fresh", action="store_true", help="try the graphics card again")
    parser.add_argument("--device", default="auto")
    for flag in ("--cpu", "--safe-mode", "--no-safe-mode", "--no-half", "--debug"):
        parser.add_argument(flag, action="store_true")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
