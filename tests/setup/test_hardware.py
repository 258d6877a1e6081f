"""Reading cards: nvidia-smi's and rocminfo's texts, and kernel trees made by the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.backend import hardware
from pipelines.backend.hardware import Card, gfx_name, parse_nvidia_smi, parse_rocminfo, read_hardware


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty PATH to put stand-in tools on."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(hardware, "WSL_NVIDIA_SMI", "/nowhere/nvidia-smi")
    return folder


def script(path: Path, text: str, code: int = 0) -> None:
    path.write_text(f"#!/bin/sh\n/bin/cat <<'TEXT'\n{text}\nTEXT\nexit {code}\n", encoding="utf-8")
    path.chmod(0o755)


def put(root: Path, name: str, text: str = "") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def pci(root: Path, slot: str, vendor: str, kind: str = "0x030000", **files: str) -> Path:
    folder = f"sys/bus/pci/devices/{slot}"
    put(root, f"{folder}/class", kind)
    put(root, f"{folder}/vendor", vendor)
    for name, text in files.items():
        put(root, f"{folder}/{name}", text)
    return root / folder


def kfd(root: Path, node: int, version: int, minor: int = 0, device: Path | None = None) -> None:
    put(
        root,
        f"sys/class/kfd/kfd/topology/nodes/{node}/properties",
        f"cpu_cores_count 0\nsimd_count 96\ngfx_target_version {version}\ndrm_render_minor {minor}\nvendor_id 4098\n",
    )
    if device:
        link = root / f"sys/class/drm/renderD{minor}"
        link.mkdir(parents=True)
        (link / "device").symlink_to(device)


@pytest.mark.parametrize(
    ("version", "name"),
    [
        (110000, "gfx1100"),
        (100300, "gfx1030"),
        (90010, "gfx90a"),
        (90402, "gfx942"),
        (110501, "gfx1151"),
        (120001, "gfx1201"),
    ],
)
def test_kernel_numbers_are_decoded(version: int, name: str) -> None:
    assert gfx_name(version) == name


def test_nvidia_smi_lines() -> None:
    text = "NVIDIA GeForce RTX 4090, 570.86.10, 24564, 8.9\nTesla T4, 570.86.10, [N/A], [N/A]\nnoise\n"
    assert parse_nvidia_smi(text) == [
        Card("nvidia", "NVIDIA GeForce RTX 4090", "570.86.10", "8.9", 24564 * 1024**2),
        Card("nvidia", "Tesla T4", "570.86.10", "", None),
    ]


def test_an_old_nvidia_smi_without_capability_is_asked_again(tools: Path, tmp_path: Path) -> None:
    (tools / "nvidia-smi").write_text(
        '#!/bin/sh\ncase "$1" in\n*compute_cap*) echo \'Field "compute_cap" is not a valid field to query.\'; exit 2;;\n'
        "*) echo 'GeForce GTX 980, 470.1, 4096';;\nesac\n",
        encoding="utf-8",
    )
    (tools / "nvidia-smi").chmod(0o755)
    [card] = read_hardware(tmp_path / "empty").cards
    assert (card.name, card.driver_major, card.capability) == ("GeForce GTX 980", 470, (0, 0))


def test_a_card_whose_driver_does_not_answer_is_seen_and_said(tools: Path, tmp_path: Path) -> None:
    script(tools / "nvidia-smi", "Failed to initialize NVML: Driver/library version mismatch", 18)
    pci(tmp_path, "0000:01:00.0", "0x10de", device="0x2684")
    pci(tmp_path, "0000:01:00.1", "0x10de", kind="0x040300", device="0x22ba")  # its sound function
    found = read_hardware(tmp_path)
    assert [(card.vendor, card.driver) for card in found.cards] == [("nvidia", "")]
    assert "Driver/library version mismatch" in found.notes[0]


def test_a_hanging_tool_is_given_up(tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tools / "nvidia-smi").write_text("#!/bin/sh\nexec /bin/sleep 30\n", encoding="utf-8")
    (tools / "nvidia-smi").chmod(0o755)
    assert hardware.run_tool(["nvidia-smi"], seconds=0.3)[0] == -1


def test_two_amd_cards_keep_their_own_names_and_memory(tools: Path, tmp_path: Path) -> None:
    """Processor graphics first on the bus, the card second in the runtime: paired by the render node, not by order."""
    graphics = pci(
        tmp_path, "0000:01:00.0", "0x1002", device="0x164e", mem_info_vram_total=str(512 * 1024**2)
    )
    card = pci(
        tmp_path,
        "0000:03:00.0",
        "0x1002",
        device="0x7550",
        mem_info_vram_total=str(16 * 1024**3),
        product_name="RX 9070 XT",
    )
    put(tmp_path, "sys/module/amdgpu/version", "6.16.6")
    put(tmp_path, "dev/kfd")
    kfd(tmp_path, 0, 0)
    kfd(tmp_path, 1, 120001, 129, card)
    kfd(tmp_path, 2, 100306, 128, graphics)
    found = read_hardware(tmp_path)
    assert found.kfd and [(c.architecture, c.memory, c.integrated, c.driver) for c in found.cards] == [
        ("gfx1201", 16 * 1024**3, False, "6.16.6"),
        ("gfx1036", 512 * 1024**2, True, "6.16.6"),
    ]
    assert found.cards[0].name == "RX 9070 XT"


def test_an_amd_card_without_driver(tools: Path, tmp_path: Path) -> None:
    pci(tmp_path, "0000:03:00.0", "0x1002", device="0x744c")
    found = read_hardware(tmp_path)
    assert [(card.vendor, card.driver, card.architecture) for card in found.cards] == [("amd", "", "")]
    assert "amdgpu driver is not loaded" in found.notes[0] and not found.kfd


def test_wsl_has_no_kfd_but_rocminfo(tools: Path, tmp_path: Path) -> None:
    script(
        tools / "rocminfo",
        "WSL2 environment detected.\n==========\nHSA Agents\n==========\n*******\nAgent 1\n*******\n"
        "  Name:                    AMD Ryzen AI Max+ 395 w/ Radeon 8060S\n*******\nAgent 2\n*******\n"
        "  Name:                    gfx1151\n  Marketing Name:          AMD Radeon(TM) 8060S Graphics\n",
    )
    put(tmp_path, "proc/version", "Linux version 6.6.87-microsoft-standard-WSL2")
    put(tmp_path, "dev/dxg")
    found = read_hardware(tmp_path)
    assert found.wsl and found.kfd
    assert [(card.name, card.architecture, card.integrated) for card in found.cards] == [
        ("AMD Radeon(TM) 8060S Graphics", "gfx1151", True)
    ]


def test_rocminfo_complaints_before_good_agents_do_not_count() -> None:
    text = (
        "sh: 1: lsmod: not found\nROCk module is NOT loaded, possibly no GPU devices\nAble to open /dev/kfd read-write\n"
        "=====\nHSA Agents\n=====\nAgent 1\n  Name:                    gfx90a\n  Marketing Name:          \n"
        "  ISA Info:\n    ISA 1\n      Name:                    amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-\n"
    )
    assert [(card.name, card.architecture) for card in parse_rocminfo(text)] == [
        ("AMD card gfx90a", "gfx90a")
    ]
    assert (
        parse_rocminfo("ROCk module is loaded\nUnable to open /dev/kfd read-write: Permission denied\n") == []
    )


def test_a_bare_computer(tools: Path, tmp_path: Path) -> None:
    found = read_hardware(tmp_path)
    assert found.cards == () and found.notes == () and not found.kfd and not found.wsl
