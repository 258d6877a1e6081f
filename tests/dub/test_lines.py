"""The lines of a dub before anything is spoken: speech without a line, and translations that are none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines import media, subtitles
from pipelines.backend.policy import Policy
from pipelines.dub import lines
from pipelines.dub.coverage import gap_note, uncovered
from pipelines.dub.options import DubOptions
from pipelines.dub.run import DubRun
from pipelines.dub.untranslated import untranslated
from pipelines.errors import Message, TranslatorMissing
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.types import DubLine, DubPlan, Segment, Transcript, Word

CLIP = Path(__file__).parents[2] / "examples" / "talker.mp4"
SAID = (
    (0.5, 2.0, "We need to travel to the new building today."),
    (2.5, 4.0, "The professor told us about the tunnels."),
    (4.5, 5.0, "Thank you."),
)


def heard(*parts: tuple[float, float, str], language: str = "en") -> Transcript:
    """Words spread evenly over their lines."""
    segments = []
    for start, end, text in parts:
        written = text.split()
        step = (end - start) / len(written)
        words = tuple(Word(start + n * step, start + (n + 1) * step, f" {w}") for n, w in enumerate(written))
        segments.append(Segment(start, end, text, words))
    return Transcript(language, tuple(segments))


class Notes(NullReport):
    def __init__(self) -> None:
        self.notes: list[tuple[str, str]] = []

    def note(self, message: Message, level: str = "hint") -> None:
        self.notes.append((level, message.en))


def translated(
    folder: Path, settings: Settings, cues: list[tuple[float, float, str]], target: str = "es", **given: Any
) -> tuple[DubPlan, Notes]:
    """Step 2 of a dub with the cues as its subtitle file."""
    path = folder / "translation.srt"
    subtitles.write(path, [Segment(*cue) for cue in cues], "srt")
    options = DubOptions(CLIP, target, translation=path, **given)
    notes = Notes()
    run = DubRun(folder, options, media.probe(CLIP), EngineContext(settings, Policy()), notes)
    run = replace(run, info=replace(run.info, frames=250, duration=10.0))
    return lines.translate(run, heard(*SAID)), notes


def test_speech_outside_all_lines_is_named_with_its_time(tmp_path: Path, settings: Settings) -> None:
    plan, report = translated(tmp_path, settings, [(0.4, 2.1, "Hoy tenemos que ir al nuevo edificio.")])
    assert len(plan.lines) == 1
    assert report.notes == [
        ("warning", "0:02–0:05 is spoken but has no translation: the dub is silent there")
    ]
    _, complete = translated(
        tmp_path,
        settings,
        [
            (0.4, 2.1, "Hoy tenemos que ir al nuevo edificio."),
            (2.4, 5.1, "El profesor nos habló de los túneles. Gracias."),
        ],
    )
    assert complete.notes == []


def test_stretches_end_where_a_line_stands_between() -> None:
    transcript = heard(
        (0.0, 1.0, "one two"), (1.2, 2.0, "three four"), (2.2, 3.0, "five six"), (75.0, 78.0, "a b c")
    )
    middle = DubLine(0, 1.1, 2.1, "three four", "tres cuatro")
    assert uncovered([middle], transcript) == ((0.0, 1.0), (2.2, 3.0), (75.0, 78.0))
    note = gap_note(((0.0, 1.0), (3675.0, 3678.2)))
    assert note.en.startswith("0:00–0:01, 1:01:15–1:01:18 are spoken but have no translation")
    assert note.zh.startswith("0:00–0:01, 1:01:15–1:01:18 有人说话但没有译文")


ENGLISH = {
    "the same words": [cue[2] for cue in SAID],
    "nearly the same words": [
        "We need to travel to that new building, today",
        "The professor told us about tunnels",
        "Thanks",
    ],
    "other words of the same language": [
        "All of us have to go and see the other house this afternoon.",
        "Our teacher explained everything about the underground passages.",
        "Thanks a lot.",
    ],
}


@pytest.mark.parametrize("texts", ENGLISH.values(), ids=ENGLISH.keys())
@pytest.mark.parametrize("target", ["es", "zh", "fr"])
def test_a_translation_in_the_video_s_own_language_stops_before_speaking(
    texts: list[str], target: str, tmp_path: Path, settings: Settings
) -> None:
    cues = [(start, end, text) for (start, end, _), text in zip(SAID, texts, strict=True)]
    with pytest.raises(TranslatorMissing) as stopped:
        translated(tmp_path, settings, cues, target)
    name = {"es": "Spanish", "zh": "Chinese", "fr": "French"}[target]
    assert stopped.value.exit_code == 3
    assert (
        f"The translation is not in {name}" in stopped.value.what.en and "lines 1, 2" in stopped.value.where
    )
    table = json.loads((tmp_path / "lines.json").read_text(encoding="utf-8"))["lines"]
    assert [line["text"] for line in table] == texts  # the table is open, with what was given


def test_a_single_line_that_was_left_is_pointed_out(tmp_path: Path, settings: Settings) -> None:
    cues = [
        (0.5, 2.0, "Hoy tenemos que viajar al nuevo edificio de la universidad."),
        (2.5, 4.0, "The professor told us about the tunnels."),
        (4.5, 5.0, "Gracias."),
    ]
    plan, report = translated(tmp_path, settings, cues)
    assert report.notes == [("warning", "Not translated into Spanish, it seems: line 2")]
    assert len(plan.lines) == 3


@pytest.mark.parametrize(
    ("source", "target", "pairs"),
    [
        ("en", "es", [("Barack Obama, John Kerry.", "Barack Obama, John Kerry."), ("OK.", "OK.")]),
        ("es", "pt", [("Vamos a la playa mañana por la tarde.", "Vamos à praia amanhã à tarde.")]),
        ("en", "zh", [("I use the iPhone.", "我用iPhone手机。"), ("Wow!", "哇!")]),
        ("zh", "ja", [("我们去上海看朋友。", "私たちは上海へ友達に会いに行きます。")]),
        ("ru", "en", [("Привет, меня зовут Анна.", "Hi, my name is Anna.")]),
    ],
)
def test_what_is_translated_passes(source: str, target: str, pairs: list[tuple[str, str]]) -> None:
    filled = tuple(DubLine(n, n, n + 1.0, said, text) for n, (said, text) in enumerate(pairs))
    found = untranslated(DubPlan(source, target, 10.0, filled))
    assert [line.text for line in found if "Obama" not in line.text] == []
    kept = tuple(replace(line, text=line.source, keep=True) for line in filled)
    assert untranslated(DubPlan(source, target, 10.0, kept)) == ()
