"""The banner: its colour, the device of every stage, the next step of every engine, and what it says after a fall."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pipelines.backend.guard import next_step
from pipelines.backend.hardware import Card, Hardware
from pipelines.backend.policy import Policy, choose
from pipelines.backend.probe import Device, Probe
from ui.banner import banner_html, mood, stage_devices
from ui.machine import Machine
from ui.services import Services
from ui.tabs.system import SystemHandlers

GIB = 1024**3
XTX = Device(0, "AMD Radeon RX 7900 XTX", "gfx1100", 24 * GIB, works=True, precisions=("float32",))
ROCM = Probe("2.11.0+rocm7.2", "2.11.0", "rocm", "7.2.1", ("gfx1100",), (XTX,), available=True, asked=True)


def on(services: Services, found: Probe) -> Services:
    return replace(services, machine=Machine(found, choose(found, environment={})))


def test_only_engines_that_use_the_card_are_said_to_run_on_it(services: Services) -> None:
    shown = {stage: where for stage, _, where in stage_devices(on(services, ROCM), "en")}
    assert shown == {
        "ui_stage_listen": "AMD Radeon RX 7900 XTX",
        "ui_stage_translate": "CPU",
        "ui_stage_speak": "CPU",
        "ui_stage_faces": "CPU",
        "ui_stage_lips": "CPU",
        "ui_stage_video": "CPU",
    }
    here = on(services, Probe())
    assert {where for _, _, where in stage_devices(here, "en")} == {"CPU"}


def test_colours(services: Services) -> None:
    assert mood(on(services, Probe())) == "fine"
    assert mood(on(services, ROCM)) == "careful"
    broken = replace(ROCM, devices=(replace(XTX, works=False, why="HIP error: invalid device function"),))
    assert mood(on(services, broken)) == "problem"
    idle = Probe(
        "2.11.0", build="cpu", asked=True, hardware=Hardware((Card("nvidia", "RTX", "580.1", "8.9"),))
    )
    assert mood(on(services, idle)) == "careful"


def test_a_lasting_fall_changes_the_policy_and_choosing_anew_ends_it(services: Services) -> None:
    there = on(services, ROCM)
    step = next_step(there.machine.policy, "no_kernel")
    assert step is not None
    there.machine.fall_back(step)
    assert there.machine.policy.family == "cpu" and mood(there) == "problem"
    said = "The installed torch has no code for the card: again on the CPU"
    assert said in banner_html(there, "en") and "已安装的 torch 不支持该显卡" in banner_html(there, "zh")
    there.machine.switch("auto", None, False)
    assert there.machine.policy.family == "rocm" and said not in banner_html(there, "en")


def test_a_fall_of_one_job_does_not_take_the_card_from_the_next(services: Services) -> None:
    there = on(services, ROCM)
    step = next_step(there.machine.policy, "oom_gpu", ["fresh"])
    assert step is not None and step.action == "cpu"
    there.machine.fall_back(step)
    assert there.machine.policy.family == "rocm"
    assert "ran out of memory: again on the CPU" in banner_html(there, "en")


def test_every_engine_that_is_not_ready_has_a_next_step(services: Services, tmp_path: Path) -> None:
    bare = replace(
        services, settings=replace(services.settings, weights=tmp_path), machine=Machine(ROCM, Policy("rocm"))
    )
    html = banner_html(bare, "en")
    assert "python app.py weights kokoro" in html and "a job that names it is done by the other" in html


def test_the_tabs_report_can_be_pasted_anywhere(services: Services) -> None:
    report = SystemHandlers(services).report()
    assert report.startswith("CPU (") and "Python: 3." in report and "Engines: voice" in report
    assert f"{Path.home()}/" not in report
