"""Which translator does a job: the one asked for, or whatever is ready for the pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, cast

from pipelines.errors import TranslatorMissing
from pipelines.registry import EngineContext
from pipelines.translate import TRANSLATORS, Translator
from pipelines.translate.missing import pair_missing
from pipelines.translate.options import EndpointOptions

AUTO = "auto"


class _TakesOptions(Protocol):
    def use(self, options: EndpointOptions) -> None: ...


def open_translator(
    name: str | None,
    context: EngineContext,
    source: str,
    target: str,
    endpoint: Mapping[str, str] | None = None,
) -> Translator:
    """A translator for the pair (ISO 639-1 codes).

    ``name`` is an engine's name, or ``auto``/None: an engine on this computer that knows the pair, else the language
    model when its address is set. ``endpoint`` holds ``address`` and ``model``; the environment fills what is not
    given there, and holds the key (``DUBWRIGHT_ENDPOINT``, ``DUBWRIGHT_ENDPOINT_MODEL``, ``DUBWRIGHT_ENDPOINT_KEY``).

    Raises:
        TranslatorMissing: nobody translates this pair; says which package or setting would help.
        EngineMissing: no translator has that name.
    """
    options = EndpointOptions.read(endpoint)
    if name in (None, "", AUTO):
        chosen = ready(context, source, target, endpoint)
        if chosen is None:
            raise pair_missing(source, target)
        name = chosen
    elif TRANSLATORS.info(name).programs and not TRANSLATORS.state(name, context).ready:
        raise pair_missing(source, target)
    translator = _opened(name, context, options)
    pairs = translator.pairs()
    if pairs is not None and (source, target) not in pairs:
        raise pair_missing(source, target)
    return translator


def ready(
    context: EngineContext, source: str, target: str, endpoint: Mapping[str, str] | None = None
) -> str | None:
    """Name of the engine that ``auto`` would take for the pair, or None."""
    options = EndpointOptions.read(endpoint)
    anything = None
    for info in TRANSLATORS.infos():
        asks_service = "service" in info.features
        if not TRANSLATORS.state(info.name, context).ready or (asks_service and not options.address):
            continue
        pairs = _opened(info.name, context, options).pairs()
        if pairs is not None and (source, target) in pairs:
            return info.name
        if pairs is None and anything is None:
            anything = info.name
    return anything


def _opened(name: str, context: EngineContext, options: EndpointOptions) -> Translator:
    translator = TRANSLATORS.get(name, context)
    if "service" in TRANSLATORS.info(name).features:
        cast("_TakesOptions", translator).use(options)
    return translator


__all__ = ["AUTO", "TranslatorMissing", "open_translator", "ready"]
