"""Voices on the page: kept from a sample with consent, chosen here and for a dub, renamed, exported, imported, deleted."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import InputError
from pipelines.voice.library import describe, list_voices
from tests.ui.conftest import asking, dub_values, ended
from tests.ui.flows import clip
from ui import examples
from ui.dubbing import DubHandlers
from ui.services import Services
from ui.speech import library
from ui.speech.library import LibraryHandlers, voice_choices
from ui.speech.outcome import OutcomeHandlers
from ui.tabs.voice import VoiceHandlers

GIVEN: dict[str, Any] = {"sample": examples.sample(), "start": 0, "end": 0, "name": "Ming", "language": "zh",
                         "tags": "warm， old", "engine": "kokoro"}  # fmt: skip


def test_a_voice_is_kept_with_consent_and_speaks(services: Services, tmp_path: Path) -> None:
    handlers = LibraryHandlers(services)
    with pytest.raises(InputError, match="may use this voice"):
        handlers.keep(**GIVEN, consent=False)
    with pytest.raises(InputError, match="no voice sample yet"):
        handlers.keep(**{**GIVEN, "sample": None}, consent=True)
    view = ended(services, handlers.keep(**GIVEN, consent=True))
    assert OutcomeHandlers(services).show(view, "en")["measures"] == "The voice is kept as **Ming**."
    assert not list(services.settings.outputs.glob("*.wav")), "its preview is no result of its own"
    found = describe(library.folder(services), "Ming")
    assert (found.language, found.tags, found.consent) == ("zh", ("warm", "old"), True)
    asked = {
        "sample": None,
        "words": "Hello",
        "language": "",
        "engine": "kokoro",
        "seconds": 0,
        "speed": 1.0,
        "seed": 0,
    }
    spoken = services.executor.view(VoiceHandlers(services).submit(**asked, consent=False, voice="Ming"))
    assert spoken is not None and spoken.options["voice"] == "Ming" and spoken.options["reference"] is None
    film = clip(tmp_path / "a.mp4")
    assert DubHandlers(services).options(dub_values(file=str(film), voice="Ming"))["voice"] == "Ming"
    assert DubHandlers(services).options(dub_values(file=str(film)))["voice"] is None


def test_a_kept_voice_is_looked_after(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library.notices, "tell", lambda *_, **__: None)
    handlers, request, place = LibraryHandlers(services), asking(), library.folder(services)
    ended(services, handlers.keep(**GIVEN, consent=True))
    assert voice_choices(services, "ui_voice_new", "en") == [("The sample below", ""), ("Ming", "Ming")]
    shown, player, told, name, tags, spoken, file = handlers.chosen("Ming", request)
    assert (
        shown.visible
        and player.value["path"].endswith("preview.wav")
        and (name, tags, spoken) == ("Ming", "warm, old", "zh")
    )
    assert told == "Chinese · warm · old · may be used" and file.endswith("Ming.dwvoice")
    assert handlers.chosen("", request)[0].visible is False
    kept = tmp_path / "mine.dwvoice"
    shutil.copyfile(file, kept)
    assert handlers.change("Ming", "Da Ming", "x", "en", request).value == "Da Ming"
    assert describe(place, "Da Ming").language == "en" and handlers.chosen("Da Ming", request)[5] == "en"
    assert handlers.change("Da Ming", "Da Ming", "x", "", request).value == "Da Ming"
    assert describe(place, "Da Ming").language == "en"
    assert handlers.bring(str(kept), request).value == "Ming" and list_voices(place) == ("Da Ming", "Ming")
    menu, question = handlers.delete("Da Ming", request)
    assert (
        menu.choices == [("The sample below", ""), ("Ming", "Ming")]
        and menu.value == ""
        and not question.visible
    )
    with pytest.raises(InputError, match="no saved voice"):
        handlers.delete("Da Ming", request)
