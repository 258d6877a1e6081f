"""What Prometheus is told after real (quick) jobs, and who may ask."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from pipelines.backend.guard import next_step
from pipelines.backend.policy import Policy
from pipelines.backend.probe import Probe
from pipelines.backend.readings import Reading
from pipelines.jobs import JobSpec
from pipelines.jobs.spec import JobView
from tests.ui.conftest import ended
from tests.ui.flows import clip
from ui.machine import Machine
from ui.metrics import Metrics
from ui.server import make_app
from ui.services import Services

DOCS = Path(__file__).resolve().parents[2] / "docs"
ENDINGS = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ()}
HOME = "http://127.0.0.1:7860"
DUB = {"asr_engine": "whisper", "voice_engine": "kokoro", "lip_engine": "ownmouth"}


class Samples:
    """The samples of an exposition by name and labels."""

    def __init__(self, exposition: bytes) -> None:
        families = text_string_to_metric_families(exposition.decode())
        self.found = [sample for family in families for sample in family.samples]

    def value(self, name: str, **labels: str) -> float | None:
        """The one sample of that name with exactly these labels; None when there is none."""
        values = [s.value for s in self.found if s.name == name and s.labels == labels]
        assert len(values) < 2, (name, labels)
        return values[0] if values else None

    def labels(self, name: str) -> list[dict[str, str]]:
        return [sample.labels for sample in self.found if sample.name == name]


def ran(services: Services, kind: str, **options: Any) -> JobView:
    return ended(services, services.submit(JobSpec(kind, options, "My private holiday")))


def without_cards(services: Services) -> Services:
    """The same page on a computer whose cards, if any, are not seen."""
    return dataclasses.replace(services, machine=Machine(Probe(), Policy(threads=2), tuple))


@pytest.fixture
def film(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(clip(tmp_path_factory.mktemp("film") / "talk.mp4"))


def test_ended_jobs_are_counted_once_by_kind_and_outcome(services: Services, film: str) -> None:
    metrics = Metrics(services)
    assert Samples(metrics.exposition()).value("dub_jobs_total", kind="dub", outcome="ok") is None
    done = ran(services, "dub", input=film, target_language="es", **DUB)
    ran(services, "dub", input=film.replace("talk", "faceless"), target_language="es", **DUB)
    metrics.exposition()
    found = Samples(metrics.exposition())
    assert found.value("dub_jobs_total", kind="dub", outcome="ok") == 1
    assert found.value("dub_jobs_total", kind="dub", outcome="failed") == 1
    assert found.value("dub_jobs_kept", state="done") == 1
    assert found.value("dub_jobs_kept", state="failed") == 1
    assert found.value("dub_errors_total", stage="translate", reason="no-face") == 1
    assert found.value("dub_job_duration_seconds_count", kind="dub") == 2
    assert done.finished is not None and done.started is not None
    assert found.value("dub_jobs_in_progress") == found.value("dub_queue_depth") == 0
    services.executor.resume(done.id)
    again = ended(services, done.id)
    assert again.finished != done.finished
    assert Samples(metrics.exposition()).value("dub_jobs_total", kind="dub", outcome="ok") == 2


def test_stages_with_engine_backend_and_real_time_ratio(services: Services, film: str) -> None:
    metrics = Metrics(services)
    view = ran(services, "dub", input=film, target_language="es", **DUB)
    spent = {stage.name: stage.seconds for stage in view.stages}
    found = Samples(metrics.exposition())
    for stage, engine in (
        ("listen", "whisper"),
        ("speak", "kokoro"),
        ("lips", "ownmouth"),
        ("video", "none"),
    ):
        labels = {"stage": stage, "engine": engine, "backend": "cpu"}
        assert found.value("dub_stage_duration_seconds_count", **labels) == 1
        assert found.value("dub_stage_duration_seconds_sum", **labels) == pytest.approx(spent[stage])
        assert found.value("dub_media_seconds_total", stage=stage) == 3.0
        ratio = found.value("dub_stage_realtime_ratio_sum", stage=stage)
        assert ratio == pytest.approx(spent[stage] / 3.0)
    ran(services, "dub", input=film.replace("talk", "faceless"), target_language="es", **DUB)
    services.executor.resume(view.id)
    ended(services, view.id)
    found = Samples(metrics.exposition())
    assert found.value("dub_media_seconds_total", stage="video") == 3.0  # neither broken off nor resumed
    assert (
        found.value("dub_stage_duration_seconds_count", stage="listen", engine="whisper", backend="cpu") == 3
    )


def test_the_engine_is_the_one_that_stood_in_and_the_backend_the_cards(services: Services, film: str) -> None:
    metrics = Metrics(services)
    services.machine._policy = Policy(family="rocm", device="cuda:0", safe_mode=True)
    ran(services, "transcribe", input=film, formats=[], engine="whisper")
    ran(services, "transcribe", input=film, formats=[], engine="nobody's")
    found = Samples(metrics.exposition())
    labels = found.labels("dub_stage_duration_seconds_count")
    assert {"stage": "listen", "engine": "whisper-torch", "backend": "rocm"} in labels
    assert {"stage": "listen", "engine": "none", "backend": "cpu"} in labels
    assert found.value("dub_safe_mode") == 1
    assert found.labels("dub_backend_info") == [
        {"backend": "rocm", "device": "CPU", "gfx": "", "safe_mode": "true"}
    ]


def test_the_guards_steps_are_counted_by_reason_and_action(services: Services, film: str) -> None:
    metrics = Metrics(services)
    view = ran(services, "speak", language="es", text="Hola.")
    step = next_step(Policy(family="rocm", device="cuda:0"), "hang")
    record = services.store.record(view.id)
    assert step is not None and record is not None
    services.store.save(dataclasses.replace(record, steps=[step.plain()]))
    found = Samples(metrics.exposition())
    assert found.value("dub_retries_total", reason="hang", action="no_sdma") == 1
    assert found.value("dub_media_seconds_total", stage="speak") == 1.0


def test_a_running_job_its_queue_and_its_memory(services: Services, film: str) -> None:
    metrics = Metrics(services)
    slow = services.submit(
        JobSpec("dub", {"input": film.replace("talk", "slow"), "target_language": "es", **DUB})
    )
    waits = services.submit(JobSpec("speak", {"language": "es", "text": "Hola."}))
    end = time.monotonic() + 30
    while not (found := Samples(metrics.exposition())).value("dub_resident_memory_bytes", process="worker"):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert found.value("dub_jobs_in_progress") == found.value("dub_queue_depth") == 1
    assert 5e6 < (found.value("dub_resident_memory_bytes", process="worker") or 0) < 2e9
    assert 5e7 < (found.value("dub_resident_memory_bytes", process="page") or 0) < 4e9
    services.executor.stop(slow)
    ended(services, slow)
    ended(services, waits)
    found = Samples(metrics.exposition())
    assert found.value("dub_jobs_total", kind="dub", outcome="cancelled") == 1
    assert found.value("dub_resident_memory_bytes", process="worker") == 0


def test_cards_are_told_as_they_tell_and_not_asked_at_every_look(services: Services) -> None:
    asked = []

    def cards() -> tuple[Reading, ...]:
        asked.append(1)
        return (
            Reading("nvidia", 0, 1024.0, 4096.0, 0.5, 60.5, (("gpu", 71.0),), throttled=True),
            Reading("amd", 0, used=2048.0, celsius=(("edge", 50.0), ("junction", 61.0))),
        )

    machine = Machine(Probe(), Policy(threads=2), cards)
    metrics = Metrics(dataclasses.replace(services, machine=machine))
    metrics.exposition()
    found = Samples(metrics.exposition())
    assert len(asked) == 1
    assert found.value("dub_gpu_memory_used_bytes", vendor="nvidia", gpu="0") == 1024
    assert found.value("dub_gpu_memory_used_bytes", vendor="amd", gpu="0") == 2048
    assert found.labels("dub_gpu_memory_total_bytes") == [{"vendor": "nvidia", "gpu": "0"}]
    assert found.value("dub_gpu_utilization_ratio", vendor="nvidia", gpu="0") == 0.5
    assert found.value("dub_gpu_power_watts", vendor="nvidia", gpu="0") == 60.5
    assert found.labels("dub_gpu_throttled") == [{"vendor": "nvidia", "gpu": "0"}]
    assert found.value("dub_gpu_temperature_celsius", vendor="amd", gpu="0", sensor="junction") == 61


def test_without_a_card_nothing_is_said_of_one(services: Services) -> None:
    found = Samples(Metrics(without_cards(services)).exposition())
    assert [sample.name for sample in found.found if sample.name.startswith("dub_gpu")] == []
    assert found.value("dub_preflight_status", check="python") == 0
    (build,) = found.labels("dub_build_info")
    assert build["version"] == "0.1.0" and build["python"].startswith("3.")


def test_no_title_file_or_job_appears(services: Services, film: str) -> None:
    metrics = Metrics(services)
    view = ran(services, "speak", language="es", text="Hola.", engine="My private holiday")
    text = metrics.exposition().decode()
    for secret in (view.id, "holiday", "Hola", str(services.settings.jobs)):
        assert secret not in text


@pytest.fixture
def guarded(services: Services) -> Iterator[TestClient]:
    remote = dataclasses.replace(services, local=False)
    app = make_app(remote, auth=("me", "secret"), metrics_token="a token")
    with TestClient(app, base_url=HOME) as client:
        yield client


def test_on_this_computer_anyone_may_ask(services: Services) -> None:
    with TestClient(make_app(services), base_url=HOME) as client:
        answer = client.get("/metrics")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/plain; version=1.0.0")
        assert Samples(answer.content).value("dub_queue_depth") == 0
        assert client.get("/metrics", headers={"host": "evil.example"}).status_code == 400


def test_beyond_this_computer_a_token_is_needed(guarded: TestClient) -> None:
    refused = guarded.get("/metrics")
    assert refused.status_code == 401 and "dub_" not in refused.text
    for wrong in ("Bearer another", "Bearer ", "a token", "Basic bWU6c2VjcmV0"):
        assert guarded.get("/metrics", headers={"authorization": wrong}).status_code == 401
    answer = guarded.get("/metrics", headers={"authorization": "Bearer a token"})
    assert answer.status_code == 200 and "dub_queue_depth" in answer.text


def test_without_a_token_it_is_off_beyond_this_computer(services: Services) -> None:
    for reached in (dataclasses.replace(services, local=False), services):
        with TestClient(make_app(reached, auth=("me", "secret")), base_url=HOME) as client:
            assert client.get("/metrics", headers={"authorization": "Bearer "}).status_code == 404


def test_every_metric_of_the_dashboard_and_of_the_page_about_them_exists(services: Services) -> None:
    """A family without samples (no card, no failure yet) still announces itself with its TYPE line."""
    text = Metrics(without_cards(services)).exposition().decode()
    found = {
        name
        for family in text_string_to_metric_families(text)
        for name in (family.name, *(f"{family.name}{end}" for end in ENDINGS[family.type]))
    }
    dashboard = json.loads((DOCS / "grafana-dashboard.json").read_text(encoding="utf-8"))
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(asked) == 20
    for expression in asked:
        names = re.findall(r"\b(?:dub|process|python)_\w+", expression)
        assert names and set(names) <= found, expression
    told = set(re.findall(r"\bdub_[a-z_]+\b", (DOCS / "METRICS.md").read_text(encoding="utf-8")))
    ours = {
        f"{f.name}_total" if f.type == "counter" else f.name for f in text_string_to_metric_families(text)
    }
    assert told == {name for name in ours if name.startswith("dub_")}


def test_the_dashboards_panels_do_not_overlap() -> None:
    dashboard = json.loads((DOCS / "grafana-dashboard.json").read_text(encoding="utf-8"))
    places = [panel["gridPos"] for panel in dashboard["panels"]]
    cells = [
        (x, y) for p in places for x in range(p["x"], p["x"] + p["w"]) for y in range(p["y"], p["y"] + p["h"])
    ]
    assert len(cells) == len(set(cells)) and all(x < 24 for x, _ in cells)
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(places)


SERVED = """
import os, sys, threading, urllib.error, urllib.request
from pipelines.settings import Settings
from ui.server import serve
port = int(sys.argv[1])

def ask(**headers):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers=headers)
    try:
        return urllib.request.urlopen(request, timeout=20).status
    except urllib.error.HTTPError as error:
        return error.code

def asking(address):
    threading.Thread(target=answers).start()

def answers():
    heavy = {"torch", "mediapipe", "cv2", "onnxruntime"}
    print(ask(), ask(authorization="Bearer wrong"), ask(authorization="Bearer a token"), sorted(heavy & set(sys.modules)))
    sys.stdout.flush()
    os._exit(0)

serve(Settings.load(), port=port, auth=("me", "secret"), on_ready=asking)
"""


def test_the_real_server_takes_the_token_from_the_environment_and_loads_no_engine(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "DUBWRIGHT_HOME": str(tmp_path), "DUBWRIGHT_METRICS_TOKEN": "a token"}
    command = [sys.executable, "-c", SERVED, str(port)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=120, cwd=DOCS.parent
    )
    assert done.stdout.splitlines()[-1:] == ["401 401 200 []"], done.stderr
