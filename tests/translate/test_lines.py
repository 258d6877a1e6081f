"""Numbered lines by clipboard, subtitle files as translation, which translator is chosen, and what the menu says."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.errors import EngineMissing, InputError, TranslatorMissing
from pipelines.registry import EngineContext
from pipelines.translate.apertium import Apertium, installed_modes
from pipelines.translate.choice import open_translator, ready
from pipelines.translate.endpoint import Endpoint
from pipelines.translate.menu import language_menu
from pipelines.translate.numbered import parse, render

needs_pair = pytest.mark.skipif(
    ("en", "es") not in installed_modes(),
    reason="apertium-eng-spa is not installed (apt install apertium-eng-spa)",
)


@pytest.fixture(autouse=True)
def no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DUBWRIGHT_ENDPOINT", "DUBWRIGHT_ENDPOINT_MODEL", "DUBWRIGHT_ENDPOINT_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_out_and_back() -> None:
    lines = ["First line.", "2. a number inside", "broken\nin two"]
    text = render(lines)
    assert text == "1. First line.\n2. 2. a number inside\n3. broken in two"
    assert parse(text, 3) == ["First line.", "2. a number inside", "broken in two"]


@pytest.mark.parametrize(
    "pasted",
    [
        "1. uno\n2. dos\n3. tres",
        "Here is the translation:\n\n1) uno\n\n2) dos\n\n3) tres\n\nI hope this helps!",
        "\uff11\uff0e uno\n\uff12\u3001dos\n\uff13\uff1a tres",
        "[1] uno\r\n[2] dos\r\n[3] tres\r\n",
        "**1.** uno\n**2.** dos\n**3.** tres",
        "```\n1: uno\n2: dos\n3: tres\n```",
        "3. tres\n1. uno\n2. dos",
        "uno\n\ndos\n\ntres",
        "1.\nuno\n2.\ndos\n3.\ntres",
        "\uff081\uff09uno\n\uff082\uff09dos\n\uff083\uff09tres",
        "第1行\uff1auno\n第2行\uff1ados\n第3行\uff1atres",
    ],
)
def test_what_people_paste_is_understood(pasted: str) -> None:
    assert parse(pasted, 3) == ["uno", "dos", "tres"]


def test_a_line_broken_in_two_and_years_inside() -> None:
    pasted = "1. En el año\n2024. fue así\n2. dos\n12. no es una línea"
    assert parse(pasted, 2) == ["En el año 2024. fue así", "dos 12. no es una línea"]


def test_missing_lines_are_named() -> None:
    with pytest.raises(InputError, match=r"lacks line 2, 4-6 of 6"):
        parse("1. uno\n3. tres", 6)
    with pytest.raises(InputError, match=r"lacks line 1-2 of 2"):
        parse("", 2)


@needs_pair
def test_apertium_is_taken_when_it_knows_the_pair(context: EngineContext) -> None:
    given = {"address": "http://127.0.0.1:9/v1"}
    assert isinstance(open_translator("auto", context, "en", "es", given), Apertium)
    model = open_translator("auto", context, "en", "zh", given)
    assert isinstance(model, Endpoint) and model.options.address == given["address"]
    assert isinstance(open_translator("endpoint", context, "en", "es", given), Endpoint)
    assert isinstance(open_translator(None, context, "es", "en"), Apertium)


def test_no_translator_says_what_would_help(
    context: EngineContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no apertium here
    assert ready(context, "en", "es") is None
    with pytest.raises(TranslatorMissing, match="sudo apt install apertium-eng-spa") as caught:
        open_translator("auto", context, "en", "es")
    assert caught.value.exit_code == 3
    with pytest.raises(TranslatorMissing, match="sudo apt install apertium-eng-spa"):
        open_translator("apertium", context, "en", "es")
    with pytest.raises(TranslatorMissing, match="address of a language model"):
        open_translator("auto", context, "en", "zh")
    with pytest.raises(EngineMissing, match="babelfish"):
        open_translator("babelfish", context, "en", "es")


@needs_pair
def test_the_menu(context: EngineContext) -> None:
    menu = {
        c.code: c for c in language_menu(context, "en", ["es", "zh", "de", "en", "ca"], ["en", "es", "zh"])
    }
    assert "en" not in menu
    assert (menu["es"].how, menu["es"].engine, menu["es"].spoken) == ("ready", "apertium", True)
    assert (menu["zh"].how, menu["zh"].engine, menu["zh"].name.zh) == ("type it", None, "中文")
    assert not menu["de"].spoken and "German" in menu["de"].reason.en
    if ("en", "ca") not in installed_modes():
        assert "apertium-eng-cat" in menu["ca"].remedy.en
    assert [c.spoken for c in menu.values()] == [True, True, False, False]
    with_model = language_menu(context, "en", ["es", "zh"], ["es"], {"address": "http://127.0.0.1:9/v1"})
    assert [c.how for c in with_model] == ["ready", "endpoint"]
