"""Which voice says which line: every speaker of the video gets a voice of their own, unless another is asked for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipelines import media
from pipelines.dub.run import DubRun
from pipelines.errors import Message, NoSpeech
from pipelines.progress import PartOf, Report
from pipelines.types import OWN_VOICE, Audio, DubLine, DubPlan, Transcript, VoiceProfile
from pipelines.voice import StockVoices, choice, pitch

REFERENCE_SECONDS = 30.0  # of a speaker's speech that are looked at; the engine takes the cleanest of them
AROUND = 0.3  # seconds of silence kept around a speaker's lines: the pauses tell how noisy the recording is

Ranges = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Cast:
    """The voices of a dub by the index of the line they say; every line that is spoken has one."""

    of_line: Mapping[int, VoiceProfile]

    def voice(self, line: DubLine) -> VoiceProfile:
        """Who says the line."""
        return self.of_line[line.index]

    def groups(self, lines: Sequence[DubLine]) -> list[tuple[str | None, VoiceProfile, list[DubLine]]]:
        """The lines by speaker and voice, those with most of the time first."""
        found: dict[tuple[str | None, int], list[DubLine]] = {}
        for line in lines:
            found.setdefault((line.speaker, id(self.voice(line))), []).append(line)
        ordered = sorted(
            found.values(), key=lambda group: -sum(one.speak_end - one.speak_start for one in group)
        )
        return [(group[0].speaker, self.voice(group[0]), group) for group in ordered]


def find_cast(run: DubRun, plan: DubPlan, transcript: Transcript) -> Cast:
    """A voice for every line with words: the one asked for it, its speaker or the whole dub, else its speaker's own.

    Raises:
        OptionError: there is no voice of that name. NoSpeech: there is too little of a voice, and the engine has none.
    """
    known: dict[tuple[str, str | None], VoiceProfile] = {}
    of_line: dict[int, VoiceProfile] = {}
    speaking = [line for line in plan.lines if line.text.strip() and not line.keep]
    if len({line.speaker for line in speaking}) > 1:
        run.report.note(several_speak(speaking))
    for line in speaking:
        key = wanted(run, line)
        if key not in known:
            known[key] = _found(run, plan, transcript, *key)
        of_line[line.index] = known[key]
    return Cast(of_line)


def wanted(run: DubRun, line: DubLine) -> tuple[str, str | None]:
    """Which voice a line is to be said in: ``("named", name)``, ``("reference", None)`` or ``("own", speaker)``."""
    asked = run.options
    if line.voice and line.voice != OWN_VOICE:
        return "named", line.voice
    if line.voice is None:
        name = asked.cast.get(line.speaker or "") or asked.voice
        if name:
            return "named", name
        if asked.reference:
            return "reference", None
    return "own", line.speaker


def _found(run: DubRun, plan: DubPlan, transcript: Transcript, kind: str, name: str | None) -> VoiceProfile:
    engine, settings = run.voice_engine, run.context.settings
    report = PartOf(run.report, "speak")  # a dub shows five stages
    if kind == "named":
        return choice.find(engine, name, run.options.target_language, settings)
    if kind == "reference" and run.options.reference:
        return choice.learn(engine, run.options.reference, settings, report)
    sample = speaker_sample(run, plan, transcript, name)
    called = " ".join(part for part in (Path(run.name).stem, name) if part)
    return _matched(run, sample, called, name, report)


def _matched(run: DubRun, sample: Audio, called: str, speaker: str | None, report: Report) -> VoiceProfile:
    """A voice like the sample; where that is too short, a stock voice of about the same pitch."""
    engine = run.voice_engine
    try:
        return engine.enroll(sample, called, report)
    except NoSpeech as error:
        if not isinstance(engine, StockVoices):
            raise
        who = Message(f"{speaker}: ", f"{speaker}：") if speaker else Message("", "")
        run.report.note(
            Message(
                f"{who.en}{error.sentence('en')} A stock voice speaks instead.",
                f"{who.zh}{error.sentence('zh')} 已改用内置声音。",
            ),
            "warning",
        )
        heard = pitch.measure(sample) if len(sample.samples) else None
        language = run.options.target_language
        return engine.stock(language=language) if heard is None else engine.stock_near(heard.median, language)


def speaker_sample(run: DubRun, plan: DubPlan, transcript: Transcript, speaker: str | None) -> Audio:
    """Up to half a minute of a speaker's own speech with the pauses around it, one stretch after the other, at 48 kHz."""
    ranges = own_ranges(plan, transcript, speaker)
    pieces = [
        media.load_sound(
            run.options.input, run.context.settings,
            sr=choice.REFERENCE_RATE, stream=run.options.stream, start=start, end=end,
        )
        for start, end in ranges
    ]  # fmt: skip
    return Audio(np.concatenate([piece.samples for piece in pieces]), choice.REFERENCE_RATE)


def own_voice(run: DubRun, plan: DubPlan, transcript: Transcript, line: DubLine, seconds: float) -> Audio:
    """Some seconds of the voice a line is to sound like: the reference's where it speaks in that, else its speaker's own."""
    asked = run.options
    if asked.reference and wanted(run, line)[0] == "reference":
        return media.load_sound(asked.reference, run.context.settings, sr=choice.REFERENCE_RATE, end=seconds)
    sample = speaker_sample(run, plan, transcript, line.speaker)
    return Audio(sample.samples[: round(seconds * sample.sr)], sample.sr)


def own_ranges(plan: DubPlan, transcript: Transcript, speaker: str | None) -> Ranges:
    """Where to learn a speaker's voice from, in seconds.

    One person alone: the half minute with most speech in it. One of several: their longest stretches, with the silence
    around them as far as nobody else speaks there. What was heard tells who speaks where; of a name that was first
    given in the table, the table does.
    """
    heard = {part.speaker for part in transcript.segments}
    if speaker is None and heard == {None}:
        return [_fullest(transcript)]
    lines: Sequence[tuple[float, float, str | None]] = (
        [(part.start, part.end, part.speaker) for part in transcript.segments]
        if speaker in heard
        else [(line.start, line.end, line.speaker) for line in plan.lines]
    )
    return _longest(list(_stretches(lines, speaker)))


def _fullest(transcript: Transcript) -> tuple[float, float]:
    """The stretch of at most 30 s with the most speech in it."""
    starts = [part.start for part in transcript.segments]

    def speech_after(start: float) -> float:
        end = start + REFERENCE_SECONDS
        return sum(max(min(part.end, end) - max(part.start, start), 0.0) for part in transcript.segments)

    start = max(starts, key=speech_after)
    return start, min(start + REFERENCE_SECONDS, transcript.segments[-1].end)


def _stretches(
    lines: Sequence[tuple[float, float, str | None]], speaker: str | None
) -> Iterator[tuple[float, float]]:
    """The speaker's lines one by one; those that follow each other without a break are one."""
    ordered = sorted(lines)
    held: tuple[float, float] | None = None
    for number, (start, end, who) in enumerate(ordered):
        if who != speaker:
            continue
        before = ordered[number - 1][1] if number else 0.0
        after = ordered[number + 1][0] if number + 1 < len(ordered) else end + AROUND
        first, last = max(start - AROUND, min(before, start)), min(end + AROUND, max(after, end))
        if held and first <= held[1]:
            held = held[0], last
            continue
        if held:
            yield held
        held = first, last
    if held:
        yield held


def _longest(ranges: Ranges) -> Ranges:
    """The longest stretches, together at most 30 s, in order of time."""
    taken: Ranges = []
    left = REFERENCE_SECONDS
    for start, end in sorted(ranges, key=lambda span: span[0] - span[1]):
        if left < AROUND:
            break
        taken.append((start, min(end, start + left)))
        left -= end - start
    return sorted(taken)


def several_speak(lines: Sequence[DubLine]) -> Message:
    """Who was told apart, to be looked over."""
    names = [name for name, _ in itertools.groupby(sorted(line.speaker or "?" for line in lines))]
    listed = ", ".join(names)
    return Message(
        f"{len(names)} people speak ({listed}): each in a voice like their own."
        " If that is not so, correct the speakers in the table or give their number.",
        f"共有 {len(names)} 人说话（{listed}）：各用与本人相似的声音。如有误，请在表格中改正说话人，或指定说话人数。",
    )
