"""Languages as the menus show them: the common ones first, and for a dub how its words come about."""

from __future__ import annotations

from collections.abc import Mapping

from pipelines.languages import NAMES, language_name
from ui.i18n import text
from ui.services import Services

COMMON = ("en", "zh", "es", "fr", "de", "it", "pt", "ja", "ko", "ru", "hi", "ar")
AUTOMATIC = ""
DEFAULT_TARGET = {"en": "es", "zh": "en"}
Choices = list[tuple[str, str]]


def name(code: str, language: str) -> str:
    """A language's name in the interface language."""
    return language_name(code).text(language)


def spoken_choices(language: str) -> Choices:
    """Languages that may be heard: automatic, the common ones, then all others by name."""
    others = sorted((code for code in NAMES if code not in COMMON), key=lambda code: name(code, language))
    return [
        (text(language, "ui_automatic"), AUTOMATIC),
        *((name(code, language), code) for code in (*COMMON, *others)),
    ]


def voice_choices(language: str) -> Choices:
    """Languages that can be spoken now."""
    from pipelines.pronunciation import speakable_languages

    return [
        (text(language, "ui_automatic"), AUTOMATIC),
        *((name(code, language), code) for code in speakable_languages()),
    ]


def target_choices(
    services: Services, spoken: str | None, language: str, endpoint: Mapping[str, str] | None = None
) -> Choices:
    """Languages to dub into: who translates, or why it cannot be spoken yet; those that can be spoken first.

    While the language of the video is not known, an offline translator is named with the pair it knows.
    """
    from pipelines.pronunciation import speakable_languages
    from pipelines.translate.menu import HOW, language_menu

    voices = speakable_languages()
    wanted = list(dict.fromkeys((*voices, *COMMON)))
    choices = []
    for entry in language_menu(services.context, spoken or None, wanted, voices, endpoint):
        said = HOW[entry.how].text(language) if entry.spoken else f"✕ {entry.reason.text(language)}"
        if entry.spoken and not spoken and entry.how == "type it":
            said = _ready_from(services, entry.code, language) or said
        choices.append((f"{entry.name.text(language)} – {said}", entry.code))
    return choices


def _ready_from(services: Services, target: str, language: str) -> str:
    from pipelines.translate.choice import ready

    known = [code for code in COMMON if code != target and ready(services.context, code, target)]
    return (
        text(language, "ui_menu_ready_from", names=", ".join(name(code, language) for code in known))
        if known
        else ""
    )


def can_be_spoken(code: str) -> bool:
    """Whether a voice speaks it now."""
    from pipelines.pronunciation import speakable_languages

    return code in speakable_languages()
