"""Languages as the menus show them: the common ones first, and for a dub how its words come about."""

from __future__ import annotations

from collections.abc import Mapping

from pipelines.errors import OptionError
from pipelines.languages import NAMES, language_code, language_name
from ui.i18n import text
from ui.services import Services

COMMON = ("en", "zh", "es", "fr", "de", "it", "pt", "ja", "ko", "ru", "hi", "ar")
AUTOMATIC = ""
DEFAULT_TARGET = {"en": "es", "zh": "en"}
Choices = list[tuple[str, str]]


def name(code: str, language: str) -> str:
    """A language's name in the interface language."""
    return language_name(code).text(language)


def tagged(tag: str | None, language: str) -> str:
    """The name of the language that a file's tag means (``rus``, ``en-GB``); empty for none, itself when unknown."""
    if tag in (None, "", "und"):
        return ""
    try:
        return name(language_code(str(tag)), language)
    except OptionError:
        return str(tag)


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


def target_codes() -> list[str]:
    """All languages in the menu of those to dub into."""
    from pipelines.pronunciation import speakable_languages

    return list(dict.fromkeys((*speakable_languages(), *COMMON)))


def target_names(language: str) -> Choices:
    """The same, each with nothing but its name."""
    return [(name(code, language), code) for code in target_codes()]


def target_choices(
    services: Services, spoken: str | None, language: str, endpoint: Mapping[str, str] | None = None
) -> Choices:
    """Languages to dub into: who translates, or why it cannot be spoken yet; those that can be spoken first.

    While the language of the video is not known, an offline translator is named with the pair it knows.
    """
    from pipelines.pronunciation import speakable_languages
    from pipelines.translate.menu import HOW, language_menu

    voices = speakable_languages()
    wanted = target_codes()
    choices = []
    for entry in language_menu(services.context, spoken or None, wanted, voices, endpoint):
        said = HOW[entry.how].text(language) if entry.spoken else f"✕ {entry.reason.text(language)}"
        if entry.spoken and not spoken and entry.how == "type it":
            said = _ready_from(services, entry.code, language) or said
        choices.append((f"{entry.name.text(language)} – {said}", entry.code))
    return choices


def target_note(
    services: Services,
    target: str,
    spoken: str | None,
    language: str,
    endpoint: Mapping[str, str] | None = None,
) -> str:
    """Why the chosen language cannot be dubbed into, or what would spare typing its lines; empty when all is ready."""
    from pipelines.pronunciation import speakable_languages
    from pipelines.translate.menu import language_menu

    voices = speakable_languages()
    found = language_menu(services.context, spoken or None, [target], voices, endpoint)
    if not found:
        return text(language, "ui_target_same")
    entry = found[0]
    if not entry.spoken:
        able = ", ".join(name(code, language) for code in voices)
        return text(language, "ui_target_unspoken", reason=entry.reason.text(language), names=able)
    if entry.how != "type it" or (not spoken and _ready_from(services, target, language)):
        return ""
    return entry.remedy.text(language) or text(language, "ui_target_type")


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
