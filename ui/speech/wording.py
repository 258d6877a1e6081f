"""The text on the page: what it will be read as, and the user's glossary."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from pipelines import glossary
from pipelines.errors import PipelineError
from ui import languages, notices
from ui.i18n import escaped, label, language_of, text
from ui.jobs_view import plainly, shown_html
from ui.services import Services
from ui.tabs.parts import PRIVATELY

SHOWN = 3000  # characters that are looked at; a book is not read aloud for a preview


@dataclass(frozen=True, slots=True)
class WordingHandlers:
    """What happens to the text."""

    services: Services

    def reads(self, words: str | None, spoken: str | None, request: gr.Request) -> gr.HTML:
        """What the text will be read as; what stands in its way, in one sentence."""
        language = language_of(request)
        if not (words or "").strip():
            return shown_html("")
        try:
            said = self._reading(str(words)[:SHOWN], spoken or None)
        except PipelineError as error:
            return shown_html(f'<div class="problem">{escaped(error.sentence(language))}</div>')
        told = said or text(language, "ui_reads_nothing")
        return shown_html(f'<div class="reads">{escaped(text(language, "ui_reads", words=told))}</div>')

    def _reading(self, words: str, spoken: str | None) -> str:
        from pipelines.pronunciation import reading, speakable_languages
        from pipelines.text.detection import find_language
        from pipelines.text.marks import written

        chosen = spoken or find_language(written(words), speakable_languages()).code
        return reading(glossary.marked(words, glossary.load(self.services.settings)), chosen)

    def glossary(self) -> str:
        """The glossary as it is kept."""
        return glossary.text_of(self.services.settings)

    def keep(self, words: str, request: gr.Request) -> None:
        """Keep the glossary.

        Raises:
            InputError: a line is not ``word = says``.
        """
        glossary.save(self.services.settings, words or "")
        notices.tell(request, "ui_glossary_kept", count=len(glossary.parse(words or "")))


def lay_out(services: Services, demo: gr.Blocks) -> tuple[gr.Textbox, gr.Dropdown]:
    """Text and language with what is told about them; returns the two."""
    from ui.tabs.parts import fill_menu

    handlers = WordingHandlers(services)
    words = gr.Textbox(
        label=label("ui_voice_text"),
        lines=4,
        max_lines=16,
        info=label("ui_voice_marks"),
        elem_id="voice-text",
    )
    told = gr.HTML(visible=False, elem_id="voice-reads")
    language = gr.Dropdown([("…", "")], value="", label=label("ui_voice_language"))
    fill_menu(demo, language, languages.voice_choices)
    with gr.Accordion(label("ui_glossary"), open=False, elem_id="voice-glossary-fold") as fold:
        ways = gr.Textbox(
            show_label=False, label=label("ui_glossary"), lines=3, max_lines=12, elem_id="voice-glossary",
            placeholder="Dubwright = dub right\n行长 = HANG2 ZHANG3",
        )  # fmt: skip
        keep = gr.Button(label("ui_glossary_keep"), size="sm", elem_id="voice-glossary-keep")
    given = [words, language]
    gr.on(
        [words.change, language.change], handlers.reads, given, told, trigger_mode="always_last", **PRIVATELY
    )
    fold.expand(handlers.glossary, None, ways, **PRIVATELY)
    kept = keep.click(plainly(handlers.keep), ways, None, **PRIVATELY)
    kept.success(handlers.reads, given, told, **PRIVATELY)
    return words, language
