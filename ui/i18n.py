"""English and Chinese: labels that the browser translates, and sentences that the server says.

Gradio translates labels, Markdown and choices in the browser (``label``); table headings, notices and our own HTML
are made on the server (``say``). Both follow the browser's language unless the user has chosen one: the choice is a
cookie which ``ui.server.LanguageChoice`` turns into the request's ``accept-language`` and the page's
``navigator.language``.
"""

from __future__ import annotations

import html
from typing import Any

import gradio as gr
from gradio.i18n import I18nData

from ui.texts import TEXTS

LANGUAGES = ("en", "zh")
# Gradio ships its own tables for these; a key must stand in the very table of the browser's locale.
CHINESE_LOCALES = ("zh", "zh-CN", "zh-TW")


def make_i18n() -> gr.I18n:
    """All texts for the browser, for every spelling of the two languages that Gradio knows."""
    english = {key: en for key, (en, _) in TEXTS.items()}
    chinese = {key: zh for key, (_, zh) in TEXTS.items()}
    return gr.I18n(en=english, **dict.fromkeys(CHINESE_LOCALES, chinese))


def label(key: str) -> I18nData:
    """A label that the browser shows in its language.

    Raises:
        KeyError: there is no such text (found when the page is built, so by every test).
    """
    if key not in TEXTS:
        raise KeyError(key)
    return I18nData(key)


def language_of(request: gr.Request | None) -> str:
    """``zh`` or ``en``: the first language that the browser asks for."""
    accepted = request.headers.get("accept-language", "") if request is not None else ""
    return "zh" if str(accepted).strip().lower().startswith("zh") else "en"


def text(language: str, key: str, **values: Any) -> str:
    """The text in ``language`` with ``{placeholders}`` filled."""
    en, zh = TEXTS[key]
    return (zh if language == "zh" else en).format(**values)


def say(request: gr.Request | None, key: str, **values: Any) -> str:
    """The text in the language of the browser that asked."""
    return text(language_of(request), key, **values)


def escaped(value: object) -> str:
    """Anything a user, a file name or an engine said, made safe to stand in our HTML."""
    return html.escape(str(value), quote=True)
