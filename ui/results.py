"""What a finished job made: saved under ``outputs/`` with a name a person recognises, never over another file."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from pipelines import files
from pipelines.jobs.spec import JobView
from pipelines.settings import Settings
from ui.i18n import escaped, text

RECORD = "saved.json"
MAIN = {"dub": "video", "sync": "video", "speak": "audio"}


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
    """``<name>-<lang>`` for a dub; otherwise the name of what was put in, or the first words of what was said."""
    options = view.options
    source = options.get("input") or options.get("face")
    name = file_name(Path(str(source)).stem if source else view.title) or view.kind
    return f"{name}-{options['target_language']}" if view.kind == "dub" else name


def file_name(words: str) -> str:
    """Words as a file name that every system takes."""
    return re.sub(r'[\\/:*?"<>|\x00-\x1f]+', " ", words).strip(" .")[:80].rstrip(" .").replace("  ", " ")


def save_results(settings: Settings, view: JobView) -> dict[str, Path]:
    """Copy a finished job's main result and its text files to ``outputs/``, once; returns file in the job → file there.

    Asking again, or after the user has moved the copies away, makes no second copy. Subtitles and transcripts get the
    name of the video and what they are: ``talk-es.source.srt``.
    """
    record = view.folder / RECORD
    key = str(view.finished)
    if record.is_file():
        saved = files.read_json(record)
        if saved["finished"] == key:
            return {made_name: Path(path) for made_name, path in saved["files"].items()}
    if view.state != "done" or view.kind not in ("dub", "sync", "speak", "transcribe"):
        return {}
    stem, copies = output_stem(view), {}
    for path in all_made(view):
        if path.suffix == ".json":
            continue
        target = files.free_name(settings.outputs / f"{stem}{_role(view, path)}{path.suffix}")
        with files.part_file(target) as part:
            _link_or_copy(path, part)
        copies[path.name] = target
    files.write_json(record, {"finished": key, "files": {name: str(path) for name, path in copies.items()}})
    return copies


def _role(view: JobView, path: Path) -> str:
    if path == made(view, MAIN.get(view.kind, "")):
        return ""
    for role in ("source", "target"):
        if path == made(view, "subtitles", role):
            language = view.options.get(f"{role}_language") or view.result.get(f"{role}_language") or role
            return f".{language}"
    return "" if view.kind == "transcribe" else f".{path.stem}"


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without hard links
        shutil.copyfile(source, target)


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
