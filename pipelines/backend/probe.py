"""What torch can do on this machine: asked in a child process with a time limit, remembered, never guessed.

Three questions are kept apart: which *build* torch is (``torch.version.hip``, ``.cuda``), whether a device is
*available*, and whether it *works* (a small computation, compared with the CPU's). A broken driver can crash or hang
the process that asks, so a child asks (``pipelines.backend.trial``); the page's own process never imports torch.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pipelines.backend.build import torch_build
from pipelines.backend.hardware import Card, Hardware, read_hardware
from pipelines.backend.policy import Family
from pipelines.files import read_json, write_json
from pipelines.settings import Settings

PROBE_SECONDS = 120.0  # the first start of a ROCm stack compiles kernels
# Variables that change what the runtime sees; a remembered answer holds only while they stay the same.
WATCHED = (
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "HSA_OVERRIDE_GFX_VERSION",
    "LD_LIBRARY_PATH",
    "PYTORCH_ENABLE_MPS_FALLBACK",
)


@dataclass(frozen=True, slots=True)
class Device:
    """A device torch sees; ``precisions`` are the number formats that passed, ``why`` the reason when it does not work."""

    index: int
    name: str
    architecture: str = ""
    memory: int | None = None
    integrated: bool = False
    works: bool = False
    precisions: tuple[str, ...] = ()
    why: str = ""
    free: int | None = None

    @property
    def translated(self) -> bool:
        """An AMD card behind a layer that pretends to be CUDA (ZLUDA)."""
        return self.name.endswith("[ZLUDA]")

    @property
    def capability(self) -> tuple[int, int]:
        """CUDA capability from ``sm_86``; (0, 0) for AMD and Apple, where capability numbers mean nothing."""
        digits = self.architecture.removeprefix("sm_")
        return (int(digits[:-1]), int(digits[-1])) if digits.isdigit() and len(digits) > 1 else (0, 0)

    def name_for_torch(self, build: Family) -> str:
        """``cuda:N`` (AMD too) or ``mps``."""
        return "mps" if build == "mps" else f"cuda:{self.index}"


@dataclass(frozen=True, slots=True)
class Probe:
    """The machine as torch and the operating system see it.

    Attributes:
        torch: version, or empty when torch is not installed or does not import.
        torchaudio: the same for torchaudio.
        build: family of the torch build; ``cpu`` also without torch.
        runtime: CUDA or HIP version the build was made for.
        targets: architectures the build has kernels for.
        devices: what torch sees. hardware: what the system sees.
        available: whether torch counts a device; that says nothing about kernels for it.
        xpu: torch sees an Intel card, which no engine uses.
        asked: whether a child process really asked torch (False: only looked from outside).
        reason: one sentence why there is no working device; empty when there is one.
    """

    torch: str = ""
    torchaudio: str = ""
    build: Family = "cpu"
    runtime: str = ""
    targets: tuple[str, ...] = ()
    devices: tuple[Device, ...] = ()
    hardware: Hardware = field(default_factory=Hardware)
    available: bool = False
    xpu: bool = False
    asked: bool = False
    reason: str = ""

    @property
    def works(self) -> bool:
        """Whether some device passed the test computation."""
        return any(device.works for device in self.devices)


def probe(settings: Settings, *, fresh: bool = False, seconds: float = PROBE_SECONDS) -> Probe:
    """The machine, from the remembered answer when nothing changed (milliseconds), else by asking (seconds).

    Never raises and never opens a network connection. An answer cut off by the time limit is not remembered.
    """
    hardware = read_hardware()
    key = _key(hardware)
    path = settings.cache / "probe.json"
    if not fresh and (remembered := _remembered(path, key, hardware)):
        return remembered
    found = _ask(hardware, seconds)
    if found.asked:
        with contextlib.suppress(OSError):  # a cache that cannot be written only costs the question next time
            write_json(path, {"key": key, "answer": _plain(found)})
    return found


def glance(settings: Settings) -> Probe:
    """What can be said at once: the remembered answer, else the view from outside (torch is not asked)."""
    hardware = read_hardware()
    remembered = _remembered(settings.cache / "probe.json", _key(hardware), hardware)
    if remembered:
        return remembered
    build = torch_build()
    found = Probe(torch=build.version, build=build.family, runtime=build.runtime, hardware=hardware)
    untried = bool(_why_not(found)) and _could_work(found)
    return replace(found, reason="the graphics card has not been tried yet" if untried else _why_not(found))


def look(settings: Settings) -> Probe:
    """The probe that a job or the page needs: torch is asked only where a card could work and was not tried yet."""
    found = glance(settings)
    return found if found.asked or not _could_work(found) else probe(settings)


def _could_work(found: Probe) -> bool:
    """Whether there is a device for the installed build of torch."""
    hardware = found.hardware
    if not found.torch:
        return False
    if found.build == "cuda":
        return any(card.driver for card in hardware.of("nvidia"))
    return bool(hardware.of("amd")) and hardware.kfd if found.build == "rocm" else hardware.apple


def _key(hardware: Hardware) -> str:
    facts = [
        _installed("torch"),
        _installed("torchaudio"),
        sys.version,
        sys.prefix,
        asdict(hardware),
        [os.environ.get(name) for name in WATCHED],
    ]
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()


def _installed(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _remembered(path: Path, key: str, hardware: Hardware) -> Probe | None:
    try:
        note = read_json(path)
        return _from_plain(note["answer"], hardware) if note["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _plain(found: Probe) -> dict[str, Any]:
    plain = asdict(found)
    del plain["hardware"]
    return plain


def _from_plain(plain: dict[str, Any], hardware: Hardware) -> Probe:
    devices = tuple(
        Device(**{**device, "precisions": tuple(device.get("precisions", ()))})
        for device in plain.get("devices", ())
    )
    rest = {name: value for name, value in plain.items() if name not in ("devices", "targets", "hardware")}
    found = Probe(**rest, devices=devices, targets=tuple(plain.get("targets", ())), hardware=hardware)
    return found if found.works else _with_reason(found)


def _ask(hardware: Hardware, seconds: float) -> Probe:
    """Ask in a child; a device whose test ends the child is left out and the others are tried in a new one."""
    if not _installed("torch"):
        return _with_reason(Probe(hardware=hardware, asked=True))
    left_out: dict[int, str] = {}
    end = time.monotonic() + seconds
    while True:
        answer, problem, hung = _trial(left_out, max(end - time.monotonic(), 0.1))
        trying = answer.pop("trying", None)
        if not problem:
            return _from_plain({**answer, "asked": True}, hardware)
        if trying is None or int(trying) in left_out or hung:
            why = problem if trying is None else f"its test computation did not end: {problem}"
            return _cut_off(answer, trying, why, problem, hardware, asked=not hung)
        left_out[int(trying)] = f"its test computation ended the process: {problem}"


def _trial(left_out: dict[int, str], seconds: float) -> tuple[dict[str, Any], str, bool]:
    """The last thing the child said, why it did not end well (or nothing), and whether it hung."""
    command = [sys.executable, "-m", "pipelines.backend.trial", json.dumps(left_out)]
    root = Path(__file__).resolve().parents[2]
    try:
        done = subprocess.run(
            command,
            cwd=root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            start_new_session=True,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        said = error.stdout or b""
        text = said.decode(errors="replace") if isinstance(said, bytes) else said
        return _last(text), f"torch did not answer within {error.timeout:.0f} s", True
    except OSError as error:
        return {}, str(error), True
    answer = _last(done.stdout)
    if done.returncode == 0 and answer:
        return answer, "", False
    last = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "")
    how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
    return answer, f"torch ended with {how}: {last}"[:300], False


def _last(text: str) -> dict[str, Any]:
    """The last whole line of JSON."""
    for line in reversed(text.splitlines()):
        with contextlib.suppress(ValueError):
            if line.startswith("{") and isinstance(found := json.loads(line), dict):
                return found
    return {}


def _cut_off(
    answer: dict[str, Any], trying: int | None, why: str, reason: str, hardware: Hardware, *, asked: bool
) -> Probe:
    """What is known of a machine whose test did not end."""
    if not answer:
        return Probe(hardware=hardware, asked=asked, reason=reason)
    devices = [
        {**device, "works": False, "precisions": [], "why": why} if device["index"] == trying else device
        for device in answer.get("devices", ())
    ]
    return _from_plain({**answer, "devices": devices, "asked": asked}, hardware)


def _with_reason(found: Probe) -> Probe:
    return replace(found, reason=found.reason or _why_not(found))


def _why_not(found: Probe) -> str:
    """Why no device works, from the facts; the worst answer to a user is the CPU without a reason."""
    broken = [device for device in found.devices if not device.works]
    cards = found.hardware.cards
    if broken:
        return f"{broken[0].name}: {broken[0].why}"
    if not found.torch:
        return "torch is not installed"
    if not cards and not found.hardware.apple:
        return _no_card(found)
    names = ", ".join(card.name for card in cards) or "Apple chip"
    if found.build == "cpu" and cards:
        backend = "cuda" if found.hardware.of("nvidia") else "rocm"
        return f"{names}: the installed torch {found.torch} is a CPU build (bash start_app.sh --backend {backend})"
    wrong = _other_makers_build(found, cards)
    if wrong:
        return wrong
    return (
        found.hardware.notes[0]
        if found.hardware.notes
        else f"{names}: torch {found.torch} finds no usable device"
    )


def _no_card(found: Probe) -> str:
    if found.hardware.rosetta:
        return "this Python is an Intel one translated by Rosetta and cannot use the Apple chip: take an arm64 Python"
    if found.xpu or found.hardware.others:
        seen = ", ".join(found.hardware.others) or "an Intel card"
        return f"no graphics card that an engine can use was found ({seen}: Dubwright has nothing for it)"
    return found.hardware.notes[0] if found.hardware.notes else "no graphics card was found"


def _other_makers_build(found: Probe, cards: tuple[Card, ...]) -> str:
    if found.build == "cuda" and not found.hardware.of("nvidia"):
        return f"{cards[0].name}: the installed torch {found.torch} is a CUDA build (bash start_app.sh --backend rocm)"
    if found.build == "rocm" and not found.hardware.of("amd"):
        return f"{cards[0].name}: the installed torch {found.torch} is a ROCm build (bash start_app.sh --backend cuda)"
    return ""


if __name__ == "__main__":  # the launcher asks before it starts the page, which then finds the answer
    look(Settings.load())
