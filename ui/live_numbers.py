"""The System tab's numbers of this moment: the job and the queue, memory, and the graphics cards where there are any."""

from __future__ import annotations

from collections.abc import Iterator

import psutil

from pipelines.backend.readings import Reading
from pipelines.jobs.process import resident
from pipelines.jobs.spec import JobView
from ui.i18n import escaped, text
from ui.jobs_view import stage_name
from ui.results import size_text
from ui.services import Services
from ui.system_html import table

VENDORS = {"nvidia": "NVIDIA", "amd": "AMD"}


def worker_memory(services: Services) -> int:
    """Bytes that the workers of running jobs, with the programs they started, occupy now."""
    running = services.store.list(states=("running",), limit=-1)
    records = [services.store.record(view.id) for view in running]
    return sum(resident(record.worker) for record in records if record is not None)


def numbers_html(services: Services, language: str) -> str:
    """A table of two columns; what this computer does not tell has no row."""
    rows = [
        f"<tr><td>{escaped(name)}</td><td>{escaped(value)}</td></tr>"
        for name, value in (
            *_jobs(services, language),
            *_memory(services, language),
            *(_card(card, language) for card in services.machine.readings()),
        )
    ]
    heads = [text(language, "ui_now_what"), text(language, "ui_now_value")]
    return table(heads, rows, text(language, "ui_system_now"))


def _jobs(services: Services, language: str) -> Iterator[tuple[str, str]]:
    running = services.store.list(states=("running",), limit=-1)
    said = "; ".join(_job(view, language) for view in running) or text(language, "ui_now_idle")
    yield text(language, "ui_now_job"), said
    yield text(language, "ui_now_waiting"), str(services.store.count(states=("queued",)))


def _job(view: JobView, language: str) -> str:
    name = view.title or view.kind
    return f"{name} · {stage_name(view.stages[-1].name, language)}" if view.stages else name


def _memory(services: Services, language: str) -> Iterator[tuple[str, str]]:
    worker, computer = worker_memory(services), psutil.virtual_memory()
    yield text(language, "ui_now_worker"), size_text(worker) if worker else "–"
    yield text(language, "ui_now_page"), size_text(psutil.Process().memory_info().rss)
    free, whole = size_text(computer.available), size_text(computer.total)
    yield text(language, "ui_now_computer"), text(language, "ui_now_free", free=free, whole=whole)


def _card(card: Reading, language: str) -> tuple[str, str]:
    parts = []
    if card.used is not None and card.total is not None:
        used, whole = size_text(int(card.used)), size_text(int(card.total))
        parts.append(text(language, "ui_now_card_memory", used=used, whole=whole))
    if card.busy is not None:
        parts.append(text(language, "ui_now_card_busy", share=round(100 * card.busy)))
    parts += [f"{value:.0f} °C ({sensor})" for sensor, value in card.celsius]
    if card.watts is not None:
        parts.append(f"{card.watts:.0f} W")
    if card.throttled:
        parts.append(text(language, "ui_now_card_slow"))
    return f"{VENDORS[card.vendor]} {card.index}", " · ".join(parts) or "–"
