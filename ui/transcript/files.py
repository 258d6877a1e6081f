"""The media to transcribe: uploads, a typed path, or all media of a folder; each once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pipelines.errors import InputError, Message
from ui.services import Services, source_path

# What ffmpeg opens and people have; a file of another name can be given by itself.
MEDIA = frozenset({
    ".3gp", ".aac", ".ac3", ".aif", ".aiff", ".alac", ".amr", ".ape", ".asf", ".avi", ".caf",
    ".dts", ".flac", ".flv", ".m2ts", ".m4a", ".m4b", ".m4v", ".mka", ".mkv", ".mov", ".mp2",
    ".mp3", ".mp4", ".mpeg", ".mpg", ".mts", ".mxf", ".oga", ".ogg", ".ogm", ".ogv", ".opus", ".ra",
    ".rm", ".rmvb", ".ts", ".vob", ".wav", ".weba", ".webm", ".wma", ".wmv", ".wv",
})  # fmt: skip
MOST = 1000


def chosen(
    services: Services, uploaded: str | Iterable[str] | None, typed: str | None, *, below: bool = False
) -> list[Path]:
    """All files asked for, uploads first.

    Args:
        uploaded: of the page's file box. typed: a file or a folder on this computer. below: also in its subfolders.

    Raises:
        InputError: there is none, or the typed path does not exist.
    """
    given = [uploaded] if isinstance(uploaded, str) else list(uploaded or ())
    paths = [Path(one) for one in given]
    if (typed or "").strip():
        paths += _typed(services, str(typed), below)
    elif not paths:
        paths = [source_path(services, None, None)]
    unique = list(dict.fromkeys(path.resolve() for path in paths))
    if len(unique) > MOST:
        raise InputError(
            Message(f"These are {len(unique)} files", f"共有 {len(unique)} 个文件"),
            Message(f"Give at most {MOST} at a time.", f"每次最多 {MOST} 个。"),
        )
    return unique


def _typed(services: Services, typed: str, below: bool) -> list[Path]:
    folder = Path(typed.strip().strip("\"'")).expanduser()
    if not (services.local and folder.is_absolute() and folder.is_dir()):
        return [source_path(services, None, typed)]
    found = sorted(
        path
        for path in (folder.rglob("*") if below else folder.iterdir())
        if path.suffix.lower() in MEDIA and not path.name.startswith(".") and path.is_file()
    )
    if not found:
        raise InputError(
            Message("There is no sound or video in this folder", "该文件夹中没有音频或视频"),
            Message("Choose another, or tick “subfolders too”.", "请选择其他文件夹，或勾选“包括子文件夹”。"),
            f"“{folder}”",
        )
    return found
