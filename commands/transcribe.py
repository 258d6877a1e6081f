"""``transcribe``: speech into subtitles and text."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commands import inputs, outputs
from commands.parsing import (
    common_flags,
    existing_file,
    known_code,
    language_code,
    listed,
    moment,
    output_flags,
    refuse,
)
from commands.running import Task, run_tasks
from pipelines.asr import VadOptions, vad_options
from pipelines.diarise import MOST_SPEAKERS
from pipelines.hotwords import read_hotwords
from pipelines.jobs import JobSpec, JobView
from pipelines.subtitles import EXPORT_FORMATS, EXTENSIONS

VIDEOS = {"mp4": "burned", "mkv": "subtitled"}  # kind of file → what the flow calls it
FORMATS = (*EXPORT_FORMATS, *VIDEOS)
COLUMNS = ("input", "output", "engine", "language", "hotwords", "text-file")


def add_parser(commands: Any) -> None:
    """Add the command and its flags."""
    parser = commands.add_parser(
        "transcribe",
        help="speech into subtitles or text",
        description="Write down what is said in video or sound files.",
        parents=[common_flags(after_command=True)],
    )
    parser.add_argument("inputs", nargs="*", metavar="IN", help="video or sound files, or folders of them")
    output_flags(parser, f"OUT.{{{','.join(FORMATS)}}}")
    parser.add_argument(
        "--format",
        type=listed,
        metavar="F,F",
        help=f"formats when OUT is a folder: {', '.join(FORMATS)} (srt); mp4 has the subtitles burned in, mkv as a track",
    )
    parser.add_argument("--engine", help="recogniser (default: whisper)")
    parser.add_argument("--language", type=language_code, help="what is spoken; heard by itself otherwise")
    parser.add_argument(
        "--text-file",
        metavar="FILE.txt",
        help="the words that are said, if you have them: only their times are heard",
    )
    parser.add_argument("--hotwords", type=listed, metavar="A,B", help="names and words to expect")
    parser.add_argument("--hotword-file", metavar="FILE", help="the same from a text file, one a line")
    parser.add_argument("--prompt", default="", help="a sentence in the style of the text that is wanted")
    parser.add_argument(
        "--itn", action=argparse.BooleanOptionalAction, default=True, help="numbers and dates as figures"
    )
    parser.add_argument(
        "--punctuation", action=argparse.BooleanOptionalAction, default=True, help="keep punctuation marks"
    )
    parser.add_argument(
        "--script",
        choices=("simplified", "traditional", "heard"),
        default="simplified",
        help="Chinese characters",
    )
    parser.add_argument(
        "--speakers", type=_speakers, default="off", metavar="N", help="who speaks: auto, or how many do"
    )
    parser.add_argument("--history", action="store_true", help="keep the text in the page's history, too")
    parser.add_argument("--stream", type=int, metavar="N", help="sound track, as ffmpeg counts streams")
    parser.add_argument(
        "--channel",
        type=_channel,
        metavar="N",
        help="left, right or a number from 0; each: every channel a speaker",
    )
    parser.add_argument(
        "--vad",
        type=_settings,
        metavar="NAME=X,…",
        help=f"what counts as speech: {', '.join(VadOptions.LIMITS)}",
    )
    parser.add_argument("--start", type=moment, metavar="TIME", help="begin here (95, 1:35…)")
    parser.add_argument("--end", type=moment, metavar="TIME", help="end here")
    parser.set_defaults(run=run)


def _channel(text: str) -> int | str:
    """``left``, ``right``, ``each`` or a number."""
    named: dict[str, int | str] = {"left": 0, "right": 1, "each": "each"}
    if text in named:
        return named[text]
    if not text.isdecimal():
        raise argparse.ArgumentTypeError("left, right, each or a number from 0")
    return int(text)


def _speakers(text: str) -> int | str:
    """``off``, ``auto`` or a number."""
    if text in ("off", "auto"):
        return text
    if not text.isdecimal() or not 1 <= int(text) <= MOST_SPEAKERS:
        raise argparse.ArgumentTypeError(f"off, auto or 1 to {MOST_SPEAKERS}")
    return int(text)


def _settings(text: str) -> dict[str, float]:
    """``name=number`` pairs with commas between them."""
    found = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{part!r} is not NAME=NUMBER") from None
    return found


def run(arguments: argparse.Namespace) -> int:
    """Transcribe; returns the exit code."""
    if arguments.end is not None and arguments.end <= (arguments.start or 0.0):
        refuse("--end must be later than --start", "--end 必须晚于 --start")
    rows = _rows(arguments)
    if arguments.text_file and len(rows) > 1:
        refuse(
            "--text-file goes with one sound; for several give a table with the column text-file",
            "--text-file 只能用于一个文件;多个文件请用含 text-file 列的表格",
        )
    tasks = [_task(arguments, row, several=len(rows) > 1) for row in rows]
    return run_tasks(arguments, tasks, find, tell)


def _rows(arguments: argparse.Namespace) -> list[dict[str, str]]:
    if arguments.table:
        base = Path(arguments.table).expanduser().absolute().parent
        rows = inputs.read_table(arguments.table, COLUMNS, ["input"])
        return [{**row, "input": str(existing_file(row["input"], base))} for row in rows]
    if not arguments.inputs:
        refuse("Name at least one video or sound file", "请至少指定一个视频或音频文件")
    return [{"input": str(path)} for path in inputs.expand(arguments.inputs, inputs.VIDEO | inputs.SOUND)]


def _task(arguments: argparse.Namespace, row: dict[str, str], several: bool) -> Task:
    source = Path(row["input"])
    goals = _goals(arguments, row.get("output"), source, several)
    hotwords = listed(row["hotwords"]) if "hotwords" in row else _hotwords(arguments)
    language = row.get("language") or arguments.language
    base = Path(arguments.table).expanduser().absolute().parent if arguments.table else None
    written = row.get("text-file") or arguments.text_file
    options = {
        "input": str(source),
        "text": inputs.text_of(existing_file(written, base)) if written else "",
        "engine": row.get("engine") or arguments.engine or "whisper",
        "language": known_code(language) if language else None,
        "stream": arguments.stream,
        "channel": arguments.channel,
        "start": arguments.start or 0.0,
        "end": arguments.end,
        "hotwords": hotwords,
        "prompt": arguments.prompt,
        "itn": arguments.itn,
        "punctuation": arguments.punctuation,
        "script": arguments.script,
        "vad": arguments.vad or {},
        "formats": [kind for kind in goals if kind not in VIDEOS] or ["json"],
        "burn_in": "mp4" in goals,
        "soft_subtitles": "mkv" if "mkv" in goals else "",
        "speakers": arguments.speakers,
        "history": arguments.history,
    }
    vad_options(arguments.vad)
    return Task(JobSpec("transcribe", options, source.name), goals, (source,))


def _hotwords(arguments: argparse.Namespace) -> list[str]:
    """Hotwords of the command line and of the file it names, in the notation with weights."""
    given: list[str] = arguments.hotwords or []
    if not arguments.hotword_file:
        return given
    path = existing_file(arguments.hotword_file)
    return [*given, *(f"{word.text}\t{word.weight:g}" for word in read_hotwords(path))]


def _goals(
    arguments: argparse.Namespace, output: str | None, source: Path, several: bool
) -> Mapping[str, Path]:
    """Format → file: from the extension of ``-o``, or from ``--format`` in a folder."""
    formats = arguments.format or ["srt"]
    strange = [name for name in formats if name not in FORMATS]
    if strange:
        refuse(
            f"There is no format {strange[0]!r}; choose from {', '.join(FORMATS)}",
            f"没有 {strange[0]!r} 格式;可选:{', '.join(FORMATS)}",
        )
    if output:
        path = Path(arguments.output).expanduser().absolute() / output
        return {_kind(path): path}
    goals = {
        kind: outputs.goal(arguments.output, several, f"{source.stem}.{EXTENSIONS.get(kind, kind)}", FORMATS)
        for kind in formats
    }
    if outputs.is_folder(arguments.output):
        return goals
    path = next(iter(goals.values()))
    if arguments.format and [_kind(path)] != formats:
        refuse("--format goes with a folder after -o", "--format 需要 -o 后为文件夹")
    return {_kind(path): path}


def _kind(path: Path) -> str:
    kind = path.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        refuse(
            f"The output must end in {', '.join('.' + name for name in FORMATS)}",
            f"输出文件的扩展名应为 {', '.join('.' + name for name in FORMATS)}",
            path.name,
        )
    return kind


def find(view: JobView) -> Mapping[str, Path]:
    """The files of a finished job by format."""
    files = view.result.get("files", {})
    named = {**files, **{kind: files[name] for kind, name in VIDEOS.items() if name in files}}
    return {kind: view.folder / name for kind, name in named.items()}


def tell(view: JobView) -> str:
    """How much was heard, in which language."""
    segments = view.result.get("segments")
    lines = f"{segments} lines, " if isinstance(segments, int) else ""
    return f"{lines}language {view.result.get('language')}"
