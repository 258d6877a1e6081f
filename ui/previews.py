"""Copies of videos that a browser cannot play, for the *before* player.

They are made by ffmpeg beside the jobs rather than as a job: a preview must not wait behind a running dub, nor a dub
behind the preview of an hour's film.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from pipelines.errors import Stopped
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.types import VideoInfo


class _UntilClosed(NullReport):
    def __init__(self, closed: threading.Event) -> None:
        self._closed = closed

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        if self._closed.is_set():
            raise Stopped()


class Previews:
    """Makes one copy at a time, in the order asked for; a finished copy stays in the cache."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._closed = threading.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="preview")
        self._asked: dict[Path, Future[None]] = {}
        self._guard = threading.Lock()

    def of(self, info: VideoInfo) -> Path | None:
        """A file that the browser plays: the source itself or its copy; None while that is being made.

        Raises:
            PipelineError: the copy could not be made; asking again tries once more.
        """
        from pipelines.media import plays_in_browser

        return info.path if plays_in_browser(info) else self.of_sound(info.path)

    def of_sound(self, path: Path) -> Path | None:
        """The copy of a file that the browser cannot play, also of one without a picture; None while it is made.

        Raises:
            PipelineError: as ``of``.
        """
        from pipelines.media.proxy import proxy_path

        copy = proxy_path(path, self._settings)
        if copy.is_file():
            return copy
        with self._guard:
            asked = self._asked.get(copy)
            if asked is None:
                self._asked[copy] = self._pool.submit(self._make, path, copy)
            elif asked.done():
                del self._asked[copy]
                asked.result()
        return None

    def busy(self) -> bool:
        """Whether a copy is being made or waits for its turn."""
        with self._guard:
            return any(not asked.done() for asked in self._asked.values())

    def _make(self, source: Path, copy: Path) -> None:
        from pipelines.media import make_proxy

        make_proxy(source, copy, self._settings, _UntilClosed(self._closed))

    def close(self) -> None:
        """End what is being made."""
        self._closed.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
