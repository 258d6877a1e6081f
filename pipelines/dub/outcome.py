"""Step 5: the video put together, its subtitles and its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipelines import media, subtitles
from pipelines.artifacts import fingerprint, options_key, run_stage
from pipelines.cues import cues
from pipelines.dub.check import LineCheck
from pipelines.dub.run import DubRun
from pipelines.dub.soundtrack import total_frames
from pipelines.dub.speaking import times_file
from pipelines.files import write_json
from pipelines.languages import language_name
from pipelines.lipsync import LipReport
from pipelines.progress import OneStage
from pipelines.records import load_speech_times
from pipelines.types import DubLine, DubPlan, Segment, Word

VIDEO = "dubbed.mp4"
REPORT = "report.json"
TARGET, SOURCE = "target.srt", "source.srt"


def assemble(run: DubRun, plan: DubPlan, picture: Path, sound: Path) -> None:
    """Write the subtitles of both languages and mux ``dubbed.mp4`` (faststart, marked as AI-dubbed)."""
    run.report.step("video", 0, 1, "files")
    target = [spoken_segment(run, line) for line in plan.lines if line.state == "spoken"]
    source = [Segment(line.start, line.end, line.source) for line in plan.lines if line.source]
    ends = float(total_frames(run, plan) / run.info.fps)
    subtitles.write(run.folder / TARGET, cues(target, until=ends), "srt")
    subtitles.write(run.folder / SOURCE, cues(source, until=ends), "srt")
    soft, extra = soft_subtitles(run, plan), original_track(run, plan)
    key = options_key(
        picture=fingerprint(picture),
        sound=fingerprint(sound),
        soft=[fingerprint(track.path) for track in soft],
        extra=[[run.source_hash, track.stream] for track in extra],
    )

    def make() -> None:
        mark = f"AI-dubbed by Dubwright, {plan.source_language} to {plan.target_language}"
        media.mux(
            picture,
            sound,
            run.folder / VIDEO,
            run.context.settings,
            language=plan.target_language,
            extra_sounds=extra,
            subtitles=soft,
            metadata={"comment": mark, "language": plan.target_language},
            report=OneStage(run.report, "video"),
        )

    run_stage(run.folder, "video", key, [VIDEO], make)
    run.report.step("video", 1, 1, "files")


def soft_subtitles(run: DubRun, plan: DubPlan) -> tuple[media.SubtitleTrack, ...]:
    """Both languages, where they were asked for and something is written in them."""
    files = ((TARGET, plan.target_language), (SOURCE, plan.source_language))
    return tuple(
        media.SubtitleTrack(run.folder / name, language, language_name(language).en)
        for name, language in files
        if run.options.soft_subtitles and (run.folder / name).read_text(encoding="utf-8").strip()
    )


def original_track(run: DubRun, plan: DubPlan) -> tuple[media.ExtraSound, ...]:
    """The original sound, where it was asked for."""
    if not run.options.original_track:
        return ()
    title = f"Original ({language_name(plan.source_language).en})"
    return (media.ExtraSound(run.options.input, run.options.stream, plan.source_language, title),)


def spoken_segment(run: DubRun, line: DubLine) -> Segment:
    """A dubbed line with the times of its words on the video's clock, so that its cues follow the voice."""
    _, words = load_speech_times(times_file(run, line))
    shifted = tuple(
        Word(word.start + line.speak_start, word.end + line.speak_start, word.text, word.prob)
        for word in words
    )
    return Segment(line.speak_start, line.speak_end, line.text, shifted)


def line_report(line: DubLine, check: LineCheck | None) -> dict[str, Any]:
    """One line as the report shows it."""
    return {
        **asdict(line),
        "speed": round(1 / line.factor, 3) if line.factor else None,
        "heard": check.heard if check else None,
        "error_rate": check.error_rate if check else None,
        "start_shift": round(line.speak_start - line.start, 3) if line.state == "spoken" else 0.0,
    }


def write_report(
    run: DubRun, plan: DubPlan, checks: Sequence[LineCheck], lips: LipReport, measures: dict[str, Any]
) -> dict[str, Any]:
    """Write ``report.json``: fit and read-back per line, voice, loudness, lips, lengths."""
    by_line = {check.index: check for check in checks}
    report = {
        "source_language": plan.source_language,
        "target_language": plan.target_language,
        "lines": [line_report(line, by_line.get(line.index)) for line in plan.lines],
        "lips": asdict(lips),
        **measures,
    }
    write_json(run.folder / REPORT, report)
    return report
