"""``doctor``: machine, backend, policy, engines, weights; exit code 0 when a dub can be made here, else 1."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from typing import Any

from commands.machine import choose_policy
from commands.parsing import common_flags
from commands.words import language
from pipelines import weights
from pipelines.backend.banner import banner
from pipelines.backend.copying import report
from pipelines.backend.policy import Policy
from pipelines.backend.probe import Probe, probe
from pipelines.backend.rows import Row, render, usable
from pipelines.doctor import doctor, engine_states
from pipelines.registry import EngineContext
from pipelines.settings import Settings


def add_parser(commands: Any) -> None:
    """Add the command and its flags."""
    parser = commands.add_parser(
        "doctor",
        help="what works on this computer, and what to do about the rest",
        description="Look at machine, backend, engines and weights.",
        parents=[common_flags(after_command=True)],
    )
    parser.add_argument("--json", action="store_true", help="the result as JSON on stdout")
    parser.add_argument(
        "--report",
        action="store_true",
        help="text for a report, without user name, home folder and serial numbers",
    )
    parser.add_argument("--fresh", action="store_true", help="try the graphics card again")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Examine and tell; returns 0 when usable, else 1."""
    settings = Settings.load()
    found = probe(settings, fresh=arguments.fresh)
    policy = choose_policy(arguments, settings, found)
    rows = doctor(settings, policy, found)
    if arguments.json:
        sys.stdout.write(json.dumps(findings(settings, policy, found, rows), ensure_ascii=False) + "\n")
    elif arguments.report:
        states = engine_states(EngineContext(settings, policy))
        sys.stdout.write(report(banner(policy, found, states).en, rows))
    else:
        sys.stdout.write(text(settings, policy, found, rows))
    return 0 if usable(rows) else 1


def findings(settings: Settings, policy: Policy, found: Probe, rows: tuple[Row, ...]) -> dict[str, Any]:
    """All that the doctor knows, as JSON."""
    states = engine_states(EngineContext(settings, policy))
    return {
        "usable": usable(rows),
        "policy": dataclasses.asdict(policy),
        "probe": dataclasses.asdict(found),
        "checks": [row.plain() for row in rows],
        "engines": {
            name: {"state": state.state, "reason": state.reason.en} for name, state in states.items()
        },
        "weights": [
            {
                "id": state.item.id,
                "state": state.state,
                "default": state.item.default,
                "bytes": state.item.size,
                "licence": state.item.licence,
                "folder": str(state.folder),
            }
            for state in weights.states(settings)
        ],
    }


def text(settings: Settings, policy: Policy, found: Probe, rows: tuple[Row, ...]) -> str:
    """The banner's sentence, the rows, and the verdict."""
    states = engine_states(EngineContext(settings, policy))
    failed = [row.title.text(language()) for row in rows if row.level == "problem"]
    verdict = f"Not ready: {', '.join(failed)}." if failed else "Ready to dub."
    return f"{banner(policy, found, states).text(language())}\n\n{render(rows, language())}\n{verdict}\n"
