"""Jobs: asked for as data, run in a process of their own, seen from anywhere, resumed from what is finished."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from pipelines.jobs.spec import JobSpec, JobView

__all__ = ["Executor", "JobSpec", "JobView"]


class Executor(Protocol):
    """Somewhere jobs run: this computer's worker, another Dubwright, a cluster."""

    def submit(self, spec: JobSpec, private: Mapping[str, str] | None = None) -> str:
        """Queue a job; returns its id at once. ``private``: environment variables no record may show (keys)."""
        ...

    def stop(self, job_id: str) -> None:
        """Ask a job to stop; it has ended within 2 s and keeps what is finished. Unknown or ended: nothing happens."""
        ...

    def resume(
        self,
        job_id: str,
        options: Mapping[str, Any] | None = None,
        private: Mapping[str, str] | None = None,
    ) -> None:
        """Queue an ended job again, with ``options`` changed first; stages with unchanged inputs are skipped.

        ``private`` takes the place of the secret variables given before; None keeps them.
        """
        ...

    def view(self, job_id: str) -> JobView | None:
        """What can be seen of a job now, or None when there is no such job."""
        ...
