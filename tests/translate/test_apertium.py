"""Apertium, the real program with its real English-Spanish data."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from pipelines.errors import ResourceError, Stopped, TranslatorMissing
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.translate import TRANSLATORS
from pipelines.translate.apertium import Apertium, cleaned, installed_modes, prepared
from tests.translate.conftest import Notes

needs_pair = pytest.mark.skipif(
    ("en", "es") not in installed_modes(),
    reason="apertium-eng-spa is not installed (apt install apertium-eng-spa)",
)


@needs_pair
def test_a_talk_becomes_spanish(context: EngineContext) -> None:
    report = Notes()
    lines = ["We need to travel to Shanghai by train.", "He went.", "I paid $25.50 for 3 apples."]
    done = Apertium(context).translate(lines, "en", "es", report)
    assert done == ["Necesitamos viajar a Shanghai en tren.", "Fue.", "Pagué $25.50 para 3 manzanas."]
    assert report.steps[0] == (0, 3) and report.steps[-1] == (3, 3)


@needs_pair
def test_words_never_wander_between_lines(context: EngineContext) -> None:
    """In one text the pipeline makes "coche rojo" of "red car", across the line break."""
    first, second = Apertium(context).translate(["It was a red", "car"], "en", "es", NullReport())
    assert "rojo" in first and "coche" not in first
    assert "rojo" not in second


@needs_pair
def test_odd_lines_come_back_one_for_one(context: EngineContext) -> None:
    odd = [
        "", "   ", "...", "[", "^hat$ back\\slash {y} <b>bold</b>", "😀", "北京 is nice", "“Quoted” it’s 5% ok", "1,455",
        "one\ntwo\n\nthree", "*star* and /slash/", "@here #tag", "ends with backslash \\",
    ]  # fmt: skip
    done = Apertium(context).translate(odd, "en", "es", NullReport())
    assert len(done) == len(odd)
    assert done[8] == "1,455"
    assert "5%" in done[7] and "Citado" in done[7]
    assert done[9].count("\n") == 0 and "tres" in done[9]
    assert "*" not in "".join(done)
    assert not any(ord(c) == 0xFFFD for c in "".join(done))


@needs_pair
def test_unknown_words_stay_and_are_counted(context: EngineContext) -> None:
    report = Notes()
    done = Apertium(context).translate(["We travel on Gaotian from Disneyland."], "en", "es", report)
    assert "Gaotian" in done[0] and "*" not in done[0]
    assert len(report.notes) == 1
    assert "2 words" in report.notes[0] and "Gaotian, Disneyland" in report.notes[0]


@needs_pair
def test_many_lines_in_several_runs(context: EngineContext) -> None:
    done = Apertium(context).translate(["Good morning.", "The dog."] * 45, "en", "es", NullReport())
    assert done == [done[0], done[1]] * 45
    assert done[1] == "El perro."


@needs_pair
def test_stop_ends_the_program(context: EngineContext) -> None:
    class StopAfterFirst(NullReport):
        def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
            if done >= 40:
                raise Stopped()

    with pytest.raises(Stopped):
        Apertium(context).translate(["Good morning."] * 90, "en", "es", StopAfterFirst())


def test_a_pair_that_is_not_installed_names_its_package(context: EngineContext) -> None:
    engine = Apertium(context)
    if ("en", "ca") not in engine.pairs():
        with pytest.raises(TranslatorMissing, match="sudo apt install apertium-eng-cat"):
            engine.translate(["Hello"], "en", "ca", NullReport())
    with pytest.raises(TranslatorMissing, match="Type or paste"):
        engine.translate(["Hello"], "en", "zh", NullReport())


def _program(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program of our own called ``apertium`` first on the PATH."""
    program = folder / "apertium"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nif '-l' in sys.argv: print('  eng-spa'); sys.exit()\n{script}\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_a_program_that_loses_lines_is_asked_line_by_line(
    tmp_path: Path, context: EngineContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    _program(tmp_path, "print(' '.join(sys.stdin.read().split()).upper())", monkeypatch)
    assert Apertium(context).translate(["one", "two."], "en", "es", NullReport()) == ["ONE", "TWO."]


def test_a_failing_program_is_told_in_its_own_words(
    tmp_path: Path, context: EngineContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    _program(tmp_path, "sys.exit('Error: Mode eng-spa does not exist')", monkeypatch)
    with pytest.raises(ResourceError, match="Mode eng-spa does not exist"):
        Apertium(context).translate(["one"], "en", "es", NullReport())


def test_without_the_program_the_engine_is_not_ready(
    tmp_path: Path, context: EngineContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("apertium") is None
    state = TRANSLATORS.state("apertium", context)
    assert not state.ready and "apertium" in state.reason.en
    assert installed_modes() == {}


def test_marks_and_abbreviations() -> None:
    assert prepared("I’m in D.C. for\u00a0it, *really*") == "I'm in DC for it, really"
    assert cleaned(" *Congressional Distrito , y soy", "Congressional District, and I am") == (
        "Congressional Distrito, y soy",
        ["Congressional"],
    )
    assert cleaned("#ser bueno", "to be good") == ("ser bueno", ["ser"])
    assert cleaned("#etiqueta", "#tag") == ("#etiqueta", [])
