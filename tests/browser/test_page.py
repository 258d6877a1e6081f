"""The page as a user meets it: tabs, languages, sizes, jobs that outlive the page, errors in words."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Request, expect

from tests.browser.conftest import Site, visit
from tests.ui.flows import clip

pytestmark = pytest.mark.browser
Make = Callable[..., BrowserContext]
TABS = {
    "Dub": "#dub-go",
    "Voice cloning": "#voice-go",
    "Transcription": "#transcribe-go",
    "Talking head": "#head-go",
    "Jobs": "#jobs-refresh",
    "System": "#system-doctor table",
}


@pytest.fixture(scope="session")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Short clips whose names tell the quick flows what to do."""
    folder = tmp_path_factory.mktemp("clips")
    for name in ("talk", "slow", "faceless"):
        clip(folder / f"{name}.mp4")
    return folder


def choose(page: Page, path: Path, language: str = "Spanish") -> None:
    """Drop a clip on the Dub tab and choose the language."""
    page.locator("#dub-file input[type=file]").set_input_files(str(path))
    expect(page.locator("#dub-file")).to_contain_text(path.stem)
    page.locator("#dub-target input").click()
    page.get_by_role("option", name=re.compile(f"^{language}")).click()


def test_every_tab_opens_and_nothing_is_asked_of_another_host(context: Make, site: Site) -> None:
    foreign: list[str] = []
    one = context()

    def note(request: Request) -> None:
        if not request.url.startswith((site.url, "data:", "blob:")):
            foreign.append(request.url)

    one.on("request", note)
    page = visit(one, site)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    for name, content in TABS.items():
        page.get_by_role("tab", name=name, exact=True).click()
        expect(page.locator(content)).to_be_visible()
    assert foreign == [] and complaints == []


def test_the_banner_names_machine_precision_and_engines_and_opens_their_table(
    context: Make, site: Site
) -> None:
    page = visit(context(), site)
    line = page.locator("#banner summary")
    for words in ("2 threads", "full precision (fp32)", "engines ready", "why / change"):
        expect(line).to_contain_text(words)
    engines, stages = page.locator("#banner .engines table"), page.locator("#banner .stages table")
    expect(engines).to_be_hidden()
    expect(stages).to_be_hidden()
    line.click()
    expect(engines).to_contain_text("Kokoro 82M with voice matching (not cloning)")
    expect(stages.locator("tr", has_text="Finding faces")).to_contain_text("MediaPipeCPU")
    page.wait_for_timeout(6000)  # the banner is looked at again every 5 s: what is open stays open
    expect(stages).to_be_visible()
    page.locator("#banner").get_by_role("button", name="Change how engines run").click()
    expect(page.locator("#system-switches")).to_be_visible()


def test_chinese_browsers_get_chinese_and_the_choice_is_remembered(context: Make, site: Site) -> None:
    one = context(locale="zh-CN")
    page = visit(one, site)
    for name in ("配音", "声音克隆", "语音转写", "数字人", "任务", "系统"):
        expect(page.get_by_role("tab", name=name, exact=True)).to_be_visible()
    expect(page.locator("#banner")).to_contain_text("引擎")
    page.locator("#language input").click()
    page.get_by_role("option", name="English").click()
    expect(page.get_by_role("tab", name="Voice cloning", exact=True)).to_be_visible()
    expect(page.locator("#banner")).to_contain_text("engines ready")
    again = visit(one, site)
    expect(again.get_by_role("tab", name="Talking head", exact=True)).to_be_visible()


def test_other_languages_get_english(context: Make, site: Site) -> None:
    page = visit(context(locale="de-DE"), site)
    expect(page.locator("#dub-go")).to_have_text("3 · Dub")


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_a_phone_needs_no_sideways_scrolling(context: Make, site: Site, locale: str) -> None:
    page = visit(context(viewport={"width": 390, "height": 844}, color_scheme="dark", locale=locale), site)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator("#dub-go")).to_be_visible()
    box = page.locator("#dub-go").bounding_box()
    assert box is not None and box["width"] > 300 and box["height"] >= 40


CONTRAST = """(names) => {
  const light = (colour) => {
    const spot = document.createElement('canvas').getContext('2d');
    spot.fillStyle = colour; spot.fillRect(0, 0, 1, 1);
    const parts = [...spot.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255);
    const [red, green, blue] = parts.map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const style = getComputedStyle(document.body);
  const [one, other] = names.map((name) => light(style.getPropertyValue(name)));
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_quiet_words_and_the_edges_of_what_can_be_pressed_are_seen(
    context: Make, site: Site, scheme: str
) -> None:
    """WCAG 2.1: 4.5 to 1 for words; the edges of boxes that would otherwise be white on white."""
    page = visit(context(color_scheme=scheme), site)
    for ground in ("--body-background-fill", "--background-fill-secondary"):
        assert page.evaluate(CONTRAST, ["--body-text-color-subdued", ground]) >= 4.5, ground
    assert page.evaluate(CONTRAST, ["--checkbox-border-color", "--checkbox-background-color"]) >= 2
    assert page.locator("#dub-example").evaluate("button => getComputedStyle(button).borderTopWidth") == "1px"


def test_tables_stay_readable_on_a_phone(context: Make, site: Site) -> None:
    page = visit(context(viewport={"width": 390, "height": 844}, locale="zh-CN"), site)
    page.locator(".overflow-menu button").first.click()
    page.locator(".overflow-dropdown button", has_text="系统").click()
    for table in ("#system-weights table", "#system-doctor table"):
        page.locator(table).wait_for()
        lines = page.evaluate(
            """(name) => Math.max(...[...document.querySelectorAll(`${name} td`)].map(
              (cell) => cell.getBoundingClientRect().height / parseFloat(getComputedStyle(cell).lineHeight)))""",
            table,
        )
        assert lines < 12, f"{table}: words broken into single letters"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_inputs_have_names_for_screen_readers(context: Make, site: Site) -> None:
    page = visit(context(), site)
    for name in ("Dub", "Voice cloning", "Transcription", "Talking head", "Jobs", "System"):
        page.get_by_role("tab", name=name, exact=True).click()
        page.wait_for_timeout(300)
        nameless = page.evaluate(
            """() => [...document.querySelectorAll('button, select, textarea, input:not([type=file]):not([type=hidden])')]
            .filter(e => e.offsetParent && !(e.textContent.trim() || e.getAttribute('aria-label') || e.title
              || (e.labels && e.labels.length && e.labels[0].textContent.trim()) || e.closest('label')
              || e.getAttribute('aria-labelledby')))
            .map(e => e.outerHTML.slice(0, 160))"""
        )
        assert nameless == [], name


def test_a_dub_runs_in_named_stages_and_its_result_is_shown(context: Make, site: Site, clips: Path) -> None:
    page = visit(context(), site)
    choose(page, clips / "talk.mp4")
    facts = page.locator("#dub-facts")
    for fact in ("0:03", "192×108", "25 fps", "AAC"):
        expect(facts).to_contain_text(fact)
    expect(page.locator("#dub-estimate")).to_contain_text("on this computer")
    page.locator("#dub-go").click()
    card = page.locator("#dub-progress .job")
    for stage in ("Listening", "Translating", "Speaking", "Syncing lips", "Making the video"):
        expect(card).to_contain_text(stage)
    expect(card).to_have_attribute("data-state", "done", timeout=60_000)
    expect(page.locator("#dub-saved")).to_contain_text("talk-es.mp4")
    expect(page.locator("#dub-files tr")).to_have_count(4)  # film, two subtitles, report
    clearing = page.locator(
        "#dub-files button.label-clear-button"
    )  # what was made is not for this page to drop
    assert [button.is_visible() for button in clearing.all()] == [False] * 4
    expect(page.locator("#dub-before video")).to_be_visible()
    after = page.locator("#dub-after video")
    expect(after).to_be_visible()
    page.wait_for_function("() => document.querySelector('#dub-after video').readyState >= 2")
    assert page.evaluate("document.querySelector('#dub-after video').videoWidth") == 192
    expect(page.locator("#dub-timeline svg")).to_be_visible()
    expect(page.locator("#dub-table")).to_contain_text("We went by <train> & bus.")
    expect(card).to_contain_text("Line 1 is fast")
    other = reopened(context(), site, "talk.mp4 → Spanish")
    expect(other.locator("#dub-progress .job")).to_have_attribute("data-state", "done")
    expect(other.locator("#dub-table")).to_contain_text("We went by <train> & bus.")
    for player in ("before", "after"):
        expect(other.locator(f"#dub-{player} video")).to_be_visible()


def reopened(fresh: BrowserContext, site: Site, title: str) -> Page:
    """Another browser, in which a job is opened again from the Jobs tab."""
    page = visit(fresh, site)
    page.get_by_role("tab", name="Jobs", exact=True).click()
    page.locator("#jobs-table [role=gridcell]", has_text=title).first.click()
    page.locator("#jobs-reopen").click()
    expect(page.locator("#dub-go")).to_be_visible()
    return page


def test_a_language_nobody_speaks_is_explained_and_cannot_be_dubbed_into(context: Make, site: Site) -> None:
    page = visit(context(), site)
    go, note = page.locator("#dub-go"), page.locator("#dub-target-note")
    expect(go).to_be_enabled()
    expect(page.locator("#dub-target input")).to_have_value(re.compile("^Spanish – "))  # the menu is filled
    page.locator("#dub-target input").click()
    greyed = page.get_by_role("option", name=re.compile("^German"))
    assert float(greyed.evaluate("option => getComputedStyle(option).opacity")) < 0.7
    greyed.click()
    expect(note).to_contain_text("no voice speaks German here")
    expect(go).to_be_disabled()
    page.locator("#dub-target input").click()
    page.get_by_role("option", name=re.compile("^French")).click()
    expect(go).to_be_enabled()
    expect(note).not_to_contain_text("German")


def test_a_language_chosen_before_the_menus_are_filled_stays_chosen(
    context: Make, site: Site, clips: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ui import languages

    filled = threading.Event()
    real = languages.target_choices

    def late(*given: Any, **named: Any) -> Any:
        time.sleep(10.0)
        filled.set()
        return real(*given, **named)

    monkeypatch.setattr(languages, "target_choices", late)
    page = context().new_page()
    page.goto(site.url)
    box = page.locator("#dub-target input")
    expect(box).to_have_value("Spanish")
    box.click()
    page.get_by_role("option", name=re.compile("^French")).click()
    assert not filled.is_set(), "the menu was filled before the choice: this test shows nothing"
    expect(box).to_have_value(re.compile("^French – "))
    page.locator("#dub-file input[type=file]").set_input_files(str(clips / "talk.mp4"))
    expect(page.locator("#dub-file")).to_contain_text("talk")
    page.locator("#dub-go").click()
    expect(page.locator("#dub-progress .job[data-job]")).to_contain_text("talk.mp4 → French")


def wait_for(happened: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Whether it happens in this time."""
    end = time.monotonic() + seconds
    while not happened() and time.monotonic() < end:
        time.sleep(0.1)
    return happened()


def test_lines_are_copied_or_selected_one_keeps_its_sound_and_edits_outlive_a_reload(
    context: Make, site: Site, clips: Path
) -> None:
    one = context()
    one.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit(one, site)
    choose(page, clips / "talk.mp4", "Japanese")
    page.locator("#dub-go").click()
    page.locator("#dub-lines").wait_for()
    page.locator("#dub-copy").click()
    told = page.get_by_test_id("toast-body")
    expect(told).to_contain_text("Copied")
    numbered = "1. Good morning.\n2. We went by <train> & bus."
    assert page.evaluate("navigator.clipboard.readText()") == numbered
    # What a page opened from another computer over plain http finds:
    page.evaluate(
        "() => { Object.defineProperty(navigator, 'clipboard', {value: undefined}); document.execCommand = () => false; }"
    )
    page.locator("#dub-copy").click()
    expect(told.filter(has_text="press Ctrl+C")).to_be_visible()
    selected = "(() => { const box = document.activeElement; return box.value.slice(box.selectionStart, box.selectionEnd); })()"
    assert page.evaluate(selected) == numbered

    page.locator("#dub-numbered textarea").fill("1. おはよう。")
    page.locator("#dub-paste").click()
    expect(page.locator("#dub-table")).to_contain_text("おはよう。")
    page.locator("#dub-table [role=gridcell][data-row='1'][data-col='5'] input[type=checkbox]").check()
    page.locator("#dub-again").click()
    page.locator("#dub-progress .job[data-state=done]").wait_for()
    job = page.locator("#dub-progress .job").get_attribute("data-job")
    view = site.services.store.view(str(job))
    assert view is not None
    assert [(line["text"], line["keep"]) for line in view.options["lines"]] == [
        ("おはよう。", False),
        ("", True),
    ]
    expect(page.locator("#dub-table [role=gridcell][data-row='1'][data-col='6']")).to_contain_text(
        "original sound"
    )

    cell = page.locator("#dub-table [role=gridcell][data-row='0'][data-col='4']")
    cell.dblclick()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("やあ。")
    page.keyboard.press("Enter")
    draft = view.folder / "draft.json"
    page.wait_for_function("() => document.querySelector('#dub-table').innerText.includes('やあ。')")
    assert wait_for(draft.is_file), "the edit was not kept"
    page.reload()
    expect(cell).to_contain_text("やあ。")
    other = reopened(
        context(), site, "talk.mp4 → Japanese"
    )  # from the Jobs tab too, what was not dubbed yet is there
    expect(other.locator("#dub-table [role=gridcell][data-row='0'][data-col='4']")).to_contain_text("やあ。")
    page.locator("#dub-undo").click()
    expect(cell).to_contain_text("おはよう。")


def test_a_path_typed_in_is_looked_at_when_the_box_is_left(context: Make, site: Site, clips: Path) -> None:
    page = visit(context(), site)
    page.get_by_role("button", name=re.compile("Use a file on this computer")).first.click()
    page.locator("#dub-path textarea, #dub-path input").fill(str(clips / "talk.mp4"))
    page.locator("#dub-target input").click()
    expect(page.locator("#dub-facts")).to_contain_text("192×108")


def test_a_reload_finds_the_running_job_and_stop_ends_it(context: Make, site: Site, clips: Path) -> None:
    page = visit(context(), site)
    choose(page, clips / "slow.mp4", "French")
    page.locator("#dub-go").click()
    card = page.locator("#dub-progress .job[data-state=running]")
    expect(card).to_contain_text("frames")
    job = card.get_attribute("data-job")
    page.reload()
    expect(page.locator(f"#dub-progress .job[data-job='{job}'][data-state=running]")).to_be_visible()
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator(f"#dub-progress .job[data-job='{job}'][data-state=stopped]")).to_be_visible(
        timeout=8_000
    )
    expect(page.get_by_role("button", name="Resume", exact=True)).to_be_visible()


def test_an_error_is_one_sentence_in_the_users_language(context: Make, site: Site, clips: Path) -> None:
    page = visit(context(locale="zh-CN"), site)
    choose(page, clips / "faceless.mp4", "西班牙语")
    page.locator("#dub-go").click()
    alert = page.locator("#dub-progress [role=alert]")
    expect(alert).to_have_text("没有找到人脸 (0:00–0:03)。请换一个视频。", timeout=60_000)
    expect(page.locator("body")).not_to_contain_text("Traceback")


def test_pressing_dub_without_a_file_says_what_to_do(context: Make, site: Site) -> None:
    page = visit(context(), site)
    page.locator("#dub-go").click()
    expect(page.get_by_test_id("toast-body")).to_contain_text(
        "There is no file yet. Drop one into the box first."
    )


def test_the_jobs_tab_lists_opens_and_deletes(context: Make, site: Site, clips: Path) -> None:
    page = visit(context(), site)
    page.get_by_role("tab", name="Jobs", exact=True).click()
    row = page.locator("#jobs-table [role=gridcell]", has_text="slow.mp4").first
    row.click()
    expect(page.locator("#jobs-card .job[data-state=stopped]")).to_be_visible()
    page.locator("#jobs-delete").click()
    expect(page.get_by_text("Results saved in the outputs folder stay.")).to_be_visible()
    page.locator("#jobs-really").click()
    expect(page.locator("#jobs-table [role=gridcell]", has_text="slow.mp4")).to_have_count(0)


def test_the_row_of_a_job_that_is_watched_follows_it(context: Make, site: Site, clips: Path) -> None:
    page = visit(context(), site)
    choose(page, clips / "slow.mp4", "French")
    page.locator("#dub-go").click()
    page.locator("#dub-progress .job[data-state=running]").wait_for()
    page.get_by_role("tab", name="Jobs", exact=True).click()
    page.locator("#jobs-table [role=gridcell]", has_text="slow.mp4").first.click()
    expect(page.locator("#jobs-card .job[data-state=running]")).to_be_visible()
    cells = page.locator("#jobs-table [role=gridcell]")
    running = cells.get_by_text("Running", exact=True)
    expect(running).to_have_count(1)
    page.locator("#jobs-stop").click()
    expect(page.locator("#jobs-card .job[data-state=stopped]")).to_be_visible()
    expect(running).to_have_count(0)
    page.locator("#jobs-resume").click()
    expect(running).to_have_count(1)
    page.locator("#jobs-stop").click()
    expect(page.locator("#jobs-card .job[data-state=stopped]")).to_be_visible()
    expect(running).to_have_count(0)
    page.locator("#jobs-delete").click()
    page.locator("#jobs-really").click()
    expect(cells.get_by_text("slow.mp4")).to_have_count(0)


def test_the_examples_consent_does_not_hold_for_another_voice(
    context: Make, site: Site, tmp_path: Path
) -> None:
    page = visit(context(), site)
    page.get_by_role("tab", name="Voice cloning", exact=True).click()
    page.locator("#voice-example").click()
    consent = page.get_by_label("This is my voice, or I may use it")
    expect(consent).to_be_checked()
    page.wait_for_timeout(1500)
    expect(consent).to_be_checked()
    page.locator("#voice-sample").get_by_label("Clear").click()
    expect(consent).not_to_be_checked()


def test_the_demo_address_opens_with_the_example(context: Make, site: Site) -> None:
    page = context().new_page()
    page.goto(f"{site.url}?demo=1")
    expect(page.locator("#dub-file")).to_contain_text("talker")
    expect(page.locator("#dub-facts")).to_contain_text("512×512")
    plain = visit(context(), site)
    expect(plain.locator("#dub-facts")).to_be_hidden()
    assert "talker" not in plain.locator("#dub-file").inner_text()


@pytest.mark.parametrize(
    ("tab", "name", "file", "state"),
    [
        ("Voice cloning", "voice", "sample", None),
        ("Transcription", "transcribe", "sample", "done"),
        ("Talking head", "head", "talker", "done"),
    ],
)
def test_every_tab_has_an_example_that_works(
    context: Make, site: Site, tab: str, name: str, file: str, state: str | None
) -> None:
    """One click fills what the tab needs; what may not be given for the user (consent to a voice) stays open."""
    page = visit(context(), site)
    page.get_by_role("tab", name=tab, exact=True).click()
    page.locator(f"#{name}-example").click()
    page.wait_for_timeout(1500)
    if state is None:
        page.get_by_label("This is my voice, or I may use it").check()
    page.locator(f"#{name}-go").click()
    page.locator(f"#{name}-progress .job[data-state=done]").wait_for()
