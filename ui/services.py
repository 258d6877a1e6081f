"""What the page works with: one frozen object, made at start and handed down to every tab."""

from __future__ import annotations

import hashlib
import os
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipelines import files
from pipelines.errors import InputError, Message
from pipelines.flows import FLOWS
from pipelines.jobs import JobSpec, JobView
from pipelines.jobs.local import LocalExecutor
from pipelines.jobs.store import JobStore
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from ui import results
from ui.machine import Machine
from ui.previews import Previews
from ui.transcript.documents import Documents
from ui.transcript.live import LiveSessions


@dataclass(frozen=True, slots=True)
class Services:
    """Settings, jobs and the machine.

    Attributes:
        documents: the transcripts that are open in the editor.
        live: who is being heard through a microphone.
        machine: this computer, and how engines run on it now.
        local: the page listens on this computer alone, so paths on its disks may be used and folders opened.
        browser_secret: key of what the page remembers in the browser (the last job); fixed for an installation.
    """

    settings: Settings
    machine: Machine
    store: JobStore
    executor: LocalExecutor
    previews: Previews
    documents: Documents
    live: LiveSessions
    local: bool = True
    browser_secret: str = "dubwright"
    saving: threading.Lock = field(default_factory=threading.Lock)

    def submit(self, spec: JobSpec, private: Mapping[str, str] | None = None) -> str:
        """Queue a job whose results are to be saved in ``outputs/``; returns its id."""
        job_id = self.executor.submit(spec, private)
        results.promise_to_save(self.store.folder(job_id).path)
        return job_id

    def going(self, spec: JobSpec) -> str | None:
        """The job that waits or runs already and asks for exactly the same: a button was pressed twice."""
        for view in self.store.list(states=("queued", "running"), kinds=(spec.kind,)):
            if view.options == spec.options:
                return view.id
        return None

    def save(self, view: JobView) -> dict[str, Path]:
        """Save a finished job's results, once, whoever asks first (the page or the keeper)."""
        with self.saving:
            return results.save_results(self.settings, view)

    @property
    def context(self) -> EngineContext:
        """What registries need to say which engines are ready."""
        return EngineContext(self.settings, self.machine.policy)

    def look_for_engines(self) -> None:
        """Offer the Whisper folders that lie in weights/ now: one may have been put there since the start."""
        from pipelines.asr.found import register_found

        register_found(self.settings)

    def close(self) -> None:
        """Stop what runs; jobs that wait stay waiting for the next start."""
        self.executor.close()
        self.previews.close()
        self.live.close()

    @property
    def uploads(self) -> Path:
        """Where Gradio keeps what was uploaded."""
        return self.settings.cache / "uploads"

    @property
    def shown(self) -> Path:
        """Links to files that the page shows; with ``outputs`` the only folders it may serve without copying."""
        return self.settings.cache / "shown"

    def ask_again(self, job_id: str, **changed: Any) -> str:
        """Run an ended job once more, in its own folder, with some options changed: only what they touch is remade.

        Raises:
            InputError: there is no such job, or it has not ended.
        """
        view = self.store.view(job_id)
        if view is None or not view.ended:
            raise InputError(
                Message("This job is still running or was deleted", "该任务仍在运行或已被删除"),
                Message("Wait until it has ended, or start a new one.", "请等它结束，或新建任务。"),
            )
        self.executor.resume(job_id, changed)
        return job_id


def make_services(
    settings: Settings, machine: Machine, *, local: bool = True, flows: Mapping[str, str] = FLOWS
) -> Services:
    """Everything the page needs, from the settings; opens the history of jobs and takes waiting ones over."""
    for folder in (settings.cache, settings.outputs):
        folder.mkdir(parents=True, exist_ok=True)
    store = JobStore(settings)
    executor = LocalExecutor(
        store, settings, policy=lambda: machine.policy, flows=flows, fell_back=machine.fall_back
    )
    executor.adopt()
    return Services(
        settings=settings,
        machine=machine,
        store=store,
        executor=executor,
        previews=Previews(settings),
        documents=Documents(settings),
        live=LiveSessions(settings, machine),
        local=local,
        browser_secret=browser_secret(settings),
    )


def browser_secret(settings: Settings) -> str:
    """A random key, made once and kept in the cache folder, readable by its owner only."""
    path = settings.cache / "browser-secret"
    if not path.is_file():
        files.write_text(path, secrets.token_urlsafe(24))
        path.chmod(0o600)
    return path.read_text(encoding="utf-8").strip()


def source_path(services: Services, uploaded: str | None, typed: str | None) -> Path:
    """The file to work on: the upload, or else the path typed into "use a file on this computer".

    Raises:
        InputError: neither is given, the page is open to others, or there is no such readable file.
    """
    if uploaded:
        return Path(uploaded)
    name = (typed or "").strip().strip("\"'")
    if not name:
        raise InputError(
            Message("There is no file yet", "还没有选择文件"),
            Message("Drop one into the box first.", "请先把文件拖到框里。"),
        )
    path = Path(name).expanduser()
    if not services.local or not path.is_absolute() or not path.is_file():
        raise InputError(
            Message("There is no such file on this computer", "这台电脑上没有这个文件"),
            Message(
                "Give the whole path, beginning at the drive or at /.",
                "请填写完整路径（从盘符或 / 开始）。",
            ),
            f"“{name}”",  # quoted, with its folders: the mistake may be in one of them
        )
    return path.resolve()


def showable(services: Services, path: Path) -> Path:
    """A link to ``path`` from where the page may serve it, so that a long video is not copied to be looked at."""
    if path.is_relative_to(services.settings.outputs) or path.is_relative_to(services.uploads):
        return path
    stamp = path.stat()
    name = hashlib.sha256(f"{path}|{stamp.st_mtime_ns}|{stamp.st_size}".encode()).hexdigest()[:16]
    link = services.shown / name / path.name
    if not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        try:
            os.link(path, link)
        except OSError:  # another file system
            link.symlink_to(path)
    return link
