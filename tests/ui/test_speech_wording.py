"""What a text will be read as stands below it, by the user's glossary, in the language chosen or found."""

from __future__ import annotations

import pytest

from pipelines.errors import InputError
from tests.ui.conftest import asking
from ui.services import Services
from ui.speech import wording
from ui.speech.wording import WordingHandlers


def test_a_text_is_read_before_it_is_said(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(wording.notices, "tell", lambda *_, count: told.append(count))
    handlers = WordingHandlers(services)
    assert "Reads as: It is five dollars now" in handlers.reads("It is $5 now", "", asking()).value
    assert "读作：现在五元" in handlers.reads("現在￥5", "zh", asking("zh")).value
    assert "Reads as: nothing" in handlers.reads("😀", "en", asking()).value
    assert handlers.reads(" ", "", asking()).visible is False
    handlers.keep("GIF = jif", asking())
    assert told == [1] and handlers.glossary() == "GIF = jif\n"
    assert "Reads as: a jif &lt;b&gt;" not in handlers.reads("a GIF <b>", "en", asking()).value
    assert "Reads as: a jif" in handlers.reads("a GIF", "en", asking()).value
    with pytest.raises(InputError, match="Line 1 of the glossary"):
        handlers.keep("no sign", asking())
    assert "do not know the sound" in handlers.reads("<a|/ʘ/>", "en", asking()).value
