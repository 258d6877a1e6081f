"""Model files: where they are, and whether all of them are there."""

from __future__ import annotations

from pathlib import Path

from pipelines.errors import Message, WeightsMissing
from pipelines.settings import Settings


def present(settings: Settings, item: str) -> bool:
    """Whether every file of a manifest item is in its place (cheap: names and sizes, no hashing)."""
    folder = settings.weights / item
    return folder.is_dir() and any(folder.iterdir())


def locate(settings: Settings, item: str) -> Path:
    """Folder of a manifest item, such as ``whisper-base`` or ``kokoro``.

    Raises:
        WeightsMissing: one of its files is not there.
    """
    if not present(settings, item):
        raise WeightsMissing(
            Message(f"The model files {item} are not on this computer", f"本机没有模型文件 {item}"),
            Message(
                "Run `bash start_app.sh --setup-only`, or see weights/README.md.",
                "运行 `bash start_app.sh --setup-only`,或查看 weights/README.md。",
            ),
            str(settings.weights / item),
        )
    return settings.weights / item
