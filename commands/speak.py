"""``speak``: text in somebody's voice."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commands import inputs, outputs
from commands.parsing import common_flags, existing_file, language_code, moment, number, output_flags, refuse
from commands.running import Task, run_tasks
from pipelines.jobs import JobSpec, JobView
from pipelines.languages import language_name
from pipelines.sound_formats import FORMATS, LOUDNESS_CHOICES, USUAL
from pipelines.speak.script import read_script

COLUMNS = (
    "text", "output", "reference", "from", "to", "voice", "engine", "language", "seconds", "speed", "emotion", "seed",
)  # fmt: skip
TITLE_LENGTH = 40
SECONDS, SPEED, SEED = (
    number(0.05, 3600, "number of seconds"),
    number(0.25, 4, "speed"),
    number(0, 2**31, "seed"),
)


def add_parser(commands: Any) -> None:
    """Add the command and its flags."""
    parser = commands.add_parser(
        "speak",
        help="text in somebody's voice",
        description="Speak a text in the voice of a recording.",
        parents=[common_flags(after_command=True)],
    )
    words = parser.add_mutually_exclusive_group()
    words.add_argument("--text", help="what to say")
    words.add_argument("--text-file", type=Path, metavar="FILE.txt", help="what to say, from a text file")
    words.add_argument(
        "--script",
        type=Path,
        metavar="FILE",
        help="a text, a dialogue (NAME: line), a CSV or subtitles: one file a line and all joined, in the folder after -o;"
        " subtitles keep their times",
    )
    parser.add_argument(
        "--cast",
        action="append",
        default=[],
        metavar="NAME=VOICE",
        help="for --script: who speaks in which voice",
    )
    parser.add_argument("--format", choices=FORMATS, default="wav", help="for --script: of the joined file")
    parser.add_argument("--reference", metavar="REF", help="3 to 15 s of the voice: sound or video")
    parser.add_argument(
        "--from", dest="start", type=moment, metavar="TIME", help="start of the part of REF that is used"
    )
    parser.add_argument("--to", dest="end", type=moment, metavar="TIME", help="end of that part")
    parser.add_argument("--voice", metavar="ID", help="a kept voice instead of a reference")
    output_flags(parser, "OUT.wav (or .flac .mp3 .m4a .opus)")
    parser.add_argument("--engine", help="voice engine (default: kokoro)")
    parser.add_argument(
        "--language", type=language_code, help="language of the text (default: found from the text)"
    )
    parser.add_argument("--seconds", type=SECONDS, metavar="S", help="exact length of the speech")
    parser.add_argument("--speed", type=SPEED, default=1.0, help="1 is natural, 1.25 a quarter faster")
    parser.add_argument(
        "--loudness",
        choices=LOUDNESS_CHOICES,
        default=f"{USUAL:g}",
        help="LUFS of the result (default: -16), or off",
    )
    parser.add_argument(
        "--srt", action="store_true", help="write what is said as OUT.srt, and how it was made as OUT.json"
    )
    parser.add_argument("--emotion", help="emotion, for engines that have it")
    parser.add_argument(
        "--seed",
        type=SEED,
        default=0.0,
        metavar="N",
        help="another seed, another reading; for engines that have it",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Speak; returns the exit code."""
    if arguments.script:
        return run_tasks(arguments, [_script(arguments)], find_lines, tell_lines)
    rows, base = _rows(arguments)
    tasks = [_task(arguments, row, base, place, len(rows)) for place, row in enumerate(rows, start=1)]
    return run_tasks(arguments, tasks, find, tell)


def _rows(arguments: argparse.Namespace) -> tuple[list[dict[str, str]], Path | None]:
    if arguments.table:
        base = Path(arguments.table).expanduser().absolute().parent
        return inputs.read_table(arguments.table, COLUMNS, ["text"]), base
    text = arguments.text
    if arguments.text_file:
        text = inputs.text_of(existing_file(arguments.text_file))
    if text is None or not text.strip():
        refuse(
            "Say what is to be spoken: --text or --text-file", "请用 --text 或 --text-file 指定要朗读的文字"
        )
    return [{"text": text}], None


def _task(
    arguments: argparse.Namespace, row: dict[str, str], base: Path | None, place: int, rows: int
) -> Task:
    """One row; its cells go before the flags."""
    reference = row.get("reference") or arguments.reference
    voice = row.get("voice") or arguments.voice
    if reference and voice:
        refuse("Give either --reference or --voice, not both", "--reference 与 --voice 只能选一个")
    path = existing_file(reference, base if "reference" in row else None) if reference else None
    options = {
        "text": row["text"],
        "reference": str(path) if path else None,
        "reference_start": _value(row, "from", moment, arguments.start),
        "reference_end": _value(row, "to", moment, arguments.end),
        "voice": voice,
        "engine": row.get("engine") or arguments.engine or "kokoro",
        "language": _value(row, "language", language_code, arguments.language),
        "seconds": _value(row, "seconds", SECONDS, arguments.seconds),
        "speed": _value(row, "speed", SPEED, arguments.speed),
        "emotion": row.get("emotion") or arguments.emotion,
        "loudness": arguments.loudness,
        "seed": int(_value(row, "seed", SEED, arguments.seed)),
    }
    name = row.get("output") or f"speech-{place:0{len(str(rows))}}.wav"
    goal = outputs.goal(arguments.output, rows > 1, name, FORMATS)
    options["format"] = goal.suffix.lower().lstrip(".")
    if options["format"] not in FORMATS:
        known = " ".join(f".{form}" for form in FORMATS)
        refuse(f"The output must end in one of {known}", f"输出文件的扩展名应为 {known}", name)
    goals = {"audio": goal}
    if arguments.srt:
        goals |= {kind: goal.with_suffix(f".{kind}") for kind in ("srt", "json")}
    title = " ".join(row["text"].split())[:TITLE_LENGTH]
    return Task(JobSpec("speak", options, title), goals, (path,) if path else ())


def _script(arguments: argparse.Namespace) -> Task:
    """One job for a whole script; a file for every line, one for all, and the report."""
    path = existing_file(arguments.script)
    reference = existing_file(arguments.reference) if arguments.reference else None
    if reference and arguments.voice:
        refuse("Give either --reference or --voice, not both", "--reference 与 --voice 只能选一个")
    cast = dict(entry.split("=", 1) for entry in arguments.cast if "=" in entry)
    if len(cast) < len(arguments.cast):
        refuse("A cast is given as NAME=VOICE", "角色应写作 名字=声音")
    options = {
        "input": str(path),
        "language": arguments.language,
        "cast": cast,
        "voice": arguments.voice,
        "reference": str(reference) if reference else None,
        "engine": arguments.engine or "kokoro",
        "speed": arguments.speed,
        "format": arguments.format,
        "loudness": arguments.loudness,
    }
    joined = outputs.goal(arguments.output, True, f"{path.stem}.{arguments.format}", FORMATS)
    goals = {"audio": joined, "lines": joined.with_name(f"{path.stem}-report.json")}
    for place in range(1, len(read_script(path)) + 1):
        goals[f"{place:04d}"] = joined.with_name(f"{path.stem}-{place:04d}.wav")
    return Task(JobSpec("script", options, path.name), goals, (path, *([reference] if reference else [])))


def find_lines(view: JobView) -> Mapping[str, Path]:
    """The joined sound, the report, and every line that was spoken."""
    made = {"audio": view.result["audio"], "lines": view.result["lines"], **view.result["files"]}
    return {role: view.folder / name for role, name in made.items()}


def tell_lines(view: JobView) -> str:
    """How many lines, and which of them ran over their time or could not be spoken."""
    said = [f"{len(view.result['files'])} of {view.result['count']} lines"]
    for name, words in (("overruns", "over their time"), ("failed", "not spoken")):
        if numbers := view.result[name]:
            said.append(f"{words}: {', '.join(map(str, numbers))}")
    return "; ".join(said)


def _value(row: dict[str, str], name: str, parse: Any, otherwise: Any) -> Any:
    if name not in row:
        return otherwise
    try:
        return parse(row[name])
    except argparse.ArgumentTypeError as error:
        refuse(f"In the table: {error}", f"表格中:{error}", name)


def find(view: JobView) -> Mapping[str, Path]:
    """The sound of a finished job, its subtitles and how it was made."""
    beside = {kind: view.folder / name for kind, name in view.result.get("files", {}).items()}
    return {"audio": view.folder / view.result["audio"], **beside}


def tell(view: JobView) -> str:
    """Length and language, and how alike the voices are where the engine says so."""
    similarity = view.result.get("similarity")
    alike = f", similarity {similarity:.2f}" if isinstance(similarity, float) else ""
    language = language_name(str(view.result.get("language", ""))).en
    return f"{view.result.get('seconds', 0):.2f} s of {f'{language} ' if language else ''}speech{alike}"
