"""The Transcription tab's handlers called as functions: what is sent off, shown, edited and saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import av
import gradio as gr
import pytest

from pipelines.editing import file as edited_file
from pipelines.errors import InputError
from pipelines.types import Segment, Word
from tests.ui.conftest import asking, ended, open_services
from tests.ui.flows import clip
from ui.jobs_view import Reopener
from ui.services import Services
from ui.tabs.jobs import JobsHandlers
from ui.tabs.transcribe import TranscribeHandlers
from ui.transcript import choices, documents, files, saving, word_lists
from ui.transcript.documents import Document, Opened
from ui.transcript.past import HistoryHandlers
from ui.transcript.queue import queue_html
from ui.transcript.rows_html import words_html
from ui.transcript.wave import wave_html


def given(**changed: Any) -> dict[str, Any]:
    """What the tab's components hold at first."""
    values: dict[str, Any] = {
        "file": None, "path": "", "below": False, "stream": None, "channel": "mix", "engine": "whisper", "language": "",
        "start": 0, "end": None, "hotwords": "", "itn": True, "formats": ["srt", "txt"],
    }  # fmt: skip
    return {**values, **changed}


def step(**data: Any) -> gr.EventData:
    return gr.EventData(None, data)


def opened(services: Services, path: Path) -> tuple[TranscribeHandlers, str]:
    """A finished transcription, open in the editor; its job's id."""
    handlers = TranscribeHandlers(services)
    job = handlers.submit(**given(file=[str(path)]))
    ended(services, job)
    handlers.batch.look(job, "", asking())
    return handlers, job


def identity(services: Services, job: str) -> str:
    """The id of a job's document."""
    view = services.store.view(job)
    document = documents.of_job(view) if view else None
    assert document is not None
    return document.id


def paths(made: gr.Files) -> list[Path]:
    return [Path(one["path"]) for one in made.value]


def texts(value: dict[str, Any]) -> str:
    return "".join(html for _, html in value["rows"])


def test_a_known_text_goes_with_its_one_sound(services: Services, tmp_path: Path) -> None:
    handlers = TranscribeHandlers(services)
    one, other = (str(clip(tmp_path / f"{name}.mp4")) for name in ("one", "other"))
    with pytest.raises(InputError, match="belongs to one sound"):
        handlers.submit(**given(file=[one, other], known="Good morning."))
    assert (
        ended(services, handlers.submit(**given(file=[one], known=" Good morning.\n"))).options["text"]
        == "Good morning."
    )
    assert ended(services, handlers.submit(**given(file=[other]))).options["text"] == ""


def test_a_transcription_is_shown_row_by_row_and_saved(services: Services, tmp_path: Path) -> None:
    handlers = TranscribeHandlers(services)
    job = handlers.submit(**given(file=str(clip(tmp_path / "talk.mp4")), hotwords="Kokoro\n\n Wav2Lip "))
    view = ended(services, job)
    assert view.options["hotwords"] == ["Kokoro", "Wav2Lip"] and view.options["language"] is None
    queue, card, stop, *_, timer, rows, save, made, folder, _ = handlers.batch.look(job, "", asking())
    assert not queue.visible and 'data-state="done"' in card.value and not stop.visible and not timer.active
    assert "Good <mark" in texts(rows) and "&lt;to&gt; Rome &amp; back." in texts(rows)
    assert save.visible and folder.visible and [path.name for path in paths(made)] == ["talk.srt", "talk.txt"]
    assert sorted(path.name for path in services.settings.outputs.iterdir()) == ["talk.srt", "talk.txt"]


def test_several_files_are_jobs_of_their_own_and_the_same_is_not_asked_twice(
    services: Services, tmp_path: Path
) -> None:
    handlers = TranscribeHandlers(services)
    paths = [str(clip(tmp_path / name)) for name in ("slow.mp4", "b.mp4")]
    jobs = handlers.submit(**given(file=[*paths, paths[0]]))
    assert len(jobs.split(",")) == 2 and handlers.submit(**given(file=paths)) == jobs
    handlers.batch.stop_all(jobs)
    assert [ended(services, job).state for job in jobs.split(",")] == ["stopped", "stopped"]
    assert 'data-state="stopped"' in queue_html(handlers.batch.views(jobs), "", "zh")


def test_a_folder_gives_its_media_and_nothing_else(services: Services, tmp_path: Path) -> None:
    for name in ("b.mp3", "a.WAV", ".hidden.mp3", "notes.txt", "deep/c.flac"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    found = files.chosen(services, None, str(tmp_path))
    assert [path.name for path in found] == ["a.WAV", "b.mp3"]
    below = files.chosen(services, None, f'"{tmp_path}"', below=True)
    assert [path.name for path in below] == ["a.WAV", "b.mp3", "c.flac"]
    assert files.chosen(services, [str(tmp_path / "b.mp3")], str(tmp_path)) == [found[1], found[0]]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no sound or video"):
        files.chosen(services, None, str(tmp_path / "empty"))
    with pytest.raises(InputError, match="no file yet"):
        files.chosen(services, [], " ")


def test_steps_are_saved_survive_a_restart_and_can_be_undone(services: Services, tmp_path: Path) -> None:
    handlers, job = opened(services, clip(tmp_path / "talk.mp4"))
    edit, doc = handlers.batch.editor, identity(services, job)
    value = edit.act(step(job=doc, do="text", key=1, value="By bus."), asking())
    assert value["version"] == 1 and "By bus." in texts(value) and value["said"] == ""
    value = edit.act(step(job=doc, do="rename", name="S1", value="Anna"), asking())
    value = edit.act(step(job=doc, do="end", key=0, value="0:02.00"), asking("zh"))
    assert "Anna" in texts(value) and "重叠" in texts(value)
    value = edit.act(step(job=doc, do="undo"), asking())
    assert 'value="0:01.20"' in texts(value)
    value = edit.act(step(job=doc, do="merge", key=77), asking("zh"))
    assert "该行已不存在" in value["said"] and value["version"] == 5
    view = services.store.view(job)
    assert view is not None
    saved = edited_file.load(view.folder)
    assert saved is not None and [row.text for row in saved.rows] == ["Good morning.", "By bus."]
    services.close()
    again = open_services(services.settings)
    try:
        fresh = TranscribeHandlers(again).batch.look(job, "", asking())[7]
        assert "By bus." in texts(fresh) and fresh["version"] == 0
    finally:
        again.close()


def test_what_is_saved_is_what_the_rows_say_under_a_free_name(services: Services, tmp_path: Path) -> None:
    handlers, job = opened(services, clip(tmp_path / "talk.mp4"))
    handlers.batch.editor.act(step(job=identity(services, job), do="delete", key=0), asking())
    made, told = handlers.batch.save(job, "", ["srt", "csv", "textgrid"], asking())
    names = [path.name for path in paths(made)]
    assert names == ["talk (2).srt", "talk (2).csv", "talk (2).TextGrid"] and "talk (2).srt" in told.value
    text = paths(made)[0].read_text(encoding="utf-8")
    assert "Good morning" not in text and text.startswith("1\n00:00:01,400 --> ")
    with pytest.raises(InputError, match="nothing to save"):
        handlers.batch.save(job, "", [], asking())
    with pytest.raises(InputError, match="No transcript is open"):
        handlers.batch.save("", "", ["srt"], asking())


def test_numbers_are_shown_as_digits_or_as_they_were_heard() -> None:
    heard = Segment(0.0, 2.0, "twenty two trains", (Word(0, 0.5, "twenty", 0.9), Word(0.5, 1, " two", 0.9),
                                                    Word(1, 2, " trains", 0.2)), None, "22 trains")  # fmt: skip
    document = Document("job:1", "a", None, "en", 2.0, (heard,), None, None)
    assert document.normalised
    shown, raw = document.table(), document.table(documents.HEARD)
    assert (shown.rows[0].text, raw.rows[0].text) == ("22 trains", "twenty two trains")
    assert shown.rows[0].words == (Word(0.0, 1.0, "22", 1.0), Word(1, 2, " trains", 0.2))
    assert words_html(shown.rows[0], "en").startswith('22 <mark class="unsure"')


def test_files_of_the_same_name_stay_apart_in_a_zip(tmp_path: Path) -> None:
    from zipfile import ZipFile

    from pipelines.editing import Edits, opened

    docs = [
        Opened(
            Document(f"job:{number}", name, None, "en", 1.0, (), None, None),
            Edits(opened([Segment(0, 1, name)])),
        )
        for number, name in enumerate(("talk.mp3", "Talk.wav", "talk.mp4"))
    ]
    with ZipFile(saving.zipped(docs, ["txt"], tmp_path / "all.zip")) as archive:
        assert archive.namelist() == ["talk.txt", "Talk (2).txt", "talk (3).txt"]
        assert archive.read("Talk (2).txt") == b"Talk.wav\n"
    assert [path.name for path in tmp_path.iterdir()] == ["all.zip"]


def test_the_wave_shows_speech_on_the_files_own_clock() -> None:
    facts = {
        "start": 10.0,
        "duration": 20.0,
        "spans": [[10.0, 15.0]],
        "peaks": [0.5, 1.0],
        "speech": [1.0, 0.0],
    }
    html = wave_html(facts, "en")
    assert 'data-start="10.000" data-length="20.000"' in html and 'x="0.0" y="0" width="250.0"' in html
    assert "0:05 of 0:20" in html and html.count("M") == 2
    assert wave_html(None, "en") == "" == wave_html(json.loads("{}"), "en")


def test_the_history_finds_reopens_and_forgets(services: Services, tmp_path: Path) -> None:
    handlers, job = opened(services, clip(tmp_path / "talk.mp4"))
    history, doc = HistoryHandlers(services), identity(services, job)
    assert doc.startswith("history:")
    number = int(doc.removeprefix("history:"))
    handlers.batch.editor.act(step(job=doc, do="text", key=1, value="By ferry to Rome."), asking())
    found, spoken, engine = history.search("ferry", "", "", asking())
    assert "<mark>ferry</mark>" in found.value and "talk.mp4" in found.value
    assert [code for _, code in spoken.choices] == ["", "en"] and [name for _, name in engine.choices] == [
        "",
        "whisper",
    ]
    assert "没有找到" in history.search("ferry", "zh", "", asking("zh"))[0].value
    services.store.delete(job)
    services.documents.forget(doc)
    assert history.act(step(do="open", entry=number), "") == doc
    rows, export = handlers.batch.look("", doc, asking())[7:9]
    assert "By ferry to Rome." in texts(rows) and export.visible, "from the history alone"
    made, _ = handlers.batch.save("", doc, ["txt"], asking())
    assert "By ferry to Rome." in paths(made)[0].read_text(encoding="utf-8")
    assert history.act(step(do="delete", entry=number), doc) == ""
    assert handlers.batch.look("", doc, asking())[7] == {"job": ""}


def test_the_whole_history_is_cleared_only_when_asked_twice(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("gradio.Info", lambda words, title: said.append(words))
    opened(services, clip(tmp_path / "talk.mp4"))
    question, words = HistoryHandlers(services).ask(asking())
    assert question.visible and "all 1 entries" in words
    assert "talk.mp4" in HistoryHandlers(services).search("", "", "", asking())[0].value
    assert HistoryHandlers(services).clear(asking()).visible is False
    assert said == ["1 entries deleted"]
    assert "talk.mp4" not in HistoryHandlers(services).search("", "", "", asking())[0].value


def test_choices_become_options() -> None:
    asked = choices.options(given(channel="each", speakers="3", vad_threshold=0.6, rule_columns=30, punctuation=False,
                                  script="traditional", stream="2", soft="mkv", end=5))  # fmt: skip
    assert (asked["channel"], asked["speakers"], asked["stream"], asked["end"]) == ("each", 3, 2, 5.0)
    assert asked["vad"] == {"threshold": 0.6} and asked["cues"] == {"columns": 30}
    assert (asked["punctuation"], asked["script"], asked["soft_subtitles"]) == (False, "traditional", "mkv")
    plain = choices.options({})
    assert (plain["engine"], plain["speakers"], plain["punctuation"], plain["history"]) == (
        "whisper",
        "off",
        True,
        True,
    )


def test_hotword_lists_are_kept_by_project(services: Services) -> None:
    settings = services.settings
    assert word_lists.names(settings) == [] and word_lists.words(settings, "none") is None
    word_lists.keep(settings, "My/film", "Kokoro\n获刑\t20\n")
    assert (
        word_lists.names(settings) == ["My film"]
        and word_lists.words(settings, "My/film") == "Kokoro\n获刑\t20"
    )
    word_lists.keep(settings, "My film", " ")
    assert word_lists.names(settings) == []
    with pytest.raises(InputError, match="no name"):
        word_lists.keep(settings, " ", "x")


def test_files_are_also_saved_where_the_user_wants_them(services: Services, tmp_path: Path) -> None:
    wanted = tmp_path / "mine"
    wanted.mkdir()
    (wanted / "talk.srt").write_text("mine", encoding="utf-8")
    handlers = TranscribeHandlers(services)
    job = handlers.submit(**given(file=str(clip(tmp_path / "talk.mp4")), save_to=str(wanted)))
    ended(services, job)
    handlers.batch.look(job, "", asking())
    handlers.batch.look(job, "", asking())
    assert sorted(path.name for path in wanted.iterdir()) == ["talk (2).srt", "talk.srt", "talk.txt"]
    assert (wanted / "talk.srt").read_text(encoding="utf-8") == "mine"


def test_a_job_is_shown_again_in_the_tab_that_made_it(services: Services, tmp_path: Path) -> None:
    _, job = opened(services, clip(tmp_path / "talk.mp4"))
    there = Reopener("transcribe", [gr.State(), gr.State()], lambda: None, [])
    jobs, chosen, tabs = JobsHandlers(services).reopen("transcribe", there, job)
    assert (jobs, chosen, tabs.selected) == (job, "", "transcribe")
    assert JobsHandlers(services).reopen("dub", there, job) == [gr.skip()] * 3
    assert JobsHandlers(services).show(job, asking())[-1].visible


def test_the_video_is_made_with_the_rows_as_they_are_now(services: Services, tmp_path: Path) -> None:
    handlers, job = opened(services, clip(tmp_path / "talk.mp4"))
    handlers.batch.editor.act(step(job=identity(services, job), do="text", key=0, value="Edited."), asking())
    for how in ("mkv", "burned"):
        jobs = handlers.batch.film(job, "", how)
        view = ended(services, jobs.split(",")[1])
        assert view.state == "done", view.error
        made = next(iter(services.save(view).values()))
        assert made.name == {"mkv": "talk-subtitled.mkv", "burned": "talk-subtitled.mp4"}[how]
    with av.open(str(services.settings.outputs / "talk-subtitled.mkv")) as film:
        lines = [packet.decode() for packet in film.demux(film.streams.subtitles[0]) if packet.size]
    assert "Edited." in str(bytes(lines[0][0].ass)) and len(lines) == 2
    still = handlers.batch.look(jobs, "", asking())
    assert "Edited." in texts(still[7]), "the rows stay while and after the video is made"
    with pytest.raises(InputError, match="No transcript is open"):
        handlers.batch.film("", "", "mkv")
