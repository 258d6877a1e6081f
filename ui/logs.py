"""The log as the page shows it: the newest lines of the page's own log or of one job's."""

from __future__ import annotations

from pathlib import Path

from pipelines.jobs.folder import tail
from ui.i18n import escaped, text
from ui.services import Services

TAIL_BYTES = 60_000


def log_file(services: Services, job_id: str) -> Path:
    """The page's log, or a job's."""
    return services.store.folder(job_id).log if job_id else services.settings.logs / "page.log"


def log_html(path: Path, language: str) -> str:
    """The last lines, newest at the bottom."""
    lines = tail(path, TAIL_BYTES).strip() or text(language, "ui_system_log_empty")
    return f'<div class="loglines" tabindex="0">{escaped(lines)}</div>'
