"""What was said on the page: its files, its picture, and its pieces, of which a changed one is said again."""

from __future__ import annotations

from dataclasses import replace

from tests.ui.conftest import ended
from ui.services import Services
from ui.speech.outcome import OutcomeHandlers, records, rows
from ui.tabs.voice import VoiceHandlers

ASKED = {"sample": None, "words": "One. Two.", "language": "en", "engine": "kokoro", "seconds": 0, "speed": 1.0, "seed": 0,
         "voice": "Ming", "consent": False}  # fmt: skip


def test_files_picture_and_pieces_are_shown_and_a_changed_piece_is_asked_for(services: Services) -> None:
    view = ended(services, VoiceHandlers(services).submit(**ASKED, form="mp3", loudness="off"))
    assert (view.options["format"], view.options["loudness"]) == ("mp3", "off")
    handlers = OutcomeHandlers(services)
    shown = handlers.show(view, "en")
    saved = sorted(path.name for path in services.save(view).values())
    assert saved == ["Ming One. Two.json", "Ming One. Two.srt", "Ming One. Two.wav"]
    assert shown["files"].visible and len(shown["files"].value) == 3
    assert "Speech: 0:00 of 0:01" in shown["wave"].value and shown["pieces"].visible
    table = shown["table"].value
    assert table["headers"] == ["#", "Text", "Speed", "Pause after (s)", "Begins"]
    assert table["data"] == [[1, "One. Two.", 1.0, None, "0.00 s"]]
    changed = [[1, "One.", 1.0, 0.5, "0.00 s"], [2, "Two?", "x", float("nan"), ""]]
    again = ended(services, handlers.again(view.id, changed))
    assert again.id == view.id and again.options["pieces"] == [
        {"text": "One.", "speed": 1.0, "pause": 0.5}, {"text": "Two?", "speed": 1.0, "pause": None}
    ]  # fmt: skip
    assert [piece["start"] for piece in again.result["pieces"]] == [0.0, 1.0]
    assert OutcomeHandlers(services).show(replace(view, state="failed"), "en") == {}


def test_the_table_comes_back_as_it_was() -> None:
    pieces = [
        {"text": "a", "speed": 1.1, "pause": None, "start": 0.0},
        {"text": "b", "speed": 1.0, "pause": 0.0, "start": 2.5},
    ]
    found = records(rows(pieces))
    assert found == [{name: piece[name] for name in ("text", "speed", "pause")} for piece in pieces]
