"""From the words of a command line to an exit code: 0 done, 2 bad input or options, 3 something missing, 130 stopped."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from types import TracebackType

from commands import doctor, dub, page, speak, sync, transcribe, voices, weights
from commands.parsing import Parser, common_flags
from commands.words import language
from pipelines.errors import PipelineError

INTERRUPTED = 130
DESCRIPTION = """Dub a video into another language: same face, same voice, lips in step, offline.
Without a command the page opens at http://127.0.0.1:7860."""
CODES = "Exit codes: 0 done, 1 failed, 2 bad input or options, 3 an engine, a translator or weights are missing, 130 stopped."


def make_parser() -> Parser:
    """All commands and their flags; each command module adds its own."""
    parser = Parser(prog="python app.py", description=DESCRIPTION, epilog=CODES, parents=[common_flags()])
    page.add_flags(parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    for module in (dub, transcribe, speak, voices, sync, weights, doctor):
        module.add_parser(commands)
    return parser


def main(argv: Sequence[str]) -> int:
    """Run a command line; everything expected that goes wrong is one sentence on stderr, never a traceback."""
    arguments = make_parser().parse_args(list(argv))
    if arguments.debug:
        os.environ["DUBWRIGHT_DEBUG"] = "1"  # the worker's log follows
        logging.basicConfig(level=logging.DEBUG)
    else:
        sys.excepthook = _one_sentence
        logging.getLogger().addHandler(logging.NullHandler())  # what matters is said in sentences
    try:
        return int(arguments.run(arguments))
    except PipelineError as error:
        if arguments.debug:
            logging.getLogger(__name__).debug("%s", error, exc_info=True)
        sys.stderr.write(f"{error.sentence(language(), whole=True)}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return INTERRUPTED


def _one_sentence(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What nobody expected: one sentence, too; the interpreter then leaves with 1."""
    sys.stderr.write(
        f"Something unexpected went wrong: {kind.__name__}: {error}. Add --debug to see where, and please report it.\n"
    )
