"""What the page works with: one frozen object, made at start and handed down to every tab."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pipelines import files
from pipelines.backend.policy import Policy
from pipelines.errors import InputError, Message
from pipelines.jobs import Executor
from pipelines.jobs.spec import JobView
from pipelines.registry import EngineContext
from pipelines.settings import Settings


class JobShelf(Protocol):
    """The history of jobs, as the page needs it; ``pipelines.jobs.store.JobStore`` keeps it."""

    def list(self, limit: int = 100) -> list[JobView]:
        """The newest jobs first."""
        ...

    def delete(self, job_id: str) -> None:
        """Remove an ended job with its folder; results saved elsewhere stay."""
        ...

    def size(self, job_id: str) -> int:
        """Bytes of the job's folder."""
        ...


@dataclass(frozen=True, slots=True)
class Services:
    """Settings, jobs and the machine.

    Attributes:
        device: the machine's name as the banner shows it.
        local: the page listens on this computer alone, so paths on its disks may be used and folders opened.
        browser_secret: key of what the page remembers in the browser (the last job); fixed for an installation.
    """

    settings: Settings
    policy: Policy
    store: JobShelf
    executor: Executor
    device: str
    local: bool = True
    browser_secret: str = "dubwright"

    @property
    def context(self) -> EngineContext:
        """What registries need to say which engines are ready."""
        return EngineContext(self.settings, self.policy)

    @property
    def uploads(self) -> Path:
        """Where Gradio keeps what was uploaded."""
        return self.settings.cache / "uploads"


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
                "请填写完整路径(从盘符或 / 开始)。",
            ),
            name,
        )
    return path.resolve()
