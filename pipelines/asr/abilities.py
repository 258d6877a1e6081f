"""What each recogniser does with a choice, and why not where it does nothing: for greying out and for the command line."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.errors import Message
from pipelines.registry import EngineInfo

LABELS = {
    "language": Message("Language", "语言"),
    "hotwords": Message("Hotwords", "热词"),
    "hotword-weights": Message("Hotword weights", "热词权重"),
    "prompt": Message("Style prompt", "风格提示"),
    "itn": Message("Numbers as digits (ITN)", "数字规整(ITN)"),
    "word-times": Message("Word times", "词级时间"),
    "speakers": Message("Speakers", "说话人"),
    "punctuation": Message("Punctuation", "标点"),
}
NOT_BY_THIS = Message("This engine does not use it.", "该引擎不使用此项。")


@dataclass(frozen=True, slots=True)
class Ability:
    """One choice and whether an engine honours it; ``reason`` says why not, and is empty where it does."""

    name: str
    label: Message
    honoured: bool
    reason: Message


def abilities(info: EngineInfo) -> tuple[Ability, ...]:
    """All choices in the order of ``LABELS`` with what a recogniser does with them."""
    return tuple(_ability(info, name) for name in LABELS)


def _ability(info: EngineInfo, name: str) -> Ability:
    honoured = name in info.features
    reason = Message("", "") if honoured else dict(info.limits).get(name, NOT_BY_THIS)
    return Ability(name, LABELS[name], honoured, reason)


def unheeded(info: EngineInfo, asked: set[str]) -> tuple[Ability, ...]:
    """The choices among ``asked`` that the engine will not honour."""
    return tuple(ability for ability in abilities(info) if ability.name in asked and not ability.honoured)
