"""Bringing model files into ``weights/``: the flow ``weights``, and the command that set-up and ``app.py weights`` use.

``python -m pipelines.fetch [ITEM…]`` fetches items, ``--default`` the default set, without arguments it lists them.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pipelines import weights
from pipelines.errors import Message, OptionError, PipelineError, WeightsMissing
from pipelines.progress import NoteLevel, Report
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.weight_sources import SourceFailed, Sources
from pipelines.weights import WeightFile, WeightItem

STAGE = "weights"


def run(folder: Path, options: dict[str, Any], context: EngineContext, report: Report) -> dict[str, Any]:
    """The flow: ``options["items"]`` is a list of ids in the manifest; nothing is fetched that was not asked for."""
    items = options.get("items")
    if not isinstance(items, list) or not items:
        raise OptionError(Message("No model files were chosen", "没有选择模型文件"))
    return {"fetched": fetch(context.settings, [str(item) for item in items], report)}


def fetch(settings: Settings, ids: Sequence[str], report: Report) -> list[str]:
    """Bring every missing file of these items into place, each from the first source that has it.

    Returns the paths (``item/file``) that were fetched. Files in place are hashed once and otherwise left alone.

    Raises:
        WeightsMissing: a file cannot be had, with the reason of every source and where to put it by hand; or a file
            has another hash than the manifest's. Stopped, DiskFull.
    """
    items = [weights.find_item(settings, name) for name in ids]
    fetched: list[str] = []
    with _only_one(settings.weights), Sources(settings) as sources:
        wanted = [(item, file) for item in items for file in weights.lacking(settings, item)]
        count = _Count(report, sum(file.size or 0 for _, file in wanted))
        reasons: dict[str, list[str]] = {}
        for item, file in wanted:
            failed = _fetch_file(settings, item, file, sources, count)
            if failed:
                reasons[f"{item.id}/{file.path}"] = failed
            else:
                fetched.append(f"{item.id}/{file.path}")
                _tell_pin(settings, item, file, report)
        for item in items:
            _judge(settings, item, reasons, report)
            weights.locate(settings, item.id)
    return fetched


class _Count:
    """Bytes done, shown to the report a few times a second."""

    def __init__(self, report: Report, total: int) -> None:
        self.report, self.total, self.done, self._shown = report, total, 0, 0.0
        report.step(STAGE, 0, total or None, "B")

    def add(self, written: int) -> None:
        self.done += written
        if time.monotonic() - self._shown > 0.1:
            self._shown = time.monotonic()
            self.report.step(STAGE, self.done, max(self.total, self.done) if self.total else None, "B")


@contextlib.contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Wait until nobody else is fetching into the same folder (set-up and page at once)."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch_file(
    settings: Settings, item: WeightItem, file: WeightFile, sources: Sources, count: _Count
) -> list[str]:
    """Try the sources in order; returns why each failed, or nothing when the file is in place now."""
    target = settings.weights / item.id / file.path
    if target.is_file() and weights.expected_hash(settings, item, file) != weights.UNKNOWN:
        raise weights.wrong_hash(
            target, weights.expected_hash(settings, item, file), weights.file_hash(settings, item, file)
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")  # a fixed name: a download cut off goes on from here
    reasons = []
    for source in file.sources:
        before = count.done
        if not source.startswith(("hub:", "http")):
            part.unlink(missing_ok=True)
        try:
            sources.write(source, part, count.add)
        except SourceFailed as failure:
            count.done = before
            reasons.append(str(failure))
            continue
        reason = _refuse(settings, item, file, part)
        if reason is None:
            part.replace(target)
            weights.check(settings, item, file)
            return []
        part.unlink()
        count.done = before
        reasons.append(f"{source.partition(' + ')[0]}: {reason}")
    return reasons


def _refuse(settings: Settings, item: WeightItem, file: WeightFile, part: Path) -> str | None:
    """Why a fetched file is not the one that was meant, or None."""
    expected = weights.expected_hash(settings, item, file)
    found = weights.sha256(part)
    if expected in (weights.UNKNOWN, found):
        return None
    return f"SHA-256 should be {expected}, but is {found}"


def _tell_pin(settings: Settings, item: WeightItem, file: WeightFile, report: Report) -> None:
    if file.sha256 == weights.UNKNOWN:
        pin = weights.expected_hash(settings, item, file)
        report.note(
            Message(
                f"The hash of {item.id}/{file.path} was not known; {pin} is pinned from now on.",
                f"{item.id}/{file.path} 的哈希此前未知,现已固定为 {pin}。",
            )
        )


def _judge(settings: Settings, item: WeightItem, reasons: dict[str, list[str]], report: Report) -> None:
    """Raise when the item cannot be used; say plainly when it can, but with less than everything."""
    absent = weights.lacking(settings, item)
    if not absent:
        return
    why = "; ".join(
        dict.fromkeys(reason for file in absent for reason in reasons.get(f"{item.id}/{file.path}", []))
    )
    names = ", ".join(file.path for file in absent[:3]) + (" …" if len(absent) > 3 else "")
    folder = settings.weights / item.id
    if not weights.usable(item.files, absent):
        raise WeightsMissing(
            Message(f"{item.id}: {names} could not be fetched ({why})", f"{item.id}:无法获取 {names}({why})"),
            Message(
                f"Connect to the network and try again, or put the files into {folder} by hand.",
                f"请连接网络后重试,或手动将文件放入 {folder}。",
            ),
        )
    here = len(item.files) - len(absent)
    report.note(
        Message(
            f"{item.id} works with {here} of its {len(item.files)} files; not fetched: {names} ({why}). "
            f"Later: python app.py weights {item.id}",
            f"{item.id} 目前只有 {len(item.files)} 个文件中的 {here} 个;未获取:{names}({why})。"
            f"稍后可运行:python app.py weights {item.id}",
        ),
        "warning",
    )


# ------------------------------------------------------------------------------------------------- command line


class _Terminal:
    """Progress on stderr: one line that is rewritten on a terminal, a line for every tenth otherwise."""

    def __init__(self) -> None:
        self._tenth = -1

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        share = done / total if total else 0.0
        line = f"  {done / 1e6:6.0f} of {(total or 0) / 1e6:.0f} MB"
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{line}")
        elif total and int(share * 10) > self._tenth:
            self._tenth = int(share * 10)
            sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    def note(self, message: Message, level: NoteLevel = "hint") -> None:
        sys.stderr.write(f"\n  {message.en}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """List, or fetch; exit code 0 done, 2 unknown item, 3 a file cannot be had."""
    parser = argparse.ArgumentParser(
        prog="app.py weights", description="Model files: list them, or fetch some."
    )
    parser.add_argument("items", nargs="*", help="ids in weights/manifest.toml")
    parser.add_argument("--default", action="store_true", help="the default set, as start_app.sh does")
    options = parser.parse_args(arguments)
    settings = Settings.load()
    ids = list(options.items)
    if options.default:
        ids += [item.id for item in weights.manifest(settings).values() if item.default]
    try:
        if not ids:
            sys.stdout.write(listing(settings))
            return 0
        fetched = fetch(settings, ids, _Terminal())
    except PipelineError as error:
        sys.stderr.write(f"\n{error.sentence('en', whole=True)}\n")
        return error.exit_code
    if fetched:
        sys.stderr.write("\n")
    sys.stdout.write(f"{', '.join(ids)}: {len(fetched)} files fetched into {settings.weights}\n")
    return 0


def listing(settings: Settings) -> str:
    """A table of all items: state, size, licence, folder."""
    lines = []
    for state in weights.states(settings):
        size = f"{state.item.size / 1e6:.0f} MB" if state.item.size else "size unknown"
        lines.append(
            f"{state.item.id:18} {state.state:8} {size:>13}  {state.item.licence}\n{'':18} {state.folder}\n"
        )
        if state.note.en:
            lines.append(f"{'':18} {state.note.en}\n")
    return "".join(lines)


if __name__ == "__main__":
    sys.exit(main())
