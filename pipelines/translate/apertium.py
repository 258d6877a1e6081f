"""Apertium as an installed program: rule-based translation, offline, https://www.apertium.org.

Its pipeline sees a running text: rules reorder words across a single line break ("red / car" becomes "coche / rojo"),
but not across an empty line, which its deformatter treats as the end of a sentence. So lines travel with empty lines
between them, and every answer is counted.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence

from pipelines.errors import Message, OptionError, ResourceError
from pipelines.languages import language_code
from pipelines.progress import Report
from pipelines.registry import EngineContext
from pipelines.translate.missing import pair_missing

STAGE = "translate"
CHUNK = 40  # lines for one run of the program
LOOK_EVERY = 0.3  # seconds between looks at Stop
LONGEST_RUN = 120.0  # seconds for one chunk
_UNKNOWN = re.compile(r"(?<!\w)\*(?=\w)|(?<=\w)\*(?=\w)")  # "*word": not in the dictionary
_FAILED = re.compile(
    r"(?<![\w&])[#@](?=\w)"
)  # "#word", "@word": known, but no form of it in the other language
_INITIALS = re.compile(r"\b(?:[A-Z]\.){2,}(?=\s+[a-z])")
_PLAIN = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00a0": " ", "\u202f": " ", "*": " ", "\0": " "}
)


class Apertium:
    """Translator over the ``apertium`` program; follows the ``Translator`` protocol."""

    def __init__(self, context: EngineContext) -> None:
        self._program = shutil.which("apertium") or "apertium"
        self._modes = installed_modes(self._program)

    def pairs(self) -> frozenset[tuple[str, str]]:
        """Pairs whose data is installed."""
        return frozenset(self._modes)

    def translate(self, lines: list[str], source: str, target: str, report: Report) -> list[str]:
        """Translate line by line; words outside the dictionary stay as they are and are counted in a note.

        Raises:
            TranslatorMissing: the pair's data is not installed. ResourceError: the program failed.
        """
        mode = self._modes.get((source, target))
        if mode is None:
            raise pair_missing(source, target)
        done: list[str] = []
        unknown: list[str] = []
        report.step(STAGE, 0, len(lines), "lines")
        for first in range(0, len(lines), CHUNK):
            part = [prepared(line) for line in lines[first : first + CHUNK]]
            for before, after in zip(part, self._translated(part, mode, report), strict=True):
                text, words = cleaned(after, before)
                done.append(text)
                unknown += words
            report.step(STAGE, len(done), len(lines), "lines")
        if unknown:
            report.note(unknown_words(unknown))
        return done

    def _translated(self, lines: Sequence[str], mode: str, report: Report) -> list[str]:
        """As many lines as went in; when the count comes back wrong, the lines go one at a time."""
        spoken = [number for number, line in enumerate(lines) if any(c.isalnum() for c in line)]
        answer = (
            self._run("\n\n".join(lines[n] for n in spoken), mode, report).split("\n\n") if spoken else []
        )
        if len(answer) != len(spoken):
            answer = [self._run(lines[n], mode, report).replace("\n", " ") for n in spoken]
        translated = dict(zip(spoken, answer, strict=True))
        return [translated.get(number, line) for number, line in enumerate(lines)]

    def _run(self, text: str, mode: str, report: Report) -> str:
        process = subprocess.Popen(
            [self._program, "-f", "txt", mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        try:
            output, errors = _communicated(process, text, report)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if process.returncode != 0 or not output.strip():
            raise failed(errors or f"exit code {process.returncode}")
        return output.strip("\n")


def _communicated(process: subprocess.Popen[str], text: str, report: Report) -> tuple[str, str]:
    waited = 0.0
    given: str | None = text
    while True:
        try:
            return process.communicate(given, timeout=LOOK_EVERY)
        except subprocess.TimeoutExpired:
            given = None
            waited += LOOK_EVERY
            if waited > LONGEST_RUN:
                raise failed(f"no answer within {LONGEST_RUN:.0f} s") from None
            report.step(STAGE, 0, None, "lines")


def installed_modes(program: str = "apertium") -> dict[tuple[str, str], str]:
    """(source, target) → name of the direction, from ``apertium -l``; empty when it is not installed."""
    if shutil.which(program) is None:
        return {}
    try:
        listed = subprocess.run(
            [program, "-l"],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    modes: dict[tuple[str, str], str] = {}
    for mode in sorted(
        listed.stdout.split(), key=lambda name: ("_" in name, name)
    ):  # eng-spa before eng-spa_US
        source, _, target = mode.partition("-")
        try:
            pair = language_code(source), language_code(target)
        except OptionError:
            continue  # a language this program has no name for
        modes.setdefault(pair, mode)
    return modes


def prepared(line: str) -> str:
    """The line without what the pipeline stumbles over: curly apostrophes, its own mark ``*``, dots inside "D.C."."""
    line = " ".join(line.translate(_PLAIN).split())
    return _INITIALS.sub(lambda found: found[0].replace(".", ""), line)


def cleaned(line: str, source: str) -> tuple[str, list[str]]:
    """A translated line without marks and stray spaces, and the words that were marked as unknown."""
    marks = [_UNKNOWN] + ([] if "#" in source or "@" in source else [_FAILED])
    unknown = [
        re.split(r"[^\w'-]", line[mark.end() :], maxsplit=1)[0]
        for pattern in marks
        for mark in pattern.finditer(line)
    ]
    for pattern in marks:
        line = pattern.sub("", line)
    line = re.sub(r"\s+([,.;:!?])", r"\1", " ".join(line.split()))
    if source[-1:].isalnum() and line.endswith("."):
        line = line.rstrip(".")
    return line, unknown


def unknown_words(words: Sequence[str]) -> Message:
    """The note about words that were not translated."""
    different = list(dict.fromkeys(words))
    listed = ", ".join(different[:12]) + ("…" if len(different) > 12 else "")
    told = (
        f"Apertium does not know {len(different)} words and left them as they are"
        if len(different) > 1
        else "Apertium does not know a word and left it as it is"
    )
    return Message(
        f"{told}: {listed}. Look over these lines.",
        f"Apertium 不认识 {len(different)} 个词,已保留原文:{listed}。请检查相关行。",
    )


def failed(words: str) -> ResourceError:
    """The program failed; its own last words are shown."""
    last = (words.strip().splitlines() or [""])[-1][:300]
    return ResourceError(
        Message(f"Apertium failed: {last}", f"Apertium 出错:{last}"),
        Message("Type or paste the lines instead.", "请改为输入或粘贴译文。"),
        "apertium",
    )
