"""The commands behind start_app.sh and run_tests.sh."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from launcher import page
from launcher.backends import BACKENDS
from launcher.environment import Plan, is_whole, make_plan, put_weights, set_up, try_card
from launcher.words import LauncherError, choose, say

EPILOG = """
Other flags go on to app.py: --device auto|cpu|cuda:N|mps, --cpu, --safe-mode, --no-safe-mode, --no-half,
--auth USER:PASS (needed with --listen beyond this computer), --debug.
"""


def parse(arguments: Sequence[str] | None = None) -> tuple[argparse.Namespace, list[str]]:
    """Our own flags, and the rest, which goes on to app.py."""
    parser = argparse.ArgumentParser(
        prog="start_app.sh", allow_abbrev=False, description="Set up and start Dubwright.", epilog=EPILOG
    )
    parser.add_argument(
        "--backend", choices=BACKENDS, help="which requirement file to install (default: by the cards)"
    )
    parser.add_argument("--setup-only", action="store_true", help="set up and leave")
    parser.add_argument("--check", action="store_true", help="look at the machine and leave (doctor)")
    parser.add_argument("--background", action="store_true", help="run detached from this terminal")
    parser.add_argument("--stop", action="store_true", help="stop what --background started")
    parser.add_argument("--demo", action="store_true", help="open the demo project")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    parser.add_argument("--yes", action="store_true", help="answer yes to every question")
    parser.add_argument("--listen", default="127.0.0.1", metavar="HOST", help="address to listen on")
    parser.add_argument("--port", type=int, metavar="N", help="port (default 7860, or the next free one)")
    parser.add_argument("--tests", action="store_true", help="install the test tools too (run_tests.sh)")
    return parser.parse_known_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Set up, start, and say where the page is; see ``parse`` for the flags."""
    options, rest = parse(arguments)
    root = Path(__file__).resolve().parent.parent
    try:
        if options.stop:
            return page.stop()
        plan = make_plan(root, options.backend, options.tests)
        if options.check:
            return _doctor(plan, rest)
        set_up(plan)
        put_weights(plan)
        try_card(plan)
        if options.setup_only:
            return 0
        address = page.Address(options.listen, options.port, options.demo)
        opening = not options.no_browser
        return page.start(
            plan, address, rest, background=options.background, opening=opening, yes=options.yes
        )
    except LauncherError as error:
        sys.stderr.write(f"{error}\n")
        return error.code
    except KeyboardInterrupt:
        say("\nInterrupted; run this again to go on from here.", "\n已中断;重新运行将从此处继续。")
        return 130


def _doctor(plan: Plan, rest: list[str]) -> int:
    """The doctor of the installed application; before it is installed, what can be said about the machine."""
    if is_whole(plan) or plan.folder.is_symlink():
        return subprocess.run(
            [str(plan.python), "app.py", "doctor", *rest], cwd=plan.root, check=False
        ).returncode
    reason = choose(plan.choice.reason_en, plan.choice.reason_zh)
    say(
        f"Dubwright is not set up yet (bash start_app.sh --setup-only). It would install for {plan.choice.backend}: {reason}.",
        f"Dubwright 尚未安装(bash start_app.sh --setup-only)。将安装的后端为 {plan.choice.backend}:{reason}。",
    )
    subprocess.run([sys.executable, "-m", "pipelines.backend.preflight", *rest], cwd=plan.root, check=False)
    return 1


if __name__ == "__main__":
    sys.exit(main())
