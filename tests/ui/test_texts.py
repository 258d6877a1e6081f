"""Both languages say the same things, and errors and labels come out in the browser's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.ui.conftest import asking
from ui.i18n import label, language_of, make_i18n, say
from ui.texts import TEXTS

UI = Path(__file__).resolve().parents[2] / "ui"


def test_every_text_has_both_languages_and_the_same_placeholders() -> None:
    for key, (english, chinese) in TEXTS.items():
        assert key.startswith("ui_"), key
        assert bool(english) == bool(chinese), key
        assert sorted(re.findall(r"\{(\w+)\}", english)) == sorted(re.findall(r"\{(\w+)\}", chinese)), key


def test_every_key_named_in_the_sources_exists() -> None:
    named: set[str] = set()
    for path in UI.rglob("*.py"):
        named |= set(re.findall(r"""["'](ui_[a-z_0-9]+)["']""", path.read_text(encoding="utf-8")))
    assert named - TEXTS.keys() == set()


def test_every_text_is_used() -> None:
    """By its whole key, or by the beginning in an f-string and an end that stands in the sources by itself."""
    root = UI.parent
    sources = {
        path: path.read_text(encoding="utf-8")
        for part in ("ui", "pipelines")
        for path in (root / part).rglob("*.py")
    }
    page = "".join(
        code for path, code in sources.items() if not path.name.endswith("texts.py") and UI in path.parents
    )
    beginnings = set(re.findall(r"""f"(ui_[a-z_]+_)\{""", page))
    code = "".join(code for path, code in sources.items() if not path.name.endswith("texts.py"))
    words = set(re.findall(r"""["']([a-z0-9_]+)["']""", code, re.IGNORECASE))
    unused = {
        key
        for key in TEXTS
        if not re.search(f"""["']{key}["']""", page)
        and not any(key.startswith(begin) and key.removeprefix(begin) in words for begin in beginnings)
    }
    assert unused == set()


def test_every_stage_and_unit_has_a_name_in_both_languages() -> None:
    steps = re.compile(r'''\.step\(\s*"([a-z-]+)"''')
    stages = re.compile(r"""^\w*STAGE = "(.+)"$""", re.MULTILINE)
    units = re.compile(r"""\.step\([^()]*(?:\([^()]*\)[^()]*)*,\s*"([A-Za-z]+)"\s*\)""")
    said: set[str] = set()
    for path in (UI.parent / "pipelines").rglob("*.py"):
        code = path.read_text(encoding="utf-8")
        said |= {
            f"ui_stage_{name}"
            for name in (*steps.findall(code), *stages.findall(code))
            if name not in ("mix", "preview copy")  # part of speak; of no job with a card
        }
        said |= {f"ui_unit_{name}" for name in units.findall(code) if name not in ("s", "B")}
    assert len(said) > 8
    assert said - TEXTS.keys() == set()


def test_chinese_stands_in_the_table_of_every_chinese_locale() -> None:
    tables = make_i18n().translations_dict
    assert tables["zh-CN"]["ui_stop"] == tables["zh-TW"]["ui_stop"] == "停止"
    assert tables["en"]["ui_stop"] == "Stop"


def test_a_label_that_does_not_exist_is_refused() -> None:
    with pytest.raises(KeyError):
        label("ui_no_such_text")


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("zh-TW", "zh"),
        ("en-GB", "en"),
        ("de-DE,zh;q=0.3", "en"),
        ("", "en"),
    ],
)
def test_the_first_language_asked_for_decides(accepted: str, language: str) -> None:
    assert language_of(asking(accepted)) == language


def test_a_sentence_is_filled() -> None:
    assert say(asking("zh"), "ui_left", time="1:05") == "还需 1:05"
    assert say(None, "ui_left", time="1:05") == "1:05 left"
