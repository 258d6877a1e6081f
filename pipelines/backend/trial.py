"""The child that asks torch: imports it, lists devices, computes a little on each, prints one line of JSON.

It may crash, hang or be killed; ``pipelines.backend.probe`` starts it and draws the conclusion.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pipelines.backend.hardware import AMD_APUS

TOLERANCE = {"float32": 2e-3, "bfloat16": 0.15, "float16": 0.05}


def answer() -> dict[str, Any]:
    """The facts ``Probe`` wants, without the hardware."""
    import torch

    hip, cuda = getattr(torch.version, "hip", None), torch.version.cuda
    build = "rocm" if hip else "cuda" if cuda else "mps" if torch.backends.mps.is_built() else "cpu"
    facts: dict[str, Any] = {
        "torch": torch.__version__,
        "torchaudio": _torchaudio(),
        "build": build,
        "runtime": hip or cuda or "",
        "targets": torch.cuda.get_arch_list() if build in ("cuda", "rocm") else [],
        "devices": [],
    }
    if build in ("cuda", "rocm") and torch.cuda.is_available():
        facts["devices"] = [_card(index) for index in range(torch.cuda.device_count())]
    elif build == "mps" and torch.backends.mps.is_available():
        facts["devices"] = [{"index": 0, "name": "Apple GPU", **_try("mps")}]
    elif build == "mps":
        facts["build"] = "cpu"
    return facts


def _torchaudio() -> str:
    try:
        import torchaudio
    except (ImportError, OSError, RuntimeError):  # a build of another kind fails with OSError
        return ""
    return str(torchaudio.__version__)


def _card(index: int) -> dict[str, Any]:
    import torch

    properties = torch.cuda.get_device_properties(index)
    gfx = str(getattr(properties, "gcnArchName", "")).partition(":")[0]
    architecture = gfx if torch.version.hip else f"sm_{properties.major}{properties.minor}"
    facts = {
        "index": index,
        "name": properties.name,
        "architecture": architecture,
        "memory": properties.total_memory,
        "integrated": gfx in AMD_APUS or bool(getattr(properties, "is_integrated", False)),
    }
    return {**facts, **_try(f"cuda:{index}")}


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


if __name__ == "__main__":
    sys.stdout.write(json.dumps(answer()) + "\n")
