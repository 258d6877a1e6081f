"""The page as a whole: heading, banner, tabs, and the choice of language."""

from __future__ import annotations

from typing import Any

import gradio as gr

from ui import api
from ui.banner import banner_html
from ui.i18n import label, language_of
from ui.services import Services
from ui.tabs import dub, jobs, system, talking_head, transcribe, voice

FOLLOW = 5.0  # seconds between looks at what the banner says
# A cookie rather than Gradio's own setting: the server must say its sentences in the same language.
CHOOSE_LANGUAGE = """(chosen) => {
  document.cookie = `dubwright-language=${chosen};path=/;max-age=31536000;samesite=strict`;
  window.location.reload();
}"""


def build_page(services: Services) -> gr.Blocks:
    """Lay out the page; no component exists outside it, so a page can be built as often as tests like."""
    demo: gr.Blocks = gr.Blocks(title="Dubwright", analytics_enabled=False, fill_width=True)
    with demo:
        api.add_endpoints(services)  # first: handlers of the same name take what is left
        _header(demo)
        banner = gr.HTML(elem_id="banner")
        with gr.Tabs(elem_id="tabs") as tabs:
            reopeners = {
                "dub": dub.build(services, demo),
                "speak": (spoken := voice.build(services, demo)),
                "enrol": spoken,
                "transcribe": transcribe.build(services, demo),
                "sync": talking_head.build(services, demo),
            }
            jobs.build(services, demo, tabs, reopeners)
            system.build(services, demo, banner, tabs)

        def greet(request: gr.Request) -> tuple[str, str]:
            html = banner_html(services, language_of(request))
            return html, html

        def follow(shown: str, request: gr.Request) -> tuple[Any, Any]:
            fresh = banner_html(services, language_of(request))
            return (gr.skip(), gr.skip()) if fresh == shown else (fresh, fresh)

        shown = gr.State("")
        demo.load(greet, None, [banner, shown], show_progress="hidden", api_visibility="private")
        # A job that loses the card says so here while the page is open.
        gr.Timer(FOLLOW).tick(
            follow, shown, [banner, shown], show_progress="hidden", api_visibility="private"
        )
    demo.queue(max_size=64, default_concurrency_limit=4)
    return demo


def _header(demo: gr.Blocks) -> None:
    with gr.Row(elem_id="header"):
        gr.Markdown(label("ui_heading"), elem_id="heading")
        chosen = gr.Dropdown(
            [("English", "en"), ("中文", "zh")],
            show_label=False,
            container=False,
            elem_id="language",
            label=label("ui_language"),
            scale=0,
        )

    def current(request: gr.Request) -> gr.Dropdown:
        return gr.Dropdown(value=language_of(request))

    demo.load(current, None, chosen, show_progress="hidden", api_visibility="private")
    chosen.input(None, chosen, None, js=CHOOSE_LANGUAGE, api_visibility="private")
