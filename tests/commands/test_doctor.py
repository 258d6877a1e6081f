"""The doctor, and the choice of the backend it explains."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.backend.choice import Asked, TorchBuild, choose, torch_build
from pipelines.backend.hardware import Card, Hardware
from pipelines.backend.policy import Policy
from pipelines.backend.preflight import examine
from pipelines.errors import OptionError
from pipelines.settings import Settings

NVIDIA = Card("nvidia", "NVIDIA GeForce RTX 4090", "570.1", "8.9", 24 << 30)
OLD = Card("nvidia", "NVIDIA GeForce GTX 1660 Ti", "570.1", "7.5", 6 << 30)
AMD = Card("amd", "AMD Radeon RX 7900 XTX", "inbox", "gfx1100", 24 << 30)
APU = Card("amd", "AMD Radeon 780M", "inbox", "gfx1103", None, integrated=True)


@pytest.mark.parametrize(
    ("hardware", "build", "family", "device", "precision", "safe"),
    [
        (Hardware((NVIDIA,)), "cuda", "cuda", "cuda:0", "float16", False),
        (Hardware((OLD,)), "cuda", "cuda", "cuda:0", "float32", False),
        (Hardware((APU, AMD), kfd=True), "rocm", "rocm", "cuda:0", "float32", True),
        (Hardware((AMD,), kfd=True), "cuda", "cpu", "cpu", "float32", False),
        (Hardware((AMD,), kfd=False), "rocm", "cpu", "cpu", "float32", False),
        (Hardware((NVIDIA,)), "cpu", "cpu", "cpu", "float32", False),
        (Hardware((Card("nvidia", "card without driver"),)), "cuda", "cpu", "cpu", "float32", False),
        (Hardware(apple=True), "cpu", "mps", "mps", "float32", False),
        (Hardware((NVIDIA,)), "none", "cpu", "cpu", "float32", False),
        (Hardware(), "cuda", "cpu", "cpu", "float32", False),
    ],
)
def test_cards_and_torch_must_agree(
    hardware: Hardware, build: TorchBuild, family: str, device: str, precision: str, safe: bool
) -> None:
    policy = choose(hardware, build, Asked(), 4, {})
    assert (policy.family, policy.device, policy.precision, policy.safe_mode) == (
        family,
        device,
        precision,
        safe,
    )
    assert policy.reason and policy.threads == 4
    assert (policy.short_side_cap, policy.fps_cap) == ((720, 30) if safe else (None, None))


def test_the_reason_names_the_way_out() -> None:
    reason = choose(Hardware((AMD,), kfd=True), "cuda", Asked(), 2, {}).reason
    assert reason == (
        "AMD Radeon RX 7900 XTX is there, but the installed PyTorch is the cuda build:"
        " bash start_app.sh --backend rocm"
    )


def test_flags_win() -> None:
    two = Hardware((NVIDIA, OLD))
    assert choose(two, "cuda", Asked("cpu"), 2, {}).device == "cpu"
    assert choose(two, "cuda", Asked("cuda:1"), 2, {}).precision == "float32"
    assert choose(two, "cuda", Asked(no_half=True), 2, {}).short_side_cap is None
    safe = choose(two, "cuda", Asked(safe_mode=True), 2, {})
    assert (safe.precision, safe.short_side_cap, safe.batch) == ("float32", 720, 2)
    amd = choose(Hardware((AMD,), kfd=True), "rocm", Asked(safe_mode=False), 2, {})
    assert (amd.safe_mode, amd.short_side_cap, amd.precision) == (False, None, "float32")


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("cuda:3", "there are 2 cards, counted from 0"),
        ("mps", "not an Apple chip"),
        ("rocm", "no device 'rocm'"),
    ],
)
def test_a_device_that_is_not_there_is_refused_with_the_reason(device: str, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        choose(Hardware((NVIDIA, OLD)), "cuda", Asked(device), 2, {})


def test_the_user_s_own_variables_stay() -> None:
    hardware = Hardware((AMD,), kfd=True)
    assert choose(hardware, "rocm", Asked(), 3, {}).environment == {
        "OMP_NUM_THREADS": "3",
        "MIOPEN_FIND_MODE": "FAST",
    }
    assert (
        choose(hardware, "rocm", Asked(), 3, {"MIOPEN_FIND_MODE": "3", "OMP_NUM_THREADS": "1"}).environment
        == {}
    )


@pytest.mark.parametrize(
    ("text", "build"),
    [
        ("from typing import Optional\ncuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n", "cuda"),
        ("cuda = None\nhip = '7.2.1'\n", "rocm"),
        ("cuda: str = None\nhip = None\n", "cpu"),
        ("syntax error(", "cpu"),
    ],
)
def test_the_build_of_torch_is_read_without_importing_it(tmp_path: Path, text: str, build: str) -> None:
    (tmp_path / "version.py").write_text(text)
    assert torch_build(tmp_path / "version.py") == build


def test_doctor_finds_missing_weights_and_a_broken_ffmpeg(tmp_path: Path) -> None:
    fake = tmp_path / "ffmpeg"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    settings = Settings.load({"DUBWRIGHT_HOME": str(tmp_path / "home"), "DUBWRIGHT_FFMPEG": str(fake)})
    (tmp_path / "home" / "weights").mkdir(parents=True)
    found = examine(settings, Policy())
    problems = {check.name: check for check in found.checks if check.verdict == "problem"}
    assert not found.usable and set(problems) == {"ffmpeg", "whisper", "kokoro"}
    assert "weights --default" in problems["whisper"].todo.en and "kokoro" in problems["kokoro"].found.zh


def test_doctor_command_says_the_same_in_words_json_and_exit_code(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "DUBWRIGHT_HOME": str(tmp_path),
        "DUBWRIGHT_WEIGHTS": str(tmp_path / "none"),
        "LANG": "C.UTF-8",
    }
    app = str(Path(__file__).parents[2] / "app.py")
    words = subprocess.run(
        [sys.executable, app, "doctor", "--cpu"], env=environment, capture_output=True, text=True, check=False
    )
    assert words.returncode == 1 and words.stdout.endswith("Not ready: whisper, kokoro.\n"), words.stderr
    machine = subprocess.run(
        [sys.executable, app, "doctor", "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    value = json.loads(machine.stdout)
    assert machine.returncode == 1 and value["usable"] is False and value["policy"]["device"] == "cpu"
    assert {item["id"]: item["state"] for item in value["weights"]}["kokoro"] == "missing"
    assert {check["name"] for check in value["checks"] if check["group"] == "lips"} >= {"ownmouth"}
