"""What goes on in the page's process without anyone looking: results are saved when their job ends, uploads tidied up."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from pathlib import Path

from pipelines.errors import PipelineError
from pipelines.jobs.spec import JobView
from ui.results import MAIN
from ui.services import Services

log = logging.getLogger(__name__)
SECONDS_BETWEEN_LOOKS = 2.0
SECONDS_BETWEEN_TIDYINGS = 3600.0
UPLOAD_DAYS = 2
NEWEST = 20


class Keeper:
    """A quiet thread; its rule for uploads is stated on the Jobs tab (``ui_jobs_uploads_rule``)."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """End within a look."""
        self._closed.set()
        self._thread.join(10)

    def _run(self) -> None:
        tidied = 0.0
        while not self._closed.is_set():
            save_finished(self._services)
            if time.monotonic() - tidied > SECONDS_BETWEEN_TIDYINGS or not tidied:
                tidied = time.monotonic()
                tidy_uploads(self._services, UPLOAD_DAYS * 86400.0)
            self._closed.wait(SECONDS_BETWEEN_LOOKS)


def save_finished(services: Services) -> None:
    """Save the results of jobs that ended while no page was open; saving again does nothing."""
    for view in services.store.list(states=("done",), kinds=(*MAIN, "transcribe"), limit=NEWEST):
        try:
            services.save(view)
        except (PipelineError, OSError) as error:  # a full disk: the next look tries again
            log.warning("the results of job %s were not saved: %s", view.id, error)


def tidy_uploads(services: Services, older_than: float) -> list[Path]:
    """Delete uploads and preview links that no job names and that are older than so many seconds; returns them."""
    named = " ".join(str(value) for view in _all_jobs(services) for value in view.options.values())
    limit, gone = time.time() - older_than, []
    for place in (services.uploads, services.shown):
        for folder in place.iterdir() if place.is_dir() else ():
            if folder.is_dir() and folder.stat().st_mtime < limit and str(folder) not in named:
                shutil.rmtree(folder, ignore_errors=True)
                gone.append(folder)
    return gone


def _all_jobs(services: Services) -> tuple[JobView, ...]:
    return services.store.list(limit=-1)
