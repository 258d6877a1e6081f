"""Model files: what the manifest promises, what is on this computer, and whether it is the right file.

The manifest (``weights/manifest.toml``) names every file with size, SHA-256, licence and sources. Names and sizes are
looked at whenever an engine's state is asked for; the hash is computed once per file, when it is fetched or first used,
and remembered by size and time of change. ``pipelines.fetch`` brings missing files.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pipelines.errors import Message, WeightsMissing
from pipelines.files import read_json, write_json
from pipelines.settings import Settings

UNKNOWN = "unknown"
CHECKED = "checked.json"  # hashes already computed here, by size and time of change
PINS = "pins.json"  # hashes of files the manifest does not know, pinned at first sight
NOTHING = Message("", "")
ItemState = Literal["ready", "partial", "missing", "wrong"]


@dataclass(frozen=True, slots=True)
class WeightFile:
    """One file of an item: ``size`` in bytes or None, ``sha256`` or ``unknown``; ``group``: any one of it suffices."""

    path: str
    size: int | None
    sha256: str
    sources: tuple[str, ...]
    group: str = ""


@dataclass(frozen=True, slots=True)
class WeightItem:
    """A model: what it is, under which licence, what that means for a user, and its files."""

    id: str
    title: Message
    licence: str
    consequence: Message
    default: bool
    files: tuple[WeightFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all files whose size is known."""
        return sum(file.size or 0 for file in self.files)


@dataclass(frozen=True, slots=True)
class WeightState:
    """An item as the page shows it: ``folder`` is where its files are put by hand, ``lacking`` which are not there.

    ``partial`` is usable with less than everything (5 of 54 voices); ``wrong`` holds a file of another size or hash.
    """

    item: WeightItem
    state: ItemState
    folder: Path
    there: int
    lacking: tuple[str, ...]
    note: Message = NOTHING


def manifest(settings: Settings) -> Mapping[str, WeightItem]:
    """All items by id, in the manifest's order."""
    path = settings.root / "weights" / "manifest.toml"
    return _read_manifest(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=8)
def _read_manifest(path: Path, _changed: int) -> Mapping[str, WeightItem]:
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: _item(name, table) for name, table in tables.items()}


def _item(name: str, table: dict[str, Any]) -> WeightItem:
    files = tuple(
        WeightFile(
            path=entry["path"],
            size=entry.get("size"),
            sha256=entry["sha256"],
            sources=tuple(entry["sources"]),
            group=entry.get("group", ""),
        )
        for entry in table["files"]
    )
    consequence = Message(*table.get("consequence", ("", "")))
    title, default = Message(*table["title"]), table.get("default", False)
    return WeightItem(name, title, table["licence"], consequence, default, files)


def find_item(settings: Settings, item: str) -> WeightItem:
    """An item of the manifest.

    Raises:
        WeightsMissing: the manifest has no such item; the message lists those it has.
    """
    items = manifest(settings)
    if item not in items:
        names = ", ".join(items)
        raise WeightsMissing(
            Message(
                f"The manifest has no model files called {item!r}", f"清单中没有名为 {item!r} 的模型文件"
            ),
            Message(f"Choose one of: {names}.", f"请从中选择:{names}。"),
        )
    return items[item]


def lacking(settings: Settings, item: WeightItem) -> tuple[WeightFile, ...]:
    """Files that are not in their place with their size (of every group, all that are absent)."""
    folder = settings.weights / item.id
    return tuple(file for file in item.files if not _in_place(folder / file.path, file))


def _in_place(path: Path, file: WeightFile) -> bool:
    try:
        size = path.stat().st_size
    except OSError:
        return False
    return size > 0 and (file.size is None or size == file.size)


def usable(files: Iterable[WeightFile], absent: Iterable[WeightFile]) -> bool:
    """Whether what is there is enough: every file outside groups and at least one of each group."""
    gone = set(absent)
    if any(not file.group for file in gone):
        return False
    groups = {file.group for file in files if file.group}
    return groups == {file.group for file in files if file.group and file not in gone}


def present(settings: Settings, item: str) -> bool:
    """Whether the files of a manifest item are in place and enough to run (cheap: names and sizes, no hashing)."""
    entry = manifest(settings).get(item)
    return entry is not None and usable(entry.files, lacking(settings, entry))


def locate(settings: Settings, item: str) -> Path:
    """Folder of a manifest item, such as ``whisper-base`` or ``kokoro``, its files checked against their hashes.

    Raises:
        WeightsMissing: files are not there, or one has another hash than the manifest (both are in the message).
    """
    entry = find_item(settings, item)
    folder = settings.weights / item
    absent = lacking(settings, entry)
    if not usable(entry.files, absent):
        names = ", ".join(file.path for file in absent[:4]) + (" …" if len(absent) > 4 else "")
        raise WeightsMissing(
            Message(
                f"Model files of {item} are not on this computer: {names}",
                f"本机缺少 {item} 的模型文件:{names}",
            ),
            Message(
                f"Fetch them with `python app.py weights {item}` or on the page (System), or put them there by hand.",
                f"请运行 `python app.py weights {item}` 或在页面“系统”中获取,也可手动放入该文件夹。",
            ),
            str(folder),
        )
    for file in entry.files:
        if file not in absent:
            check(settings, entry, file)
    return folder


def check(settings: Settings, item: WeightItem, file: WeightFile) -> None:
    """Compare a file in its place with the manifest or its pin; an unknown hash is pinned now.

    Raises:
        WeightsMissing: it is another file; the message shows both hashes.
    """
    found, expected = file_hash(settings, item, file), expected_hash(settings, item, file)
    if expected == UNKNOWN:
        _remember(settings.weights / PINS, f"{item.id}/{file.path}", found)
    elif found != expected:
        raise wrong_hash(settings.weights / item.id / file.path, expected, found)


def wrong_hash(path: Path, expected: str, found: str) -> WeightsMissing:
    """The refusal of a file that is not the one the manifest names."""
    return WeightsMissing(
        Message(
            f"{path.name} is not the expected file: SHA-256 should be {expected}, but is {found}",
            f"{path.name} 不是预期的文件:SHA-256 应为 {expected},实际为 {found}",
        ),
        Message(
            "Move it away and fetch it again (System → Weights, or `python app.py weights`).",
            "请将其移走后重新获取(“系统”→“模型文件”,或 `python app.py weights`)。",
        ),
        str(path),
    )


def expected_hash(settings: Settings, item: WeightItem, file: WeightFile) -> str:
    """The manifest's hash, else the one pinned on this computer, else ``unknown``."""
    if file.sha256 != UNKNOWN:
        return file.sha256
    return str(_recall(settings.weights / PINS).get(f"{item.id}/{file.path}", UNKNOWN))


def file_hash(settings: Settings, item: WeightItem, file: WeightFile) -> str:
    """SHA-256 of a file in its place, computed once for its size and time of change."""
    path = settings.weights / item.id / file.path
    status = path.stat()
    name, stamp = f"{item.id}/{file.path}", f"{status.st_size} {status.st_mtime_ns}"
    known = _recall(settings.weights / CHECKED).get(name)
    if isinstance(known, list) and known[:1] == [stamp]:
        return str(known[1])
    digest = sha256(path)
    _remember(settings.weights / CHECKED, name, [stamp, digest])
    return digest


def sha256(path: Path) -> str:
    """SHA-256 of a file of any size, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def states(settings: Settings) -> tuple[WeightState, ...]:
    """Every item for the page and the doctor (cheap: sizes, and hashes where they were computed before)."""
    return tuple(_state(settings, item) for item in manifest(settings).values())


def _state(settings: Settings, item: WeightItem) -> WeightState:
    folder = settings.weights / item.id
    absent = lacking(settings, item)
    there = len(item.files) - len(absent)
    names = tuple(file.path for file in absent)
    state: ItemState = "ready" if not absent else "partial" if usable(item.files, absent) else "missing"
    odd = next((file for file in absent if (folder / file.path).is_file()), None)
    if odd:
        size = (folder / odd.path).stat().st_size
        note = Message(
            f"{odd.path} has {size:,} bytes instead of {odd.size or 0:,}: another or an unfinished file",
            f"{odd.path} 为 {size:,} 字节,应为 {odd.size or 0:,} 字节:文件不符或不完整",
        )
        return WeightState(item, "wrong", folder, there, names, note)
    bad = _known_wrong(settings, item)
    if bad:
        note = Message(
            f"{bad} is not the expected file (other SHA-256)", f"{bad} 不是预期的文件(SHA-256 不符)"
        )
        return WeightState(item, "wrong", folder, there, names, note)
    note = NOTHING
    if state == "partial":
        note = Message(
            f"{there} of {len(item.files)} files are here", f"已有 {there}/{len(item.files)} 个文件"
        )
    return WeightState(item, state, folder, there, names, note)


def _known_wrong(settings: Settings, item: WeightItem) -> str | None:
    """A file whose remembered hash is not the expected one, unless it was changed since."""
    checked, pins = _recall(settings.weights / CHECKED), _recall(settings.weights / PINS)
    for file in item.files:
        name, path = f"{item.id}/{file.path}", settings.weights / item.id / file.path
        known = checked.get(name)
        expected = file.sha256 if file.sha256 != UNKNOWN else pins.get(name, UNKNOWN)
        if not isinstance(known, list) or expected == UNKNOWN or not path.is_file():
            continue
        status = path.stat()
        if known[0] == f"{status.st_size} {status.st_mtime_ns}" and known[1] != expected:
            return file.path
    return None


def _recall(path: Path) -> dict[str, Any]:
    try:
        notes = read_json(path)
    except (OSError, ValueError):
        return {}
    return notes if isinstance(notes, dict) else {}


def _remember(path: Path, name: str, value: Any) -> None:
    notes = _recall(path)
    if notes.get(name) != value:
        with contextlib.suppress(
            OSError
        ):  # a read-only weights folder is fine: the hash is computed again next time
            write_json(path, {**notes, name: value})
