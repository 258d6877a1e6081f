"""Step 5: the video put together, what is wanted beside it, and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pipelines import media
from pipelines.artifacts import fingerprint, options_key, run_stage
from pipelines.dub import captions, project, soundtrack
from pipelines.dub.check import LineCheck
from pipelines.dub.lines import LINES
from pipelines.dub.listening import TRANSCRIPT
from pipelines.dub.report_page import report_page
from pipelines.dub.run import DubRun
from pipelines.dub.takes import Takes
from pipelines.files import write_json, write_text
from pipelines.languages import language_name
from pipelines.lipsync import LipReport
from pipelines.progress import OneStage
from pipelines.types import DubLine, DubPlan

VIDEO, MKV = "dubbed.mp4", "dubbed.mkv"
REPORT, REPORT_PAGE = "report.json", "report.html"


def assemble(run: DubRun, plan: DubPlan, picture: Path, sound: Path) -> dict[str, Any]:
    """Write the subtitles and mux the video (marked as AI-dubbed); returns the result's names of what was made."""
    run.report.step("video", 0, 1, "files")
    written: dict[str, Any] = captions.write_files(run, plan)
    picture = captions.drawn(run, plan, picture)
    soft, extra = captions.tracks(run, plan), original_track(run, plan)
    key = options_key(
        picture=fingerprint(picture),
        sound=fingerprint(sound),
        soft=[fingerprint(track.path) for track in soft],
        extra=[[run.source_hash, track.stream] for track in extra],
    )

    def make(name: str) -> None:
        mark = f"AI-dubbed by Dubwright, {plan.source_language} to {plan.target_language}"
        media.mux(
            picture,
            sound,
            run.folder / name,
            run.context.settings,
            language=plan.target_language,
            extra_sounds=extra,
            subtitles=soft,
            metadata={"comment": mark, "language": plan.target_language},
            report=OneStage(run.report, "video"),
        )

    run_stage(run.folder, "video", key, [VIDEO], lambda: make(VIDEO))
    if run.options.mkv:
        run_stage(run.folder, "mkv", key, [MKV], lambda: make(MKV))
        written["mkv"] = MKV
    if run.options.stems:
        written["stems"] = soundtrack.write_stems(run, plan)
    run.report.step("video", 1, 1, "files")
    return {"video": VIDEO, **written}


def names(made: dict[str, Any]) -> list[str]:
    """Every file that a result names."""
    return [
        name for value in made.values() for name in (value.values() if isinstance(value, dict) else [value])
    ]


def original_track(run: DubRun, plan: DubPlan) -> tuple[media.ExtraSound, ...]:
    """The original sound, where it was asked for."""
    if not run.options.original_track:
        return ()
    title = f"Original ({language_name(plan.source_language).en})"
    return (media.ExtraSound(run.options.input, run.options.stream, plan.source_language, title),)


def line_report(line: DubLine, check: LineCheck | None, tried: Takes | None = None) -> dict[str, Any]:
    """One line as the report shows it; ``take`` counts renditions from 0, ``take_rates`` is how wrong each was heard."""
    return {
        **asdict(line),
        "speed": round(1 / line.factor, 3) if line.factor else None,
        "heard": check.heard if check else None,
        "error_rate": check.error_rate if check else None,
        "take": tried.take if tried else 0,
        "take_rates": list(tried.rates) if tried else [],
        "start_shift": round(line.speak_start - line.start, 3) if line.state == "spoken" else 0.0,
    }


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found out about a dub: ``takes`` by line index; ``measured`` is the report's ``voices``, ``voice``, ``loudness``,
    ``seconds`` and ``frames``.
    """

    checks: Sequence[LineCheck]
    lips: LipReport
    measured: dict[str, Any]
    takes: Mapping[int, Takes] = field(default_factory=dict)


def finish(run: DubRun, plan: DubPlan, made: dict[str, Any], found: Findings) -> dict[str, Any]:
    """Write the report and, where it was asked for, the project; returns the job's result."""
    by_line = {check.index: check for check in found.checks}
    report = {
        "source_language": plan.source_language,
        "target_language": plan.target_language,
        "lines": [
            line_report(line, by_line.get(line.index), found.takes.get(line.index)) for line in plan.lines
        ],
        "lips": asdict(found.lips),
        **found.measured,
    }
    write_json(run.folder / REPORT, report)
    write_text(run.folder / REPORT_PAGE, report_page(report, run.name))
    result = {**made, "lines": LINES, "report": REPORT, "report_page": REPORT_PAGE}
    if run.options.project:
        result["project"] = project.pack(run, [*names(result), TRANSCRIPT])
    return result
