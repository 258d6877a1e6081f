"""``sync``: a face that says another sound track, or a text."""

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
    person_number,
    refuse,
)
from commands.running import Task, run_tasks
from pipelines.jobs import JobSpec, JobView

FITS = ("loop", "pingpong", "freeze", "trim")
TITLE_LENGTH = 40
WHO_SPEAKS = (
    "with several people: who speaks, 1 for the one seen longest and largest"
    " (default: whose mouth moves most in the clip)"
)
COLUMNS = ("face", "audio", "text", "output", "engine", "fit", "language", "reference", "voice", "who")


def add_parser(commands: Any) -> None:
    """Add the command and its flags."""
    parser = commands.add_parser(
        "sync",
        help="lips in step with a sound track or a text",
        description="Make the face in a video or picture say a sound track: one sound with many faces, many sounds"
        " with one face, or as many of both. Without a sound it says --text, in the voice of a recording (--reference),"
        " in a saved or stock voice (--voice), or in a stock voice of the language.",
        parents=[common_flags(after_command=True)],
    )
    parser.add_argument(
        "--face", nargs="+", default=[], metavar="FACE", help="videos or pictures, or folders of them"
    )
    parser.add_argument(
        "--audio", nargs="+", default=[], metavar="IN", help="sound or video files, or folders of them"
    )
    output_flags(parser, "OUT.mp4")
    parser.add_argument("--engine", help="lip engine: ownmouth (default), wav2lip, wav2lip-gan")
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
        "--head-motion",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="with a picture: the head moves a little (yes)",
    )
    parser.add_argument(
        "--blink",
        action="store_true",
        help="with a picture: its eyes shut now and then (rough on made-up eyes)",
    )
    parser.add_argument("--who", type=person_number, metavar="N", help=WHO_SPEAKS)
    parser.add_argument(
        "--language", type=language_code, metavar="LANG", help="language of the speech (default: found)"
    )
    parser.add_argument(
        "--text", help="what to say; beside --audio what is said there: better than hearing it"
    )
    parser.add_argument(
        "--reference", metavar="REF", help="for --text: 3 to 15 s of the voice, sound or video"
    )
    parser.add_argument("--voice", metavar="ID", help="for --text: a saved or stock voice instead")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Sync; returns the exit code."""
    rows = _rows(arguments)
    tasks = [_task(arguments, row, several=len(rows) > 1) for row in rows]
    return run_tasks(arguments, tasks, find, tell)


def _rows(arguments: argparse.Namespace) -> list[dict[str, str]]:
    if arguments.table:
        return _table_rows(arguments)
    if not arguments.face or not (arguments.audio or arguments.text):
        refuse(
            "Give a face and a sound or a text: --face with --audio or --text",
            "请用 --face 指定人脸,并用 --audio 或 --text 指定声音或文字",
        )
    faces = inputs.expand(arguments.face, inputs.VIDEO | inputs.PICTURE)
    if not arguments.audio:
        return [{"face": str(face), "name": f"{face.stem}-synced.mp4"} for face in faces]
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


def _table_rows(arguments: argparse.Namespace) -> list[dict[str, str]]:
    base = Path(arguments.table).expanduser().absolute().parent
    rows = inputs.read_table(arguments.table, COLUMNS, ["face"])
    if not arguments.text and any("audio" not in row and "text" not in row for row in rows):
        refuse("Every row needs a sound or a text: columns audio and text", "每一行都需要 audio 或 text")
    files = ("face", "audio", "reference")
    return [
        {**row, **{name: str(existing_file(row[name], base)) for name in files if name in row}}
        for row in rows
    ]


def _task(arguments: argparse.Namespace, row: dict[str, str], several: bool) -> Task:
    face, sound = Path(row["face"]), Path(row["audio"]) if "audio" in row else None
    fit = row.get("fit") or arguments.fit
    if fit not in FITS:
        refuse(
            f"There is no fit {fit!r}; choose from {', '.join(FITS)}", f"没有 {fit!r};可选:{', '.join(FITS)}"
        )
    spoken, text = row.get("language") or arguments.language, row.get("text") or arguments.text
    options = {
        "face": str(face),
        "audio": str(sound) if sound else None,
        "engine": row.get("engine") or arguments.engine or "ownmouth",
        "fit": fit,
        "offset": arguments.offset,
        "head_motion": arguments.head_motion,
        "blinking": arguments.blink,
        "who": _person(row["who"]) if "who" in row else arguments.who,
        "text": text,
        "language": known_code(spoken) if spoken else None,
        "reference": _voice(arguments, row, sound),
    }
    said = sound.stem if sound else "said"
    name = row.get("output") or row.get("name") or f"{face.stem}-{said}-synced.mp4"
    if not name.lower().endswith(".mp4"):
        refuse("The output must end in .mp4", "输出文件的扩展名应为 .mp4", name)
    goal = outputs.goal(arguments.output, several, name, ("mp4",))
    title = f"{face.name} + {sound.name if sound else ' '.join((text or '').split())[:TITLE_LENGTH]}"
    return Task(JobSpec("sync", options, title), {"video": goal}, (face, *([sound] if sound else [])))


def _person(cell: str) -> int:
    try:
        return person_number(cell)
    except argparse.ArgumentTypeError as error:
        refuse(str(error), f"没有第 {cell!r} 个人")


def _voice(arguments: argparse.Namespace, row: dict[str, str], sound: Path | None) -> str | None:
    """Whose voice says a text: a recording's path, or the name of a saved or stock voice."""
    reference = row.get("reference") or arguments.reference
    voice = row.get("voice") or arguments.voice
    if reference and voice:
        refuse("Give either --reference or --voice, not both", "--reference 与 --voice 只能选一个")
    if sound and (reference or voice):
        refuse(
            "A sound is said in its own voice: --reference and --voice are for --text alone",
            "已提供声音时不能再指定音色:--reference 与 --voice 仅用于 --text",
        )
    return str(existing_file(reference)) if reference else voice


def find(view: JobView) -> Mapping[str, Path]:
    """The video of a finished job."""
    return {"video": view.folder / view.result["video"]}


def tell(view: JobView) -> str:
    """Nothing more than the time it took."""
    return ""
