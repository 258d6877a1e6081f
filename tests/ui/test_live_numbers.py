"""The System tab's numbers of this moment, in both languages."""

from __future__ import annotations

import dataclasses
import re
import time

from pipelines.backend.policy import Policy
from pipelines.backend.probe import Probe
from pipelines.backend.readings import Reading
from pipelines.jobs import JobSpec
from tests.ui.conftest import asking, ended
from ui.machine import Machine
from ui.page import build_page
from ui.services import Services
from ui.tabs.system import SystemHandlers

GIB = 1024**3
CARDS = (
    Reading("nvidia", 0, 3 * GIB, 12 * GIB, 0.43, 120.4, (("gpu", 84.0),), throttled=True),
    Reading("amd", 1),
)


def rows(services: Services, language: str = "en-US") -> dict[str, str]:
    html = SystemHandlers(services).numbers(asking(language))
    return dict(re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td></tr>", html))


def seen(services: Services, cards: tuple[Reading, ...] = ()) -> Services:
    return dataclasses.replace(services, machine=Machine(Probe(), Policy(threads=2), lambda: cards))


def test_a_running_job_is_shown_with_its_stage_memory_and_queue(services: Services) -> None:
    page = seen(services)
    assert rows(page)["Running job"] == "none" and rows(page)["Memory of the running job"] == "–"
    wanted = {"input": "/films/slow.mp4", "target_language": "es"}
    slow = services.submit(JobSpec("dub", wanted, "<slow>.mp4"))
    waits = services.submit(JobSpec("speak", {"language": "es", "text": "Hola."}))
    end = time.monotonic() + 30
    while not rows(page)["Running job"].endswith("· Syncing lips"):
        assert time.monotonic() < end, rows(page)
        time.sleep(0.1)
    found = rows(page)
    assert found["Running job"] == "&lt;slow&gt;.mp4 · Syncing lips"
    assert found["Jobs waiting"] == "1"
    for name in ("Memory of the running job", "Memory of the page"):
        assert re.fullmatch(r"[1-9][\d.]* (MB|GB)", found[name]), found
    assert re.fullmatch(r"[\d.]+ GB of [\d.]+ GB free", found["Memory of the computer"])
    services.executor.stop(slow)
    ended(services, slow)
    ended(services, waits)
    assert rows(page)["Running job"] == "none" and rows(page)["Jobs waiting"] == "0"


def test_cards_are_shown_with_what_they_tell(services: Services) -> None:
    found = rows(seen(services, CARDS))
    assert (
        found["NVIDIA 0"]
        == "3.2 GB of 12.9 GB in use · 43 % busy · 84 °C (gpu) · 120 W · slowed down by heat"
    )
    assert found["AMD 1"] == "–"
    chinese = rows(seen(services, CARDS), "zh-CN")
    assert chinese["NVIDIA 0"].startswith("已用显存 3.2 GB，共 12.9 GB · 利用率 43%")
    assert [name for name in rows(seen(services)) if "NVIDIA" in name or "AMD" in name] == []


def test_the_numbers_are_read_only_while_the_tab_is_open(services: Services) -> None:
    config = build_page(services).get_config_file()
    timers = {
        part["id"]
        for part in config["components"]
        if part["type"] == "timer" and part["props"]["value"] == 2.0
    }
    tabs = {part["id"]: part["props"]["id"] for part in config["components"] if part["type"] == "tabitem"}
    switched = {
        tabs[target]
        for event in config["dependencies"]
        for target, kind in event["targets"]
        if kind == "select" and target in tabs and set(event["outputs"]) <= timers and event["outputs"]
    }
    assert switched == set(tabs.values()) and len(switched) == 6
