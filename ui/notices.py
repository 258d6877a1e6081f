"""Short notices in a corner of the page, with a heading in the user's language (Gradio's own is English)."""

from __future__ import annotations

from typing import Any

import gradio as gr

from ui.i18n import language_of, text


def tell(request: gr.Request, key: str, **values: Any) -> None:
    """Something was done."""
    language = language_of(request)
    gr.Info(text(language, key, **values), title=text(language, "ui_notice"))


def warn(request: gr.Request, key: str, **values: Any) -> None:
    """Something is left for the user to do."""
    language = language_of(request)
    gr.Warning(text(language, key, **values), title=text(language, "ui_notice_warning"))
