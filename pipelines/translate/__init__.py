"""Lines into another language: the protocol every translator keeps, and the registry of translators."""

from __future__ import annotations

from typing import Protocol

from pipelines.errors import Message
from pipelines.progress import Report
from pipelines.registry import EngineContext, EngineInfo, Registry

__all__ = ["TRANSLATORS", "EngineContext", "Translator"]


class Translator(Protocol):
    """A machine translator; built with an ``EngineContext``."""

    def pairs(self) -> frozenset[tuple[str, str]] | None:
        """(source, target) pairs of ISO 639-1 codes it can do now; None means any pair."""
        ...

    def translate(self, lines: list[str], source: str, target: str, report: Report) -> list[str]:
        """Translate all lines of a talk, in order, one for one.

        Raises:
            TranslatorMissing: the pair is not available. ResourceError: the translator failed, with its own words.
        """
        ...


TRANSLATORS: Registry[Translator] = Registry(Message("translation", "翻译"))
TRANSLATORS.add(
    EngineInfo(
        name="apertium",
        label=Message("Apertium (installed on this computer, offline)", "Apertium(本机离线)"),
        licence="GPL-2.0 or later; runs as a separate program",
        programs=("apertium",),
    ),
    "pipelines.translate.apertium:Apertium",
)
TRANSLATORS.add(
    EngineInfo(
        name="endpoint",
        label=Message("Language model at an OpenAI-compatible address", "OpenAI 兼容地址的语言模型"),
        licence="that of the model behind the address",
        features=frozenset({"service"}),
    ),
    "pipelines.translate.endpoint:Endpoint",
)
