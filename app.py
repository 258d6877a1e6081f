"""Dubwright: ``python app.py`` opens the page; with a command it works without one (``python app.py --help``)."""

from __future__ import annotations

import sys


def start() -> int:
    """Run the page or a command; returns the exit code."""
    try:
        from commands.main import main
    except ModuleNotFoundError as error:
        sys.stderr.write(
            f"This Python ({sys.executable}) lacks the package {error.name}. "
            "Run `bash start_app.sh`: it sets everything up; afterwards use `.venv/bin/python app.py`.\n"
        )
        return 3
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(start())
