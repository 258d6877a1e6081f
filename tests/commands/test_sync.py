"""``sync`` with a text instead of a sound, on the stand-in flow."""

from __future__ import annotations

from pathlib import Path

from tests.commands.conftest import Command


def test_sync_says_a_text_in_a_voice(command: Command, home: Path) -> None:
    words = ("sync", "--face", "a.mp4", "--text", "Hello there")
    for flags, wanted in (
        ([], "Hello there | None | None"),
        (["--voice", "am_adam", "--language", "en"], "Hello there | am_adam | en"),
        (["--reference", "s1.wav"], f"Hello there | {home / 's1.wav'} | None"),
    ):
        answer = command(*words, *flags, "-o", "x.mp4", "--overwrite")
        assert answer.code == 0 and (home / "x.mp4").read_text(encoding="utf-8") == wanted, answer.err
    calm = command(*words, "--no-head-motion", "-o", "calm.mp4")
    assert calm.code == 0 and (home / "calm.mp4").read_text(encoding="utf-8").endswith("| None | False")
    both = command(*words, "--voice", "v", "--reference", "s1.wav", "-o", "y.mp4")
    assert both.code == 2 and "either --reference or --voice" in both.err
    own = command(*words, "--voice", "v", "--audio", "s1.wav", "-o", "y.mp4")
    assert own.code == 2 and "said in its own voice" in own.err
    (home / "t.csv").write_text("face,text,voice\na.mp4,One,v\nb.mp4,Two,\n", encoding="utf-8")
    assert command("sync", "--table", "t.csv", "-o", "said").code == 0
    made = {path.name: path.read_text(encoding="utf-8") for path in (home / "said").iterdir()}
    assert made == {"a-said-synced.mp4": "One | v | None", "b-said-synced.mp4": "Two | None | None"}
    (home / "t.csv").write_text("face,text\na.mp4,\n", encoding="utf-8")
    assert "Every row needs a sound or a text" in command("sync", "--table", "t.csv", "-o", "said2").err


def test_every_row_of_a_table_can_name_who_speaks(command: Command, home: Path) -> None:
    table = home / "t.csv"
    table.write_text("face,text,who\na.mp4,One,2\nb.mp4,Two,\n", encoding="utf-8")
    assert command("sync", "--table", "t.csv", "--who", "3", "-o", "said").code == 0
    made = {path.name: path.read_text(encoding="utf-8") for path in (home / "said").iterdir()}
    assert made == {
        "a-said-synced.mp4": "One | None | None | 2",
        "b-said-synced.mp4": "Two | None | None | 3",
    }
    table.write_text("face,text,who\na.mp4,One,her\n", encoding="utf-8")
    refused = command("sync", "--table", "t.csv", "-o", "said2")
    assert refused.code == 2 and "'her' is not a person from 1 to 8" in refused.err
