"""A language model behind an OpenAI-compatible address as translator: whole talk as context, one line for one line.

The talk goes out as numbered lines and must come back with the same numbers. Lines that are missing or look wrong are
asked for again, first together, then each alone; what still looks wrong is kept and named in a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipelines.errors import Message, ResourceError, TranslatorMissing
from pipelines.languages import language_name
from pipelines.progress import Report
from pipelines.registry import EngineContext
from pipelines.translate.checks import faults
from pipelines.translate.numbered import read_numbered, render, spans
from pipelines.translate.options import ADDRESS, EndpointOptions
from pipelines.translate.service import ChatService

STAGE = "translate"
BATCH_LINES, BATCH_CHARACTERS = 40, 4000  # of one question: small models lose count beyond
CONTEXT_LINES = 8  # translated lines shown again before the next question
ROUNDS = 3  # times a line is asked for in a group before it is asked for alone


class Endpoint:
    """Translator over a chat service; ``options`` come from the environment until ``use`` sets others."""

    def __init__(self, context: EngineContext) -> None:
        self.options = EndpointOptions.read()

    def use(self, options: EndpointOptions) -> None:
        """Take address, model and key from ``options``."""
        self.options = options

    def pairs(self) -> None:
        """Any pair: the model decides."""
        return

    def translate(self, lines: list[str], source: str, target: str, report: Report) -> list[str]:
        """Translate a talk line by line; empty lines stay empty.

        Raises:
            TranslatorMissing: no address is set. OptionError: it is none.
            ResourceError: the service cannot be reached, refuses, or never gives all lines.
        """
        if not self.options.address:
            raise TranslatorMissing(
                Message("No language model is set up for translation", "尚未设置用于翻译的语言模型"),
                Message(
                    f"Give its address (or set {ADDRESS}), such as http://127.0.0.1:11434/v1.",
                    f"请填写地址(或设置 {ADDRESS}),例如 http://127.0.0.1:11434/v1。",
                ),
            )
        done: dict[int, str] = {number: "" for number, line in enumerate(lines, start=1) if not line.strip()}
        asked = {number: line for number, line in enumerate(lines, start=1) if line.strip()}

        def look() -> None:
            report.step(STAGE, len(done), len(lines), "lines")

        look()
        with ChatService(self.options, look) as service:
            talk = Talk(service, asked, source, target)
            for batch in batches(asked):
                done.update(talk.translated(batch, done))
                look()
        talk.leave_notes(done, report)
        return [done[number] for number in range(1, len(lines) + 1)]


class Talk:
    """One talk being translated: its lines by number (from 1), and how they are asked for."""

    def __init__(self, service: ChatService, lines: dict[int, str], source: str, target: str) -> None:
        self._service, self._lines, self._source, self._target = service, lines, source, target

    def translated(self, batch: Sequence[int], done: dict[int, str]) -> dict[int, str]:
        """All lines of a batch. Raises ResourceError when one never comes."""
        found: dict[int, str] = {}
        for turn in range(ROUNDS):  # what is there but looks wrong gets one more chance, what is missing two
            wanted = [n for n in batch if n not in found or (turn == 1 and self._wrong(n, found[n]))]
            if not wanted:
                return found
            self._keep_better(found, self._ask(wanted, done | found))
        for number in [n for n in batch if n not in found]:
            self._keep_better(found, self._ask([number], done | found))
        missing = [n for n in batch if n not in found]
        if missing:
            raise ResourceError(
                Message(
                    f"The language model left out line {spans(missing)}",
                    f"语言模型漏掉了第 {spans(missing)} 行",
                ),
                Message("Try another model, or type or paste the lines.", "请更换模型,或输入、粘贴译文。"),
            )
        return found

    def leave_notes(self, done: dict[int, str], report: Report) -> None:
        """Name the lines that still look wrong."""
        wrong = {n: found for n, line in self._lines.items() if (found := self._faults(n, done[n])) and line}
        for fault, zh in (
            ("untranslated", "未翻译"),
            ("wrong script", "不是目标语言"),
            ("too long", "过长"),
            ("numbers lost", "数字丢失"),
        ):
            numbers = [n for n, found in wrong.items() if fault in found]
            if numbers:
                message = Message(
                    f"Line {spans(numbers)}: {fault}. Look over the translation.",
                    f"第 {spans(numbers)} 行:{zh}。请检查译文。",
                )
                report.note(message, "warning")

    def _ask(self, numbers: Sequence[int], done: dict[int, str]) -> dict[int, str]:
        answer = self._service.ask(
            [
                {"role": "system", "content": instructions(self._source, self._target)},
                {"role": "user", "content": self._question(numbers, done)},
            ]
        )
        found = read_numbered(answer, numbers)
        if not found and len(numbers) == 1 and answer.strip():
            found = {numbers[0]: " ".join(answer.split())}
        return {number: _bare(text) for number, text in found.items()}

    def _question(self, numbers: Sequence[int], done: dict[int, str]) -> str:
        before = [n for n in sorted(self._lines) if n < numbers[0] and done.get(n)][-CONTEXT_LINES:]
        parts = []
        if before:
            parts.append(
                "Already translated, for context only:\n"
                + "\n".join(f"- {self._lines[n]} => {done[n]}" for n in before)
            )
        parts.append(
            f"Translate these {len(numbers)} lines:\n" + render({n: self._lines[n] for n in numbers})
        )
        return "\n\n".join(parts)

    def _keep_better(self, found: dict[int, str], fresh: dict[int, str]) -> None:
        for number, text in fresh.items():
            old = found.get(number)
            if old is None or len(self._faults(number, text)) < len(self._faults(number, old)):
                found[number] = text

    def _faults(self, number: int, text: str) -> list[str]:
        return list(faults(self._lines[number], text, self._source, self._target))

    def _wrong(self, number: int, text: str) -> bool:
        return bool(self._faults(number, text))


def instructions(source: str, target: str) -> str:
    """What the model is told once."""
    one, other = language_name(source).en, language_name(target).en
    script = " Write simplified Chinese." if target == "zh" else ""
    return (
        f"You translate the lines of one talk from {one} to {other} for dubbing.{script} They are spoken in order, so read them "
        "all before you begin. Keep the meaning, the register, names and numbers; say it as briefly as it was said, because "
        "every line has to fit the time of the original. Answer with the translated lines only, each with its own number "
        "as given, one line for one line: never join, split, skip or explain."
    )


def batches(lines: dict[int, str]) -> Iterator[list[int]]:
    """Numbers of lines for one question each."""
    batch: list[int] = []
    size = 0
    for number, line in lines.items():
        if batch and (len(batch) >= BATCH_LINES or size + len(line) > BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(number)
        size += len(line)
    if batch:
        yield batch


def _bare(text: str) -> str:
    """Without the quotation marks some models put around every line."""
    text = text.strip()
    quoted = re.fullmatch(r"[\"\u201c\u300c](.*)[\"\u201d\u300d]", text)
    return quoted[1].strip() if quoted and not re.search(r"[\"\u201c\u201d]", quoted[1]) else text
