"""``sync``: a face that says another sound track."""

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
    number,
    output_flags,
    refuse,
)
from commands.running import Task, run_tasks
from pipelines.jobs import JobSpec, JobView

FITS = ("loop", "pingpong", "freeze", "trim")
COLUMNS = ("face", "audio", "output", "engine", "fit", "language")


def add_parser(commands: Any) -> None:
    """Add the command and its flags."""
    parser = commands.add_parser(
        "sync",
        help="lips in step with a sound track",
        description="Make the face in a video or picture say a sound track. One sound with many faces, many sounds"
        " with one face, or as many of both.",
        parents=[common_flags(after_command=True)],
    )
    parser.add_argument(
        "--face", nargs="+", default=[], metavar="FACE", help="videos or pictures, or folders of them"
    )
    parser.add_argument(
        "--audio", nargs="+", default=[], metavar="IN", help="sound or video files, or folders of them"
    )
    output_flags(parser, "OUT.mp4")
    parser.add_argument("--engine", help="lip engine (default: ownmouth)")
    parser.add_argument(
        "--fit",
        choices=FITS,
        default="loop",
        help="when the sound is longer or shorter than the video (loop)",
    )
    parser.add_argument(
        "--offset", type=number(-2, 2, "number of seconds"), default=0.0, help="seconds the mouth is later"
    )
    parser.add_argument(
        "--language", type=language_code, metavar="LANG", help="language of the speech (default: found)"
    )
    parser.add_argument("--text", help="what is said, if known: better than hearing it")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Sync; returns the exit code."""
    rows = _rows(arguments)
    tasks = [_task(arguments, row, several=len(rows) > 1) for row in rows]
    return run_tasks(arguments, tasks, find, tell)


def _rows(arguments: argparse.Namespace) -> list[dict[str, str]]:
    if arguments.table:
        base = Path(arguments.table).expanduser().absolute().parent
        rows = inputs.read_table(arguments.table, COLUMNS, ["face", "audio"])
        return [
            {**row, **{name: str(existing_file(row[name], base)) for name in ("face", "audio")}}
            for row in rows
        ]
    if not arguments.face or not arguments.audio:
        refuse("Give a face and a sound: --face and --audio", "请用 --face 和 --audio 指定人脸与声音")
    faces = inputs.expand(arguments.face, inputs.VIDEO | inputs.PICTURE)
    sounds = inputs.expand(arguments.audio, inputs.SOUND | inputs.VIDEO)
    pairs = inputs.paired(faces, sounds, ("faces", "sounds"))
    name = (
        "{face}-{audio}" if len(faces) > 1 and len(sounds) > 1 else "{audio}" if len(sounds) > 1 else "{face}"
    )
    return [
        {
            "face": str(face),
            "audio": str(sound),
            "name": f"{name.format(face=face.stem, audio=sound.stem)}-synced.mp4",
        }
        for face, sound in pairs
    ]


def _task(arguments: argparse.Namespace, row: dict[str, str], several: bool) -> Task:
    face, sound = Path(row["face"]), Path(row["audio"])
    fit = row.get("fit") or arguments.fit
    if fit not in FITS:
        refuse(
            f"There is no fit {fit!r}; choose from {', '.join(FITS)}", f"没有 {fit!r};可选:{', '.join(FITS)}"
        )
    spoken = row.get("language") or arguments.language
    options = {
        "face": str(face),
        "audio": str(sound),
        "engine": row.get("engine") or arguments.engine or "ownmouth",
        "fit": fit,
        "offset": arguments.offset,
        "text": arguments.text,
        "language": known_code(spoken) if spoken else None,
        "reference": None,
    }
    name = row.get("output") or row.get("name") or f"{face.stem}-{sound.stem}-synced.mp4"
    if not name.lower().endswith(".mp4"):
        refuse("The output must end in .mp4", "输出文件的扩展名应为 .mp4", name)
    goal = outputs.goal(arguments.output, several, name, ("mp4",))
    return Task(JobSpec("sync", options, f"{face.name} + {sound.name}"), {"video": goal}, (face, sound))


def find(view: JobView) -> Mapping[str, Path]:
    """The video of a finished job."""
    return {"video": view.folder / view.result["video"]}


def tell(view: JobView) -> str:
    """Nothing more than the time it took."""
    return ""
