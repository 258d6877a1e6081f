"""Pieces that several tabs lay out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr
from gradio.components import Component

from pipelines.registry import Registry
from ui import notices
from ui.i18n import label, language_of, text
from ui.services import Services

Choices = Callable[[str], list[tuple[str, str]]]
PRIVATELY: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}


def kept_tab(name: str, tab: str) -> gr.Tab:
    """A tab whose contents are there from the start: what the browser remembers of it (the job that was shown) is read when
    they are, and would be found too late after a reload if that waited for the tab to be opened.
    """
    return gr.Tab(label(name), id=tab, render_children=True)


def local_path(services: Services, name: str) -> gr.Textbox:
    """The box for "use a file on this computer"; only there when the page is this computer's own."""
    with gr.Accordion(label("ui_local_title"), open=False, visible=services.local):
        return gr.Textbox(
            label=label("ui_local_path"), placeholder="/home/me/talk.mp4", max_lines=1, elem_id=f"{name}-path"
        )


def engine_choices(
    services: Services, registry: Registry[Any], language: str, *, ready: bool = False
) -> list[tuple[str, str]]:
    """Engines of a family with their state, the default first; ``ready``: the others only when they can run now.

    What the others lack stands in the banner's table.
    """
    choices = []
    for number, info in enumerate(registry.infos()):
        state = registry.state(info.name, services.context)
        if ready and number and not state.ready:
            continue
        note = "" if state.ready else f" – {state.reason.text(language)}"
        choices.append((f"{info.label.text(language)}{note}", info.name))
    return choices


def translator_choices(services: Services, language: str) -> list[tuple[str, str]]:
    """Translators with their state; the empty choice takes the best one that is ready."""
    from pipelines.translate import TRANSLATORS

    by_hand = (text(language, "ui_dub_by_hand"), "none")
    return [(text(language, "ui_dub_auto"), ""), *engine_choices(services, TRANSLATORS, language), by_hand]


def speaker_counts(language: str) -> list[tuple[str, str]]:
    """How many people may speak in a video: automatic, or so many."""
    return [(text(language, "ui_automatic"), ""), *((str(count), str(count)) for count in range(1, 11))]


def engine_choice(
    services: Services, demo: gr.Blocks, registry: Registry[Any], key: str, *, ready: bool = True
) -> gr.Dropdown:
    """A menu of engines, in the browser's language, with what is to be known of the chosen one below it.

    ``ready``: beside the default, only those that can run now; else all, with what they lack.
    """
    services.look_for_engines()
    first = registry.infos()[0].name
    menu = gr.Dropdown(
        engine_choices(services, registry, "en", ready=ready), value=first, label=label(key), interactive=True
    )
    note = gr.Markdown(engine_note(services, registry, first, "en"), elem_classes="quiet")

    def fill(request: gr.Request) -> gr.Dropdown:
        services.look_for_engines()
        return gr.Dropdown(choices=engine_choices(services, registry, language_of(request), ready=ready))

    def tell(name: str, request: gr.Request) -> str:
        return engine_note(services, registry, name, language_of(request))

    demo.load(fill, None, menu, **PRIVATELY)
    menu.change(tell, menu, note, queue=False, **PRIVATELY)
    return menu


def engine_note(services: Services, registry: Registry[Any], name: str, language: str) -> str:
    """Markdown: what the licence forbids, what an engine that cannot run needs, and the licence."""
    info, state = registry.info(name), registry.state(name, services.context)
    urgent = [info.consequence.text(language), state.todo.text(language)]
    return "\n\n".join([*(f"**{words}**" for words in urgent if words), info.licence])


def only_with(menu: gr.Dropdown, registry: Registry[Any], feature: str, component: Component) -> None:
    """Show ``component`` only while the engine chosen in ``menu`` has ``feature``: a wish nobody follows misleads."""

    def follow(name: str) -> Any:
        return gr.update(visible=feature in registry.info(name).features)

    component.visible = feature in registry.info(str(menu.value)).features
    menu.change(follow, menu, component, queue=False, **PRIVATELY)


def fill_menu(demo: gr.Blocks, menu: gr.Dropdown, choices: Choices) -> None:
    """Fill a menu in the browser's language when the page opens; ``choices`` is called with the language.

    A program has no page opened: for it the menu knows its values from the start.
    """
    menu.choices = [(name, value) for name, value in choices("en")]

    def fill(request: gr.Request) -> gr.Dropdown:
        return gr.Dropdown(choices=choices(language_of(request)))

    demo.load(fill, None, menu, **PRIVATELY)


def open_folder_button(services: Services) -> gr.Button:
    """*Open folder*; shown with the results, on a page of this computer."""
    button = gr.Button(label("ui_open_folder"), size="sm", visible=False)

    def show(request: gr.Request) -> None:
        from ui.results import open_folder

        folder = services.settings.outputs
        if not open_folder(folder):
            notices.warn(request, "ui_no_desktop", folder=folder)

    button.click(show, None, None, queue=False, **PRIVATELY)
    return button
