"""Step 2: the lines of the dub, in the other language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from pipelines import subtitles
from pipelines.artifacts import options_key, run_stage
from pipelines.asr.words import line_text
from pipelines.dub import coverage, untranslated
from pipelines.dub.run import DubRun
from pipelines.errors import Message, OptionError, TranslatorMissing
from pipelines.languages import language_name
from pipelines.progress import OneStage
from pipelines.records import load_plan, save_plan
from pipelines.translate.choice import open_translator
from pipelines.types import DubLine, DubPlan, Segment, Transcript, Word

LINES = "lines.json"  # the table: always its newest state, also when the job stopped for want of a translator
TRANSLATED = "translated.json"


def translate(run: DubRun, transcript: Transcript) -> DubPlan:
    """All lines with their translation: edited ones, a subtitle file's cues, or machine-translated sentences.

    Raises:
        TranslatorMissing: nobody can translate the pair, or what was given is in the video's own language; the lines
            stand in ``lines.json`` to be filled in.
        OptionError: the video is already in the target language.
    """
    asked = run.options
    refuse_same_language(run.name, transcript.language, asked.target_language)
    key = options_key(
        source=run.source_hash,
        transcript=asdict(transcript),
        target=asked.target_language,
        begins=run.begins,
        part=None if run.whole else run.span,
        lines=None if asked.lines is None else [asdict(line) for line in asked.lines],
        translation=None if asked.translation is None else asked.translation.read_bytes().hex(),
        translator=asked.translator,
        endpoint=asked.endpoint,
    )

    def make() -> None:
        plan = DubPlan(transcript.language, asked.target_language, run.duration, gather(run, transcript))
        save_plan(run.folder / LINES, plan)
        if any(not line.text.strip() and not line.keep for line in plan.lines):
            plan = replace(plan, lines=machine_translate(run, plan))
            save_plan(run.folder / LINES, plan)
        save_plan(run.folder / TRANSLATED, plan)

    run_stage(run.folder, "translate", key, [TRANSLATED], make)
    plan = load_plan(run.folder / TRANSLATED)
    look_through(run, plan, transcript)
    run.report.step("translate", len(plan.lines), len(plan.lines), "lines")
    return plan


def look_through(run: DubRun, plan: DubPlan, transcript: Transcript) -> None:
    """Say which speech has no line, and which lines are not translated.

    Raises:
        TranslatorMissing: the translation as a whole is in the language of the video.
    """
    silent = coverage.uncovered(plan.lines, transcript)
    if silent:
        run.report.note(coverage.gap_note(silent), "warning")
    left = untranslated.untranslated(plan)
    if left and untranslated.all_of_it(plan, left):
        raise untranslated.refusal(plan, left)
    if left:
        run.report.note(untranslated.warning(plan, left), "warning")


def refuse_same_language(name: str, spoken: str, target: str) -> None:
    """A dub in the language that is spoken already is a mistake, not a job."""
    if spoken == target:
        raise OptionError(
            Message(
                f"This video is already spoken in {language_name(target).en}",
                f"视频说的本来就是{language_name(target).zh}",
            ),
            Message(
                "Choose another language, or say which language is spoken if it was misheard.",
                "请选择其他语言;如果识别错了,请指定原语言。",
            ),
            name,
        )


def gather(run: DubRun, transcript: Transcript) -> tuple[DubLine, ...]:
    """The lines before machine translation, in order of time."""
    asked = run.options
    if asked.lines is not None:
        lines = sorted(asked.lines, key=lambda line: line.start)
    elif asked.translation is not None:
        cues = within(run, subtitles.without_overlaps(subtitles.read(asked.translation)))
        lines = [
            DubLine(
                0,
                cue.start,
                cue.end,
                spoken_during(cue, transcript),
                cue.text.replace("\n", " "),
                speaker_during(cue, transcript),
            )
            for cue in cues
        ]
    else:
        lines = [
            DubLine(0, part.start, part.end, part.text.strip(), speaker=part.speaker)
            for part in transcript.segments
        ]
    inside = [line for line in lines if line.start < run.duration]
    if len(inside) < len(lines):
        lost = len(lines) - len(inside)
        run.report.note(
            Message(
                f"{lost} lines begin after the end of the video and were left out",
                f"有 {lost} 行在视频结束之后开始,已略过",
            ),
            "warning",
        )
    return tuple(replace(line, index=number) for number, line in enumerate(inside))


def within(run: DubRun, cues: Sequence[Segment]) -> list[Segment]:
    """Cues on the run's clock; of a part, only those that begin in it."""
    moved = [replace(cue, start=cue.start - run.begins, end=cue.end - run.begins) for cue in cues]
    if run.whole and not run.begins:
        return moved
    start, end = run.span
    return [cue for cue in moved if start <= cue.start < end]


def spoken_during(cue: Segment, transcript: Transcript) -> str:
    """What the transcript says during a subtitle cue: the words whose middle lies inside it."""
    heard: list[Word] = []
    for part in transcript.segments:
        pieces = part.words or (Word(part.start, part.end, part.text.strip()),)
        heard += [piece for piece in pieces if cue.start <= (piece.start + piece.end) / 2 < cue.end]
    return line_text(heard, transcript.language)


def speaker_during(cue: Segment, transcript: Transcript) -> str | None:
    """Who speaks for most of a subtitle cue; beside all speech, who speaks nearest to it."""

    def shared(part: Segment) -> float:
        return min(part.end, cue.end) - max(part.start, cue.start)

    seconds: dict[str | None, float] = {}
    for part in transcript.segments:
        if shared(part) > 0:
            seconds[part.speaker] = seconds.get(part.speaker, 0.0) + shared(part)
    if seconds:
        return max(seconds, key=lambda name: seconds[name])
    return max(transcript.segments, key=shared).speaker if transcript.segments else None


def machine_translate(run: DubRun, plan: DubPlan) -> tuple[DubLine, ...]:
    """Fill the lines that have no text yet, with the whole talk as context."""
    asked = run.options
    if asked.translator == "none":
        raise no_translation(plan)
    translator = open_translator(
        asked.translator, run.context, plan.source_language, plan.target_language, asked.endpoint
    )
    sources = [line.source for line in plan.lines]
    texts = translator.translate(
        sources, plan.source_language, plan.target_language, OneStage(run.report, "translate")
    )
    filled = [
        line if line.text.strip() or line.keep else replace(line, text=text.strip(), state="translated")
        for line, text in zip(plan.lines, texts, strict=True)
    ]
    return tuple(filled)


def no_translation(plan: DubPlan) -> TranslatorMissing:
    """The stop before speaking: the table waits for the user's words."""
    missing = [str(line.index + 1) for line in plan.lines if not line.text.strip() and not line.keep]
    return TranslatorMissing(
        Message(f"{len(missing)} lines have no translation yet", f"还有 {len(missing)} 行没有译文"),
        Message(
            "Type them into the table, paste them back, or choose a translator.",
            "请在表格中填写、粘贴译文,或选择翻译引擎。",
        ),
        "lines " + ", ".join(missing[:12]) + ("…" if len(missing) > 12 else ""),
    )
