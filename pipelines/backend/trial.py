"""The child that asks torch: imports it, lists devices, computes a little on each, prints lines of JSON.

Each line holds all that is known by then; the last one counts. It may crash, hang or be killed;
``pipelines.backend.probe`` starts it and draws the conclusion.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from pipelines.backend.coverage import coverage
from pipelines.backend.hardware import AMD_APUS

Tell = Callable[[str], object]

KHZ_BIN = 7  # of 23 Mel bands up to 8 kHz: the one with 1 kHz
TOLERANCE = {"float32": 2e-3, "bfloat16": 0.15, "float16": 0.05}


def answer(skip: Mapping[int, str] = MappingProxyType({}), tell: Tell = lambda line: None) -> dict[str, Any]:
    """The facts ``Probe`` wants, without the hardware.

    Args:
        skip: devices that must not be tried again, with the reason: their test ended the process before.
        tell: is given all that is known as JSON before each test computation, for it may be the last thing done.
    """
    import torch

    hip, cuda = getattr(torch.version, "hip", None), torch.version.cuda
    build = "rocm" if hip else "cuda" if cuda else "mps" if torch.backends.mps.is_built() else "cpu"
    on_card = build in ("cuda", "rocm")
    facts: dict[str, Any] = {
        "torch": torch.__version__,
        "torchaudio": _torchaudio(),
        "build": build,
        "runtime": hip or cuda or "",
        "targets": torch.cuda.get_arch_list() if on_card else [],
        "available": torch.cuda.is_available()
        if on_card
        else build == "mps" and torch.backends.mps.is_available(),
        "xpu": bool(hasattr(torch, "xpu") and torch.xpu.is_available()),
        "devices": [],
    }
    if build == "mps" and not facts["available"]:
        facts["build"] = "cpu"
    if not facts["available"]:
        return facts
    devices: list[dict[str, Any]] = (
        [_card(index) for index in range(torch.cuda.device_count())]
        if on_card
        else [{"index": 0, "name": "Apple GPU"}]
    )
    facts["devices"] = devices
    for device in devices:
        tell(json.dumps({**facts, "trying": device["index"]}))
        device |= _tried(device, facts["targets"], build, skip)
    return facts


def _tried(device: dict[str, Any], targets: list[str], build: str, skip: Mapping[int, str]) -> dict[str, Any]:
    """The result of the test, which is not made where it is known to end the process."""
    architecture, index = str(device.get("architecture", "")), int(device["index"])
    if index in skip:
        return {"works": False, "precisions": [], "why": skip[index]}
    if (
        build == "rocm" and coverage(architecture, targets) == "missing"
    ):  # HIP ends or crashes the process there
        return {
            "works": False,
            "precisions": [],
            "why": f"the installed torch has no kernels for {architecture}; it has {', '.join(targets)}",
        }
    return _try("mps" if build == "mps" else f"cuda:{index}")


def _torchaudio() -> str:
    """torchaudio's version when it imports and computes: features in torch, forced alignment in its own library.

    A build for another torch fails at import with OSError, or only when its operators are called.
    """
    try:
        import torchaudio

        features = _speech_features()
    except (ImportError, OSError, RuntimeError, AttributeError):
        return ""
    return str(torchaudio.__version__) if features else ""


def _speech_features() -> bool:
    """Kaldi filter banks of a resampled tone peak at its pitch, and an alignment finds the frames it was made of."""
    import torch
    from torchaudio.compliance import kaldi
    from torchaudio.functional import forced_align, resample

    tone = resample(torch.sin(torch.arange(24000) * (2 * torch.pi * 1000 / 24000)), 24000, 16000)
    bank = kaldi.fbank(tone[None], sample_frequency=16000, num_mel_bins=23, dither=0.0).mean(dim=0)
    scores = torch.full((1, 6, 3), -9.0)
    for frame, token in enumerate((0, 1, 1, 0, 2, 0)):
        scores[0, frame, token] = 0.0
    path, _ = forced_align(scores, torch.tensor([[1, 2]], dtype=torch.int32), blank=0)
    return int(bank.argmax()) == KHZ_BIN and path[0].tolist() == [0, 1, 1, 0, 2, 0]


def _card(index: int) -> dict[str, Any]:
    import torch

    properties = torch.cuda.get_device_properties(index)
    gfx = str(getattr(properties, "gcnArchName", "")).partition(":")[0]
    architecture = gfx if torch.version.hip else f"sm_{properties.major}{properties.minor}"
    return {
        "index": index,
        "name": properties.name,
        "architecture": architecture,
        "memory": properties.total_memory,
        "free": _free(index),
        "integrated": gfx in AMD_APUS or bool(getattr(properties, "is_integrated", False)),
    }


def _free(index: int) -> int | None:
    """Bytes that no process uses, or None when the driver does not say."""
    import torch

    try:
        return int(torch.cuda.mem_get_info(index)[0])
    except (RuntimeError, AssertionError):
        return None


def _try(device: str) -> dict[str, Any]:
    """Which number formats compute the right thing on a device, or why not even the plainest does."""
    passed, why = [], ""
    for precision in TOLERANCE:
        try:
            error = _deviation(device, precision)
        except (RuntimeError, AssertionError, NotImplementedError, TypeError) as problem:
            why = why or str(problem).strip().splitlines()[0][:200]
            if precision == "float32":
                break
            continue
        if error <= TOLERANCE[precision]:
            passed.append(precision)
        elif precision == "float32":
            why = f"a test computation is off by {error:.2g}"
            break
    return {"works": "float32" in passed, "precisions": passed, "why": "" if "float32" in passed else why}


def _deviation(device: str, precision: str) -> float:
    """Largest difference from the CPU's result over a matrix product, a convolution and a normalisation."""
    import torch

    generator = torch.Generator().manual_seed(7)
    picture = torch.randn(2, 16, 32, 32, generator=generator)
    kernel = torch.randn(16, 16, 3, 3, generator=generator) / 12
    matrix = torch.randn(1024, 64, generator=generator) / 32

    def compute(place: str, kind: torch.dtype) -> torch.Tensor:
        flow = torch.nn.functional.conv2d(picture.to(place, kind), kernel.to(place, kind), padding=1)
        flow = torch.nn.functional.layer_norm(flow, (32, 32)).reshape(32, 1024)
        return (flow @ matrix.to(place, kind)).float().cpu()

    with torch.inference_mode():
        found, expected = compute(device, getattr(torch, precision)), compute("cpu", torch.float32)
    if not bool(torch.isfinite(found).all()):
        return float("inf")
    return float((found - expected).abs().max())


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    left_out = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    _say(json.dumps(answer({int(key): str(why) for key, why in left_out.items()}, _say)))
