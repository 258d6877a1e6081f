"""The flow ``script``: every line of a script a file of its own, and all of them joined; subtitles keep their time line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import soundfile

from pipelines import glossary
from pipelines.artifacts import fingerprint, options_key, run_stage
from pipelines.backend.outputs import check_sound
from pipelines.errors import InputError, Message
from pipelines.files import write_json
from pipelines.media import save_audio
from pipelines.progress import NullReport, OneStage, Report
from pipelines.registry import EngineContext
from pipelines.sample import learn
from pipelines.sound_formats import asked_format, asked_loudness
from pipelines.speak.flow import found_language
from pipelines.speak.joining import encode, join
from pipelines.speak.pieces import GAP
from pipelines.speak.script import ScriptLine, read_script
from pipelines.types import VoiceProfile
from pipelines.voice import VOICES, LineLength, SpeakOptions, VoiceEngine, choice

LINES, REPORT, START, JOINED = "lines", "report.json", "lines/start.wav", "joined.wav"
TOO_LATE = 0.02  # seconds by which a line may run over its time unnoticed


@dataclass(frozen=True, slots=True)
class Recital:
    """One run: the engine, each speaker's voice with its hash, and where the lines go."""

    folder: Path
    engine: VoiceEngine
    language: str
    voices: dict[str | None, tuple[VoiceProfile, str]]
    glossary: glossary.Glossary
    speed: float = 1.0

    def say(self, number: int, line: ScriptLine) -> dict[str, Any]:
        """Say a line unless it is said; returns its row of the report.

        Raises:
            PipelineError: it cannot be spoken.
        """
        voice, key = self.voices[line.speaker]
        text, name = glossary.marked(line.text, self.glossary), f"{number:04d}"
        slot = None if line.start is None or line.end is None else line.end - line.start
        seconds = None if slot is None else _fitted(self.engine.length(text, self.language, voice), slot)

        def make() -> None:
            speech = self.engine.speak(
                text, self.language, voice, SpeakOptions(seconds=seconds, speed=self.speed), NullReport()
            )
            check_sound(speech.audio, text, line.text[:60])
            save_audio(self.folder / LINES / f"{name}.wav", speech.audio)

        stage = options_key(text=text, voice=key, language=self.language, seconds=seconds, speed=self.speed)
        run_stage(self.folder / LINES, name, stage, [f"{name}.wav"], make)
        length = soundfile.info(self.folder / LINES / f"{name}.wav").duration
        over = 0.0 if slot is None else max(length - slot, 0.0)
        return {"state": "spoken", "file": f"{LINES}/{name}.wav", "seconds": length, "overrun": over}


def _fitted(length: LineLength, slot: float) -> float:
    """The slot, as far as the line can be that short or long."""
    return min(max(slot, length.shortest), length.longest)


def run(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """Speak a script.

    Options: input (TXT, CSV, SRT, VTT or ASS), language (none: found), cast (speaker → saved or stock voice), voice
    or reference for everybody else, engine, speed (of lines without a time), format, loudness (LUFS or "off").

    Returns:
        ``audio`` (all lines joined), ``lines`` (the report's name), ``files`` (line number → its file), ``overruns``,
        ``failed`` (line numbers).

    Raises:
        InputError: the script cannot be read, or none of its lines can be spoken. OptionError: impossible wishes.
    """
    asked_format(options)
    asked_loudness(options)
    lines = read_script(Path(str(options["input"])))
    engine = VOICES.get(str(options.get("engine") or "kokoro"), context)
    language = options.get("language") or found_language(
        " ".join(line.text for line in lines), engine, report
    )
    options = {**options, "language": language}
    voices = _voices(engine, lines, options, context, report)
    recital = Recital(
        folder, engine, language, voices, glossary.load(context.settings), float(options.get("speed") or 1)
    )
    (folder / LINES).mkdir(exist_ok=True)
    rows = []
    for number, line in enumerate(lines, start=1):
        report.step("speak", number - 1, len(lines), "lines")
        rows.append(
            {
                "number": number,
                "text": line.text,
                "speaker": line.speaker,
                **_row(recital, number, line, report),
            }
        )
    report.step("speak", len(lines), len(lines), "lines")
    spoken = [row for row in rows if row["state"] == "spoken"]
    if not spoken:
        raise InputError(
            Message("None of the lines can be spoken", "没有可朗读的行"), None, str(options["input"])
        )
    gaps = _placed(lines, spoken)
    write_json(folder / REPORT, {"lines": rows})
    audio = _joined(folder, spoken, gaps, options, context, report)
    return {
        "audio": audio,
        "language": language,
        "count": len(lines),
        "lines": REPORT,
        "files": {f"{row['number']:04d}": row["file"] for row in spoken},
        "overruns": [row["number"] for row in spoken if row["overrun"] > TOO_LATE],
        "failed": [row["number"] for row in rows if row["state"] == "failed"],
    }


def _voices(
    engine: VoiceEngine,
    lines: tuple[ScriptLine, ...],
    options: dict[str, Any],
    context: EngineContext,
    report: Report,
) -> dict[str | None, tuple[VoiceProfile, str]]:
    """Every speaker's voice, and a hash of where it comes from."""
    cast: dict[str, str] = options.get("cast") or {}
    reference, found = options.get("reference"), {}
    for speaker in dict.fromkeys(line.speaker for line in lines):
        name = cast.get(speaker or "") or options.get("voice")
        if name or not reference:
            voice = choice.find(engine, name, str(options["language"]), context.settings)
            found[speaker] = (voice, options_key(engine=voice.engine, name=name, facts=voice.facts))
        else:
            voice = learn(engine, Path(str(reference)), context.settings, report)
            found[speaker] = (voice, fingerprint(Path(str(reference))))
    return found


def _row(recital: Recital, number: int, line: ScriptLine, report: Report) -> dict[str, Any]:
    """The line's row; a line that cannot be spoken is told and passed over."""
    try:
        return recital.say(number, line)
    except InputError as error:
        report.note(
            Message(f"Line {number} is not spoken: {error.what.en}", f"第 {number} 行未朗读:{error.what.zh}"),
            "warning",
        )
        return {"state": "failed", "error": error.record()}


def _placed(lines: tuple[ScriptLine, ...], spoken: list[dict[str, Any]]) -> list[float]:
    """Give every row its start and end; returns the silences, the first before the first line.

    A timed line begins at its time, or when the one before it has ended; others follow after the usual gap.
    """
    gaps, clock = [], 0.0
    for row in spoken:
        wanted = lines[row["number"] - 1].start
        start = max(clock, wanted) if wanted is not None else clock + (GAP if clock else 0.0)
        gaps.append(start - clock)
        row |= {
            "start": start,
            "end": start + row["seconds"],
            "late": 0.0 if wanted is None else start - wanted,
        }
        clock = row["end"]
    return [*gaps, 0.0]


def _joined(
    folder: Path, spoken: list[dict[str, Any]], gaps: list[float], options: dict[str, Any], context: EngineContext,
    report: Report,
) -> str:  # fmt: skip
    form, lufs = asked_format(options), asked_loudness(options)
    files = [folder / row["file"] for row in spoken]
    soundfile.write(
        folder / START, [], soundfile.info(files[0]).samplerate
    )  # stands before the first silence
    quiet = OneStage(report, "speak")
    quiet.step("speak", len(files), len(files), "lines")
    join([folder / START, *files], gaps, folder / JOINED, lufs, form, context.settings, quiet)
    comment = {"comment": "AI-generated speech. Dubwright"}
    encode(folder / JOINED, folder / f"script.{form}", form, comment, context.settings, quiet)
    return f"script.{form}"
