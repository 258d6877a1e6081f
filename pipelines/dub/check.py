"""Reading the dub back: what a recogniser hears in the finished sound, line by line, against what was to be said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipelines.artifacts import fingerprint, options_key, run_stage
from pipelines.asr import RECOGNIZERS, RecognitionOptions
from pipelines.asr.scoring import score
from pipelines.asr.words import line_text
from pipelines.dub.run import DubRun
from pipelines.errors import Message
from pipelines.files import read_json, write_json
from pipelines.progress import StagePart
from pipelines.types import DubPlan, Word

HEARD = "heard.json"
FLAG_OVER = 0.15


@dataclass(frozen=True, slots=True)
class LineCheck:
    """What was heard of one line; ``error_rate`` is word errors per word (characters in Chinese and Japanese)."""

    index: int
    heard: str
    error_rate: float


def read_back(run: DubRun, plan: DubPlan, sound: Path) -> tuple[LineCheck, ...]:
    """Transcribe the dub's sound and compare every spoken line."""
    key = options_key(sound=fingerprint(sound), language=plan.target_language, engine=run.options.asr_engine)
    spoken = [line for line in plan.lines if line.state == "spoken"]

    def make() -> None:
        recognizer = RECOGNIZERS.get(run.options.asr_engine, run.context)
        wanted = RecognitionOptions(language=plan.target_language)
        if not run.whole:  # outside of the part nothing is dubbed
            last = max((line.speak_end for line in spoken), default=0.0)
            wanted = replace(wanted, start=run.span[0], end=max(run.span[1], last))
        still = StagePart(run.report, "speak", len(spoken), len(spoken), len(spoken), "lines")
        heard = recognizer.recognize(sound, wanted, still)
        words = [word for part in heard.segments for word in part.words]
        checks = []
        for number, line in enumerate(spoken):
            until = spoken[number + 1].speak_start if number + 1 < len(spoken) else plan.duration + 60.0
            said = heard_between(words, line.speak_start, line.speak_end, until)
            text = line_text(said, plan.target_language)
            rate = score(line.text, text, plan.target_language).rate
            checks.append({"index": line.index, "heard": text, "error_rate": rate})
        write_json(run.folder / HEARD, checks)

    run_stage(run.folder, "read-back", key, [HEARD], make)
    return tuple(LineCheck(**entry) for entry in read_json(run.folder / HEARD))


def tell_unsure(run: DubRun, checks: Sequence[LineCheck]) -> None:
    """Note the lines that are more than 15 % wrong."""
    for check in checks:
        if check.error_rate > FLAG_OVER:
            run.report.note(
                Message(
                    f"Line {check.index + 1} may be hard to understand: it was heard as “{check.heard}”",
                    f"第 {check.index + 1} 行可能听不清:识别为“{check.heard}”",
                ),
                "warning",
            )


def heard_between(words: list[Word], start: float, end: float, until: float) -> list[Word]:
    """The words whose middle lies in a line's time, or in the pause up to the next line (recognisers run late)."""
    early = start - 0.3
    late = min(until - 0.3, end + 0.6) if until - end > 0.6 else (end + until) / 2
    return [word for word in words if early <= (word.start + word.end) / 2 < late]
