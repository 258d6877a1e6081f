"""Memory, load, temperature and power of cards, from recorded shapes of the tools and of the kernel's files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.backend.readings import (
    BASIC,
    Reading,
    parse_amd_metric,
    parse_nvidia_query,
    read_amdgpu,
    read_cards,
)
from tests.setup.machines import put

MIB = 1024**2
NVIDIA = """#!/bin/sh
case "$*" in
  *throttle*) {answer};;
  *) echo "0, 812, 12288, 3, 41, 17.52";;
esac
"""
METRIC = [
    {"gpu": 0, "usage": {"gfx_activity": {"value": 37, "unit": "%"}, "mm_activity": "N/A"},
     "power": {"socket_power": {"value": 31, "unit": "W"}},
     "temperature": {"edge": {"value": 40, "unit": "C"}, "hotspot": {"value": 47, "unit": "C"}, "mem": "N/A"},
     "mem_usage": {"total_vram": {"value": 24560, "unit": "MB"}, "used_vram": {"value": 512, "unit": "MB"}}},
]  # fmt: skip
TOLD = Reading(
    "amd", 0, 512 * MIB, 24560 * MIB, 0.37, 31.0, (("edge", 40.0), ("junction", 47.0)), throttled=None
)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty PATH to put stand-in tools on."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def script(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def amd_device(root: Path, slot: str, card: int, **files: str) -> None:
    """A card in the kernel's tree: its PCI device, and the link the graphics class has to it."""
    folder = f"sys/bus/pci/devices/{slot}"
    put(root, f"{folder}/vendor", "0x1002\n")
    for name, text in files.items():
        put(root, f"{folder}/{name.replace('__', '/')}", text + "\n")
    place = root / f"sys/class/drm/card{card}"
    place.mkdir(parents=True)
    (place / "device").symlink_to(root / folder)
    put(root, f"sys/class/drm/card{card}-DP-1/status", "connected")


def test_a_line_of_nvidia_smi_in_base_units() -> None:
    assert parse_nvidia_query("0, 812, 12288, 3, 41, 17.52, Not Active, Active\n") == (
        Reading("nvidia", 0, 812 * MIB, 12288 * MIB, 0.03, 17.52, (("gpu", 41.0),), throttled=True),
    )


def test_what_a_card_does_not_tell_stays_empty() -> None:
    line = "1, 5, 8192, [N/A], [Not Supported], [Unknown Error], [N/A], [N/A]"
    assert parse_nvidia_query(line) == (Reading("nvidia", 1, 5 * MIB, 8192 * MIB),)
    assert parse_nvidia_query("NVIDIA-SMI has failed because it couldn't communicate with the driver.") == ()
    assert parse_nvidia_query("No devices were found") == ()


def test_a_driver_without_the_reasons_is_asked_again_without(tools: Path, tmp_path: Path) -> None:
    refusal = 'echo "Field \\"clocks_throttle_reasons.hw_thermal_slowdown\\" is not a valid field to query."; exit 2'
    script(tools / "nvidia-smi", NVIDIA.format(answer=refusal))
    (reading,) = read_cards(tmp_path)
    assert (reading.used, reading.busy, reading.throttled) == (812 * MIB, 0.03, None)
    script(tools / "nvidia-smi", NVIDIA.format(answer='echo "0, 1, 2, 3, 4, 5, Not Active, Not Active"'))
    (reading,) = read_cards(tmp_path)
    assert (reading.used, reading.throttled) == (1 * MIB, False)


def test_a_failing_or_missing_tool_invents_nothing(tools: Path, tmp_path: Path) -> None:
    assert read_cards(tmp_path) == ()
    script(tools / "nvidia-smi", "#!/bin/sh\necho 0, 1, 2, 3, 4, 5\nexit 9\n")
    assert read_cards(tmp_path) == ()


def test_a_sleeping_nvidia_card_is_not_woken(tools: Path, tmp_path: Path) -> None:
    script(tools / "nvidia-smi", f"#!/bin/sh\n: > {tmp_path}/asked\necho 0, 1, 2, 3, 4, 5\n")
    device = "sys/bus/pci/devices/0000:01:00.0"
    for name, text in (("class", "0x030200"), ("vendor", "0x10de"), ("power/runtime_status", "suspended\n")):
        put(tmp_path, f"{device}/{name}", text)
    assert read_cards(tmp_path) == ()
    assert not (tmp_path / "asked").exists()
    put(tmp_path, f"{device}/power/runtime_status", "active\n")
    assert len(read_cards(tmp_path)) == 1


def test_the_kernels_files_of_an_amd_card(tmp_path: Path) -> None:
    sensors = {
        "hwmon__hwmon3__temp1_input": "41000", "hwmon__hwmon3__temp1_label": "edge",
        "hwmon__hwmon3__temp2_input": "48500", "hwmon__hwmon3__temp2_label": "junction",
        "hwmon__hwmon3__power1_average": "23000000",
    }  # fmt: skip
    memory = {"mem_info_vram_used": "1073741824", "mem_info_vram_total": "21458059264"}
    amd_device(tmp_path, "0000:0b:00.0", 0, gpu_busy_percent="12", power__runtime_status="active")
    amd_device(tmp_path, "0000:03:00.0", 1, gpu_busy_percent="99", **memory, **sensors)
    first, second = read_amdgpu(tmp_path)
    assert first == Reading(
        "amd", 0, 1073741824.0, 21458059264.0, 0.99, 23.0, (("edge", 41.0), ("junction", 48.5))
    )
    assert second == Reading("amd", 1, busy=0.12)  # the slots give the order, not the numbers of the class


def test_a_sleeping_amd_card_is_left_out_and_no_tool_wakes_it(tools: Path, tmp_path: Path) -> None:
    amd_device(tmp_path, "0000:03:00.0", 0, gpu_busy_percent="1", power__runtime_status="suspended")
    script(tools / "amd-smi", f"#!/bin/sh\n: > {tmp_path}/asked\n")
    assert read_cards(tmp_path) == ()
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize("whole", [METRIC, {"gpu_data": METRIC}])
def test_amd_smi_in_both_shapes_after_a_complaint(whole: object) -> None:
    assert parse_amd_metric("WARNING: something\n" + json.dumps(whole, indent=1)) == (TOLD,)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"gpu_data": 3}', "[1, 2]", "nothing"])
def test_odd_answers_of_amd_smi_are_no_cards(text: str) -> None:
    assert parse_amd_metric(text) == ()


def test_without_the_kernels_files_amd_smi_is_asked(tools: Path, tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text(json.dumps(METRIC), encoding="utf-8")
    asked = "metric --mem-usage --usage --temperature --power --json"
    script(
        tools / "amd-smi",
        f'#!/bin/sh\n[ "$*" = "{asked}" ] && while read -r line; do echo "$line"; done < {tmp_path}/answer.json\n',
    )
    (tmp_path / "answer.json").write_text(json.dumps(METRIC) + "\n", encoding="utf-8")
    assert read_cards(tmp_path) == (TOLD,)
    assert len(BASIC) == 6
