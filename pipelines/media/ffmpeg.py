"""The ffmpeg program: which binary, how it is started, watched, stopped and made to say what went wrong.

Command lines are built with ffmpeg-python and stay argument lists; no shell ever sees them. The binary is the one that
imageio-ffmpeg carries, so a result does not depend on what happens to be installed; ``Settings.ffmpeg`` overrides it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import queue
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import ffmpeg
import imageio_ffmpeg

from pipelines.errors import DiskFull, MediaError, Message, MissingError
from pipelines.progress import Report
from pipelines.settings import Settings

QUIET = ("-hide_banner", "-nostdin", "-loglevel", "error", "-y")
TAIL_LINES = 12
POLL_SECONDS = 0.25
DISK_FULL_WORDS = "No space left on device"


def ffmpeg_path(settings: Settings) -> Path:
    """The ffmpeg binary to use.

    Raises:
        MissingError: the setting names a file that is not there, or imageio-ffmpeg has no binary for this machine.
    """
    if settings.ffmpeg is not None:
        if settings.ffmpeg.is_file() and os.access(settings.ffmpeg, os.X_OK):
            return settings.ffmpeg
        raise MissingError(
            Message(
                "The ffmpeg program named in the settings is not there", "设置中指定的 ffmpeg 程序不存在"
            ),
            Message(
                "Correct DUBWRIGHT_FFMPEG, or remove it to use the built-in one.",
                "请更正 DUBWRIGHT_FFMPEG,或删除它以使用自带的程序。",
            ),
            str(settings.ffmpeg),
        )
    try:
        return Path(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as error:
        raise MissingError(
            Message("There is no ffmpeg program for this machine", "没有适用于本机的 ffmpeg 程序"),
            Message(
                "Install ffmpeg and name it in DUBWRIGHT_FFMPEG.",
                "请安装 ffmpeg 并在 DUBWRIGHT_FFMPEG 中指定其路径。",
            ),
            "imageio-ffmpeg",
        ) from error


def ffmpeg_version(settings: Settings) -> str:
    """First line of ``ffmpeg -version``: proof at start-up that the binary runs here.

    Raises:
        MissingError: the binary is missing or cannot be executed.
    """
    binary = ffmpeg_path(settings)
    try:
        done = subprocess.run(
            [str(binary), "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise MissingError(
            Message("The ffmpeg program does not run on this machine", "ffmpeg 程序无法在本机运行"),
            Message(
                "Install ffmpeg and name it in DUBWRIGHT_FFMPEG.",
                "请安装 ffmpeg 并在 DUBWRIGHT_FFMPEG 中指定其路径。",
            ),
            str(binary),
        ) from error
    return done.stdout.splitlines()[0] if done.stdout else ""


def target(path: Path) -> str:
    """A path as ffmpeg takes it: absolute and marked as a file, so that a colon or dash in a name means nothing."""
    return f"file:{path.absolute()}"


def command(settings: Settings, output: Any, *extra: str) -> list[str]:
    """The argument list of an ffmpeg-python output node, quiet and overwriting (outputs are our own part files).

    Time stamps are left as they are (``-copyts``): of an MPEG transport stream ffmpeg would otherwise take the first
    *used* stream for zero, and sound and picture read one by one would lose their distance. See ``probe.clock_input``.
    """
    arguments: list[str] = ffmpeg.get_args(output)
    return [str(ffmpeg_path(settings)), *QUIET, "-copyts", *extra, *arguments]


class Child:
    """A running ffmpeg with its last stderr lines; ``close`` always leaves no process behind."""

    def __init__(self, arguments: Sequence[str], *, feeds: bool = False, reads: bool = False) -> None:
        self.process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE if feeds else subprocess.DEVNULL,
            stdout=subprocess.PIPE if reads else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._drain = threading.Thread(
            target=_drain, args=(_pipe(self.process.stderr), self._tail), name="ffmpeg-stderr", daemon=True
        )
        self._drain.start()

    @property
    def stdin(self) -> IO[bytes]:
        """The pipe it reads (started with ``feeds``)."""
        return _pipe(self.process.stdin)

    @property
    def stdout(self) -> IO[bytes]:
        """The pipe it writes (started with ``reads``)."""
        return _pipe(self.process.stdout)

    def finish(self) -> int:
        """Wait for the end; returns the exit status."""
        status = self.process.wait()
        self._drain.join(timeout=5)
        return status

    def tail(self) -> str:
        """The last lines ffmpeg wrote, as one line."""
        return " | ".join(self._tail)

    def close(self) -> None:
        """Kill it if it still runs, and close all pipes."""
        if self.process.poll() is None:
            self.process.kill()
        with contextlib.suppress(BrokenPipeError):  # closing stdin flushes; the reader is gone
            if self.process.stdin is not None:
                self.process.stdin.close()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process.wait()
        self._drain.join(timeout=5)
        _pipe(self.process.stderr).close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None, "the pipe was not asked for"
    return pipe


def _drain(pipe: IO[bytes], tail: deque[str]) -> None:
    with contextlib.suppress(ValueError):  # closed under us by close()
        for line in pipe:
            text = line.decode("utf-8", "replace").strip()
            if text:
                tail.append(text)


@contextlib.contextmanager
def child(arguments: Sequence[str], *, feeds: bool = False, reads: bool = False) -> Iterator[Child]:
    """Start ffmpeg; whatever happens inside the block, it is gone afterwards."""
    running = Child(arguments, feeds=feeds, reads=reads)
    try:
        yield running
    finally:
        running.close()


def failure(running: Child, what: Message, where: str) -> MediaError | DiskFull:
    """The error for an ffmpeg that failed: what it was doing, with its own last lines as the place to look."""
    tail = running.tail()
    if DISK_FULL_WORDS in tail:
        return DiskFull(
            Message("There is no room left on the disk", "磁盘空间已满"),
            Message("Free some space and press Resume.", "请释放空间后点击“继续”。"),
            where,
        )
    return MediaError(what, Message(f"ffmpeg says: {tail}", f"ffmpeg 提示:{tail}") if tail else None, where)


def run(
    arguments: Sequence[str],
    report: Report,
    stage: str,
    seconds: float | None,
    what: Message,
    where: str,
) -> None:
    """Run ffmpeg to its end, reporting the seconds of media written; Stop kills it.

    Args:
        arguments: from ``command``. stage: name for the report. seconds: length of the result, when known.
        what, where: sentence and place for the error if it fails.

    Raises:
        MediaError: it failed, with its last lines. DiskFull: it had no room. Stopped: the user asked.
    """
    watched = [arguments[0], "-progress", "pipe:1", "-stats_period", str(POLL_SECONDS), *arguments[1:]]
    with child(watched, reads=True) as running:
        lines: queue.Queue[bytes | None] = queue.Queue()
        reader = threading.Thread(target=_pass_lines, args=(running.stdout, lines), daemon=True)
        reader.start()
        done = 0.0
        report.step(stage, done, seconds, "s")
        while True:
            try:
                line = lines.get(timeout=POLL_SECONDS)
            except queue.Empty:
                report.step(stage, done, seconds, "s")
                continue
            if line is None:
                break
            key, _, value = line.decode("ascii", "replace").strip().partition("=")
            if key == "out_time_us" and value.lstrip("-").isdigit():
                done = max(done, int(value) / 1e6)
                report.step(stage, done if seconds is None else min(done, seconds), seconds, "s")
        if running.finish() != 0:
            raise failure(running, what, where)
    report.step(stage, seconds if seconds is not None else done, seconds, "s")


def _pass_lines(pipe: IO[bytes], lines: queue.Queue[bytes | None]) -> None:
    with contextlib.suppress(ValueError):  # closed under us when the run is stopped
        for line in pipe:
            lines.put(line)
    lines.put(None)


@functools.lru_cache(maxsize=8)
def _encodes(binary: str, arguments: tuple[str, ...], filters: str) -> bool:
    test = [
        "-f",
        "lavfi",
        "-i",
        "testsrc2=size=640x360:rate=25",
        "-frames:v",
        "5",
        "-vf",
        filters,
        *arguments,
    ]
    try:
        done = subprocess.run(
            [binary, *QUIET, *test, "-f", "null", "-"], capture_output=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def encodes(settings: Settings, arguments: tuple[str, ...], filters: str) -> bool:
    """Whether a trial encode of five frames with these encoder arguments works on this machine (remembered)."""
    return _encodes(str(ffmpeg_path(settings)), arguments, filters)
