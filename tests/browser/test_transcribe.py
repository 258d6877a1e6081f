"""The Transcription tab as a user works with it: files in, rows appear, are corrected, and are what is saved."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from pipelines import weights
from pipelines.backend.policy import Policy
from pipelines.backend.probe import Probe
from pipelines.settings import Settings
from tests.browser.conftest import CHROMIUM, FLAGS, Site, run_site, visit
from tests.live.test_live import fake_microphone
from tests.ui.conftest import open_services
from tests.ui.flows import clip
from ui.machine import Machine
from ui.services import make_services

pytestmark = pytest.mark.browser
Make = Callable[..., BrowserContext]


LIVE_MS = 120_000


@pytest.fixture(scope="module")
def real_site(home: Settings) -> Iterator[Site]:
    """The page with the real recogniser."""
    if not weights.present(home, "whisper-base"):
        pytest.skip("the default weights are not there: whisper-base (bash start_app.sh --setup-only)")
    services = make_services(home, Machine(Probe(), Policy(threads=2)))
    yield from run_site(services)
    services.close()


def opened(context: BrowserContext, site: Site, tab: str = "Transcription") -> Page:
    page = visit(context, site)
    page.get_by_role("tab", name=tab, exact=True).click()
    return page


def drop(page: Page, *paths: Path) -> None:
    page.locator("#transcribe-file input[type=file]").set_input_files([str(path) for path in paths])
    for path in paths:
        expect(page.locator("#transcribe-file")).to_contain_text(path.stem)


def cue(page: Page, number: int) -> Locator:
    return page.locator("#editor .cue").nth(number - 1)


def text_of(page: Page, number: int) -> Locator:
    return cue(page, number).locator(".cue-text")


def type_over(page: Page, number: int, words: str) -> None:
    text_of(page, number).click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(words)
    page.keyboard.press("Enter")


def test_rows_stream_in_are_edited_and_are_what_is_saved(context: Make, site: Site, tmp_path: Path) -> None:
    page = opened(context(), site)
    drop(page, clip(tmp_path / "held lecture.mp4"))
    page.locator("#transcribe-go").click()
    reading = page.locator("#editor .cue.reading")
    expect(reading).to_have_count(1)
    expect(reading.first).to_contain_text("Good morning.")
    expect(page.locator("#editor .wave .band")).to_have_count(2)
    folder = max(site.services.settings.jobs.glob("*/partial.jsonl"), key=lambda path: path.stat().st_mtime)
    (folder.parent / "seen-1").touch()
    expect(reading).to_have_count(2)
    (folder.parent / "seen-2").touch()
    page.locator("#transcribe-progress .job[data-state=done]").wait_for()
    expect(page.locator("#editor .cue [contenteditable]")).to_have_count(2)
    expect(text_of(page, 1).locator("mark.unsure")).to_have_text("morning.")
    expect(text_of(page, 2)).to_have_text("By train <to> Rome & back.")

    video = page.locator("#editor video")
    expect(video).to_be_visible()
    page.wait_for_function("() => document.querySelector('#editor video').readyState >= 1")
    text_of(page, 2).click()
    page.wait_for_function("() => Math.abs(document.querySelector('#editor video').currentTime - 1.4) < 0.01")
    expect(cue(page, 2)).to_have_class(re.compile(r"\bnow\b"))

    type_over(page, 1, "Good evening.")
    expect(text_of(page, 1).locator("mark.unsure")).to_have_count(0)
    expect(text_of(page, 2)).to_be_focused()
    page.keyboard.press("Home")
    for _ in "By train":
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Alt+Enter")
    expect(page.locator("#editor .cue")).to_have_count(3)
    expect(text_of(page, 3)).to_have_text("<to> Rome & back.")
    expect(text_of(page, 3)).to_be_focused()
    page.keyboard.press("ControlOrMeta+z")
    expect(page.locator("#editor .cue")).to_have_count(2)
    cue(page, 2).locator("[data-field=end]").fill("0:02.50")
    page.keyboard.press("Enter")
    cue(page, 1).locator("[data-field=speaker]").fill("Anna")
    page.keyboard.press("Tab")
    expect(page.locator("#editor .speakers input")).to_have_count(2)

    page.get_by_role("checkbox", name="json", exact=True).last.check()
    page.locator("#transcribe-save").click()
    expect(page.locator("#transcribe-saved")).to_contain_text("held lecture (2).srt")
    outputs = site.services.settings.outputs
    assert (outputs / "held lecture (2).srt").read_text(encoding="utf-8") == (
        "1\n00:00:00,000 --> 00:00:01,200\nGood evening.\n\n"
        "2\n00:00:01,400 --> 00:00:02,500\nBy train <to> Rome & back.\n"
    )
    assert (outputs / "held lecture (2).txt").read_text(
        encoding="utf-8"
    ) == "Good evening.\nBy train <to> Rome & back.\n"
    rows = json.loads((outputs / "held lecture (2).json").read_text(encoding="utf-8"))["segments"]
    assert [row["speaker"] for row in rows] == ["Anna", "S1"]
    assert [word["text"].strip() for word in rows[0]["words"]] == ["Good", "evening."]

    for pause in (0, 3000):  # whether the tab is opened at once or later
        page.reload()
        page.wait_for_timeout(pause)
        page.get_by_role("tab", name="Transcription", exact=True).click()
        expect(text_of(page, 1)).to_have_text("Good evening.")


def test_the_tools_find_replace_shift_and_say_what_is_wrong(
    context: Make, site: Site, tmp_path: Path
) -> None:
    page = opened(context(), site)
    drop(page, clip(tmp_path / "tools.mp4"))
    page.locator("#transcribe-go").click()
    page.locator("#transcribe-progress .job[data-state=done]").wait_for()
    page.locator("#editor [data-tool=find]").fill("train")
    page.keyboard.press("Enter")
    expect(cue(page, 2)).to_have_class(re.compile(r"\bchosen\b"))
    page.locator("#editor [data-tool=by]").fill("bus")
    page.locator("#editor [data-act=replace-all]").click()
    expect(text_of(page, 2)).to_have_text("By bus <to> Rome & back.")
    expect(page.locator("#editor .said")).to_have_text("1 replaced")
    page.locator("#editor [data-tool=shift]").fill("-1")
    page.locator("#editor [data-act=shift]").click()
    expect(page.locator("#editor .said")).to_contain_text("would start before the file does")
    page.locator("#editor [data-tool=shift]").fill("+0.25")
    page.locator("#editor [data-act=shift]").click()
    expect(cue(page, 1).locator("[data-field=start]")).to_have_value("0:00.25")
    cue(page, 1).locator("[data-field=end]").fill("0:02.00")
    page.keyboard.press("Enter")
    expect(cue(page, 2).locator("[data-kind=overlap]")).to_be_visible()
    cue(page, 1).locator("[data-field=end]").fill("soon")
    page.keyboard.press("Enter")
    expect(page.locator("#editor .said")).to_contain_text("is not a time")
    expect(cue(page, 1).locator("[data-field=end]")).to_have_value("0:02.00")
    text_of(page, 1).click()
    page.keyboard.press("Alt+m")
    expect(page.locator("#editor .cue")).to_have_count(1)
    page.keyboard.press("Alt+n")
    expect(page.locator("#editor .cue")).to_have_count(2)
    expect(cue(page, 2).locator("[data-kind=empty]")).to_be_visible()
    page.keyboard.press("Alt+Backspace")
    expect(page.locator("#editor .cue")).to_have_count(1)


def test_a_broken_file_does_not_stop_the_others(context: Make, site: Site, tmp_path: Path) -> None:
    page = opened(context(), site)
    paths = [clip(tmp_path / "one.mp4"), tmp_path / "broken.mp3", clip(tmp_path / "three.mp4")]
    paths[1].write_bytes(b"no sound")
    drop(page, *paths)
    page.locator("#transcribe-go").click()
    items = page.locator("#transcribe-queue .item")
    expect(items).to_have_count(3)
    expect(page.locator("#transcribe-queue .sum")).to_have_text("2 of 3 files done, 1 failed", timeout=60_000)
    states = [item.get_attribute("data-state") for item in items.all()]
    assert states == ["done", "failed", "done"]
    expect(items.nth(1)).to_contain_text("This is no sound (broken). Choose another file.")
    items.nth(2).get_by_role("button", name="Open three.mp4").click()
    expect(page.locator("#editor h3")).to_have_text("three.mp4")
    type_over(page, 1, "Third file.")
    expect(page.locator("#editor [data-act=undo]")).to_be_enabled()
    page.locator("#transcribe-zip").click()
    expect(page.locator("#transcribe-files")).to_contain_text("transcripts")
    packed = next(site.services.settings.outputs.glob("transcripts *.zip"))
    with zipfile.ZipFile(packed) as archive:
        assert sorted(archive.namelist()) == ["one.srt", "one.txt", "three.srt", "three.txt"]
        assert archive.read("three.txt").decode().startswith("Third file.\n")
    page.locator("#transcribe-retry").click()
    expect(page.locator("#transcribe-queue .sum")).to_have_text("2 of 3 files done, 1 failed")


def test_all_files_are_stopped_at_once(context: Make, site: Site, tmp_path: Path) -> None:
    page = opened(context(), site)
    drop(page, clip(tmp_path / "slow one.mp4"), clip(tmp_path / "slow two.mp4"))
    page.locator("#transcribe-go").click()
    expect(page.locator("#transcribe-queue .item[data-state=running]")).to_have_count(1)
    page.locator("#transcribe-stop").click()
    expect(page.locator("#transcribe-queue .item[data-state=stopped]")).to_have_count(2, timeout=8_000)


def test_the_editor_needs_no_sideways_scrolling_on_a_phone(context: Make, site: Site, tmp_path: Path) -> None:
    page = visit(context(viewport={"width": 390, "height": 844}, locale="zh-CN", color_scheme="dark"), site)
    page.get_by_role("tab", name="语音转写", exact=True).click()
    drop(page, clip(tmp_path / "phone.mp4"))
    page.locator("#transcribe-go").click()
    page.locator("#transcribe-progress .job[data-state=done]").wait_for()
    expect(page.locator("#editor .cue")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('#editor button, #editor input, #editor select, #editor [role=textbox]')]
        .filter(e => e.offsetParent && !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')))
        .map(e => e.outerHTML.slice(0, 120))"""
    )
    assert nameless == []


def test_the_history_survives_a_restart_and_opens_in_the_editor(
    context: Make, home: Settings, tmp_path: Path
) -> None:
    own = replace(home, **{name: tmp_path / name for name in ("outputs", "jobs", "cache", "logs")})
    for chapter in (1, 2):
        services = open_services(own)
        running = run_site(services)
        try:
            page = opened(context(), next(running))
            (_make_history if chapter == 1 else _find_history)(page, own, tmp_path)
        finally:
            running.close()
            services.close()


def _make_history(page: Page, own: Settings, folder: Path) -> None:
    drop(page, clip(folder / "old talk.mp4"))
    page.locator("#transcribe-go").click()
    page.locator("#transcribe-progress .job[data-state=done]").wait_for()
    type_over(page, 1, "Remember me.")
    expect(page.locator("#editor [data-act=undo]")).to_be_enabled()


def _find_history(page: Page, own: Settings, folder: Path) -> None:
    expect(page.locator("#editor .cue")).to_have_count(0)  # another browser: nothing is open in it
    page.get_by_role("button", name="History", exact=False).first.click()
    page.locator("#history-search textarea, #history-search input").fill("remember")
    item = page.locator("#history-list .item")
    expect(item).to_have_count(1)
    expect(item.locator(".found mark")).to_have_text("Remember")
    item.get_by_role("button", name="Open: old talk.mp4").click()
    expect(text_of(page, 1)).to_have_text("Remember me.")
    page.locator("#transcribe-save").click()
    expect(page.locator("#transcribe-saved")).to_contain_text("old talk (2).srt")
    assert "Remember me." in (own.outputs / "old talk (2).srt").read_text(encoding="utf-8")
    item.get_by_role("button", name="Delete…: old talk.mp4").click()
    item.get_by_role("button", name="Keep: old talk.mp4").click()
    item.get_by_role("button", name="Delete…: old talk.mp4").click()
    item.get_by_role("button", name="Delete for good: old talk.mp4").click()
    expect(item).to_have_count(0)
    expect(page.locator("#editor .cue")).to_have_count(0)


def test_a_finished_job_is_opened_again_from_the_jobs_tab(context: Make, site: Site, tmp_path: Path) -> None:
    page = opened(context(), site)
    drop(page, clip(tmp_path / "again.mp4"))
    page.locator("#transcribe-go").click()
    page.locator("#transcribe-progress .job[data-state=done]").wait_for()
    other = opened(context(), site, "Jobs")
    other.locator("#jobs-table [role=gridcell]", has_text="again.mp4").first.click()
    other.locator("#jobs-reopen").click()
    expect(other.locator("#editor h3")).to_have_text("again.mp4")
    expect(other.locator("#transcribe-go")).to_be_visible()
    drop(page, clip(tmp_path / "later.mp4"))  # a browser that remembers another one, its tab not opened since
    page.locator("#transcribe-go").click()
    expect(page.locator("#editor h3")).to_have_text("later.mp4")
    page.reload()
    page.get_by_role("tab", name="Jobs", exact=True).click()
    page.locator("#jobs-table [role=gridcell]", has_text="again.mp4").first.click()
    page.locator("#jobs-reopen").click()
    expect(page.locator("#editor h3")).to_have_text("again.mp4")


def test_the_microphone_is_heard_live_and_its_recording_transcribed(
    browser: Browser, real_site: Site, data: Path, tmp_path: Path
) -> None:
    """Chromium's fake microphone plays a real recording into the real recogniser."""
    sound = fake_microphone(data / "speech" / "en_jfk.flac", tmp_path)
    capture = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
               f"--use-file-for-fake-audio-capture={sound}%noloop")  # fmt: skip
    hearing = browser.browser_type.launch(executable_path=CHROMIUM, args=[*FLAGS, *capture])
    try:
        page = opened(hearing.new_context(locale="en-US"), real_site)
        page.get_by_role("button", name="Live from the microphone").click()
        page.locator("#live [data-part=start]").click()
        heard = page.locator("#live .live-text")
        expect(heard).to_contain_text(re.compile("fellow", re.IGNORECASE), timeout=LIVE_MS)
        expect(heard.locator("p:not(.partial)").first).to_contain_text("fellow", timeout=LIVE_MS)
        page.locator("#live [data-part=start]").click()
        expect(page.locator("#live [data-part=state]")).to_have_text("Over", timeout=LIVE_MS)
        page.locator("#live [data-part=keep]").click()
        page.locator("#transcribe-progress .job[data-state=done]").wait_for(timeout=LIVE_MS)
        expect(page.locator("#editor .cues")).to_contain_text("fellow")
        expect(page.locator("#editor audio")).to_be_visible()
    finally:
        hearing.close()
