"""What another program may ask of a running page, beside pressing its buttons: look at a job, stop it, go on with it.

A job is sent off through the page's own endpoints (``/dub``, ``/speak``, ``/transcribe``, ``/sync``), which return its id
(docs/ARCHITECTURE.md has an example). All answers are plain JSON.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gradio.events import api

from pipelines.errors import InputError, Message
from ui.jobs_view import plainly
from ui.services import Services


def add_endpoints(services: Services) -> None:
    """Add ``/look``, ``/stop`` and ``/resume``, each taking a job's id and answering with its state."""

    def look(job_id: str) -> dict[str, Any]:
        return job_record(services, job_id)

    def stop(job_id: str) -> dict[str, Any]:
        job_record(services, job_id)
        services.executor.stop(job_id)
        return job_record(services, job_id)

    def resume(job_id: str) -> dict[str, Any]:
        job_record(services, job_id)
        services.executor.resume(job_id)
        return job_record(services, job_id)

    for action in (look, stop, resume):
        api(plainly(action), api_name=action.__name__, queue=False)


def job_record(services: Services, job_id: str) -> dict[str, Any]:
    """A job as JSON: ``id``, ``kind``, ``title``, ``state`` (queued, running, stopping, done, failed, stopped),
    ``created``, ``started`` and ``finished`` (POSIX seconds), ``ahead``, ``stages`` (name, done, total, unit, seconds),
    ``notes``, ``error`` (code, what, todo, where), ``result`` (the flow's own) and ``files`` (paths below ``outputs/``).

    Raises:
        InputError: there is no such job.
    """
    view = services.executor.view(job_id)
    if view is None:
        raise InputError(
            Message("There is no such job", "没有这个任务"),
            Message("Give the id that was returned when it was sent off.", "请填写提交任务时返回的编号。"),
            job_id,
        )
    names = ("id", "kind", "title", "state", "created", "started", "finished", "ahead", "error", "result")
    return {
        **{name: getattr(view, name) for name in names},
        "stages": [asdict(stage) for stage in view.stages],
        "notes": [asdict(note) for note in view.notes],
        "files": [str(path) for path in services.save(view).values()],
    }
