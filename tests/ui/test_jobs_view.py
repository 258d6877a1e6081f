"""A job as the page shows it."""

from __future__ import annotations

from pathlib import Path

import gradio as gr
import pytest

from pipelines.clock import clock
from pipelines.errors import (
    DiskFull,
    Message,
    NoFace,
    NoSoundTrack,
    PipelineError,
    TranslatorMissing,
    WorkerDied,
)
from pipelines.jobs.spec import JobView, NoteView, StageView
from tests.ui.conftest import asking
from ui.jobs_view import job_html, plainly, seconds_left, worth_resuming


def view_of(**changed: object) -> JobView:
    values: dict[str, object] = {
        "id": "1", "kind": "dub", "title": "a.mp4 → Spanish", "state": "running", "folder": Path("jobs/1"),
        "created": 0.0, "started": 100.0, "finished": None,
        "stages": (
            StageView("listen", 8.0, 8.0, "s", 3.0),
            StageView("speak", 1, 4, "lines", 6.0),
        ),
    }  # fmt: skip
    return JobView(**{**values, **changed})  # type: ignore[arg-type]


def test_stages_show_counts_times_and_what_is_to_come() -> None:
    html = job_html(view_of(), "en", now=142.0)
    assert "0:42 elapsed" in html
    assert "0:08 / 0:08 · 0:03" in html
    assert "1 / 4 lines · 0:18 left" in html
    assert (
        html.index("Listening")
        < html.index("Speaking")
        < html.index("Syncing lips")
        < html.index("Making the video")
    )
    assert 'aria-valuenow="25"' in html


def test_the_whole_time_left_is_told_from_the_first_second() -> None:
    """The running stage as it goes (or as expected while that is not known), and what is to come as expected."""
    expected = {"listen": 3.0, "speak": 60.0, "lips": 100.0, "video": 2.0}
    assert "0:42 elapsed · about 2 min left" in job_html(view_of(), "en", now=142.0, expected=expected)
    assert seconds_left(view_of(), expected) == pytest.approx(18 + 102)
    begun = view_of(stages=(StageView("listen", 8, 8, "s", 3.0), StageView("speak", 0, 4, "lines", 0.5)))
    assert seconds_left(begun, expected) == pytest.approx(59.5 + 102)
    slow = view_of(stages=(StageView("listen", 8, 8, "s", 12.0), StageView("speak", 0, 4, "lines", 0.5)))
    assert seconds_left(slow, expected) == pytest.approx(4 * 162 - 0.5), "as slow as it was so far"
    skipped = view_of(stages=(StageView("listen", 8, 8, "s", 0.1), StageView("speak", 0, 4, "lines", 0.5)))
    assert seconds_left(skipped, expected) == pytest.approx(161.5)
    last = view_of(stages=(StageView("video", 0, None, "files", 1.0),))
    assert "大约还需 70 秒" in job_html(last, "zh", now=142.0, expected={"video": 70.0})
    assert "about" not in job_html(view_of(state="done", finished=150.0), "en", expected=expected)
    assert "about" not in job_html(view_of(), "en", now=142.0), "nothing is promised where nothing is known"


def test_stages_that_were_finished_before_are_shown_as_done_and_cost_nothing() -> None:
    """A resumed job, or one with a line edited, begins where its work is missing."""
    resumed = view_of(stages=(StageView("lips", 50, 100, "frames", 10.0),))
    html = job_html(resumed, "en", now=110.0)
    places = [html.index(name) for name in ("Listening", "Translating", "Speaking", "Syncing lips", "Making")]
    assert places == sorted(places)
    assert html.count('class="stage done"') == 3 and html.count('class="stage waiting"') == 1
    assert seconds_left(resumed, {"listen": 9, "speak": 9, "lips": 9, "video": 2}) == pytest.approx(10 + 2)
    done = view_of(state="done", finished=120.0, stages=resumed.stages)
    assert job_html(done, "en").count('class="stage done"') == 5


def test_a_failed_job_shows_its_sentence_in_the_users_language_and_nothing_else() -> None:
    error = NoFace(
        Message("No face was found", "没有找到人脸"), Message("Choose another.", "请换一个。"), "0:00–0:03"
    )
    failed = view_of(state="failed", finished=130.0, error=error.record())
    assert "No face was found (0:00–0:03). Choose another." in job_html(failed, "en")
    assert "没有找到人脸 (0:00–0:03)。请换一个。" in job_html(failed, "zh")
    assert "Traceback" not in job_html(failed, "en")


def test_names_and_notes_cannot_inject_html() -> None:
    html = job_html(
        view_of(title="<img src=x onerror=alert(1)>.mp4", notes=(NoteView("hint", "<b>x</b>", "x"),)), "en"
    )
    assert "<img" not in html and "<b>" not in html and "&lt;img" in html


@pytest.mark.parametrize(
    ("seconds", "shown"), [(7.4, "0:07"), (59.6, "1:00"), (750, "12:30"), (3723, "1:02:03")]
)
def test_clock(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown


def test_an_expected_error_reaches_the_user_as_a_sentence() -> None:
    @plainly
    def handler(request: gr.Request) -> None:
        raise NoFace(Message("No face was found", "没有找到人脸"))

    with pytest.raises(gr.Error, match="没有找到人脸"):
        handler(asking("zh-CN"))


@pytest.mark.logs_errors
def test_an_unexpected_error_tells_the_user_nothing_of_the_code() -> None:
    @plainly
    def handler() -> None:
        raise RuntimeError("secret detail")

    with pytest.raises(gr.Error) as caught:
        handler()
    assert "secret" not in str(caught.value) and "System tab" in str(caught.value)


def test_a_dub_that_waits_for_its_words_does_not_look_like_a_failure() -> None:
    error = TranslatorMissing(Message("Nobody translates English", "没有翻译器")).record()
    heard = (StageView("listen", 8.0, 8.0, "s", 3.0),)
    html = job_html(view_of(state="failed", stages=heard, error=error, finished=120.0), "en")
    assert "Waiting for your translation" in html and "Not finished" not in html
    assert html.count('class="stage done"') == 1 and 'class="stage failed"' not in html
    assert 'class="problem hint"' in html and "Nobody translates English" in html


@pytest.mark.parametrize(
    ("error", "worth"),
    [(WorkerDied, True), (DiskFull, True), (NoSoundTrack, False), (TranslatorMissing, False)],
)
def test_resume_is_offered_only_where_the_same_may_end_better(
    error: type[PipelineError], worth: bool
) -> None:
    assert worth_resuming(view_of(state="failed", error=error(Message("x", "x")).record())) is worth
    assert worth_resuming(view_of(state="stopped")) and not worth_resuming(view_of(state="running"))
