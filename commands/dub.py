"""``dub``: a video in another language."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commands import inputs, outputs
from commands.dub_flags import ENGINES, KEY, add_flags
from commands.parsing import (
    existing_file,
    known_code,
    refuse,
)
from commands.running import Task, run_tasks
from commands.words import language
from pipelines import subtitles
from pipelines.errors import Message, PipelineError, TranslatorMissing
from pipelines.files import free_name
from pipelines.jobs import JobSpec, JobView
from pipelines.records import load_plan
from pipelines.types import Segment

COLUMNS = ("input", "to", "output", "translation", "language", "reference", "voice")


def add_parser(commands: Any) -> None:
    """Add the command and its flags."""
    add_flags(commands).set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Dub; returns the exit code."""
    if arguments.reference and arguments.voice:
        refuse("Give either --reference or --voice, not both", "--reference 与 --voice 只能选一个")
    if any("=" not in entry for entry in arguments.cast):
        refuse("A cast is given as SPEAKER=VOICE, such as S1=Me", "角色应写作 说话人=声音,例如 S1=Me")
    rows = _rows(arguments)
    tasks = [_task(arguments, row, several=len(rows) > 1) for row in rows]
    key = os.environ.get(KEY)
    return run_tasks(arguments, tasks, find, tell, {KEY: key} if key else None, advise)


def _rows(arguments: argparse.Namespace) -> list[dict[str, str]]:
    """Every video with every language, or the rows of the table."""
    if arguments.table:
        base = Path(arguments.table).expanduser().absolute().parent
        rows = inputs.read_table(arguments.table, COLUMNS, ["input"])
        files = ("input", "translation", "reference")
        rows = [
            {**row, **{name: str(existing_file(row[name], base)) for name in files if name in row}}
            for row in rows
        ]
        if not arguments.to and any("to" not in row for row in rows):
            refuse(
                "Say into which language: --to, or a column named to", "请用 --to 或表格的 to 列指定目标语言"
            )
        return [row | {"to": code} for row in rows for code in ([row["to"]] if "to" in row else arguments.to)]
    if not arguments.inputs:
        refuse("Name at least one video", "请至少指定一个视频")
    if not arguments.to:
        refuse("Say into which language: --to es, for instance", "请用 --to 指定目标语言,例如 --to es")
    videos = inputs.expand(arguments.inputs, inputs.VIDEO)
    rows = [{"input": str(video), "to": code} for video in videos for code in arguments.to]
    return [{**row, **_translation(arguments.translation, row, len(rows) > 1)} for row in rows]


def _translation(given: str | None, row: dict[str, str], several: bool) -> dict[str, str]:
    """The subtitle file of a video: the one named, or the one of the same name in the folder named."""
    if given is None:
        return {}
    folder = Path(given).expanduser()
    if not folder.is_dir():
        if several:
            refuse(
                "For several videos --translation must be a folder",
                "多个视频时 --translation 应为文件夹",
                given,
            )
        return {"translation": str(existing_file(given))}
    found = inputs.beside(Path(row["input"]), folder, row["to"])
    if found is None:
        refuse(
            f"No translation of this video in {folder}: a file such as {Path(row['input']).stem}.{row['to']}.srt",
            f"{folder} 中没有该视频的译文,例如 {Path(row['input']).stem}.{row['to']}.srt",
            Path(row["input"]).name,
        )
    return {"translation": str(found)}


def _task(arguments: argparse.Namespace, row: dict[str, str], several: bool) -> Task:
    source, target = Path(row["input"]), known_code(row["to"])
    name = row.get("output") or f"{source.stem}-{target}.mp4"
    if not name.lower().endswith((".mp4", ".mkv")):
        refuse("The output must end in .mp4 or .mkv", "输出文件的扩展名应为 .mp4 或 .mkv", name)
    goal = outputs.goal(arguments.output, several, name, ("mp4", "mkv"))
    goals = {"mkv" if goal.suffix.lower() == ".mkv" else "video": goal, **_besides(arguments, goal, target)}
    options = _options(arguments, row, goal, target)
    used = [source, *(Path(options[name]) for name in ("translation", "reference") if options[name])]
    return Task(JobSpec("dub", options, f"{source.name} → {target}"), goals, tuple(used))


def _besides(arguments: argparse.Namespace, goal: Path, target: str) -> dict[str, Path]:
    """Files beside the video, by the names that ``find`` gives them."""
    goals: dict[str, Path] = {}
    forms = dict.fromkeys((*(["srt"] if arguments.subtitles else []), *arguments.subtitle_formats))
    for form in forms:
        suffix = "" if form == "srt" else f".{form}"
        goals |= {
            f"target{suffix}": goal.with_suffix(f".{target}.{form}"),
            f"source{suffix}": goal.with_suffix(f".source.{form}"),
        }
    if arguments.stems:
        goals |= {role: goal.with_suffix(f".{role}.wav") for role in ("voice", "original")}
    if arguments.report:
        goals |= {
            "report": goal.with_suffix(".report.json"),
            "report_page": goal.with_suffix(".report.html"),
        }
    if arguments.project:
        goals["project"] = goal.with_suffix(".project.zip")
    return goals


def _options(arguments: argparse.Namespace, row: dict[str, str], goal: Path, target: str) -> dict[str, Any]:
    reference = row.get("reference") or arguments.reference
    spoken = row.get("language") or arguments.source_language
    endpoint, languages = None, arguments.subtitle_languages
    if arguments.endpoint:
        endpoint = {"address": arguments.endpoint, "model": arguments.endpoint_model or ""}
    return {
        "input": row["input"],
        "stream": arguments.stream,
        "source_language": known_code(spoken) if spoken else None,
        "target_language": target,
        "translation": row.get("translation"),
        "translator": arguments.translator or ("endpoint" if endpoint else None),
        "endpoint": endpoint,
        **{name: getattr(arguments, name) for name in ENGINES},
        "reference": str(existing_file(reference)) if reference else None,
        "voice": row.get("voice") or arguments.voice,
        "speakers": arguments.speakers,
        "cast": dict(entry.split("=", 1) for entry in arguments.cast),
        "start": arguments.start,
        "end": arguments.end,
        "rest": arguments.rest,
        "keep_background": arguments.keep_background,
        "lines": None,
        "lips": arguments.lips,
        "who": arguments.who,
        "soft_subtitles": (languages or "both") if arguments.soft_subtitles else None,
        "burned_subtitles": (languages or "target") if arguments.burn_subtitles else None,
        "subtitle_formats": arguments.subtitle_formats,
        "mkv": goal.suffix.lower() == ".mkv",
        "stems": arguments.stems,
        "project": arguments.project,
        "original_track": arguments.original_track,
    }


def find(view: JobView) -> Mapping[str, Path]:
    """What a finished job made, by role."""
    single = ("video", "mkv", "report", "report_page", "project")
    made = {role: view.folder / view.result[role] for role in single if role in view.result}
    for group in ("subtitles", "more_subtitles", "stems"):
        made |= {role: view.folder / name for role, name in view.result.get(group, {}).items()}
    return made


def advise(task: Task, view: JobView, error: PipelineError) -> str:
    """Put the lines that wait for their translation beside the output, as a subtitle file to be translated."""
    table = view.folder / "lines.json"
    if not isinstance(error, TranslatorMissing) or not table.is_file():
        return ""
    plan = load_plan(table)
    place = free_name(next(iter(task.goals.values())).with_suffix(".lines.srt"))
    subtitles.write(place, [Segment(line.start, line.end, line.source) for line in plan.lines], "srt")
    return Message(
        f"What is said stands in {place}: translate it, then run the same command with --translation {place.name}",
        f"原文已写入 {place}:翻译后加上 --translation {place.name} 重新运行同一命令",
    ).text(language())


def tell(view: JobView) -> str:
    """How many things the user should look at."""
    warnings = sum(note.level == "warning" for note in view.notes)
    return f"{warnings} warning{'s' * (warnings > 1)}" if warnings else ""
