"""The tabs' handlers, called as functions; jobs run in the real worker."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.errors import InputError
from pipelines.files import read_json
from tests.ui.conftest import asking, dub_values, ended
from tests.ui.flows import clip
from ui import lines
from ui.dubbing import DubHandlers
from ui.keeper import save_finished, tidy_uploads
from ui.services import Services, source_path
from ui.tabs.jobs import JobsHandlers
from ui.tabs.talking_head import TalkingHeadHandlers
from ui.tabs.transcribe import TranscribeHandlers
from ui.tabs.voice import VoiceHandlers


def test_starting_the_page_loads_no_torch() -> None:
    code = "import sys, ui.server, ui.page; print(sorted({'torch','mediapipe','cv2','onnxruntime'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_dub_is_saved_under_its_name_and_never_over_another(services: Services, tmp_path: Path) -> None:
    handlers = DubHandlers(services)
    video = clip(tmp_path / "my talk 你好.mp4")
    (services.settings.outputs / "my talk 你好-es.mp4").write_bytes(b"mine")
    view = ended(services, handlers.submit(asking(), **dub_values(file=str(video))))
    assert view.state == "done" and view.title == "my talk 你好.mp4 → Spanish"
    shown = handlers.show(view, "en")
    names = sorted(path.name for path in services.settings.outputs.iterdir())
    assert names == [
        "my talk 你好-en.srt",
        "my talk 你好-es (2).mp4",
        "my talk 你好-es (2).srt",
        "my talk 你好-es.mp4",
    ]
    assert (services.settings.outputs / "my talk 你好-es.mp4").read_bytes() == b"mine"
    assert "my talk 你好-es (2).mp4" in shown["saved"].value
    handlers.show(view, "en")
    assert len(list(services.settings.outputs.iterdir())) == 4, "looking again makes no second copy"


def test_without_a_translator_the_table_opens_and_its_lines_make_the_dub(
    services: Services, tmp_path: Path
) -> None:
    handlers = DubHandlers(services)
    video = clip(tmp_path / "a.mp4")
    job_id = handlers.submit(asking(), **dub_values(file=str(video), target="ja"))
    view = ended(services, job_id)
    assert view.error is not None and view.error["code"] == "translator-missing"
    shown = handlers.show(view, "en")
    assert shown["lines"].visible and "translation is not" in shown["help"]
    table = shown["table"].value["data"]
    table[0][4], table[1][4] = "おはよう。", "電車で。"
    assert handlers.again(job_id, table) == job_id
    view = ended(services, job_id)
    assert view.state == "done"
    asked = read_json(view.folder / "asked.json")
    assert asked["times"] == 2 and [line["text"] for line in asked["lines"]] == ["おはよう。", "電車で。"]
    plan = lines.read_plan(view.folder)
    assert plan is not None and plan.lines[0].text == "おはよう。"


def test_a_missing_file_is_refused_in_words(services: Services) -> None:
    with pytest.raises(InputError, match="no file yet"):
        DubHandlers(services).submit(asking(), **dub_values())
    with pytest.raises(InputError, match="no such file"):
        DubHandlers(services).submit(asking(), **dub_values(path="/no/such.mp4"))


def test_paths_are_taken_only_when_the_page_is_this_computers_own(services: Services, tmp_path: Path) -> None:
    video = clip(tmp_path / "large film.mp4", 0.2)
    assert source_path(services, None, f' "{video}" ') == video.resolve()
    with pytest.raises(InputError):
        source_path(replace(services, local=False), None, str(video))
    with pytest.raises(InputError):
        source_path(services, None, "pyproject.toml")


def test_voice_needs_consent(services: Services, tmp_path: Path) -> None:
    given = {"sample": str(tmp_path / "me.wav"), "words": "Hello.", "language": "", "engine": "kokoro"}
    given |= {"seconds": None, "speed": 1.0, "seed": 0}
    with pytest.raises(InputError, match="may use this voice"):
        VoiceHandlers(services).submit(**given, consent=False)
    view = ended(services, VoiceHandlers(services).submit(**given, consent=True))
    shown = VoiceHandlers(services).show(view, "en")
    assert shown["measures"] == "1.00 s · Spanish · likeness to the sample 0.71"
    assert VoiceHandlers(services).show(view, "zh")["measures"] == "1.00 秒 · 西班牙语 · 与样本相似度 0.71"
    assert (services.settings.outputs / "me Hello.wav").is_file()


def test_transcription_shows_text_with_times_and_files(services: Services, tmp_path: Path) -> None:
    sound = clip(tmp_path / "talk.mp4")
    given = {"file": str(sound), "path": "", "engine": "whisper", "language": "", "start": 0, "end": None}
    job_id = TranscribeHandlers(services).submit(
        **given, hotwords="Kokoro\n\n Wav2Lip ", itn=True, formats=["srt", "txt"]
    )
    view = ended(services, job_id)
    assert view.options["hotwords"] == ["Kokoro", "Wav2Lip"] and view.options["language"] is None
    shown = TranscribeHandlers(services).show(view, "en")
    assert shown["text"].value.splitlines()[1] == "[0:01.40 – 0:02.80] By train."
    assert sorted(path.name for path in services.settings.outputs.iterdir()) == ["talk.srt", "talk.txt"]
    assert shown["files"].visible


def test_a_talking_head_needs_something_to_say(services: Services, tmp_path: Path) -> None:
    face = clip(tmp_path / "face.mp4")
    given = {
        "file": str(face),
        "path": "",
        "engine": "ownmouth",
        "fit": "loop",
        "offset": 0.0,
        "reference": None,
        "language": "it",
    }
    with pytest.raises(InputError, match="nothing for the face to say"):
        TalkingHeadHandlers(services).submit(**given, sound=None, words=" ")
    view = ended(services, TalkingHeadHandlers(services).submit(**given, sound=None, words="Hello."))
    assert view.state == "done" and view.options["text"] == "Hello." and view.options["audio"] is None
    assert view.options["language"] == "it"


def test_the_job_list_shows_disk_use_and_deletes_only_the_job(services: Services, tmp_path: Path) -> None:
    handlers = JobsHandlers(services)
    view = ended(
        services, DubHandlers(services).submit(asking(), **dub_values(file=str(clip(tmp_path / "a.mp4"))))
    )
    saved = services.save(view)
    table, ids, summary = handlers.listing(asking())
    assert ids == [view.id] and table["data"][0][1:4] == ["Dub", "a.mp4 → Spanish", "Finished"]
    assert table["data"][0][4].endswith("kB") and summary.startswith("1 jobs")
    _, question = handlers.ask(view.id, asking())
    assert "a.mp4 → Spanish" in question and "outputs folder stay" in question
    handlers.delete(view.id)
    assert handlers.listing(asking())[1] == [] and not view.folder.exists()
    assert all(path.is_file() for path in saved.values()) and (tmp_path / "a.mp4").is_file()


def test_numbered_lines_go_out_and_come_back(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("gradio.Info", said.append)
    monkeypatch.setattr("gradio.Warning", said.append)
    handlers = DubHandlers(services)
    table = [
        [1, "0:00.00", "0:01.20", "Good morning.", "", ""],
        [2, "0:01.40", "0:02.80", "By train.", "", ""],
    ]
    assert handlers.numbered(table) == "1. Good morning.\n2. By train."
    filled = handlers.pasted("Here you are:\n1. Buenos días.\n2) En tren.", table, asking()).value["data"]
    assert [row[4] for row in filled] == ["Buenos días.", "En tren."]
    partly = handlers.pasted("２．坐火车。", table, asking("zh")).value["data"]
    assert [row[4] for row in partly] == ["", "坐火车。"]
    assert said[0] == "2 lines filled" and "以下编号没有译文" in said[1] and "1" in said[1]


def test_the_menu_says_who_translates_and_what_cannot_be_spoken(services: Services) -> None:
    menu = {code: name for name, code in DubHandlers(services).targets("en")}
    assert menu["de"] == "German – ✕ no voice speaks German here"
    assert menu["fr"].startswith("French – ")
    assert list(menu).index("zh") < list(menu).index("de")
    with pytest.raises(InputError, match="German"):
        DubHandlers(services).submit(asking(), **dub_values(path="/bin/sh", target="de"))


def test_the_key_of_a_translation_service_stands_in_no_record(services: Services, tmp_path: Path) -> None:
    values = dub_values(
        file=str(clip(tmp_path / "a.mp4")), address="http://127.0.0.1:9/v1", model="m", key="sk-secret"
    )
    view = ended(services, DubHandlers(services).submit(asking(), **values))
    assert view.options["endpoint"] == {"address": "http://127.0.0.1:9/v1", "model": "m"}
    names = ("job.json", "asked.json", "run.json", "log.txt", "saved.json")
    assert all("sk-secret" not in (view.folder / name).read_text() for name in names)


def test_the_keeper_saves_what_ended_unseen_and_tidies_uploads(services: Services, tmp_path: Path) -> None:
    used = services.uploads / "aa" / "a.mp4"
    unused = services.uploads / "bb" / "b.mp4"
    for path in (used, unused):
        path.parent.mkdir(parents=True)
    clip(used), unused.write_bytes(b"x")
    ended(services, DubHandlers(services).submit(asking(), **dub_values(file=str(used))))
    save_finished(services)
    assert (services.settings.outputs / "a-es.mp4").is_file()
    assert tidy_uploads(services, older_than=3600) == []
    assert tidy_uploads(services, older_than=-1) == [unused.parent]
    assert used.is_file() and not unused.exists()
