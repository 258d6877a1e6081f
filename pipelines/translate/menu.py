"""What the language menu says for every target: translated at once, by the language model, or typed; spoken or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from pipelines.errors import Message
from pipelines.languages import language_name
from pipelines.registry import EngineContext
from pipelines.translate import TRANSLATORS
from pipelines.translate.choice import ready
from pipelines.translate.missing import pair_missing
from pipelines.translate.options import EndpointOptions

How = Literal["ready", "endpoint", "type it"]
HOW: dict[How, Message] = {
    "ready": Message("ready", "可直接翻译"),
    "endpoint": Message("by language model", "由语言模型翻译"),
    "type it": Message("type it", "需手动输入"),
}


@dataclass(frozen=True, slots=True)
class LanguageChoice:
    """One entry of the menu.

    Attributes:
        code, name: the target language.
        how: how its lines are made now; ``engine`` is the translator's name, or None when they are typed.
        remedy: what would make translation ready (empty when it is).
        spoken: whether a voice can speak it now; otherwise the entry is greyed and ``reason`` says why.
    """

    code: str
    name: Message
    how: How
    engine: str | None
    remedy: Message
    spoken: bool
    reason: Message


def language_menu(
    context: EngineContext,
    source: str | None,
    targets: Iterable[str],
    speakable: Iterable[str],
    endpoint: Mapping[str, str] | None = None,
) -> tuple[LanguageChoice, ...]:
    """The menu for a source language (None: not known yet, then the targets any source could be translated to).

    ``speakable`` are the codes the chosen voice engine speaks. The source itself is left out.
    """
    voices = set(speakable)
    choices = [
        _choice(context, source, target, target in voices, endpoint) for target in targets if target != source
    ]
    return tuple(sorted(choices, key=lambda choice: not choice.spoken))


def _choice(
    context: EngineContext, source: str | None, target: str, spoken: bool, endpoint: Mapping[str, str] | None
) -> LanguageChoice:
    name = language_name(target)
    reason = (
        Message("", "")
        if spoken
        else Message(f"no voice speaks {name.en} here", f"本机没有能说{name.zh}的语音")
    )
    engine = ready(context, source, target, endpoint) if source else _by_model(endpoint)
    how: How = (
        "type it"
        if engine is None
        else "endpoint"
        if "service" in TRANSLATORS.info(engine).features
        else "ready"
    )
    remedy = Message("", "") if engine or not source else pair_missing(source, target).todo
    return LanguageChoice(target, name, how, engine, remedy, spoken, reason)


def _by_model(endpoint: Mapping[str, str] | None) -> str | None:
    services = [info.name for info in TRANSLATORS.infos() if "service" in info.features]
    return services[0] if services and EndpointOptions.read(endpoint).address else None
