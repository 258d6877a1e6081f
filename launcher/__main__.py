"""The commands behind start_app.sh and run_tests.sh."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from launcher.backends import BACKENDS
from launcher.environment import make_plan, put_weights, set_up
from launcher.words import LauncherError, say


def parse(arguments: Sequence[str] | None = None) -> tuple[argparse.Namespace, list[str]]:
    """Our own flags, and the rest, which goes on to app.py."""
    parser = argparse.ArgumentParser(
        prog="start_app.sh", allow_abbrev=False, description="Set up and start Dubwright."
    )
    parser.add_argument(
        "--backend", choices=BACKENDS, help="which requirement file to install (default: by the cards)"
    )
    parser.add_argument("--setup-only", action="store_true", help="set up and leave")
    parser.add_argument("--tests", action="store_true", help="with the test tools (run_tests.sh)")
    return parser.parse_known_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Set up, start, and say where the page is."""
    options, _rest = parse(arguments)
    root = Path(__file__).resolve().parent.parent
    try:
        plan = make_plan(root, options.backend, options.tests)
        set_up(plan)
        put_weights(plan)
    except LauncherError as error:
        sys.stderr.write(f"{error}\n")
        return error.code
    except KeyboardInterrupt:
        say("\nInterrupted; run this again to go on from here.", "\n已中断;重新运行将从此处继续。")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
