"""``voices`` as a user types it: kept with consent, listed, renamed, carried elsewhere, deleted."""

from __future__ import annotations

import json
from pathlib import Path

from pipelines.jobs.store import JobStore
from pipelines.settings import Settings
from tests.commands.conftest import Command


def test_a_voice_from_keeping_to_deleting(command: Command, home: Path) -> None:
    refused = command("voices", "add", "s1.wav", "--name", "Ming")
    assert refused.code == 2 and "--i-may-use-it" in refused.err
    added = command(
        *("voices", "add", "s1.wav", "--name", "Ming", "--tags", "warm,old", "--to", "0:12", "--i-may-use-it")
    )
    assert added.code == 0, added.err
    assert added.out.startswith("(kept as Ming, similarity 0.70")
    (view,) = JobStore(Settings.load()).list()
    assert view.options["reference"] == str(home / "s1.wav") and view.options["consent"] is True
    assert (view.options["reference_start"], view.options["reference_end"]) == (0.0, 12.0)
    (known,) = json.loads(command("voices", "list", "--json").out)
    assert (known["name"], known["tags"], known["consent"]) == ("Ming", ["warm", "old"], True)
    assert command("voices", "export", "Ming", "-o", "ming").code == 0
    assert (home / "ming.dwvoice").is_file()
    assert "exists already" in command("voices", "export", "Ming", "-o", "ming").err
    told = command("voices", "describe", "Ming", "--language", "zh", "--tags", "calm")
    assert told.out.startswith("Ming  zh  ") and told.out.endswith("calm\n")
    assert command("voices", "describe", "Ming").code == 2
    assert command("voices", "rename", "Ming", "Da Ming").out == "Da Ming\n"
    assert command("voices", "import", "ming.dwvoice").out == "Ming\n"
    assert [line.split("  ")[0] for line in command("voices", "list").out.splitlines()] == ["Da Ming", "Ming"]
    assert command("voices", "delete", "Da Ming").code == 0
    gone = command("voices", "delete", "Da Ming")
    assert gone.code == 2 and "There is no saved voice called 'Da Ming'" in gone.err
    assert "holds no voice" in command("voices", "import", "s1.wav").err


def test_a_sample_is_described(command: Command, data: Path) -> None:
    path = str(data / "speech" / "en_voice_ref.wav")
    answer = command("voices", "check", path)
    assert answer.code == 0 and "3.7 s of speech" in answer.out and "speakers: 1" in answer.out
    assert "6 to 15 s are better" in answer.out
    short = command("voices", "check", path, "--to", "1.0")
    assert short.code == 2 and "at least 3 s are needed" in short.err


def test_speech_in_another_format_with_what_belongs_beside_it(command: Command, home: Path) -> None:
    words = ("speak", "--text", "Hello", "--voice", "Ming", "--loudness", "-23", "--srt", "-o")
    done = command(*words, "hello.mp3")
    assert done.code == 0, done.err
    assert (home / "hello.mp3").read_text() == "Hello" and (home / "hello.srt").read_text() == "said"
    assert json.loads((home / "hello.json").read_text()) == {"loudness": "-23"}
    (view,) = JobStore(Settings.load()).list()
    assert view.options["format"] == "mp3" and view.options["voice"] == "Ming"
    assert "must end in .wav or .flac or .mp3" in command(*words, "hello.exe").err


def test_a_script_is_one_file_a_line_and_one_for_all(command: Command, home: Path) -> None:
    (home / "play.txt").write_text("Anna: Yes.\nBob: No.")
    words = ("speak", "--script", "play.txt", "--format", "mp3", "-o", "play/")
    done = command(*words, "--cast", "Anna=af_heart", "--cast", "Bob=me")
    assert done.code == 0, done.err
    assert "(1 of 2 lines; over their time: 1; not spoken: 2," in done.out
    made = sorted(path.name for path in (home / "play").iterdir())
    assert made == ["play-0001.wav", "play-report.json", "play.mp3"]
    assert json.loads((home / "play" / "play-report.json").read_text()) == {"Anna": "af_heart", "Bob": "me"}
    assert "A cast is given as NAME=VOICE" in command(*words, "--cast", "Anna").err
    (home / "empty.txt").write_text(" ")
    assert "no lines to speak" in command("speak", "--script", "empty.txt", "-o", "x/").err
