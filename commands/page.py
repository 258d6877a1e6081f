"""Without a command: the page."""

from __future__ import annotations

import argparse
import importlib
import sys

from commands.machine import choose_policy
from commands.parsing import refuse
from pipelines.backend.probe import look
from pipelines.settings import Settings


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the page."""
    page = parser.add_argument_group("page")
    page.add_argument(
        "--listen", metavar="HOST", default="127.0.0.1", help="address to listen on (this computer)"
    )
    page.add_argument("--port", type=_port, default=7860, metavar="N", help="port (7860)")
    page.add_argument("--auth", metavar="USER:PASS", help="ask for a password; required beyond this computer")
    parser.set_defaults(run=run)


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port between 1 and 65535")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until it is interrupted; returns the exit code."""
    auth = None
    if arguments.auth is not None:
        user, _, password = arguments.auth.partition(":")
        if not user or not password:
            refuse(
                "--auth needs a name and a password: --auth USER:PASS", "--auth 需要用户名和密码:USER:PASS"
            )
        auth = (user, password)
    settings = Settings.load()
    probe = look(settings)
    policy = choose_policy(arguments, settings, probe)
    importlib.import_module("ui.server").serve(  # gradio is loaded only here
        settings,
        arguments.listen,
        arguments.port,
        auth,
        policy=policy,
        found=probe,
        debug=arguments.debug,
        on_ready=lambda address: _say(f"Page: {address} (Ctrl-C ends it)"),
    )
    return 0


def _say(sentence: str) -> None:
    sys.stdout.write(f"{sentence}\n")
    sys.stdout.flush()
