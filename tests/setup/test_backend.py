"""Probe, policy, doctor and banner: what is chosen for which machine, and why."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines import doctor, weights
from pipelines.backend import amd, banner, preflight, trial
from pipelines.backend import probe as probing
from pipelines.backend.build import Build, torch_build
from pipelines.backend.hardware import Card, Hardware
from pipelines.backend.policy import Policy, choose
from pipelines.backend.probe import Device, Probe, glance, look, probe
from pipelines.backend.rows import Row, render, usable
from pipelines.errors import OptionError
from pipelines.registry import EngineContext, EngineState
from pipelines.settings import Settings

GIB = 1024**3
NO_CARD = Hardware()
BARE = {"OMP_NUM_THREADS": "2"}  # what is set already, so that policies add only what the test is about
ALL = ("float32", "bfloat16", "float16")
RTX = Device(0, "NVIDIA GeForce RTX 4090", "sm_89", 24 * GIB, works=True, precisions=ALL)
TURING = Device(0, "NVIDIA GeForce RTX 2080", "sm_75", 8 * GIB, works=True, precisions=ALL)
GTX16 = Device(0, "NVIDIA GeForce GTX 1660", "sm_75", 6 * GIB, works=True, precisions=ALL)
XTX = Device(0, "AMD Radeon RX 7900 XTX", "gfx1100", 24 * GIB, works=True, precisions=ALL)
RAPHAEL = Device(
    0, "AMD Radeon Graphics", "gfx1036", 31 * GIB, integrated=True, works=True, precisions=("float32",)
)
CUDA = Probe("2.11.0+cu128", "2.11.0", "cuda", "12.8", devices=(RTX,), asked=True)
ROCM = Probe("2.11.0+rocm7.2", "2.11.0", "rocm", "7.2.53211", ("gfx1100",), (XTX,), asked=True)
NONE = Probe("2.11.0", "2.11.0", asked=True, reason="no graphics card was found")


# ------------------------------------------------------------------------------------------------------ policy


def test_cuda_takes_half_precision_where_it_works() -> None:
    assert choose(CUDA, environment={}) == Policy(
        "cuda",
        "cuda:0",
        "bfloat16",
        batch=32,
        benchmark=True,
        environment={"OMP_NUM_THREADS": "2"},
        reason="NVIDIA GeForce RTX 4090 passed the test computation",
    )
    assert choose(replace(CUDA, devices=(TURING,))).precision == "float16"
    assert choose(replace(CUDA, devices=(GTX16,))).precision == "float32", (
        "this series computes NaN in half precision"
    )
    assert choose(CUDA, no_half=True) == replace(choose(CUDA), precision="float32"), "sizes stay"


def test_amd_cards_start_in_safe_mode() -> None:
    policy = choose(ROCM, environment=BARE)
    assert (policy.family, policy.device, policy.precision) == ("rocm", "cuda:0", "float32")
    assert (policy.safe_mode, policy.short_side_cap, policy.fps_cap, policy.batch) == (True, 720, 30, 8)
    assert policy.environment == {"MIOPEN_FIND_MODE": "FAST"}
    left = choose(ROCM, safe_mode=False, environment=BARE)
    assert (left.safe_mode, left.precision, left.short_side_cap, left.batch) == (False, "bfloat16", None, 32)
    small = replace(ROCM, devices=(replace(XTX, memory=4 * GIB),))
    assert choose(small, environment=BARE).batch == 1


def test_safe_mode_can_be_asked_for_anywhere() -> None:
    policy = choose(CUDA, safe_mode=True)
    assert policy.safe_mode and policy.precision == "float32" and policy.short_side_cap == 720
    assert choose(NONE, safe_mode=True).safe_mode


def test_networks_are_compiled_when_asked_for_and_only_where_that_is_wise() -> None:
    asked = choose(CUDA, compile=True, graphs=True)
    assert asked == replace(choose(CUDA), compile=True, graphs=True)
    assert not choose(CUDA).compile and not choose(CUDA).graphs, "never without being asked"
    for machine, safe in ((CUDA, True), (ROCM, None), (ROCM, False), (NONE, None)):
        with pytest.raises(OptionError, match="on NVIDIA cards outside safe mode only"):
            choose(machine, safe_mode=safe, graphs=True)
        assert not choose(machine, safe_mode=safe).benchmark


def test_a_translation_layer_counts_as_an_amd_card() -> None:
    layer = replace(CUDA, devices=(replace(RTX, name="AMD Radeon RX 6800 [ZLUDA]"),))
    assert choose(layer).safe_mode


def test_processor_graphics_are_hidden_beside_a_card() -> None:
    both = replace(ROCM, devices=(RAPHAEL, replace(XTX, index=1)))
    policy = choose(both, environment=BARE)
    assert policy.device == "cuda:0" and policy.environment["HIP_VISIBLE_DEVICES"] == "1"
    assert "7900" in policy.reason
    kept = choose(both, environment=BARE | {"HIP_VISIBLE_DEVICES": "0,1"})
    assert kept.device == "cuda:1" and "HIP_VISIBLE_DEVICES" not in kept.environment


def test_expandable_segments_are_taken_out_on_amd_only() -> None:
    env = BARE | {
        "PYTORCH_ALLOC_CONF": "max_split_size_mb:128,expandable_segments:True",
        "MIOPEN_FIND_MODE": "3",
    }
    assert choose(ROCM, environment=env).environment == {"PYTORCH_ALLOC_CONF": "max_split_size_mb:128"}
    assert choose(CUDA, environment=env).environment == {}


def test_a_device_that_failed_its_test_is_not_used() -> None:
    broken = replace(
        ROCM, devices=(replace(XTX, works=False, why="HIP error: invalid device function"),), reason="x: y"
    )
    policy = choose(broken)
    assert policy.family == "cpu" and policy.reason == "x: y"
    with pytest.raises(OptionError, match="invalid device function"):
        choose(broken, device="cuda:0")


def test_the_cpu_can_be_asked_for_and_then_libraries_see_no_card() -> None:
    for policy in (choose(CUDA, cpu=True, environment=BARE), choose(CUDA, device="cpu", environment=BARE)):
        assert policy.family == "cpu" and policy.environment == {
            "CUDA_VISIBLE_DEVICES": "-1",
            "HIP_VISIBLE_DEVICES": "-1",
        }
    assert choose(NONE).reason == "no graphics card was found"


@pytest.mark.parametrize("device", ["cuda:3", "mps", "rocm", "gpu", "cuda:x"])
def test_a_device_that_is_not_there_is_refused_with_the_list(device: str) -> None:
    with pytest.raises(OptionError, match="auto, cpu, cuda:0") as caught:
        choose(CUDA, device=device)
    assert caught.value.exit_code == 2


def test_apple_chips_compute_in_32_bits() -> None:
    apple = Probe(
        "2.11.0", "2.11.0", "mps", devices=(Device(0, "Apple GPU", works=True, precisions=ALL),), asked=True
    )
    assert (choose(apple).device, choose(apple).precision) == ("mps", "float32")


# ------------------------------------------------------------------------------------------------------- probe


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Replaces the child that asks torch by a program of the test's; counts how often it ran."""
    ran = tmp_path / "ran"

    def use(program: str, hardware: Hardware = NO_CARD) -> Path:
        real = subprocess.run

        def run(command: list[str], **options: object) -> object:
            if command[1:3] == ["-m", "pipelines.backend.trial"]:
                with ran.open("a") as file:
                    file.write("x")
                command = [sys.executable, "-c", program, *command[3:]]
            return real(command, **options)  # type: ignore[call-overload]

        monkeypatch.setattr(probing.subprocess, "run", run)
        monkeypatch.setattr(probing, "read_hardware", lambda: hardware)
        return ran

    return use


def test_this_machine_is_probed_in_a_child_and_remembered(settings: Settings) -> None:
    code = (
        "import sys, time, dataclasses, pathlib\n"
        "from pipelines.settings import Settings\n"
        "from pipelines.backend.probe import probe\n"
        f"settings = dataclasses.replace(Settings.load(), cache=pathlib.Path({str(settings.cache)!r}))\n"
        "first = probe(settings)\nassert first.asked and first.torch, first\n"
        "start = time.monotonic()\nassert probe(settings) == first\n"
        "assert 'torch' not in sys.modules and 'numpy' not in sys.modules\n"
        "print(first.build, first.torchaudio, first.reason, sep='|')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    build, torchaudio, reason = done.stdout.strip().split("|")
    assert build in ("cuda", "rocm", "cpu") and torchaudio.startswith("2.11.0") and (reason or build != "cpu")
    remembered = glance(settings)
    assert remembered.asked and remembered.build == build


def test_an_unchanged_machine_is_not_asked_twice(settings: Settings, child) -> None:  # type: ignore[no-untyped-def]
    answer = {
        "torch": "2.11.0+cu128",
        "torchaudio": "2.11.0",
        "build": "cuda",
        "devices": [dataclasses.asdict(RTX)],
    }
    ran = child(f"print({json.dumps(json.dumps(answer))})")
    first = probe(settings)
    assert first.works and first.devices == (RTX,) and first.reason == ""
    assert probe(settings) == first and ran.read_text() == "x"
    probe(settings, fresh=True)
    assert ran.read_text() == "xx"


def test_a_changed_driver_is_asked_again(settings: Settings, child, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    answer = json.dumps(
        json.dumps({"torch": "2.11.0", "torchaudio": "2.11.0", "build": "cuda", "devices": []})
    )
    ran = child(f"print({answer})", Hardware((Card("nvidia", "RTX", "570.1", "8.9"),)))
    probe(settings)
    monkeypatch.setattr(probing, "read_hardware", lambda: Hardware((Card("nvidia", "RTX", "580.1", "8.9"),)))
    probe(settings)
    assert ran.read_text() == "xx"


def test_a_crash_at_import_is_survived_and_said(settings: Settings, child) -> None:  # type: ignore[no-untyped-def]
    child(
        "import os, sys; sys.stderr.write('HW Exception by GPU node-1\\n'); sys.stderr.flush(); os.kill(os.getpid(), 11)"
    )
    found = probe(settings)
    assert not found.works and "signal 11" in found.reason and "HW Exception" in found.reason


def test_a_device_whose_test_crashes_is_left_out_and_the_others_are_tried(settings: Settings, child) -> None:  # type: ignore[no-untyped-def]
    """Processor graphics whose first kernel is a segmentation fault must not cost the card beside it."""
    bad = {"index": 0, "name": "AMD Radeon Graphics"}
    good = {"index": 1, "name": "RX 9070 XT"}
    head = {"torch": "2.11.0", "torchaudio": "2.11.0", "build": "rocm"}
    first = json.dumps({**head, "trying": 0, "devices": [bad, good]})
    again = json.dumps({**head, "devices": [bad, {**good, "works": True, "precisions": ["float32"]}]})
    ran = child(
        "import json, os, sys\nleft = json.loads(sys.argv[1])\n"
        f"said = json.loads({again!r})\n"
        f"if '0' not in left:\n    print({first!r}, flush=True)\n    os.kill(os.getpid(), 11)\n"
        "said['devices'][0]['why'] = left['0']\nprint(json.dumps(said))"
    )
    found = probe(settings)
    assert ran.read_text() == "xx"
    assert [device.works for device in found.devices] == [False, True]
    assert "ended the process" in found.devices[0].why and "signal 11" in found.devices[0].why
    assert choose(found, environment=BARE).environment["HIP_VISIBLE_DEVICES"] == "1"


def test_a_test_computation_that_hangs_is_named(settings: Settings, child) -> None:  # type: ignore[no-untyped-def]
    said = {"torch": "2.11.0", "build": "rocm", "trying": 0, "devices": [{"index": 0, "name": "RX 580"}]}
    child(f"import time\nprint({json.dumps(said)!r}, flush=True)\ntime.sleep(60)")
    found = probe(settings, seconds=1)
    assert not found.asked and found.reason.startswith("RX 580: its test computation did not end")


def test_a_hang_is_ended_said_and_not_remembered(settings: Settings, child) -> None:  # type: ignore[no-untyped-def]
    ran = child("import time; time.sleep(60)")
    assert "did not answer within 1 s" in probe(settings, seconds=1).reason
    probe(settings, seconds=1)
    assert ran.read_text() == "xx"


@pytest.mark.parametrize(
    ("answer", "cards", "reason"),
    [
        ({"build": "cpu"}, (Card("nvidia", "RTX 4090", "570.1", "8.9"),), "CPU build"),
        ({"build": "cuda"}, (Card("amd", "RX 7900 XTX", "inbox", "gfx1100"),), "is a CUDA build"),
        ({"build": "rocm"}, (Card("nvidia", "RTX 4090", "570.1", "8.9"),), "is a ROCm build"),
        ({"build": "cpu"}, (), "no graphics card was found"),
        (
            {"build": "rocm", "devices": [{"index": 0, "name": "RX 6600", "why": "invalid device function"}]},
            (Card("amd", "RX 6600", "inbox", "gfx1032"),),
            "RX 6600: invalid device function",
        ),
    ],
)
def test_the_cpu_is_never_chosen_without_a_reason(settings: Settings, child, answer, cards, reason) -> None:  # type: ignore[no-untyped-def]
    text = json.dumps(json.dumps({"torch": "2.11.0", "torchaudio": "2.11.0", **answer}))
    child(f"print({text})", Hardware(tuple(cards)))
    found = probe(settings)
    assert not found.works and reason in found.reason
    assert choose(found).reason == found.reason


@pytest.mark.parametrize(
    ("text", "build"),
    [
        (
            "__version__ = '2.11.0+cu130'\ncuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n",
            ("cuda", "13.0"),
        ),
        ("cuda = None\nhip = '7.2.1'\n", ("rocm", "7.2.1")),
        ("cuda: str = None\nhip = None\n", ("cpu", "")),
        ("syntax error(", ("cpu", "")),
    ],
)
def test_the_build_of_torch_is_read_without_importing_it(
    tmp_path: Path, text: str, build: tuple[str, str]
) -> None:
    (tmp_path / "version.py").write_text(text, encoding="utf-8")
    found = torch_build(tmp_path / "version.py")
    assert (found.family, found.runtime) == build and found.version


@pytest.mark.parametrize(
    ("build", "card", "runs"),
    [
        (Build("2.11.0", "cuda"), Card("nvidia", "RTX", "570.1", "8.9"), True),
        (Build("2.11.0", "cuda"), Card("nvidia", "RTX"), False),
        (Build("2.11.0", "cuda"), Card("amd", "XTX", "inbox", "gfx1100"), False),
        (Build("2.11.0", "rocm"), Card("amd", "XTX", "inbox", "gfx1100"), True),
        (Build("2.11.0", "cpu"), Card("nvidia", "RTX", "570.1", "8.9"), False),
        (Build(), Card("nvidia", "RTX", "570.1", "8.9"), False),
    ],
)
def test_a_job_asks_torch_only_where_a_card_could_work(
    settings: Settings, child, monkeypatch: pytest.MonkeyPatch, build: Build, card: Card, runs: bool
) -> None:  # type: ignore[no-untyped-def]
    answer = json.dumps(
        json.dumps({"torch": "2.11.0", "torchaudio": "2.11.0", "build": build.family, "devices": []})
    )
    ran = child(f"print({answer})", Hardware((card,), kfd=True))
    monkeypatch.setattr(probing, "torch_build", lambda: build)
    waiting = glance(settings)
    assert waiting.asked is False and ("not been tried" in waiting.reason) == runs and waiting.reason
    assert look(settings).asked is runs and ran.exists() is runs


def test_without_torch_the_probe_answers(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "_installed", lambda package: "")
    found = probe(settings)
    assert found.asked and found.torch == "" and found.reason == "torch is not installed"


def test_the_test_computation_is_right_on_the_cpu_and_notices_a_wrong_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("torch")
    assert trial._try("cpu") == {"works": True, "precisions": list(ALL), "why": ""}
    monkeypatch.setattr(trial, "_deviation", lambda device, precision: float("inf"))
    assert trial._try("cpu") == {"works": False, "precisions": [], "why": "a test computation is off by inf"}
    monkeypatch.undo()
    assert trial._try("cuda:7")["works"] is False, "a device that is not there"


def test_torchaudio_counts_only_when_it_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    torchaudio = pytest.importorskip("torchaudio")
    assert trial._torchaudio() == torchaudio.__version__

    def missing(*_arguments: object, **_options: object) -> None:
        raise RuntimeError("torchaudio::forced_align is not there")  # what a library of another build answers

    monkeypatch.setattr("torchaudio.functional.forced_align", missing)
    assert trial._torchaudio() == ""


# ------------------------------------------------------------------------------------------------------ doctor


def levels(rows: tuple[Row, ...]) -> dict[str, str]:
    return {row.id: row.level for row in rows}


def test_this_machine_is_usable(settings: Settings) -> None:
    rows = doctor.doctor(settings, Policy(), NONE)
    assert usable(rows), render(rows, "en")
    found = levels(rows)
    assert found["python"] == found["ffmpeg"] == found["disk"] == found["weights.kokoro"] == "ok"
    assert {"engines.transcription", "engines.voice", "engines.lips", "engines.translation"} <= set(found)
    for row in rows:
        assert bool(row.meaning.en) == bool(row.meaning.zh) and bool(row.remedy.en) == bool(row.remedy.zh), (
            row
        )


def test_missing_weights_fail_with_the_command_that_brings_them(settings: Settings, tmp_path: Path) -> None:
    bare = replace(settings, weights=tmp_path / "none")
    rows = {row.id: row for row in doctor.doctor(bare, Policy(), NONE)}
    assert (
        rows["weights.kokoro"].level == "problem"
        and "app.py weights kokoro" in rows["weights.kokoro"].remedy.en
    )
    assert rows["engines.voice"].level == "problem" and "model files missing" in rows["engines.voice"].found
    assert "weights.whisper-small" not in rows, "optional model files that nobody asked for are no finding"
    assert not usable(tuple(rows.values()))


def test_a_folder_that_cannot_be_written_and_a_full_disk(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {
        row.id: row for row in preflight.machine(replace(settings, logs=Path("/proc/dubwright/logs")), NONE)
    }
    assert rows["folder.logs"].level == "problem" and "DUBWRIGHT_LOGS" in rows["folder.logs"].remedy.en
    usage = preflight.shutil.disk_usage("/")._replace(free=500_000_000)
    monkeypatch.setattr(preflight.shutil, "disk_usage", lambda path: usage)
    rows = {row.id: row for row in preflight.machine(settings, NONE)}
    assert rows["disk"].level == "problem" and "0.5 GB free" in rows["disk"].found


def test_an_ffmpeg_setting_that_does_not_run(settings: Settings, tmp_path: Path) -> None:
    rows = {row.id: row for row in preflight.machine(replace(settings, ffmpeg=tmp_path / "none"), NONE)}
    assert rows["ffmpeg"].level == "problem" and "DUBWRIGHT_FFMPEG" in rows["ffmpeg"].remedy.en


@pytest.mark.parametrize(
    ("asked", "torchaudio", "level", "found"),
    [
        (False, "", "ok", "2.11.0, build cpu"),
        (True, "2.11.0", "ok", "2.11.0, torchaudio 2.11.0, build cpu"),
        (True, "", "warning", "2.11.0, torchaudio does not import, build cpu"),
    ],
)
def test_of_torchaudio_only_what_was_tried_is_said(
    settings: Settings, asked: bool, torchaudio: str, level: str, found: str
) -> None:
    seen = Probe(torch="2.11.0", torchaudio=torchaudio, asked=asked)
    row = next(row for row in preflight.machine(settings, seen) if row.id == "torch")
    assert (row.level, row.found) == (level, found)


def amd_probe(card: Card, **changes: object) -> Probe:
    return replace(ROCM, hardware=Hardware((card,), kfd=True), **changes)  # type: ignore[arg-type]


def test_amd_rows(tmp_path: Path) -> None:
    card = Card("amd", "RX 6600", "inbox", "gfx1032")
    rows = {row.id: row for row in amd.amd_rows(amd_probe(card, devices=()), tmp_path)}
    assert rows["amd.0"].level == "warning" and "torch[device-gfx1032]" in rows["amd.0"].remedy.en
    assert rows["amd.kfd"].level == "warning" and "modprobe amdgpu" in rows["amd.kfd"].remedy.en
    (tmp_path / ".dockerenv").touch()
    rows = {row.id: row for row in amd.amd_rows(amd_probe(card), tmp_path)}
    assert "--device /dev/kfd" in rows["amd.kfd"].remedy.en
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/kfd").touch()
    rows = {row.id: row for row in amd.amd_rows(amd_probe(Card("amd", "XTX", "inbox", "gfx1100")), tmp_path)}
    assert rows["amd.0"].level == rows["amd.kfd"].level == "ok"


def test_a_closed_device_file_names_the_group_of_this_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/kfd").touch()
    monkeypatch.setattr(amd, "_open", lambda path: False)
    rows = {row.id: row for row in amd.amd_rows(amd_probe(Card("amd", "XTX", "inbox", "gfx1100")), tmp_path)}
    number = (tmp_path / "dev/kfd").stat().st_gid
    assert rows["amd.kfd"].level == "warning"
    assert "usermod -aG" in rows["amd.kfd"].remedy.en and f"--group-add {number}" in rows["amd.kfd"].remedy.en


@pytest.mark.parametrize(
    ("value", "said"),
    [("10.3.0", "no kernels for gfx1030"), ("11.0.0", "needs no override"), ("gfx1100", "not of the form")],
)
def test_overrides_are_looked_at(value: str, said: str) -> None:
    [row] = amd.override_rows(amd_probe(Card("amd", "XTX", "inbox", "gfx1100")), value)
    assert row.level == "warning" and said in row.meaning.en


def test_an_override_that_helps_is_fine_and_bad_kernels_are_named() -> None:
    [row] = amd.override_rows(amd_probe(Card("amd", "RX 7600", "inbox", "gfx1102")), "11.0.0")
    assert row.level == "ok"
    assert [row.level for row in amd.kernel_rows("6.18.4-arch1-1")] == ["warning"]
    assert list(amd.kernel_rows("6.17.9")) == list(amd.kernel_rows("7.0.0-generic")) == []


# ------------------------------------------------------------------------------------------------------ banner


def test_the_banner_says_what_runs_where_and_why() -> None:
    states = {"a": EngineState("ready"), "b": EngineState("missing weights")}
    cuda = banner.banner(choose(CUDA), CUDA, states)
    assert cuda.en == (
        "NVIDIA GeForce RTX 4090 · CUDA 12.8 (torch 2.11) · 24.0 GiB · half precision (bf16) · 1 of 2 engines ready"
    )
    rocm = banner.banner(choose(ROCM, environment=BARE), ROCM, states)
    assert (
        "ROCm 7.2" in rocm.en
        and "· safe mode: no-half (fp32), 720p30 · " in rocm.en
        and "安全模式" in rocm.zh
    )
    assert "safe mode off" in banner.banner(choose(ROCM, safe_mode=False, environment=BARE), ROCM, states).en
    lost = replace(
        NONE, hardware=Hardware((Card("amd", "RX 580", "inbox", "gfx803"),)), reason="RX 580: no kernels"
    )
    assert "CPU because: RX 580: no kernels" in banner.banner(choose(lost), lost, states).en
    assert banner.banner(choose(NONE), NONE, states).en.startswith("CPU (")


def test_engine_states_cover_all_families(settings: Settings) -> None:
    states = doctor.engine_states(EngineContext(settings, Policy()))
    assert {name.partition("/")[0] for name in states} == {"transcription", "voice", "lips", "translation"}


def test_every_engines_weights_stand_in_the_manifest(settings: Settings) -> None:
    known = set(weights.manifest(settings))
    for registry in doctor.registries().values():
        for info in registry.infos():
            assert set(info.weights) <= known, info.name


def test_no_model_is_offered_that_no_engine_uses(settings: Settings) -> None:
    used = {
        item
        for registry in doctor.registries().values()
        for info in registry.infos()
        for item in (*info.weights, *info.optional_weights)
    }
    assert set(weights.manifest(settings)) - used == set()
