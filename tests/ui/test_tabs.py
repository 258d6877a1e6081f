"""The tabs' handlers, called as functions; jobs run in the real worker."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import gradio as gr
import pytest
from imageio_ffmpeg import get_ffmpeg_exe

from pipelines import remade, weights
from pipelines.asr import RECOGNIZERS
from pipelines.backend.policy import Policy
from pipelines.backend.probe import Probe
from pipelines.dub.options import DubOptions
from pipelines.errors import InputError, MediaError
from pipelines.files import read_json, write_json
from pipelines.jobs.locks import held
from tests.ui.conftest import PATIENCE, asking, dub_values, ended
from tests.ui.flows import clip
from ui import lines, source, survey
from ui.banner import banner_html
from ui.dub_editing import EditingHandlers
from ui.dubbing import DubHandlers, first_choice
from ui.i18n import text
from ui.keeper import save_finished, tidy_uploads
from ui.machine import Machine
from ui.page import build_page
from ui.services import Services, source_path
from ui.speech.outcome import OutcomeHandlers
from ui.tabs.jobs import JobsHandlers
from ui.tabs.parts import engine_choices, engine_note
from ui.tabs.talking_head import TalkingHeadHandlers
from ui.tabs.voice import VoiceHandlers


def test_starting_the_page_loads_no_torch() -> None:
    code = "import sys, ui.server, ui.page; print(sorted({'torch','mediapipe','cv2','onnxruntime'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_whisper_folder_put_into_weights_is_on_the_menu_and_goes_with_it(
    services: Services, tmp_path: Path
) -> None:
    mine = tmp_path / "weights" / "my-whisper"
    mine.mkdir(parents=True)
    (mine / "config.json").write_text('{"alignment_heads": []}')
    for name in ("model.bin", "tokenizer.json"):
        (mine / name).write_text("{}")
    looking = replace(services, settings=replace(services.settings, weights=mine.parent))
    try:
        looking.look_for_engines()
        menu = {value: label for label, value in engine_choices(looking, RECOGNIZERS, "en")}
        assert menu["whisper:my-whisper"] == "Whisper in weights/my-whisper"
    finally:
        services.look_for_engines()
    assert "whisper:my-whisper" not in dict(engine_choices(services, RECOGNIZERS, "en")).values()


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
        "my talk 你好-es (2)-report.json",
        "my talk 你好-es (2).mp4",
        "my talk 你好-es (2).srt",
        "my talk 你好-es.mp4",
    ]
    assert (services.settings.outputs / "my talk 你好-es.mp4").read_bytes() == b"mine"
    assert "my talk 你好-es (2).mp4" in shown["saved"].value
    handlers.show(view, "en")
    assert len(list(services.settings.outputs.iterdir())) == 5, "looking again makes no second copy"


def test_an_export_asks_the_same_job_for_more(services: Services, tmp_path: Path) -> None:
    handlers = DubHandlers(services)
    job = handlers.submit(asking(), **dub_values(file=str(clip(tmp_path / "talk.mp4"))))
    ended(services, job)
    none = dict.fromkeys(("original_track", "mkv", "stems", "project"), False)
    chosen = {
        "soft_subtitles": "none",
        "burned_subtitles": "both",
        "subtitle_formats": ["vtt"],
        **none,
        "mkv": True,
    }
    assert handlers.export(job_id=job, **chosen) == job
    options = ended(services, job).options
    assert (options["soft_subtitles"], options["burned_subtitles"]) == (None, "both")
    assert (options["subtitle_formats"], options["mkv"], options["stems"]) == (["vtt"], True, False)
    DubOptions.from_json(options)


def test_without_a_translator_the_table_opens_and_its_lines_make_the_dub(
    services: Services, tmp_path: Path
) -> None:
    handlers = DubHandlers(services)
    video = clip(tmp_path / "a.mp4")
    job_id = handlers.submit(asking(), **dub_values(file=str(video), target="ja"))
    view = ended(services, job_id)
    assert view.error is not None and view.error["code"] == "translator-missing"
    shown = handlers.show(view, "en")
    assert shown["lines"].visible and "No translator for this pair" in shown["help"]
    by_hand = replace(view, options={**view.options, "translator": "none"})
    assert "your turn" in handlers.show(by_hand, "en")["help"], "nobody looked for a translator"
    table = shown["table"].value["data"]
    table[0][4], table[1][4] = "おはよう。", "電車で。"
    assert handlers.again(job_id, table) == job_id
    view = ended(services, job_id)
    assert view.state == "done"
    asked = read_json(view.folder / "asked.json")
    assert asked["times"] == 2 and [line["text"] for line in asked["lines"]] == ["おはよう。", "電車で。"]
    plan = lines.read_plan(view.folder)
    assert plan is not None and plan.lines[0].text == "おはよう。"


def test_the_same_dub_asked_for_twice_is_one_job(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("gradio.Info", lambda words, **_: said.append(words))
    handlers, video = DubHandlers(services), str(clip(tmp_path / "slow.mp4"))
    first = handlers.submit(asking(), **dub_values(file=video))
    assert handlers.submit(asking(), **dub_values(file=video)) == first and "under way already" in said[0]
    other = handlers.submit(asking(), **dub_values(file=video, target="fr"))
    assert other != first and len(services.store.list()) == 2
    for job in (other, first):
        services.executor.stop(job)
        ended(services, job)
    assert handlers.submit(asking(), **dub_values(file=video)) not in (first, other), (
        "an ended one is no obstacle"
    )


def test_what_cannot_be_dubbed_is_refused_before_it_waits_for_its_turn(
    services: Services, tmp_path: Path
) -> None:
    text, silent = tmp_path / "text.mp4", tmp_path / "silent.mp4"
    text.write_text("not a video", encoding="utf-8")
    command = [get_ffmpeg_exe(), "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x64:d=1", str(silent)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    for path, words in ((text, "not a video"), (silent, "no sound")):
        with pytest.raises(MediaError, match=words):
            DubHandlers(services).submit(asking(), **dub_values(file=str(path)))
    assert services.store.list() == ()


def test_a_missing_file_is_refused_in_words(services: Services) -> None:
    with pytest.raises(InputError, match="no file yet"):
        DubHandlers(services).submit(asking(), **dub_values())
    with pytest.raises(InputError, match="no such file"):
        DubHandlers(services).submit(asking(), **dub_values(path="/no/such.mp4"))
    with pytest.raises(InputError) as typed:
        source_path(services, None, "/fims/talk.mp4")
    assert "(“/fims/talk.mp4”)" in typed.value.sentence("en"), "the slip is in the folder"


def test_paths_are_taken_only_when_the_page_is_this_computers_own(services: Services, tmp_path: Path) -> None:
    video = clip(tmp_path / "large film.mp4", 0.2)
    assert source_path(services, None, f' "{video}" ') == video.resolve()
    with pytest.raises(InputError):
        source_path(replace(services, local=False), None, str(video))
    with pytest.raises(InputError):
        source_path(services, None, "pyproject.toml")


def test_voice_needs_consent(services: Services, tmp_path: Path) -> None:
    given = {"sample": str(tmp_path / "me.wav"), "words": "Hello there,", "language": "", "engine": "kokoro"}
    given |= {"seconds": None, "speed": 1.0, "seed": 0, "voice": ""}
    with pytest.raises(InputError, match="may use this voice"):
        VoiceHandlers(services).submit(**given, consent=False)
    view = ended(services, VoiceHandlers(services).submit(**given, consent=True))
    shown = OutcomeHandlers(services).show(view, "en")
    assert shown["measures"] == "1.00 s · Spanish · likeness to the sample 0.71"
    assert OutcomeHandlers(services).show(view, "zh")["measures"] == "1.00 秒 · 西班牙语 · 与样本相似度 0.71"
    assert (services.settings.outputs / "me Hello there.wav").is_file(), "no comma before the extension"


def test_only_what_the_user_brings_takes_the_consent_back(services: Services) -> None:
    demo = build_page(services)
    boxes = {block.elem_id: number for number, block in demo.blocks.items() if hasattr(block, "elem_id")}
    events = {
        event
        for function in demo.fns.values()
        if [block._id for block in function.outputs] == [boxes["voice-consent"]]
        for number, event in function.targets
        if number == boxes["voice-sample"] and function.fn is not None and function.fn() is False
    }
    assert events == {"upload", "stop_recording", "clear"}, "not change: the example's sample sets it off"


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
    assert view.options["language"] == "it" and view.options["head_motion"] is True
    calm = TalkingHeadHandlers(services).submit(**given, sound=None, words="Hello.", head_motion=False)
    assert ended(services, calm).options["head_motion"] is False
    assert [path.name for path in services.save(view).values()] == ["face-talking.mp4"]


def test_the_job_list_shows_disk_use_and_deletes_only_the_job(services: Services, tmp_path: Path) -> None:
    handlers = JobsHandlers(services)
    view = ended(
        services, DubHandlers(services).submit(asking(), **dub_values(file=str(clip(tmp_path / "a.mp4"))))
    )
    saved = services.save(view)
    table, ids, summary = handlers.listing("", asking())
    assert ids == {view.id: "done"} and table["data"][0][1:4] == ["Dub", "a.mp4 → Spanish", "Finished"]
    assert table["data"][0][4].endswith("kB") and "1 jobs" in summary
    assert list(handlers.listing(" a.MP4 ", asking())[1]) == [view.id]
    table, ids, summary = handlers.listing("holiday", asking())
    assert (table["data"], ids) == ([], {}) and summary.startswith("No job has these words")
    _, question = handlers.ask(view.id, asking())
    assert "a.mp4 → Spanish" in question and "outputs folder stay" in question
    stale = handlers.watch(view.id, {view.id: "running"}, "", asking())
    assert stale[-3]["data"][0][3] == "Finished" and stale[-2] == {view.id: "done"}
    for listed in ({view.id: "done"}, {}):
        assert handlers.watch(view.id, listed, "", asking())[-3:] == (gr.skip(),) * 3
    handlers.delete(view.id)
    assert handlers.listing("", asking())[1] == {} and not view.folder.exists()
    assert all(path.is_file() for path in saved.values()) and (tmp_path / "a.mp4").is_file()


def test_numbered_lines_go_out_and_come_back(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("gradio.Info", lambda words, title: said.append(words))
    monkeypatch.setattr("gradio.Warning", lambda words, title: said.append(words))
    handlers = EditingHandlers(services)
    table = [
        [1, "0:00.00", "0:01.20", "Good morning.", "", False, ""],
        [2, "0:01.40", "0:02.80", "By train.", "", True, ""],
    ]
    assert handlers.numbered(table) == "1. Good morning.\n2. By train."
    filled = handlers.pasted("Here you are:\n1. Buenos días.\n2) En tren.", table, asking()).value["data"]
    assert [row[4:6] for row in filled] == [["Buenos días.", False], ["En tren.", True]]
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


def test_below_the_menu_stands_what_is_in_the_way(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers = DubHandlers(services)
    note, go = handlers.target_note("de", "", "", asking())
    assert note.visible and "no voice speaks German here" in note.value and "Spanish" in note.value
    assert go.interactive is False
    monkeypatch.setenv("PATH", "")  # no translator on this computer
    note, go = handlers.target_note("es", "en", "", asking())
    assert go.interactive and "sudo apt install apertium-eng-spa" in note.value
    assert "apertium-eng-spa" in handlers.target_note("es", "en", "", asking("zh"))[0].value
    note, go = handlers.target_note("fr", "fr", "", asking())
    assert "spoken in the video already" in note.value
    assert not handlers.target_note("fr", "en", "http://127.0.0.1:9/v1", asking())[0].visible


def test_the_sound_track_can_be_chosen_where_there_are_several(services: Services, tmp_path: Path) -> None:
    one, two = clip(tmp_path / "one.mp4"), tmp_path / "two.mkv"
    command = [get_ffmpeg_exe(), "-v", "error", "-y", "-i", str(one), "-i", str(one)]
    command += ["-map", "0:v", "-map", "0:a", "-map", "1:a", "-c", "copy", "-metadata:s:a:0", "language=rus"]
    command += ["-metadata:s:a:1", "language=eng", "-metadata:s:a:1", "title=Interview", str(two)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    handlers = DubHandlers(services)
    assert handlers.facts(str(one), "", asking())[-1].visible is False
    streams = handlers.facts(str(two), "", asking())[-1]
    assert streams.visible and len(streams.choices) == 3 and streams.value == ""
    assert streams.choices[0][0].startswith("the default one (Russian")
    name, value = streams.choices[2]
    assert name.startswith("English Interview AAC") and value == "2"
    view = ended(services, handlers.submit(asking(), **dub_values(file=str(two), stream=value)))
    assert view.options["stream"] == 2
    assert handlers.options(dub_values(file=str(one)))["stream"] is None


def test_copying_is_confirmed_or_said_to_be_left_to_the_user(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("gradio.Info", lambda words, title: said.append(words))
    monkeypatch.setattr("gradio.Warning", lambda words, title: said.append(words))
    for how in ("copied", "selected"):
        EditingHandlers(services).copied(how, asking())
    assert said[0].startswith("Copied") and "press Ctrl+C" in said[1]


def test_what_is_kept_for_speed_is_shown_and_deleted_but_not_under_a_job(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("gradio.Info", lambda words, title: said.append(words))
    handlers, cache = JobsHandlers(services), services.settings.cache
    assert handlers.cached(asking())[1].interactive is False
    for name in ("faces/a/boxes.npy", "proxies/b.mp4", "uploads/c/talk.mp4", "speed.json", "mine/d.txt"):
        (cache / name).parent.mkdir(parents=True, exist_ok=True)
        (cache / name).write_bytes(b"x" * 40_000)
    told, button = handlers.cached(asking())
    assert told.startswith("82 kB are kept only") and button.interactive
    job_id = DubHandlers(services).submit(asking(), **dub_values(file=str(clip(tmp_path / "slow.mp4"))))
    while services.executor.view(job_id).state != "running":  # type: ignore[union-attr]
        time.sleep(0.05)
    with pytest.raises(InputError, match="A job is running"):
        handlers.empty_cache(asking())
    assert (cache / "faces/a/boxes.npy").is_file()
    services.executor.stop(job_id)
    ended(services, job_id)
    wait_for_turn(services)
    handlers.empty_cache(asking())
    assert said == ["82 kB freed"]
    left = sorted(str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file())
    assert left == ["browser-secret", "mine/d.txt", "speed.json", "uploads/c/talk.mp4"]


def test_every_part_of_the_cache_is_counted() -> None:
    """A part that a new engine adds must be shown and deletable, too."""
    code = "".join(path.read_text(encoding="utf-8") for path in Path(remade.__file__).parent.rglob("*.py"))
    kept = set(re.findall(r"""cache / "([a-z]+)\"(?! *\.json)""", code))
    assert {"faces", "kokoro"} <= kept and kept - {"uploads", "shown"} == set(remade.FOLDERS)


def wait_for_turn(services: Services) -> None:
    """An executor gives its turn back a moment after its job is seen to have ended."""
    end = time.monotonic() + PATIENCE
    while held(services.settings.jobs / ".turn.lock") and time.monotonic() < end:
        time.sleep(0.05)


def test_old_jobs_go_after_the_days_chosen(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []
    monkeypatch.setattr("gradio.Info", lambda words, title: None)
    monkeypatch.setattr("pipelines.jobs.store.JobStore.clean_up", lambda store, age: asked.append(age) or ())
    JobsHandlers(services).clean(7, asking())
    assert asked == [7 * 86400.0]
    with pytest.raises(InputError, match="number of days"):
        JobsHandlers(services).clean(None, asking())
    assert "except the newest 20" in JobsHandlers(services).listing("", asking())[2]


def test_menus_offer_engines_that_can_run(services: Services, tmp_path: Path) -> None:
    from pipelines.asr import RECOGNIZERS

    def offered(services: Services) -> list[str]:
        return [name for _, name in engine_choices(services, RECOGNIZERS, "en", ready=True)]

    assert "whisper" in offered(services) and "whisper-small" not in offered(services)
    bare = replace(services, settings=replace(services.settings, weights=tmp_path))
    assert offered(bare) == ["whisper"], "the default stays, with what it lacks"
    (tmp_path / "whisper-small").mkdir()
    for file in weights.manifest(bare.settings)["whisper-small"].files:
        (tmp_path / "whisper-small" / file.path).write_bytes(b"x")
    assert "whisper-small" in offered(bare)


def test_lip_engines_without_weights_are_shown_with_what_they_lack_and_their_terms(
    services: Services, tmp_path: Path
) -> None:
    from pipelines.lipsync import LIP_ENGINES

    bare = replace(services, settings=replace(services.settings, weights=tmp_path))
    menu = {value: label for label, value in engine_choices(bare, LIP_ENGINES, "zh")}
    assert list(menu) == ["ownmouth", "wav2lip", "wav2lip-gan"] and "–" not in menu["ownmouth"]
    assert menu["wav2lip"].endswith("– 缺少模型文件:wav2lip(见 weights/README.md)")
    note = engine_note(bare, LIP_ENGINES, "wav2lip", "en")
    assert note.startswith("**Not for commercial use:") and "python app.py weights wav2lip**" in note
    assert engine_note(bare, LIP_ENGINES, "wav2lip", "zh").startswith("**不可用于商业用途")
    assert engine_note(bare, LIP_ENGINES, "ownmouth", "en") == LIP_ENGINES.info("ownmouth").licence
    assert "Not for commercial use" in banner_html(bare, "en")


def test_the_banner_names_the_caps_of_safe_mode_only_where_they_hold(services: Services) -> None:
    services.machine.switch("cpu", True, False)
    on_card = Policy(
        family="rocm", device="cuda:0", safe_mode=True, short_side_cap=720, fps_cap=30, threads=2
    )
    for policy, caps in ((services.machine.policy, False), (on_card, True)):
        html = banner_html(replace(services, machine=Machine(Probe(), policy)), "en")
        assert "safe mode: no-half (fp32)" in html and ("720p30" in html) == caps
    assert "720p30" in text("en", "ui_system_switches_help")


def test_the_table_of_engines_is_in_the_users_language(services: Services, tmp_path: Path) -> None:
    bare = replace(services, settings=replace(services.settings, weights=tmp_path))
    html = banner_html(bare, "zh")
    assert "缺少模型文件:kokoro" in html and "missing" not in html


def test_the_example_is_never_dubbed_into_its_own_language(services: Services) -> None:
    """A Chinese page proposes English, which the woman of the example speaks already."""
    handlers, script = DubHandlers(services), first_choice()
    assert '"en": ["es", "es"]' in script and '"zh": ["en", "es"]' in script
    menu = handlers.first_targets(asking())
    assert "value" not in menu and len(menu["choices"]) > 5, "the server's late answer chooses nothing"
    assert handlers.example("en")[1] == "es" and handlers.example("zh")[1] == "zh"


def test_a_take_is_asked_for_only_of_engines_that_have_it(services: Services, tmp_path: Path) -> None:
    given = {"sample": "me.wav", "words": "Hello.", "language": "en", "engine": "kokoro", "consent": True}
    given |= {"seconds": None, "speed": 1.0, "seed": 7}
    view = ended(services, VoiceHandlers(services).submit(**given))
    assert view.options["seed"] == 0


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


def test_a_part_is_dubbed_and_a_preview_begins_with_the_first_words(
    services: Services, tmp_path: Path
) -> None:
    handlers, film = DubHandlers(services), clip(tmp_path / "talk.mp4", 30.0)
    asked = handlers.options(dub_values(file=str(film), start="0:12,5", end="20", rest="cut"))
    assert (asked["start"], asked["end"], asked["rest"]) == (12.5, 20.0, "cut")
    assert source.part_of(source.probe(film), asked).frames == round(7.5 * 25)
    view = ended(services, handlers.submit_preview(asking(), **dub_values(file=str(film))))
    assert view.title == "talk.mp4 → Spanish (10 s preview)" and view.state == "done"
    assert (view.options["start"], view.options["end"], view.options["rest"]) == (0.0, 10.0, "cut")
    assert "talk-es-part.mp4" in {path.name for path in services.save(view).values()}
    place = survey._place(services, film, None)
    write_json(place / survey.RESULT, {"faces": {}, "sound": {"begins": 8.3}})
    later = ended(services, handlers.submit_preview(asking(), **dub_values(file=str(film))))
    assert (later.options["start"], later.options["end"]) == (8.0, 18.0)
    chosen = ended(services, handlers.submit_preview(asking(), **dub_values(file=str(film), start="25")))
    assert (chosen.options["start"], chosen.options["end"]) == (20.0, 30.0), (
        "there are no ten seconds after it"
    )
