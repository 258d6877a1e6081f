"""Machine → what is chosen and said: recorded texts of tools and kernels through the real readers, torch by a stand-in.

A number in a case's name is a report of a user's (docs/FIELD_REPORTS.md says which) that this case plays through.
"""

from __future__ import annotations

import json
import platform
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pipelines.asr import RECOGNIZERS
from pipelines.backend import hardware, preflight, trial
from pipelines.backend import probe as probing
from pipelines.backend.banner import banner
from pipelines.backend.coverage import coverage
from pipelines.backend.hardware import read_hardware
from pipelines.backend.policy import choose
from pipelines.backend.smi import leaves, parse_amd_smi, parse_rocm_smi
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from tests.setup.machines import (
    CPU_TORCH,
    CU126,
    CUDA_TORCH,
    GIB,
    ROCM_TORCH,
    Node,
    Seen,
    Torch,
    fake_torch,
    plant,
    put,
    rocminfo,
)

SMI_OK = "NVIDIA GeForce RTX 4090, 580.65.06, 24564, 8.9"
AMD_SMI_LIST = json.dumps(
    [{"gpu": 0, "asic": {"market_name": "AMD Radeon RX 7900 XT", "target_graphics_version": "gfx1100"},
      "vram": {"size": {"value": 20464, "unit": "MB"}}, "driver": {"name": "amdgpu", "version": "6.12.12"}}]
)  # fmt: skip
AMD_SMI_ENVELOPE = json.dumps(
    {"gpu_data": [{"gpu": 0, "asic": {"market_name": "Radeon RX 9070 XT", "target_graphics_version": "gfx1201"},
                   "vram": {"size": "16304 MB"}}]}
)  # fmt: skip
ROCM_SMI = "WARNING: AMD GPU device(s) is/are in a low-power state. Check power control/runtime_status\n" + json.dumps(
    {"card0": {"GPU use (%)": "0", "VRAM Total Memory (B)": "21458059264", "Card Series": "Radeon RX 7900 XT",
               "Card Model": "0x744c", "Node ID": "1", "GFX Version": "gfx1100"},
     "system": {"Driver version": "6.12.12"}}
)  # fmt: skip
XT = Node(110000, 20 * GIB)
XTX_SEEN = Seen("AMD Radeon RX 7900 XTX", "gfx1100", 24 * GIB)
NO_KERNEL = "HIP error: invalid device function\nSearch for 'hipErrorInvalidDeviceFunction' in https://rocm.docs.amd.com"
TOO_OLD = "CUDA initialization: The NVIDIA driver on your system is too old (found version 12040)."
NO_IMAGE = "CUDA error: no kernel image is available for execution on the device"
HUNG = "HUNG"  # a tool that does not come back


@dataclass(frozen=True)
class Case:
    """A machine and what must be said of it; ``says`` stands in the banner (or its reason), ``rows`` are doctor levels."""

    name: str
    family: str
    says: str
    rows: dict[str, str] = field(default_factory=dict)
    tools: dict[str, str] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)
    nodes: tuple[Node, ...] = ()
    driver: str | None = ""
    kfd: bool = True
    files: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    torch: Torch = CPU_TORCH
    kernel: str = "6.17.9"
    system: tuple[str, str] = ("Linux", "x86_64")
    precision: str = "float32"


def cuda(name: str, arch: str, *, gib: int = 24, torch: Torch = CUDA_TORCH, **facts: Any) -> Torch:
    return Torch(torch.version, "cuda", torch.runtime, torch.targets, (Seen(name, arch, gib * GIB, **facts),))


def rocm(*devices: Seen, targets: tuple[str, ...] = ROCM_TORCH.targets) -> Torch:
    return Torch(ROCM_TORCH.version, "rocm", ROCM_TORCH.runtime, targets, devices)


CU126_TORCH = Torch("2.11.0+cu126", "cuda", "12.6", tuple(CU126))
CU130_TORCH = Torch("2.11.0+cu130", "cuda", "13.0", CUDA_TORCH.targets)
RDNA_OK = rocm(XTX_SEEN)

NVIDIA = [
    Case("healthy", "cuda", "RTX 4090 · CUDA 12.8 (torch 2.11) · 24.0 GiB · half precision (bf16)",
         {"nvidia.0": "ok", "card-memory.0": "ok"},
         {"nvidia-smi": SMI_OK}, torch=cuda("NVIDIA GeForce RTX 4090", "sm_89"), precision="bfloat16"),
    Case("3 a card no build names is covered", "cuda", "RTX 4060", {"nvidia.0": "ok"},
         {"nvidia-smi": "NVIDIA GeForce RTX 4060, 580.65.06, 8188, 8.9"},
         torch=cuda("NVIDIA GeForce RTX 4060", "sm_89", gib=8), precision="bfloat16"),
    Case("35 too new for the build", "cpu", "no kernel image", {"nvidia.0": "warning", "device": "warning"},
         {"nvidia-smi": "NVIDIA GeForce RTX 5090, 580.65.06, 32607, 12.0"},
         torch=cuda("NVIDIA GeForce RTX 5090", "sm_120", torch=CU126_TORCH, fails={"float32": NO_IMAGE})),
    Case("35 too old for the build", "cpu", "no kernel image", {"nvidia.0": "warning"},
         {"nvidia-smi": "NVIDIA GeForce GTX 1080 Ti, 580.65.06, 11264, 6.1"},
         torch=cuda("NVIDIA GeForce GTX 1080 Ti", "sm_61", fails={"float32": NO_IMAGE})),
    Case("36 the error is an AcceleratorError", "cpu", "no kernel image", {"nvidia.0": "warning"},
         {"nvidia-smi": "NVIDIA GeForce RTX 5070 Ti, 580.65.06, 16303, 12.0"},
         torch=cuda("NVIDIA GeForce RTX 5070 Ti", "sm_120", torch=CU126_TORCH, fails={"float32": NO_IMAGE})),
    Case("driver too old for CUDA 13, available all the same", "cpu", "too old (found version 12040)", {"nvidia.0": "warning"},
         {"nvidia-smi": "NVIDIA GeForce RTX 3060, 550.120, 12288, 8.6"},
         torch=cuda("NVIDIA GeForce RTX 3060", "sm_86", torch=CU130_TORCH, fails={"float32": TOO_OLD})),
    Case("half precision broken on a 1660", "cuda", "CUDA 12.8 (torch 2.11) · 6.0 GiB · full precision (fp32)",
         {"nvidia.0": "ok"},
         {"nvidia-smi": "NVIDIA GeForce GTX 1660 SUPER, 580.65.06, 6144, 7.5"},
         torch=cuda("NVIDIA GeForce GTX 1660 SUPER", "sm_75", gib=6)),
    Case("Turing takes fp16", "cuda", "fp16", {"nvidia.0": "ok"}, {"nvidia-smi": "Tesla T4, 580.65.06, 15360, 7.5"},
         torch=cuda("Tesla T4", "sm_75", gib=15), precision="float16"),
    Case("bf16 that computes wrong is not taken", "cuda", "fp16", {}, {"nvidia-smi": SMI_OK},
         torch=cuda("NVIDIA GeForce RTX 4090", "sm_89", fails={"bfloat16": "not implemented for 'BFloat16'"}),
         precision="float16"),
    Case("hardly any memory free", "cuda", "RTX 4090", {"card-memory.0": "warning"}, {"nvidia-smi": SMI_OK},
         torch=cuda("NVIDIA GeForce RTX 4090", "sm_89", free=2 * GIB), precision="bfloat16"),
    Case("library mismatch after an update", "cpu", "Driver/library version mismatch", {"nvidia.0": "warning"},
         {"nvidia-smi": "Failed to initialize NVML: Driver/library version mismatch"}, {"nvidia-smi": 18},
         (Node(vendor="0x10de", number="0x2684"),), torch=CUDA_TORCH),
    Case("driver does not answer", "cpu", "couldn't communicate", {"nvidia.0": "warning"},
         {"nvidia-smi": "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."}, {"nvidia-smi": 9},
         (Node(vendor="0x10de", number="0x2684"),), torch=CUDA_TORCH),
    Case("no tool and no driver", "cpu", "nvidia-smi is not installed", {"nvidia.0": "warning"},
         nodes=(Node(vendor="0x10de", number="0x2684"),), torch=CUDA_TORCH),
    Case("no devices were found", "cpu", "no graphics card was found", {"device": "ok"},
         {"nvidia-smi": "No devices were found"}, {"nvidia-smi": 6}, torch=CUDA_TORCH),
    Case("values that are not known", "cuda", "RTX 4090", {"nvidia.0": "ok"},
         {"nvidia-smi": "NVIDIA GeForce RTX 4090, 580.65.06, [N/A], [Unknown Error]"},
         torch=cuda("NVIDIA GeForce RTX 4090", "sm_89"), precision="bfloat16"),
    Case("a tool that hangs", "cpu", "timed out", {"nvidia.0": "warning"}, {"nvidia-smi": HUNG},
         nodes=(Node(vendor="0x10de", number="0x2684"),), torch=CUDA_TORCH),
    Case("a CPU build beside a card", "cpu", "is a CPU build", {"device": "warning", "nvidia.0": "ok"}, {"nvidia-smi": SMI_OK}),
    Case("a ROCm build beside a card", "cpu", "is a ROCm build", {"device": "warning"}, {"nvidia-smi": SMI_OK},
         torch=ROCM_TORCH),
    Case("two cards: the larger one", "cuda", "RTX 4090", {"nvidia.1": "ok"},
         {"nvidia-smi": "NVIDIA GeForce RTX 3060, 580.65.06, 12288, 8.6\n" + SMI_OK},
         torch=Torch("2.11.0+cu128", "cuda", "12.8", CUDA_TORCH.targets,
                     (Seen("NVIDIA GeForce RTX 3060", "sm_86", 12 * GIB), Seen("NVIDIA GeForce RTX 4090", "sm_89", 24 * GIB))),
         precision="bfloat16"),
    Case("a localised answer", "cpu", "no graphics card was found", {},
         {"nvidia-smi": "Keine Geräte gefunden"}, {"nvidia-smi": 6}, torch=CUDA_TORCH),
    Case("ZLUDA", "cuda", "safe mode", {"zluda": "warning"}, {},
         nodes=(Node(100300, 16 * GIB),), torch=cuda("AMD Radeon RX 6800 [ZLUDA]", "sm_86", gib=16)),
]  # fmt: skip

AMD = [
    Case("healthy", "rocm", "AMD Radeon RX 7900 XTX · ROCm 7.2 (torch 2.11) · 24.0 GiB · safe mode: no-half (fp32)",
         {"amd.0": "ok", "amd.kfd": "ok", "device": "ok"}, nodes=(XT,), driver="6.16.6", torch=RDNA_OK),
    Case("1 gfx1151 is compared with gfx", "rocm", "Radeon 8060S", {"amd.0": "ok"},
         nodes=(Node(110501, 8 * GIB, "0x1586"),), kernel="6.17.9",
         torch=rocm(Seen("AMD Radeon 8060S", "gfx1151", 96 * GIB))),
    Case("2 a needless override", "cpu", "finds no usable device", {"amd.override": "warning"}, nodes=(Node(110501, 8 * GIB),),
         env={"HSA_OVERRIDE_GFX_VERSION": "11.0.0"}, torch=ROCM_TORCH),
    Case("6 43 a CUDA build beside an AMD card", "cpu", "is a CUDA build", {"amd.torch": "warning"}, nodes=(XT,),
         torch=CUDA_TORCH),
    Case("9 15 display driver but a CPU build", "cpu", "is a CPU build", {"amd.torch": "warning", "amd.0": "ok"},
         nodes=(Node(120001, 16 * GIB, name="Radeon RX 9070 XT"),)),
    Case("10 gfx1031 is not in the wheel", "cpu", "no kernels for gfx1031", {"amd.0": "warning", "device": "warning"},
         nodes=(Node(100301, 12 * GIB),), torch=rocm(Seen("AMD Radeon RX 6750 XT", "gfx1031", 12 * GIB))),
    Case("13 gfx1201", "rocm", "R9700", {"amd.0": "ok"}, nodes=(Node(120001, 32 * GIB),),
         torch=rocm(Seen("AMD Radeon AI PRO R9700", "gfx1201", 32 * GIB))),
    Case("16 a wheel without gfx1151", "cpu", "no kernels for gfx1151", {"amd.0": "warning"}, nodes=(Node(110501, 8 * GIB),),
         torch=rocm(Seen("AMD Radeon 8060S", "gfx1151"), targets=("gfx1100", "gfx1101"))),
    Case("17 first computation fails", "cpu", "invalid device function", {"device": "warning"}, nodes=(Node(110002, 16 * GIB),),
         torch=rocm(Seen("AMD Radeon RX 7600 XT", "gfx1102", fails={"float32": NO_KERNEL}))),
    Case("18 Polaris", "cpu", "no kernels for gfx803", {"amd.0": "warning"}, nodes=(Node(80003, 8 * GIB),),
         torch=rocm(Seen("Radeon Pro WX 5100", "gfx803", 8 * GIB))),
    Case("19 no kernel image with HIP in front", "cpu", "no kernel image is available", {"device": "warning"}, nodes=(XT,),
         torch=rocm(Seen("RX 590", "gfx1100", fails={"float32": "HIP error: no kernel image is available for execution"}))),
    Case("20 21 kernels with page faults", "rocm", "safe mode", {"amd.kernel": "warning"}, nodes=(XT,), kernel="6.18.4",
         torch=RDNA_OK),
    Case("26 the second card", "rocm", "RX 7900 XT", {"amd.1": "ok"}, nodes=(Node(110000, 20 * GIB), Node(110000, 20 * GIB)),
         torch=rocm(Seen("AMD Radeon RX 7900 XT", "gfx1100", 20 * GIB), Seen("AMD Radeon RX 7900 XT", "gfx1100", 20 * GIB))),
    Case("29 several cards and the IOMMU", "rocm", "safe mode", {"amd.iommu": "warning"}, nodes=(XT, XT),
         files={"sys/class/iommu/ivhd0/x": "", "proc/cmdline": "quiet splash"}, torch=RDNA_OK),
    Case("29 several cards with iommu=pt", "rocm", "safe mode", {"amd.iommu": ""}, nodes=(XT, XT),
         files={"sys/class/iommu/ivhd0/x": "", "proc/cmdline": "quiet iommu=pt"}, torch=RDNA_OK),
    Case("31 an APU's memory is not added up", "rocm", "96.0 GiB shared", {"card-memory.0": "ok"},
         nodes=(Node(110501, 8 * GIB),), torch=rocm(Seen("AMD Radeon 8060S", "gfx1151", 96 * GIB))),
    Case("32 wrong numbers in fp32", "cpu", "off by inf", {"device": "warning"}, nodes=(XT,),
         torch=rocm(Seen("Navi 31", "gfx1100", off=float("inf")))),
    Case("37 an override to a target that is not there", "cpu", "no kernels for gfx1103", {"amd.override": "warning"},
         nodes=(Node(110003, 4 * GIB),), env={"HSA_OVERRIDE_GFX_VERSION": "11.0.3"},
         torch=rocm(Seen("AMD Radeon 780M", "gfx1103", 16 * GIB))),
    Case("an override that helps", "rocm", "RX 6600", {"amd.override": "ok"}, nodes=(Node(100302, 8 * GIB),),
         env={"HSA_OVERRIDE_GFX_VERSION": "10.3.0"}, torch=rocm(Seen("AMD Radeon RX 6600", "gfx1030", 8 * GIB))),
    Case("driver not loaded", "cpu", "amdgpu driver is not loaded", {"amd.0": "warning", "amd.kfd": "warning"},
         nodes=(Node(0),), driver=None, kfd=False, torch=ROCM_TORCH),
    Case("a container without the devices", "cpu", "finds no usable device", {"amd.kfd": "warning"}, nodes=(XT,), kfd=False,
         files={".dockerenv": ""}, torch=ROCM_TORCH),
    Case("processor graphics first", "rocm", "RX 9070 XT", {"amd.igpu": "ok"},
         {"rocminfo": rocminfo(("gfx1036", "AMD Radeon Graphics"), ("gfx1201", "AMD Radeon RX 9070 XT"))},
         nodes=(Node(100306, GIB // 2, "0x164e"), Node(120001, 16 * GIB)),
         torch=rocm(Seen("AMD Radeon Graphics", "gfx1036", GIB // 2), Seen("AMD Radeon RX 9070 XT", "gfx1201"))),
    Case("two models of one target keep their names", "rocm", "RX 7900 XTX", {"amd.0": "ok", "amd.1": "ok"},
         {"rocminfo": rocminfo(("gfx1100", "Radeon RX 7900 XTX"), ("gfx1100", "Radeon RX 7900 XT"))}, nodes=(XT, XT),
         torch=RDNA_OK),
    Case("names by amd-smi, a list", "cpu", "AMD Radeon RX 7900 XT: the installed torch", {"amd.0": "ok"},
         {"amd-smi": AMD_SMI_LIST}, nodes=(XT,)),
    Case("names by amd-smi, an envelope", "cpu", "Radeon RX 9070 XT: the installed torch", {"amd.0": "ok"},
         {"amd-smi": AMD_SMI_ENVELOPE}, nodes=(Node(120001, 16 * GIB),)),
    Case("names by rocm-smi behind a warning", "cpu", "Radeon RX 7900 XT: the installed torch", {"amd.0": "ok"},
         {"rocm-smi": ROCM_SMI}, nodes=(XT,)),
    Case("amd-smi fails, rocm-smi answers", "cpu", "Radeon RX 7900 XT: the installed torch", {"amd.0": "ok"},
         {"amd-smi": "Can not find a device: GPU '123123' Error code: -3", "rocm-smi": ROCM_SMI}, {"amd-smi": 253}, (XT,)),
    Case("amd-smi hangs", "rocm", "RX 7900 XTX", {"amd.0": "ok"}, {"amd-smi": HUNG}, nodes=(XT,), torch=RDNA_OK),
    Case("malformed JSON", "rocm", "RX 7900 XTX", {"amd.0": "ok"}, {"amd-smi": '[{"gpu": 0, "asic": {'}, nodes=(XT,),
         torch=RDNA_OK),
    Case("empty answers", "rocm", "RX 7900 XTX", {"amd.0": "ok"}, {"amd-smi": "", "rocm-smi": "", "rocminfo": ""},
         nodes=(XT,), torch=RDNA_OK),
    Case("no JSON data to report", "rocm", "RX 7900 XTX", {"amd.0": "ok"}, {"rocm-smi": "WARNING: No JSON data to report"},
         nodes=(XT,), torch=RDNA_OK),
    Case("rocminfo may not open the device", "rocm", "RX 7900 XTX", {"amd.0": "ok"},
         {"rocminfo": "ROCk module is loaded\nUnable to open /dev/kfd read-write: Permission denied\n"
          'alice is not member of "render" group, the default DRM access group.'}, {"rocminfo": 1}, (XT,), torch=RDNA_OK),
    Case("rocminfo out of resources", "rocm", "RX 7900 XTX", {},
         {"rocminfo": "hsa api call failure at: /src/rocminfo/rocminfo.cc:1142\nCall returned "
          "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources."}, {"rocminfo": 1},
         (XT,), torch=RDNA_OK),
    Case("a container without lsmod", "cpu", "Radeon RX 7900 XTX: the installed torch", {"amd.0": "ok"},
         {"rocminfo": rocminfo(("gfx1100", "Radeon RX 7900 XTX"),
          head="sh: 1: lsmod: not found\nROCk module is NOT loaded, possibly no GPU devices")}, nodes=(XT,)),
    Case("an odd container", "cpu", "no graphics card was found", {},
         {"rocminfo": "Unable to open /dev/kfd read-write: Invalid argument\nroot is member of nogroup group"},
         {"rocminfo": 1}, torch=ROCM_TORCH),
    Case("Instinct with features in its name", "rocm", "MI210", {"amd.0": "ok"}, nodes=(Node(90010, 64 * GIB, kind="0x120000"),),
         torch=rocm(Seen("AMD Instinct MI210", "gfx90a:sramecc+:xnack-", 64 * GIB))),
    Case("WSL", "rocm", "8060S", {"amd.kfd": "ok", "amd.0": "ok"},
         {"rocminfo": "WSL2 environment detected.\n" + rocminfo(("gfx1151", "AMD Radeon(TM) 8060S Graphics"))},
         files={"proc/version": "Linux version 6.6.87-microsoft-standard-WSL2", "dev/dxg": ""},
         torch=rocm(Seen("AMD Radeon(TM) 8060S Graphics", "gfx1151", 32 * GIB))),
    Case("an old kernel for RDNA 3", "rocm", "safe mode", {"amd.kernel": "warning"}, nodes=(XT,), kernel="6.5.0-41-generic",
         torch=RDNA_OK),
    Case("Red Hat's kernels carry newer drivers", "rocm", "safe mode", {"amd.kernel": ""}, nodes=(XT,),
         kernel="5.14.0-687.el9.x86_64", torch=RDNA_OK),
    Case("NVIDIA with AMD processor graphics", "cuda", "RTX 4090", {"nvidia.0": "ok", "amd.torch": ""}, {"nvidia-smi": SMI_OK},
         nodes=(Node(100306, GIB // 2),), torch=cuda("NVIDIA GeForce RTX 4090", "sm_89"), precision="bfloat16"),
]  # fmt: skip

OTHERS = [
    Case("nothing at all", "cpu", "CPU (", {"device": "ok"}),
    Case("Intel graphics are noted", "cpu", "CPU (", {"device": "ok"}, nodes=(Node(vendor="0x8086", number="0x56a0"),)),
    Case("33 an Apple chip computes in fp32", "mps", "Apple GPU · Metal (torch 2.11) · full precision (fp32)", {"apple": "ok"},
         system=("Darwin", "arm64"), torch=Torch("2.11.0", mps="available")),
    Case("Metal not available", "cpu", "finds no usable device", {"apple": "ok"}, system=("Darwin", "arm64"),
         torch=Torch("2.11.0", mps="built")),
    Case("torch sees an Intel card", "cpu", "CPU (", {"device": "ok"}, torch=Torch("2.11.0+xpu", xpu=True)),
]  # fmt: skip


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Set a machine up and look at it with the real readers; returns the hardware and the probe."""
    tools, root = tmp_path / "tools", tmp_path / "root"
    tools.mkdir()
    root.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setattr(hardware, "WSL_NVIDIA_SMI", "/nowhere/nvidia-smi")
    monkeypatch.setattr(hardware, "TOOL_SECONDS", 0.4)
    monkeypatch.setattr(hardware.run_tool, "__defaults__", (0.4,))
    monkeypatch.setattr(trial, "_torchaudio", lambda: "2.11.0")
    for name in probing.WATCHED:
        monkeypatch.delenv(name, raising=False)

    def look(case: Case) -> Any:
        for name, text in case.tools.items():
            hangs = "exec /bin/sleep 20\n" if text == HUNG else ""
            body = f"{hangs}/bin/cat <<'TEXT'\n{text}\nTEXT\nexit {case.codes.get(name, 0)}\n"
            put(tools, name, f"#!/bin/sh\n{body}").chmod(0o755)
        plant(root, case.nodes, driver=case.driver, kfd=case.kfd)
        for name, text in case.files.items():
            put(root, name, text)
        for name, text in case.env.items():
            monkeypatch.setenv(name, text)
        monkeypatch.setattr(platform, "system", lambda: case.system[0])
        monkeypatch.setattr(platform, "machine", lambda: case.system[1])
        monkeypatch.setattr(platform, "mac_ver", lambda: ("15.5", ("", "", ""), "arm64"))
        monkeypatch.setattr(platform, "release", lambda: case.kernel)
        monkeypatch.setitem(sys.modules, "torch", fake_torch(case.torch))

        def deviation(device: str, precision: str) -> float:
            seen = (
                case.torch.devices[int(device.partition(":")[2] or 0)]
                if case.torch.devices
                else Seen("Apple", "")
            )
            if precision in seen.fails:
                raise RuntimeError(seen.fails[precision])
            return seen.off

        monkeypatch.setattr(trial, "_deviation", deviation)
        seen = read_hardware(root)
        return root, probing._from_plain({**trial.answer(), "asked": True}, seen)

    return look


@pytest.mark.parametrize("case", [*NVIDIA, *AMD, *OTHERS], ids=lambda case: case.name)
def test_machine(case: Case, play: Any, settings: Settings) -> None:
    root, found = play(case)
    policy = choose(found, environment=case.env | {"OMP_NUM_THREADS": "2"})
    assert (policy.family, policy.precision) == (case.family, case.precision)
    line = banner(policy, found, {}).en
    assert case.says in line or case.says in policy.reason, (line, policy.reason)
    assert policy.reason, "never without a reason"
    levels = {row.id: row.level for row in preflight._cards(found, root)}
    assert {name: levels.get(name, "") for name in case.rows} == case.rows
    assert policy.safe_mode is (policy.family == "rocm" or "ZLUDA" in line)


def test_on_amd_cards_whisper_runs_in_torch_and_not_in_a_cuda_library(play: Any, settings: Settings) -> None:
    """Reports 4, 5, 8 and 11: a CUDA library on an AMD card dies with "CUDA driver version is insufficient"."""
    case = next(case for case in AMD if case.name.startswith("26 "))
    policy = choose(play(case)[1], environment={})
    context = EngineContext(settings, policy)
    assert RECOGNIZERS.state("whisper", context).state == "unsupported here"
    assert RECOGNIZERS.chosen("whisper", context) == "whisper-torch"
    assert policy.environment["HIP_VISIBLE_DEVICES"] == "0", (
        "CUDA_VISIBLE_DEVICES is not reliable there (report 26)"
    )


def test_there_are_at_least_sixty_machines() -> None:
    names = [case.name for case in (*NVIDIA, *AMD, *OTHERS)]
    assert len(names) >= 60


@pytest.mark.parametrize(
    ("card", "targets", "verdict"),
    [
        ("sm_89", ("sm_80", "sm_86"), "covered"),
        ("sm_89", ("sm_90",), "missing"),
        ("sm_86", ("sm_89",), "missing"),
        ("sm_121", ("compute_90",), "covered"),
        ("sm_90", ("sm_90a",), "covered"),
        ("sm_100", ("sm_90a",), "missing"),
        ("sm_103", ("sm_100f",), "covered"),
        ("sm_103", ("sm_100a",), "missing"),
        ("sm_61", ("sm_75", "sm_120"), "missing"),
        ("gfx90a:sramecc+:xnack-", ("gfx90a",), "covered"),
        ("gfx1032", ("gfx1030",), "missing"),
        ("gfx1100", ("sm_86",), "unknown"),
        ("sm_110", ("gfx1100",), "unknown"),
        ("", ("sm_86",), "unknown"),
    ],
)
def test_architectures_are_compared_within_their_own_namespace(
    card: str, targets: tuple[str, ...], verdict: str
) -> None:
    assert coverage(card, targets) == verdict


def test_smi_texts_in_all_their_shapes() -> None:
    [card] = parse_amd_smi(AMD_SMI_LIST)
    assert (card.name, card.target, card.memory) == ("AMD Radeon RX 7900 XT", "gfx1100", 20464 * 1024**2)
    [card] = parse_amd_smi("noise on stderr first\n" + AMD_SMI_ENVELOPE)
    assert (card.target, card.memory) == ("gfx1201", 16304 * 1024**2)
    assert (
        parse_amd_smi('[{"gpu": 0, "asic": "N/A"}]') == parse_amd_smi("{}") == parse_amd_smi("nonsense") == []
    )
    [card] = parse_rocm_smi(ROCM_SMI)
    assert (card.name, card.memory) == ("Radeon RX 7900 XT", 21458059264), (
        "20 GB, whatever people write about it"
    )
    older = '{"card1": {"Card series": "Navi 21"}, "card0": {"Device Name": "N/A", "Card model": "0x73bf"}}'
    assert [told.name for told in parse_rocm_smi(older)] == ["0x73bf", "Navi 21"]


def test_numbers_are_found_wherever_a_version_puts_them() -> None:
    answer = {
        "usage": {"gfx_activity": {"value": 3, "unit": "%"}, "umc": "N/A"},
        "temperature": {"hotspot": [41, "N/A"]},
    }
    assert dict(leaves(answer)) == {"usage.gfx_activity": 3.0, "temperature.hotspot": 41.0}
