"""A line that is read back wrong is spoken again; the rendition that is understood best is kept, and never tried twice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import soundfile

from pipelines import media
from pipelines.backend.policy import Policy
from pipelines.dub import speaking, takes
from pipelines.dub.casting import Cast
from pipelines.dub.check import LineCheck
from pipelines.dub.options import DubOptions
from pipelines.dub.outcome import line_report
from pipelines.dub.run import DubRun
from pipelines.errors import Message, OptionError
from pipelines.progress import NullReport, Report
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.timing import LineFit
from pipelines.types import DubLine, DubPlan, Speech, VoiceProfile
from pipelines.voice import VOICES, SpeakOptions, StockVoices, VoiceEngine

CLIP = Path(__file__).parents[2] / "examples" / "talker.mp4"
RIGHT = "We travelled to the new building today."
WRONG = "Purple elephants never whistle at noon."
PLAN = DubPlan(
    "es", "en", 10.0,
    (DubLine(0, 0.0, 3.0, "", RIGHT, speak_end=3.0, state="spoken"), DubLine(1, 4.0, 7.0, "", "Good morning.", state="spoken")),
)  # fmt: skip


class Notes(NullReport):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: Message, level: str = "hint") -> None:
        self.notes.append(message.en)


@dataclass
class Slips:
    """The real engine, but its first rendition says something else, and one cannot have the length asked for."""

    engine: VoiceEngine
    asked: list[int]

    def speak(
        self, text: str, language: str, voice: VoiceProfile, options: SpeakOptions, report: Report
    ) -> Speech:
        self.asked.append(options.take)
        if options.take == 2:
            raise OptionError(Message("out of reach", ""))
        said = WRONG if options.take == 0 else text
        return self.engine.speak(said, language, voice, SpeakOptions(), report)


@pytest.mark.slow
def test_the_rendition_that_is_understood_is_kept(tmp_path: Path, settings: Settings) -> None:
    notes = Notes()
    run = DubRun(
        tmp_path, DubOptions(CLIP, "en"), media.probe(CLIP), EngineContext(settings, Policy(threads=2)), notes
    )
    engine = VOICES.get("kokoro", run.context)
    assert isinstance(engine, StockVoices)
    slips = Slips(engine, [])
    run.__dict__["voice_engine"] = slips  # where the cached property keeps it
    voice = engine.stock(None, "en")
    cast, fits = Cast({0: voice, 1: voice}), {0: LineFit(0.0, 2.5, 1.0), 1: LineFit(4.0, 1.0, 1.0)}
    checks = [LineCheck(0, WRONG, 1.0), LineCheck(1, "Good morning.", 0.0)]

    assert takes.try_again(run, PLAN, cast, fits, checks)
    assert slips.asked == [0, 1, 2], "only the line that was heard wrong"
    found = takes.of_lines(run, PLAN, cast, fits)
    assert set(found) == {0} and found[0].take == 1 and found[0].rates[0] > 0.8 and found[0].rates[1] <= 0.15
    assert len(notes.notes) == 1 and "Line 1 was read back" in notes.notes[0]
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["takes.json"]
    assert not takes.try_again(run, PLAN, cast, fits, checks), "nothing new to be tried"
    assert slips.asked == [0, 1, 2]

    spoken = replace(PLAN, lines=PLAN.lines[:1])
    speaking.speak(run, spoken, cast, fits, takes.kept_takes(run))
    assert slips.asked[-1] == 1
    first = soundfile.read(tmp_path / "lines" / "0001.wav")[0]
    speaking.speak(run, spoken, cast, fits, takes.kept_takes(run))
    assert slips.asked == [0, 1, 2, 1], "it is there"
    right = engine.speak(RIGHT, "en", voice, SpeakOptions(), NullReport()).audio
    assert len(first) == len(right.samples)
    told = line_report(PLAN.lines[0], checks[0], found[0])
    assert (told["take"], told["take_rates"]) == (1, list(found[0].rates))
    edited = replace(PLAN, lines=(replace(PLAN.lines[0], text="Other words."), PLAN.lines[1]))
    assert takes.of_lines(run, edited, cast, fits) == {}, "other words begin with the first rendition"
