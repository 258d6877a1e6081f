"""Lines that were to be translated and are not: the dub must never speak the language of the video again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.asr.scoring import score, units
from pipelines.errors import Message, TranslatorMissing
from pipelines.languages import language_name
from pipelines.text.detection import confidence_of
from pipelines.translate.checks import in_script
from pipelines.types import DubLine, DubPlan

SAME = 0.25  # share of words or characters that may differ between what is said and a copy of it
LEAST_UNITS = 3  # words (characters: twice as many) below which a line may be a name
TELLING = 25  # letters from which on one line shows its language
SURE, LIKELY = 0.95, 0.6  # confidence for one line alone, and for all of them together
LISTED = 12


def untranslated(plan: DubPlan) -> tuple[DubLine, ...]:
    """Spoken lines whose text is what the video says already, is in another script, or is clearly in its language."""
    return tuple(line for line in plan.lines if line.text.strip() and not line.keep and _left(line, plan))


def all_of_it(plan: DubPlan, found: Sequence[DubLine]) -> bool:
    """Whether the translation as a whole is none: most of it was found, and together it is in the video's language."""
    spoken = [line for line in plan.lines if line.text.strip() and not line.keep]
    if not spoken or sum(len(line.text) for line in found) < 0.5 * sum(len(line.text) for line in spoken):
        return False
    text = " ".join(line.text for line in found)
    if not in_script(text, plan.target_language):
        return True
    return confidence_of(plan.source_language, text, against=plan.target_language) >= LIKELY


def refusal(plan: DubPlan, found: Sequence[DubLine]) -> TranslatorMissing:
    """The stop before speaking."""
    spoken, wanted = language_name(plan.source_language), language_name(plan.target_language)
    return TranslatorMissing(
        Message(
            f"The translation is not in {wanted.en}: its lines are those of the video, in {spoken.en}, or in another script",
            f"译文不是{wanted.zh}:仍是视频的{spoken.zh}原文,或使用了其他文字",
        ),
        Message(
            f"Give the lines in {wanted.en}: another subtitle file, the table, or a translator.",
            f"请提供{wanted.zh}译文:更换字幕文件、在表格中填写或选择翻译引擎。",
        ),
        _numbers(found),
    )


def warning(plan: DubPlan, found: Sequence[DubLine]) -> Message:
    """Some lines only: the user may mean it (a quotation, a name)."""
    wanted = language_name(plan.target_language)
    return Message(
        f"Not translated into {wanted.en}, it seems: {_numbers(found)}",
        f"以下各行似乎没有译成{wanted.zh}:{'、'.join(str(line.index + 1) for line in found[:LISTED])}",
    )


def _left(line: DubLine, plan: DubPlan) -> bool:
    source, target = plan.source_language, plan.target_language
    if not in_script(line.text, target):
        return True
    if _copied(line, source):
        return True
    letters = len(re.findall(r"[^\W\d_]", line.text))
    return letters >= TELLING and confidence_of(source, line.text, against=target) >= SURE


def _copied(line: DubLine, language: str) -> bool:
    said = units(line.source, language)
    enough = LEAST_UNITS if any(len(unit) > 1 for unit in said) else 2 * LEAST_UNITS
    return len(said) >= enough and score(line.source, line.text, language).rate <= SAME


def _numbers(found: Sequence[DubLine]) -> str:
    listed = ", ".join(str(line.index + 1) for line in found[:LISTED])
    return f"line{'s' * (len(found) > 1)} {listed}{'…' if len(found) > LISTED else ''}"
