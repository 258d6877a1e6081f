"""``doctor``: machine, backend, policy, engines, weights; exit code 0 when a dub can be made here, else 1."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import sys
from typing import Any

from commands.machine import choose_policy
from commands.parsing import common_flags
from commands.words import language
from pipelines.backend.preflight import Check, Examination, examine
from pipelines.settings import Settings

MARKS = {"ok": "ok", "warning": "!", "problem": "X"}


def add_parser(commands: Any) -> None:
    """Add the command and its flags."""
    parser = commands.add_parser(
        "doctor",
        help="what works on this computer, and what to do about the rest",
        description="Look at machine, backend, engines and weights.",
        parents=[common_flags(after_command=True)],
    )
    parser.add_argument("--json", action="store_true", help="the result as JSON on stdout")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Examine and tell; returns 0 when usable, else 1."""
    settings = Settings.load()
    policy = choose_policy(arguments, settings)
    found = examine(settings, policy)
    weights = _weights(settings)
    if arguments.json:
        value = {
            "usable": found.usable,
            "policy": dataclasses.asdict(policy),
            "checks": [dataclasses.asdict(check) for check in found.checks],
            "weights": weights,
        }
        sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(table(found, weights))
    return 0 if found.usable else 1


def _weights(settings: Settings) -> list[dict[str, Any]]:
    """State, size and licence of every item of the manifest."""
    states = importlib.import_module("pipelines.weights").states(settings)
    return [
        {
            "id": state.item.id,
            "state": state.state,
            "default": state.item.default,
            "bytes": state.item.size,
            "licence": state.item.licence,
            "folder": str(state.folder),
        }
        for state in states
    ]


def table(found: Examination, weights: list[dict[str, Any]]) -> str:
    """Checks by group, then the weights, then the verdict."""
    lines, group = [], ""
    for check in found.checks:
        if check.group != group:
            group = check.group
            lines.append(f"{group}")
        lines += _check_lines(check)
    lines.append("weights")
    for item in weights:
        mark = "ok" if item["state"] == "ready" else "!" if item["default"] else "-"
        lines.append(
            f"  {mark:3}{item['id']:22}{item['state']}, {item['bytes'] / 1e6:.0f} MB, {item['licence']}"
        )
    problems = [check for check in found.checks if check.verdict == "problem"]
    lines.append("Ready to dub." if not problems else f"Not ready: {', '.join(c.name for c in problems)}.")
    return "\n".join(lines) + "\n"


def _check_lines(check: Check) -> list[str]:
    lines = [f"  {MARKS[check.verdict]:3}{check.name:22}{check.found.text(language())}"]
    if check.todo.en:
        lines.append(f"{'':27}{check.todo.text(language())}")
    return lines
