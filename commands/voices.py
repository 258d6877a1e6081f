"""``voices``: look a sample over, and keep, list, rename, describe, delete, export and import voices."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from commands.outputs import check_goals
from commands.parsing import common_flags, existing_file, language_code, listed, moment, refuse
from commands.running import Task, run_tasks
from commands.words import language
from pipelines.jobs import JobSpec, JobView
from pipelines.settings import Settings
from pipelines.voice.library import SavedVoice, change_voice, delete_voice, describe, list_voices
from pipelines.voice.package import SUFFIX, export_voice, import_voice


def add_parser(commands: Any) -> None:
    """Add the command, its actions and their flags."""
    parser = commands.add_parser(
        "voices",
        help="look a voice sample over; keep voices and list, rename, delete, export, import them",
        description="Voices that were learnt from samples and kept; speak and dub take them with --voice.",
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    _action(actions, "list", "all kept voices", _list)
    check = _action(actions, "check", "what a sample is like, in plain words", _check, "sample")
    _range_flags(check)
    add = _action(actions, "add", "learn a voice from a sample and keep it", _add, "sample")
    add.add_argument("--name", help="its name (default: the file's)")
    add.add_argument("--language", type=language_code, default="en", help="language of its preview")
    add.add_argument("--tags", type=listed, default=[], metavar="A,B", help="words to find it by")
    add.add_argument("--engine", help="voice engine (default: kokoro)")
    add.add_argument(
        "--i-may-use-it", action="store_true", help="it is your voice, or you have its owner's consent"
    )
    _range_flags(add)
    add.set_defaults(overwrite=False)
    rename = _action(actions, "rename", "give a voice another name", _rename, "name")
    rename.add_argument("new_name", metavar="NEW")
    describe_flags = _action(actions, "describe", "say what a voice is for", _describe, "name")
    describe_flags.add_argument("--language", type=language_code, help="language it is for")
    describe_flags.add_argument("--tags", type=listed, metavar="A,B", help="words to find it by")
    _action(actions, "delete", "delete a voice for good", _delete, "name")
    export = _action(actions, "export", "write a voice as one file", _export, "name")
    export.add_argument("-o", "--output", required=True, metavar=f"OUT{SUFFIX}")
    export.add_argument("--overwrite", action="store_true", help="replace an existing file")
    _action(actions, "import", "add a voice from such a file", _import, "file")


def _action(actions: Any, name: str, words: str, run: Any, *positional: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(
        name,
        help=words,
        description=words[:1].upper() + words[1:] + ".",
        parents=[common_flags(after_command=True)],
    )
    for one in positional:
        parser.add_argument(one, metavar=one.upper())
    parser.add_argument("--json", action="store_true", help="the result as JSON on stdout")
    parser.set_defaults(run=run)
    return parser


def _range_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from", dest="start", type=moment, default=0.0, metavar="TIME", help="start of the part to use"
    )
    parser.add_argument("--to", dest="end", type=moment, metavar="TIME", help="end of the part to use")


def _say(arguments: argparse.Namespace, record: Any, words: str) -> int:
    sys.stdout.write(f"{json.dumps(record, ensure_ascii=False) if arguments.json else words}\n")
    return 0


def _library() -> Path:
    return Settings.load().outputs / "voices"


def _list(arguments: argparse.Namespace) -> int:
    found = [describe(_library(), name) for name in list_voices(_library())]
    records = [{**asdict(one), "preview": str(one.preview) if one.preview else None} for one in found]
    return _say(arguments, records, "\n".join(_line(one) for one in found) or "–")


def _line(voice: SavedVoice) -> str:
    return "  ".join(
        part for part in (voice.name, voice.language, voice.created, ", ".join(voice.tags)) if part
    )


def _check(arguments: argparse.Namespace) -> int:
    from pipelines.media import choose_track
    from pipelines.sample import diagnose, load_sample

    path, tongue = existing_file(arguments.sample), language()
    track = choose_track(path, None)
    found, _ = diagnose(
        load_sample(path, Settings.load(), arguments.start, arguments.end), track.channels, track.sr
    )
    remarks = [said.text(tongue) for _, said in found.remarks()]
    return _say(arguments, {**asdict(found), "remarks": remarks}, "\n".join([found.numbers(), *remarks]))


def _add(arguments: argparse.Namespace) -> int:
    if not arguments.i_may_use_it:
        refuse(
            "A voice is kept only with --i-may-use-it: it is yours, or you have its owner's consent",
            "保存声音需要 --i-may-use-it:表示这是您的声音,或已获得本人同意",
        )
    path = existing_file(arguments.sample)
    options = {
        "reference": str(path),
        "reference_start": arguments.start,
        "reference_end": arguments.end,
        "name": arguments.name,
        "language": arguments.language,
        "tags": arguments.tags,
        "consent": True,
        "engine": arguments.engine or "kokoro",
    }
    task = Task(JobSpec("enrol", options, arguments.name or path.stem), {}, (path,))
    return run_tasks(arguments, [task], lambda view: {}, _told)


def _told(view: JobView) -> str:
    alike = view.result.get("similarity")
    return f"kept as {view.result.get('voice')}" + (
        f", similarity {alike:.2f}" if isinstance(alike, float) else ""
    )


def _rename(arguments: argparse.Namespace) -> int:
    name = change_voice(_library(), arguments.name, new_name=arguments.new_name)
    return _say(arguments, {"voice": name}, name)


def _describe(arguments: argparse.Namespace) -> int:
    if arguments.language is None and arguments.tags is None:
        refuse("Give --language or --tags", "请给出 --language 或 --tags")
    tags = None if arguments.tags is None else tuple(arguments.tags)
    change_voice(_library(), arguments.name, tags=tags, language=arguments.language)
    found = describe(_library(), arguments.name)
    return _say(
        arguments, {"voice": found.name, "language": found.language, "tags": found.tags}, _line(found)
    )


def _delete(arguments: argparse.Namespace) -> int:
    delete_voice(_library(), arguments.name)
    return _say(arguments, {"deleted": arguments.name}, arguments.name)


def _export(arguments: argparse.Namespace) -> int:
    out = Path(arguments.output).expanduser().absolute()
    out = out if out.suffix == SUFFIX else out.with_name(out.name + SUFFIX)
    check_goals([out], [], arguments.overwrite)
    export_voice(_library(), arguments.name, out)
    return _say(arguments, {"file": str(out)}, str(out))


def _import(arguments: argparse.Namespace) -> int:
    name = import_voice(_library(), existing_file(arguments.file))
    return _say(arguments, {"voice": name}, name)
