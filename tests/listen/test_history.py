"""The history: found by Chinese and English words, filtered, reopened, edited, deleted; it survives everything but a clear."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from pipelines.errors import InputError
from pipelines.history import FILE, Entry, History
from pipelines.history.schema import MIGRATIONS
from pipelines.settings import Settings
from pipelines.types import Segment, Word


def entry(name: str, *texts: str, **facts: object) -> Entry:
    lines = tuple(
        Segment(n, n + 1.0, text, (Word(n, n + 1.0, text, 0.4),), "S1") for n, text in enumerate(texts)
    )
    known = {"language": "en", "engine": "whisper", "duration": 3.0, "source": f"/media/{name}", **facts}
    return Entry(name=name, segments=lines, **known)  # type: ignore[arg-type]


@pytest.fixture
def history(settings: Settings) -> History:
    history = History.open(settings)
    history.add(
        entry(
            "bus.wav",
            "欢迎大家来体验达摩院推出的语音识别模型。",
            "下一站滨海新区",
            language="zh",
            created=100.0,
        )
    )
    history.add(entry("jfk.flac", "Ask not what your country can do", "my fellow Americans", created=200.0))
    history.add(entry("会议 2.mp4", "We use Kokoro 语音 here, O'Brien said", engine="funasr", created=300.0))
    return history


def names(history: History, query: str = "", **filters: object) -> list[str]:
    return [row.name for row in history.search(query, **filters)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["会议 2.mp4", "jfk.flac", "bus.wav"]),
        ("语音", ["会议 2.mp4", "bus.wav"]),
        ("语音识别", ["bus.wav"]),
        ("识语", []),
        ("体验 新区", ["bus.wav"]),
        ("countr", ["jfk.flac"]),
        ("COUNTRY americans", ["jfk.flac"]),
        ('"your country"', ["jfk.flac"]),
        ('"country your"', []),
        ("会议", ["会议 2.mp4"]),
        ("jfk", ["jfk.flac"]),
        ("O'Brien", ["会议 2.mp4"]),
        ('" OR * NEAR(a b) - :', []),
        ("kokoro语音", ["会议 2.mp4"]),
        ("%", []),
    ],
)
def test_words_are_found_in_both_languages(history: History, query: str, found: list[str]) -> None:
    assert names(history, query) == found
    assert history.count(query) == len(found)


def test_filters_and_pages(history: History) -> None:
    assert names(history, language="zh") == ["bus.wav"]
    assert names(history, "语音", engine="funasr") == ["会议 2.mp4"]
    assert names(history, since=150.0, until=200.0) == ["jfk.flac"]
    assert names(history, limit=1, offset=1) == ["jfk.flac"]
    assert (history.languages(), history.engines()) == (("en", "zh"), ("funasr", "whisper"))


def test_a_snippet_shows_what_was_found_as_it_was_written(history: History) -> None:
    (row,) = history.search("语音识别")
    assert "推出的⟦语音识别⟧模型。" in row.snippet
    (row,) = history.search("fellow")
    assert row.snippet.endswith("do my ⟦fellow⟧ Americans") and row.segments == 2
    assert history.search()[0].snippet == "We use Kokoro 语音 here, O'Brien said"


def test_an_entry_comes_back_whole_and_edited_rows_are_kept(history: History) -> None:
    number = history.search("country")[0].id
    before = history.get(number)
    assert (
        before.segments
        == entry("jfk.flac", "Ask not what your country can do", "my fellow Americans").segments
    )
    edited = (Segment(0, 1, "twenty five lines", normalised="25 lines"),)
    history.update(number, edited)
    history.rename(number, "演讲")
    after = history.get(number)
    assert (after.segments, after.name, after.created, after.source) == (
        edited,
        "演讲",
        200.0,
        "/media/jfk.flac",
    )
    assert names(history, "25") == names(history, "twenty") == names(history, "演讲") == ["演讲"]
    assert names(history, "fellow") == [] == names(history, "jfk")


def test_a_job_done_again_replaces_its_entry(history: History) -> None:
    first = history.add(entry("a.mp4", "one", folder="/jobs/7", created=400.0))
    second = history.add(entry("a.mp4", "two", folder="/jobs/7", created=500.0))
    assert first == second and names(history, "one") == [] and names(history, "two") == ["a.mp4"]
    assert history.count() == 4


def test_deleting_one_and_clearing_all(history: History) -> None:
    number = history.search("country")[0].id
    history.delete(number)
    history.delete(number)
    assert names(history, "country") == [] and history.count() == 2
    for gone in (
        lambda: history.get(number),
        lambda: history.update(number, ()),
        lambda: history.rename(number, "x"),
    ):
        with pytest.raises(InputError, match=f"no entry {number}"):
            gone()
    assert history.clear() == 2
    assert history.search() == () and names(history, "语音") == []
    assert history.add(entry("new.wav", "hello")) > number  # a number never comes back for something else


def test_it_survives_a_restart_and_two_writers(settings: Settings, history: History) -> None:
    history.close()

    def write(part: int) -> None:
        with History.open(settings) as own:
            for number in range(10):
                own.add(entry(f"{part}-{number}", "parallel words"))

    threads = [threading.Thread(target=write, args=(part,)) for part in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with History.open(settings) as again:
        assert again.count() == 33 and again.count("parallel") == 30


def test_an_older_file_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / FILE
    old = sqlite3.connect(path)
    MIGRATIONS[0](old)
    insert = "INSERT INTO entries VALUES (?, 1.0, 's', 'n', 'en', 'whisper', 2.0, '{}', ?, ?)"
    for number, folder in ((1, "/jobs/1"), (2, "/jobs/1"), (3, "")):
        old.execute(insert, (number, '[{"start": 0, "end": 1, "text": "old"}]', folder))
        old.execute("INSERT INTO words (rowid, name, said) VALUES (?, 'n', 'old')", (number,))
    old.execute("PRAGMA user_version = 1")
    old.commit()
    old.close()
    with History(path) as history:
        assert [(row.id, row.segments) for row in history.search("old")] == [(3, 1), (2, 1)]
        assert history.get(2).segments == (Segment(0, 1, "old"),)
    with History(path) as history:  # and it stays so
        assert history.count() == 2


def test_a_file_from_the_future_or_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / FILE
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(InputError, match="newer version"):
        History(path)
    path.write_bytes(b"this is no database at all" * 100)
    with pytest.raises(InputError, match="cannot be opened"):
        History(path)
    assert path.read_bytes().startswith(b"this is no database")
