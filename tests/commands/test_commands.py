"""The command line: what it asks for, where results go, what it says, and its exit codes."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commands.outputs import deliver
from pipelines import subtitles
from pipelines.errors import InputError
from pipelines.jobs.store import JobStore
from pipelines.settings import Settings
from tests.commands.conftest import Command, begin
from tests.jobs.conftest import alive, wait_for
from tests.patience import patience

ROOT = Path(__file__).parents[2]


def test_transcribe_one_file(command: Command, home: Path) -> None:
    answer = command(
        "transcribe",
        "talk 🎬.mp4",
        "-o",
        "out.srt",
        "--language",
        "zh-CN",
        "--hotwords",
        "阿里,Qwen",
        "--no-itn",
    )
    assert answer.code == 0, answer.err
    assert (home / "out.srt").read_text() == "srt of talk 🎬.mp4"
    assert re.fullmatch(r"out\.srt \(language zh, \d+:\d\d\)\n", answer.out)
    assert "talk 🎬.mp4: It was loud" in answer.err
    view = JobStore(Settings.load()).list()[0]
    assert view.kind == "transcribe" and view.title == "talk 🎬.mp4"
    assert view.options == {
        "input": str(home / "talk 🎬.mp4"),
        "engine": "whisper",
        "language": "zh",
        "stream": None,
        "channel": None,
        "start": 0.0,
        "end": None,
        "hotwords": ["阿里", "Qwen"],
        "prompt": "",
        "itn": False,
        "punctuation": True,
        "script": "simplified",
        "vad": {},
        "formats": ["srt"],
        "burn_in": False,
        "soft_subtitles": "",
        "text": "",
        "speakers": "off",
        "history": False,
    }


def test_transcribe_with_every_choice(command: Command, home: Path) -> None:
    (home / "words.txt").write_bytes("获刑 20\nApollo 11\n".encode("gb18030"))
    answer = command(
        *(
            "transcribe",
            "a.mp4",
            "-o",
            "out",
            "--format",
            "textgrid,mp4,mkv",
            "--channel",
            "left",
            "--script",
            "heard",
        ),
        *(
            "--hotwords",
            "阿里",
            "--hotword-file",
            "words.txt",
            "--no-punctuation",
            "--vad",
            "threshold=0.6,min_speech=0.3",
            "--speakers",
            "2",
        ),
    )
    options = JobStore(Settings.load()).list()[0].options
    assert options["hotwords"] == ["阿里", "获刑\t20", "Apollo 11\t1"]
    assert (options["channel"], options["script"], options["punctuation"]) == (0, "heard", False)
    assert options["speakers"] == 2
    assert options["vad"] == {"threshold": 0.6, "min_speech": 0.3}
    assert (options["formats"], options["burn_in"], options["soft_subtitles"]) == (["textgrid"], True, "mkv")
    assert (home / "out" / "a.TextGrid").read_text() == "textgrid of a.mp4", answer.err
    assert (home / "out" / "a.mp4").read_text() == "burned" and (
        home / "out" / "a.mkv"
    ).read_text() == "subtitled"


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--channel", "middle"], "left, right, each or a number"),
        (["--speakers", "many"], "off, auto or 1 to 20"),
        (["--vad", "threshold"], "not NAME=NUMBER"),
        (["--vad", "threshold=3"], "cannot be 3"),
        (["--hotword-file", "none.txt"], "There is no such file"),
    ],
)
def test_transcribe_refuses_a_choice_that_is_none(
    command: Command, home: Path, flags: list[str], says: str
) -> None:
    answer = command("transcribe", "a.mp4", "-o", "x.srt", *flags)
    assert answer.code == 2 and says in answer.err


def test_transcribe_several_into_a_folder_goes_on_after_a_broken_one(command: Command, home: Path) -> None:
    answer = command("transcribe", "a.mp4", "broken.mp4", "b.mp4", "-o", "texts", "--format", "srt,txt")
    assert answer.code == 2
    assert sorted(path.name for path in (home / "texts").iterdir()) == ["a.srt", "a.txt", "b.srt", "b.txt"]
    assert "broken.mp4: The file cannot be read (broken.mp4)." in answer.err
    assert answer.out == "2 of 3 done, in texts\n"


def test_a_folder_stands_for_its_media(command: Command, home: Path) -> None:
    (home / "broken.mp4").unlink()
    (home / "notes.txt").write_text("no media")
    answer = command("transcribe", ".", "-o", "texts/")
    assert answer.code == 0, answer.err
    assert sorted(p.name for p in (home / "texts").iterdir()) == [
        "a.srt",
        "b.srt",
        "s1.srt",
        "s2.srt",
        "talk 🎬.srt",
    ]


def test_json_for_machines(command: Command, home: Path) -> None:
    answer = command("transcribe", "a.mp4", "broken.mp4", "-o", "texts", "--json")
    good, bad = answer.json["results"]
    assert answer.code == answer.json["exit_code"] == 2
    assert good["state"] == "done" and good["files"] == {"srt": str(home / "texts" / "a.srt")}
    assert (
        good["notes"] == [{"level": "warning", "en": "It was loud", "zh": "声音很大"}]
        and good["error"] is None
    )
    assert bad["error"]["code"] == "media" and bad["error"]["exit_code"] == 2 and bad["files"] == {}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["transcribe", "a.mp4"], "The following arguments are required: -o/--output."),
        (["transcribe", "-o", "x.srt"], "Name at least one video or sound file."),
        (["transcribe", "none.mp4", "-o", "x.srt"], "There is no such file (none.mp4). Check the name."),
        (["transcribe", "a.mp4", "-o", "x.doc"], "The output must end in .srt or .vtt"),
        (["transcribe", "a.mp4", "b.mp4", "-o", "x.srt"], "Several inputs need a folder after -o (x.srt)."),
        (["transcribe", "a.mp4", "-o", "out", "--format", "doc"], "There is no format 'doc'"),
        (["transcribe", "a.mp4", "-o", "x.srt", "--start", "1:30", "--end", "20"], "--end must be later"),
        (
            ["transcribe", "a.mp4", "-o", "x.srt", "--language", "english!"],
            "'english!' is not a language code",
        ),
        (["speak", "-o", "x.wav"], "Say what is to be spoken"),
        (["speak", "--text", " ", "-o", "x.wav"], "Say what is to be spoken"),
        (["speak", "--text", "a", "-o", "x.doc"], "The output must end in .wav or .flac or .mp3"),
        (["speak", "--text", "a", "--speed", "90", "-o", "x.wav"], "'90' is not a speed between 0.25 and 4"),
        (["speak", "--text", "a", "--reference", "s1.wav", "--voice", "me", "-o", "x.wav"], "not both"),
        (["sync", "--face", "a.mp4", "-o", "x.mp4"], "Give a face and a sound or a text"),
        (
            ["sync", "--face", "a.mp4", "b.mp4", "--audio", "s1.wav", "-o", "x.mp4"],
            "Several inputs need a folder",
        ),
        (
            ["sync", "--face", "a.mp4", "b.mp4", "broken.mp4", "--audio", "s1.wav", "s2.wav", "-o", "d"],
            "3 faces and 2 sounds do not pair up",
        ),
        (["dub", "a.mp4", "-o", "x.mp4"], "Say into which language"),
        (["dub", "a.mp4", "--to", "es", "-o", "a.mp4"], "The output would replace the input"),
        (["dub", "a.mp4", "--to", "es", "-o", "b.mp4"], "add --overwrite to replace it"),
        (
            ["dub", "a.mp4", "--to", "es", "-o", "x.mp4", "--translation", "no.srt"],
            "There is no such file (no.srt)",
        ),
        (["dub", ".", "--to", "es", "-o", "x", "--device", "toaster"], "There is no device called 'toaster'"),
        (["weights", "gpt-9"], "There are no model files called 'gpt-9'; there are: whisper-base"),
        (["juggle"], "Invalid choice: 'juggle'"),
        (["--auth", "nobody"], "--auth needs a name and a password"),
    ],
)
def test_bad_input_is_one_plain_sentence(command: Command, words: list[str], sentence: str) -> None:
    answer = command(*words)
    assert answer.code == 2
    assert sentence in answer.err.replace("Argument command: i", "I").replace("Argument COMMAND: i", "I")
    assert answer.err.count("\n") == 1 and "Traceback" not in answer.err and answer.out == ""
    assert not JobStore(Settings.load()).list()


def test_a_missing_engine_is_exit_code_3(command: Command) -> None:
    answer = command("transcribe", "a.mp4", "-o", "x.srt", "--engine", "nowhere")
    assert answer.code == 3 and "There is no engine nowhere" in answer.err and answer.out == ""


def test_existing_files_are_replaced_only_when_asked(command: Command, home: Path) -> None:
    (home / "out.srt").write_text("precious")
    assert command("transcribe", "a.mp4", "-o", "out.srt").code == 2
    assert (home / "out.srt").read_text() == "precious"
    assert command("transcribe", "a.mp4", "-o", "out.srt", "--overwrite").code == 0
    assert (home / "out.srt").read_text() == "srt of a.mp4"


def test_a_place_that_cannot_be_written_is_refused_before_the_work(command: Command, home: Path) -> None:
    """Permissions alone do not tell: nobody can write here, root included."""
    answer = command("dub", "a.mp4", "--to", "es", "-o", "/proc/o.mp4")
    assert answer.code == 2 and "cannot be written to" in answer.err and not list(home.glob("jobs/*dub*"))
    (home / "made.srt").write_text("work")
    with pytest.raises(InputError, match=r"made\.srt"):
        deliver(home / "made.srt", Path("/proc/o.srt"), overwrite=True)
    assert (home / "made.srt").read_text() == "work"


def test_speak_with_numbers_and_a_table(command: Command, home: Path) -> None:
    answer = command(
        "speak", "--text", "Hello there", "--seconds", "2.5", "--reference", "s1.wav", "-o", "hello.wav"
    )
    assert answer.code == 0, answer.err
    assert answer.out.startswith("hello.wav (2.50 s of English speech, similarity 0.71, 0:0")
    assert (home / "hello.wav").read_text() == "Hello there"
    (view,) = JobStore(Settings.load()).list()
    assert view.options["language"] is None, "found from the text"
    (home / "tables").mkdir()
    (home / "tables" / "ref.wav").write_bytes(b"r")
    table = home / "tables" / "lines.csv"
    table.write_bytes("text;language;seconds;reference\n你好;zh;1,5\nHi;en;;ref.wav\n".encode("gb18030"))
    assert (
        "'1,5' is not a number of seconds"
        in command("speak", "--table", "tables/lines.csv", "-o", "lines").err
    )
    table.write_bytes("text;language;seconds;reference\n你好;zh;1.5\nHi;en;;ref.wav\n".encode("gb18030"))
    answer = command("speak", "--table", "tables/lines.csv", "-o", "lines", "--json")
    assert answer.code == 0, answer.err
    assert (home / "lines" / "speech-1.wav").read_text() == "你好"
    assert (home / "lines" / "speech-2.wav").read_text() == "Hi"
    options = [view.options for view in JobStore(Settings.load()).list()][1::-1]
    assert [(o["language"], o["seconds"], o["reference"]) for o in options] == [
        ("zh", 1.5, None),
        ("en", None, str(home / "tables" / "ref.wav")),
    ]


def test_a_table_with_a_strange_column_or_a_gap_is_refused(command: Command, home: Path) -> None:
    (home / "t.csv").write_text("text,volume\nHi,3\n")
    assert "a column 'volume' without meaning" in command("speak", "--table", "t.csv", "-o", "d").err
    (home / "t.csv").write_text("text,seed\nHi,3\n,4\n")
    assert "Row 3 of the table has no text" in command("speak", "--table", "t.csv", "-o", "d").err


def test_sync_pairs_one_sound_with_many_faces_and_many_with_many(command: Command, home: Path) -> None:
    answer = command("sync", "--face", "a.mp4", "b.mp4", "--audio", "s1.wav", "-o", "out")
    assert answer.code == 0, answer.err
    assert {p.name: p.read_text() for p in (home / "out").iterdir()} == {
        "a-synced.mp4": "a.mp4+s1.wav",
        "b-synced.mp4": "b.mp4+s1.wav",
    }
    answer = command(
        "sync", "--face", "a.mp4", "b.mp4", "--audio", "s1.wav", "s2.wav", "-o", "pairs", "--fit", "freeze"
    )
    assert answer.code == 0, answer.err
    assert sorted(p.read_text() for p in (home / "pairs").iterdir()) == ["a.mp4+s1.wav", "b.mp4+s2.wav"]
    answer = command("sync", "--face", "a.mp4", "--audio", "s1.wav", "-o", "fr.mp4", "--language", "fr-CA")
    assert answer.code == 0, answer.err
    assert JobStore(Settings.load()).list()[0].options["language"] == "fr"
    (home / "t.csv").write_text("face,audio,language\na.mp4,s1.wav,english please\n")
    assert "In the table: 'english please'" in command("sync", "--table", "t.csv", "-o", "out2").err


def test_dub_with_translations_from_a_folder(command: Command, home: Path) -> None:
    (home / "srt").mkdir()
    for name in ("a.es.srt", "a.fr.srt", "b.srt"):
        (home / "srt" / name).write_text("1")
    answer = command(
        "dub", "a.mp4", "b.mp4", "--to", "es,fr", "--translation", "srt", "-o", "out", "--keep-background",
        "--stream", "2",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert {view.options["stream"] for view in JobStore(Settings.load()).list()} == {2}
    assert {p.name: p.read_text() for p in (home / "out").glob("*.mp4")} == {
        "a-es.mp4": "es a.es.srt True",
        "a-fr.mp4": "fr a.fr.srt True",
        "b-es.mp4": "es b.srt True",
        "b-fr.mp4": "fr b.srt True",
    }
    assert sorted(p.name for p in (home / "out").glob("a-es*.srt")) == ["a-es.es.srt", "a-es.source.srt"]
    answer = command("dub", "talk 🎬.mp4", "--to", "es", "--translation", "srt", "-o", "out")
    assert answer.code == 2 and "talk 🎬.es.srt" in answer.err


def test_dub_without_a_translator_is_exit_code_3_and_says_where_the_lines_are(
    command: Command, home: Path
) -> None:
    answer = command("dub", "a.mp4", "--to", "ja", "--translator", "none", "-o", "x.mp4")
    assert answer.code == 3 and not (home / "x.mp4").exists()
    lines = home / "x.lines.srt"
    assert "2 lines have no translation yet" in answer.err and str(lines) in answer.err
    assert "--translation x.lines.srt" in answer.err
    assert [(c.start, c.end, c.text) for c in subtitles.read(lines)] == [
        (0.0, 1.0, "One word."),
        (1.0, 2.0, "Two words."),
    ]
    answer = command("dub", "a.mp4", "--to", "ja", "--translation", "x.lines.srt", "-o", "x.mp4")
    assert answer.code == 0, answer.err


def test_the_key_of_a_service_reaches_the_worker_alone(
    command: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUBWRIGHT_ENDPOINT_KEY", "sk-secret")
    answer = command(
        "dub",
        "a.mp4",
        "--to",
        "ja",
        "-o",
        "x.mp4",
        "--endpoint",
        "http://localhost:11434/v1",
        "--endpoint-model",
        "q",
        "--json",
    )
    assert answer.code == 0, answer.err
    view = JobStore(Settings.load()).list()[0]
    assert view.options["endpoint"] == {"address": "http://localhost:11434/v1", "model": "q"}
    assert view.options["translator"] == "endpoint"
    holders = [
        path.name for path in view.folder.rglob("*") if path.is_file() and b"sk-secret" in path.read_bytes()
    ]
    assert holders == ["private.json"] and "sk-secret" not in answer.out + answer.err


def test_ctrl_c_stops_the_job_within_two_seconds_and_the_same_words_go_on(
    command: Command, home: Path
) -> None:
    (home / "slow.wav").write_bytes(b"slow")
    words = ("sync", "--face", "a.mp4", "--audio", "slow.wav", "-o", "x.mp4", "--json")
    store = JobStore(Settings.load())

    def at_work() -> bool:
        views = store.list(states=["running"])
        return bool(views and views[0].stages)

    for number in (signal.SIGINT, signal.SIGTERM):
        process = begin(*words, cwd=home)
        wait_for(at_work, "the job at work")
        worker = int(json.loads((store.list()[0].folder / "job.json").read_text())["worker"]["pid"])
        pressed = time.monotonic()
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        took = time.monotonic() - pressed
        assert took <= 2.5 * patience(), took  # two seconds for the job, the rest for this process to leave
        assert process.returncode == 130, err
        assert "Stopped. What was finished is kept." in err and "Traceback" not in err
        assert not alive(worker) and not (home / "x.mp4").exists()
        assert json.loads(out)["exit_code"] == 130
    (home / "slow.wav").write_bytes(b"fast")
    answer = command(*words)
    assert answer.code == 0, answer.err
    assert "going on with an earlier job" in answer.err
    assert answer.json["results"][0]["result"]["report"] == {"first_ran": False}
    assert JobStore(Settings.load()).count() == 1


def test_progress_is_plain_lines_in_a_pipe_and_one_moving_line_on_a_terminal(
    command: Command, home: Path
) -> None:
    answer = command("speak", "--text", "Hello", "-o", "a.wav")
    lines = [line for line in answer.err.splitlines() if line]
    assert lines and all(line.startswith("Hello: speak ") for line in lines) and len(lines) <= 3
    main_side, terminal = pty.openpty()
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import tests.commands.conftest as c, sys; exec(c.STARTER)",
            "speak",
            "--text",
            "Hello",
            "-o",
            "b.wav",
        ],
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=terminal,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    os.close(terminal)
    shown = b""
    while True:
        try:
            block = os.read(main_side, 65536)
        except OSError:  # the other side is closed
            break
        shown += block
        if not block:
            break
    process.wait()
    assert process.returncode == 0
    frames = shown.decode().split("\r\x1b[K")
    assert "\n" not in shown.decode() and frames[-1] == ""
    assert any("speak 33 % (1 of 3 lines)" in frame for frame in frames)
    assert any("speak 67 % (2 of 3 lines)" in frame for frame in frames)


def test_a_command_waits_its_turn_and_says_so(home: Path) -> None:
    (home / "slow.wav").write_bytes(b"slow")
    first = begin("sync", "--face", "a.mp4", "--audio", "slow.wav", "-o", "x.mp4", cwd=home)
    store = JobStore(Settings.load())
    wait_for(lambda: store.count(states=["running"]), "the first one at work")
    second = begin("transcribe", "b.mp4", "-o", "b.srt", cwd=home)
    assert second.stderr is not None
    assert second.stderr.readline() == "b.mp4: waiting: another job runs on this computer\n"
    first.send_signal(signal.SIGINT)
    assert second.wait(30) == 0 and (home / "b.srt").exists()
    assert first.wait(30) == 130


def test_sentences_follow_the_terminal_s_language(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    answer = command("transcribe", "none.mp4", "-o", "x.srt")
    assert answer.code == 2 and answer.err == "文件不存在 (none.mp4)。请检查文件名。\n"


def test_an_unexpected_error_is_a_sentence_and_a_traceback_with_debug(home: Path) -> None:
    broken = (
        "import commands.transcribe as t\nt.run = None\n"
        + "import sys; from commands.main import main; sys.exit(main(sys.argv[1:]))"
    )
    for debug in ([], ["--debug"]):
        done = subprocess.run(
            [sys.executable, "-c", broken, *debug, "transcribe", "a.mp4", "-o", "x.srt"],
            cwd=home,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert ("Traceback" in done.stderr) == bool(debug)
        assert "TypeError" in done.stderr


def test_flags_of_the_machine_work_before_and_after_the_command(command: Command, home: Path) -> None:
    for number, words in enumerate(
        [("--cpu", "transcribe"), ("transcribe", "--cpu"), ("--safe-mode", "transcribe")]
    ):
        answer = command(*words, "a.mp4", "-o", f"{number}.srt")
        assert answer.code == 0, answer.err
        view = JobStore(Settings.load()).list()[0]
        policy = json.loads((view.folder / "run.json").read_text())["policy"]
        assert policy["device"] == "cpu" and policy["safe_mode"] == ("--safe-mode" in words)


def test_app_py_without_the_packages_says_what_to_do(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-E", str(ROOT / "app.py"), "doctor"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "bash start_app.sh" in done.stderr and "Traceback" not in done.stderr


def test_weights_asks_for_the_default_set(command: Command) -> None:
    assert "whisper-base" in command("weights").out
    answer = command("weights", "--default", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["results"][0]["result"]["fetched"] == ["whisper-base", "kokoro"]
