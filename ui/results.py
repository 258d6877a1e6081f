"""What a finished job made: saved under ``outputs/`` with a name a person recognises, never over another file."""

from __future__ import annotations

import json
import logging
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from pipelines import files
from pipelines.jobs.folder import read_state
from pipelines.jobs.spec import JobView
from pipelines.settings import Settings
from ui.i18n import escaped, text

log = logging.getLogger(__name__)
RECORD = "saved.json"
SENTENCE_ENDS = " .,;:!?…—–-，。、；：！？"
SUFFIXES = {"sync": "talking", "caption": "subtitled"}
MAIN = {"dub": "video", "sync": "video", "speak": "audio", "caption": "video"}


def made(view: JobView, *keys: str) -> Path | None:
    """A file that the job's result names (``"video"``, or ``"subtitles", "target"``), if it is there."""
    value: object = view.result
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, str) or not value:
        return None
    path = view.folder / value
    return path if path.is_file() else None


def all_made(view: JobView) -> list[Path]:
    """Every file that the job's result names, in its order."""
    found: list[Path] = []

    def gather(value: object) -> None:
        if isinstance(value, dict):
            for item in value.values():
                gather(item)
        elif isinstance(value, str) and value and len(value) < 1000 and (view.folder / value).is_file():
            found.append(view.folder / value)

    gather(view.result)
    return list(dict.fromkeys(found))


def output_stem(view: JobView) -> str:
    """``<name>-<lang>`` for a dub, ``<name>-talking`` for a talking head; else what was put in, or what is said."""
    options = view.options
    source = options.get("input") or options.get("face")
    name = file_name(Path(str(source)).stem if source else view.title) or view.kind
    if view.kind == "dub":
        part = (
            "-part" if options.get("rest") == "cut" and (options.get("start") or options.get("end")) else ""
        )
        return f"{name}-{options['target_language']}{part}"
    if view.kind in SUFFIXES:
        return f"{name}-{SUFFIXES[view.kind]}"
    return name if source else name.rstrip(SENTENCE_ENDS) or view.kind


def file_name(words: str) -> str:
    """Words as a file name that every system takes."""
    return re.sub(r'[\\/:*?"<>|\x00-\x1f]+', " ", words).strip(" .")[:80].rstrip(" .").replace("  ", " ")


def promise_to_save(folder: Path) -> None:
    """Mark a job as the page's, so that its results go to ``outputs/``; a command line names its own places."""
    _note(folder / RECORD, None, {})


def _note(record: Path, finished: float | None, copies: dict[str, Path]) -> None:
    # Not through a part file: a worker that starts clears those away. A half-written note reads as none.
    saved = {name: str(path) for name, path in copies.items()}
    record.write_text(json.dumps({"finished": finished, "files": saved}), encoding="utf-8")


def save_results(settings: Settings, view: JobView) -> dict[str, Path]:
    """Copy a finished job's main result and its text files to ``outputs/``, once; returns file in the job → file there.

    Asking again, or after the user has moved the copies away, makes no second copy. Subtitles and transcripts get the
    name of the video: ``talk-es.srt``.
    """
    record = view.folder / RECORD
    saved = read_state(record)
    if not saved:
        return {}
    if view.state != "done" or saved["finished"] == view.finished:
        return {name: Path(path) for name, path in saved["files"].items()}
    wanted = output_names(view)
    stem = output_stem(view)
    suffix = _free_suffix(settings.outputs, stem, wanted.values())
    copies = {}
    for path, name in wanted.items():
        own = name.startswith(_own_beginnings(stem))
        numbered = f"{stem}{suffix}{name.removeprefix(stem)}" if own else name
        target = files.free_name(settings.outputs / numbered)
        with files.part_file(target) as part:
            _link_or_copy(path, part)
        copies[path.name] = target
    _note(record, view.finished, copies)
    if view.options.get("save_to"):
        _copy_into(Path(str(view.options["save_to"])).expanduser(), list(copies.values()))
    return copies


def _copy_into(folder: Path, saved: list[Path]) -> None:
    """The results once more where the user wants them, never over another file; a folder that is gone is no failure."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in saved:
            with files.part_file(files.free_name(folder / path.name)) as part:
                shutil.copyfile(path, part)
    except OSError as error:
        log.warning("%s could not be written: %s", folder, error)


def output_names(view: JobView) -> dict[Path, str]:
    """The files to save and their names: ``talk-es.mp4`` with ``talk-es.srt`` and ``talk-es-report.json``, and
    ``talk-en.srt`` for what was said.

    Players find subtitles of the same name by themselves.
    """
    stem, main = output_stem(view), made(view, MAIN.get(view.kind, ""))
    plan = view.folder / "lines.json"
    spoken = read_state(plan).get("source_language", "source") if view.kind == "dub" else ""
    source, target = made(view, "subtitles", "source"), made(view, "subtitles", "target")
    mkv, names = made(view, "mkv"), {}
    for path in all_made(view):
        if path == made(view, "transcript") and path.name not in view.result.get("files", {}).values():
            continue
        if path in (made(view, "speech"), made(view, "wave")):  # facts for the page's picture
            continue
        if source is not None and path.stem == source.stem:
            names[path] = f"{stem.rpartition('-')[0]}-{spoken}{path.suffix}"
        elif (
            path in (main, mkv)
            or (target is not None and path.stem == target.stem)
            or view.kind in ("transcribe", "speak")
        ):
            names[path] = f"{stem}{path.suffix}"
        elif path in (made(view, "report"), made(view, "report_page")):
            names[path] = f"{stem}-report{path.suffix}"
        elif path.suffix != ".json":
            names[path] = f"{stem}.{path.stem}{path.suffix}"
    return names


def _own_beginnings(stem: str) -> tuple[str, str]:
    """How the names of files begin that belong together by their stem."""
    return f"{stem}.", f"{stem}-report."


def _free_suffix(folder: Path, stem: str, names: Iterable[str]) -> str:
    """Nothing, or `` (2)``, `` (3)``… for all files of this stem alike, so that what belongs together shows it."""
    own = [name.removeprefix(stem) for name in names if name.startswith(_own_beginnings(stem))]
    number, suffix = 1, ""
    while any((folder / f"{stem}{suffix}{rest}").exists() for rest in own):
        number += 1
        suffix = f" ({number})"
    return suffix


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without hard links
        shutil.copyfile(source, target)


def size_text(size: float) -> str:
    """``1.4 GB``, ``12 MB``, ``3 kB``."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def open_folder(path: Path) -> bool:
    """Show a folder in the desktop's file manager; False when this computer has none to ask."""
    command = {"Darwin": "open", "Windows": "explorer"}.get(platform.system(), "xdg-open")
    binary = shutil.which(command)
    if binary is None:
        return False
    subprocess.Popen(
        [binary, str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return True


def saved_html(paths: list[Path], language: str) -> str:
    """Where results were saved, as one quiet line each."""
    return "".join(f'<p class="quiet">{escaped(text(language, "ui_saved", path=path))}</p>' for path in paths)
