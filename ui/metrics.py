"""What the page tells Prometheus: counters over ended jobs, and the state of this moment, read when it is asked for."""

from __future__ import annotations

import platform
import threading
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import psutil
from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from pipelines.backend.banner import place
from pipelines.backend.build import torch_build
from pipelines.backend.readings import Reading
from pipelines.backend.rows import Row
from pipelines.doctor import doctor
from pipelines.jobs.spec import JobState
from ui.job_counts import JobCounts
from ui.kept import Kept
from ui.live_numbers import worker_memory
from ui.services import Services

CHECK_SECONDS = 300.0  # the doctor is not asked more often
KEPT: tuple[JobState, ...] = ("queued", "running", "done", "failed", "stopped")
LEVELS = {"ok": 0, "hint": 1, "warning": 2, "problem": 3}


class Metrics:
    """The metrics of one page, in a registry of their own. Any thread may ask."""

    def __init__(self, services: Services) -> None:
        self._guard = threading.Lock()
        self._registry = CollectorRegistry()
        self._counts = JobCounts(services.store, self._registry)
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        self._registry.register(_State(services))
        self._registry.register(_Cards(services.machine.readings))

    def exposition(self) -> bytes:
        """Prometheus' text format."""
        with self._guard:
            self._counts.catch_up()
            return generate_latest(self._registry)


class _State(Collector):
    """Build, backend, checks, queue and memory of processes."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._build = _build(services.settings.root)
        self._rows = Kept(self._doctor, CHECK_SECONDS)

    def describe(self) -> Iterable[Metric]:
        """Nothing: the registry need not ask at registration."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """The families of this moment."""
        yield InfoMetricFamily("dub_build", "Versions of Dubwright and of the installed torch", self._build)
        yield from self._backend()
        checks = GaugeMetricFamily(
            "dub_preflight_status",
            "The doctor's finding: 0 ok, 1 hint, 2 warning, 3 problem",
            labels=["check"],
        )
        for row in self._rows():
            checks.add_metric([row.id], LEVELS[row.level])
        yield checks
        yield from self._jobs()
        yield from self._memory()

    def _doctor(self) -> tuple[Row, ...]:
        machine = self._services.machine
        return doctor(self._services.settings, machine.policy, machine.found)

    def _backend(self) -> Iterator[Metric]:
        policy, found = self._services.machine.policy, self._services.machine.found
        name = place("device", policy, found)
        device = next((device for device in found.devices if device.name == name), None)
        facts = {
            "backend": policy.family,
            "device": name,
            "gfx": device.architecture if device else "",
            "safe_mode": str(policy.safe_mode).lower(),
        }
        yield InfoMetricFamily("dub_backend", "What engines that follow the policy run on", facts)
        yield GaugeMetricFamily("dub_safe_mode", "Whether safe mode is on", value=policy.safe_mode)

    def _jobs(self) -> Iterator[Metric]:
        kept = GaugeMetricFamily("dub_jobs_kept", "Jobs in the history by state", labels=["state"])
        counts = {state: self._services.store.count(states=(state,)) for state in KEPT}
        for state, number in counts.items():
            kept.add_metric([state], number)
        yield kept
        yield GaugeMetricFamily("dub_jobs_in_progress", "Jobs that run", value=counts["running"])
        yield GaugeMetricFamily("dub_queue_depth", "Jobs that wait", value=counts["queued"])

    def _memory(self) -> Iterator[Metric]:
        memory = GaugeMetricFamily(
            "dub_resident_memory_bytes",
            "Memory of the page's process, and of the running job's worker with the programs it started",
            labels=["process"],
        )
        memory.add_metric(["page"], psutil.Process().memory_info().rss)
        memory.add_metric(["worker"], worker_memory(self._services))
        yield memory


class _Cards(Collector):
    """The graphics cards; no sample where a card, or a value of it, cannot be read."""

    def __init__(self, cards: Callable[[], tuple[Reading, ...]]) -> None:
        self._cards = cards

    def describe(self) -> Iterable[Metric]:
        """Nothing: the registry need not ask at registration."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """One family for each kind of value."""
        cards = self._cards()
        for name, about, read in GAUGES:
            family = GaugeMetricFamily(name, about, labels=["vendor", "gpu"])
            for card in cards:
                if (value := read(card)) is not None:
                    family.add_metric([card.vendor, str(card.index)], value)
            yield family
        celsius = GaugeMetricFamily(
            "dub_gpu_temperature_celsius", "Temperature of the card", labels=["vendor", "gpu", "sensor"]
        )
        for card in cards:
            for sensor, value in card.celsius:
                celsius.add_metric([card.vendor, str(card.index), sensor], value)
        yield celsius


def _throttled(card: Reading) -> float | None:
    return None if card.throttled is None else float(card.throttled)


GAUGES: tuple[tuple[str, str, Callable[[Reading], float | None]], ...] = (
    ("dub_gpu_memory_used_bytes", "Memory of the card in use, by any program", lambda card: card.used),
    ("dub_gpu_memory_total_bytes", "Memory of the card", lambda card: card.total),
    ("dub_gpu_utilization_ratio", "Share of the time in which the card was busy", lambda card: card.busy),
    ("dub_gpu_power_watts", "Power the card draws", lambda card: card.watts),
    ("dub_gpu_throttled", "Whether heat slows the card down", _throttled),
)


def _build(root: Path) -> dict[str, str]:
    torch = torch_build()
    return {
        "version": _version(root / "pyproject.toml"),
        "torch": torch.version,
        "hip": torch.runtime if torch.family == "rocm" else "",
        "cuda": torch.runtime if torch.family == "cuda" else "",
        "python": platform.python_version(),
    }


def _version(project: Path) -> str:
    try:
        return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"])
    except (OSError, ValueError, KeyError):  # the folder was copied without it
        return ""
