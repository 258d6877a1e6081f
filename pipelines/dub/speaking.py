"""Step 3: the lines spoken, each in its voice and fitted to its time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pipelines import media
from pipelines.artifacts import options_key, run_stage
from pipelines.backend.outputs import check_sound
from pipelines.dub.casting import Cast
from pipelines.dub.fitting import fitted, unfitted
from pipelines.dub.lines import LINES
from pipelines.dub.run import DubRun
from pipelines.errors import EngineMissing, Message
from pipelines.languages import language_name
from pipelines.progress import NullReport
from pipelines.records import load_speech_times, save_plan, save_speech_times
from pipelines.timing import LineFit
from pipelines.types import Audio, DubLine, DubPlan, Phone, Speech, VoiceProfile
from pipelines.voice import SpeakOptions


def check_speakable(run: DubRun) -> None:
    """Refuse a language nobody here can speak before any work is done.

    Raises:
        EngineMissing: the voice engine does not speak the target language.
    """
    target, able = run.options.target_language, run.voice_engine.languages()
    if target not in able:
        names = [language_name(code) for code in able]
        raise EngineMissing(
            Message(
                f"The voice engine {run.options.voice_engine} does not speak {language_name(target).en}",
                f"语音引擎 {run.options.voice_engine} 不会说{language_name(target).zh}",
            ),
            Message(
                f"Languages it speaks: {', '.join(name.en for name in names)}.",
                f"它会说的语言:{'、'.join(name.zh for name in names)}。",
            ),
        )


def speak(
    run: DubRun, plan: DubPlan, cast: Cast, fits: Mapping[int, LineFit], takes: Mapping[str, int]
) -> DubPlan:
    """Speak every line that has a place; ``lines/<n>.wav`` and ``lines/<n>.json`` hold its sound, phones and words.

    Only lines whose text, voice, length or rendition (``takes``, by ``line_key``) changed are spoken again.
    """
    folder = run.folder / "lines"
    folder.mkdir(exist_ok=True)
    lines: list[DubLine] = []
    for number, line in enumerate(plan.lines):
        run.report.step("speak", number, len(plan.lines), "lines")
        placed = fits.get(line.index)
        if placed is None:
            lines.append(unfitted(line))
            continue
        say_line(run, line, placed, cast.voice(line), takes)
        lines.append(fitted(line, placed))
    run.report.step("speak", len(plan.lines), len(plan.lines), "lines")
    spoken = replace(plan, lines=tuple(lines))
    save_plan(run.folder / LINES, spoken)
    return spoken


def say_line(
    run: DubRun, line: DubLine, placed: LineFit, voice: VoiceProfile, takes: Mapping[str, int]
) -> None:
    """Speak one line to its file, unless it is there."""
    folder, name = run.folder / "lines", f"{line.index + 1:04d}"
    key = line_key(run, line, placed, voice)
    take = takes.get(key, 0)

    def make() -> None:
        speech = say(run, line, placed.seconds, voice, take)
        media.save_audio(folder / f"{name}.wav", Audio(speech.audio.samples, speech.audio.sr))
        save_speech_times(folder / f"{name}.json", speech.phones, speech.words)

    stage = options_key(line=key, take=take) if take else key
    run_stage(folder, name, stage, [f"{name}.wav", f"{name}.json"], make)


def say(run: DubRun, line: DubLine, seconds: float, voice: VoiceProfile, take: int) -> Speech:
    """A line in one of its renditions, exactly so long.

    Raises:
        OptionError: this rendition cannot have that length.
    """
    asked = SpeakOptions(seconds=seconds, take=take)
    text = run.spoken(line.text)
    speech = run.voice_engine.speak(text, run.options.target_language, voice, asked, NullReport())
    check_sound(speech.audio, line.text, line.text[:60])
    return speech


def line_key(run: DubRun, line: DubLine, placed: LineFit, voice: VoiceProfile) -> str:
    """The same for the same words in the same voice and length."""
    return options_key(
        text=run.spoken(line.text),
        language=run.options.target_language,
        engine=voice.engine,
        voice=voice_key(voice),
        seconds=round(placed.seconds, 4),
    )


def voice_key(voice: VoiceProfile) -> str:
    """A hash of everything in a voice that can be heard."""
    arrays = {name: values.tobytes().hex() for name, values in sorted(voice.arrays.items())}
    return options_key(engine=voice.engine, arrays=arrays)


def times_file(run: DubRun, line: DubLine) -> Path:
    """Where the phone and word times of a spoken line are, counted from its start."""
    return run.folder / "lines" / f"{line.index + 1:04d}.json"


def spoken_phones(run: DubRun, plan: DubPlan) -> tuple[Phone, ...]:
    """All phones of the dub on the video's clock, in order of time."""
    found: list[Phone] = []
    for line in plan.lines:
        if line.state != "spoken":
            continue
        phones, _ = load_speech_times(times_file(run, line))
        found += [Phone(p.start + line.speak_start, p.end + line.speak_start, p.symbol) for p in phones]
    return tuple(found)
