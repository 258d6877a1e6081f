"""``weights``: the model files: list them, fetch them."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commands.parsing import common_flags, refuse
from commands.running import Task, run_tasks
from pipelines.jobs import JobSpec, JobView
from pipelines.settings import Settings


def add_parser(commands: Any) -> None:
    """Add the command and its flags."""
    parser = commands.add_parser(
        "weights",
        help="model files: list them, fetch them",
        description="Without an item: what is here and what is missing. Nothing is fetched that is not named.",
        parents=[common_flags(after_command=True)],
    )
    parser.add_argument("items", nargs="*", metavar="ITEM", help="items of weights/manifest.toml to fetch")
    parser.add_argument("--default", action="store_true", help="fetch the default set")
    parser.add_argument("--json", action="store_true", help="the result as JSON on stdout")
    parser.set_defaults(run=run, overwrite=False)


def run(arguments: argparse.Namespace) -> int:
    """List or fetch; returns the exit code."""
    manifest = importlib.import_module("pipelines.weights").manifest
    settings = Settings.load()
    known = manifest(settings)
    items = list(arguments.items)
    if arguments.default:
        items += [item.id for item in known.values() if item.default and item.id not in items]
    if not items:
        sys.stdout.write(importlib.import_module("pipelines.fetch").listing(settings))
        return 0
    for item in items:
        if item not in known:
            refuse(
                f"There are no model files called {item!r}; there are: {', '.join(known)}",
                f"没有名为 {item!r} 的模型文件;可选:{', '.join(known)}",
            )
    task = Task(JobSpec("weights", {"items": items}, ", ".join(items)), {})
    return run_tasks(arguments, [task], find, tell)


def find(view: JobView) -> Mapping[str, Path]:
    """Nothing to deliver: the files are in their place."""
    return {}


def tell(view: JobView) -> str:
    """How many files were fetched."""
    return f"{len(view.result.get('fetched', []))} files fetched"
