"""The guard: texts and signals are named, and a worker that really dies on its device goes down the ladder and on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipelines.backend.guard import (
    Action,
    Step,
    Trouble,
    classify,
    fallen_operator,
    next_step,
)
from pipelines.backend.outputs import check_sound
from pipelines.backend.policy import Policy
from pipelines.errors import BadOutput
from pipelines.jobs.local import LocalExecutor
from pipelines.jobs.spec import JobView
from pipelines.jobs.store import JobStore
from pipelines.jobs.watch import Limits
from pipelines.settings import Settings
from pipelines.types import Audio
from tests.jobs.conftest import run
from tests.jobs.flows import FLOWS

CARD = Policy("rocm", "cuda:0", "bfloat16", batch=8)
HIP_OOM = (
    "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 978.00 MiB. GPU 0 has a total capacity of 15.98 GiB of "
    "which 630.00 MiB is free. If reserved but unallocated memory is large try setting "
    "PYTORCH_HIP_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
)


@pytest.mark.parametrize(
    ("text", "returncode", "trouble"),
    [
        (HIP_OOM, 70, "oom_gpu"),
        ("RuntimeError: CUDA error: out of memory", 70, "oom_gpu"),
        ("MPS backend out of memory (MPS allocated: 9.07 GB)", 70, "oom_gpu"),
        ("RuntimeError: CUDA failed with error out of memory", 70, "oom_gpu"),
        ("[enforce fail at alloc_cpu.cpp:75] . DefaultCPUAllocator: can't allocate memory", 70, "oom_host"),
        ("torch.AcceleratorError: CUDA error: no kernel image is available for execution on the device", 70, "no_kernel"),
        ("RuntimeError: HIP error: invalid device function", 70, "no_kernel"),
        ("hipErrorNoBinaryForGpu: Coudn't find binary for current devices!", -6, "no_kernel"),
        ("rocBLAS error: Cannot read TensileLibrary.dat: Illegal seek for GPU arch : gfx1032", -6, "no_kernel"),
        ("CUDA driver version is insufficient for CUDA runtime version", 70, "driver_mismatch"),
        ("AssertionError: Torch not compiled with CUDA enabled", 70, "not_compiled"),
        ('NotImplementedError: "slow_conv2d_cpu" not implemented for \'Half\'', 70, "missing_op"),
        ("Output channels > 65536 not supported at the MPS device.", 70, "missing_op"),
        ("CUDA error: an illegal memory access was encountered", 70, "illegal_access"),
        ("operation failed due to a previous error during capture", 70, "illegal_access"),
        ("Memory access fault by GPU node-1 (Agent handle: 0x55) on address 0x7f. Reason: Page not present", -6, "gpu_fault"),
        ("HW Exception by GPU node-1 (Agent handle: 0x55) reason :GPU Hang", -6, "gpu_fault"),
        ("RuntimeError: no ROCm-capable device is detected", 70, "gpu_reset"),
        ("RuntimeError: miopenStatusUnknownError", 70, "conv_algo"),
        ("OSError: libc10_cuda.so: cannot open shared object file", 70, "import"),
        ("", -signal.SIGSEGV, "segv"),
        ("", 128 + signal.SIGSEGV, "segv"),
        ("", 0xC0000005, "segv"),
        ("", -signal.SIGKILL, "killed"),
        ("KeyError: 'missing'", 70, "other"),
        # Harmless ones must alarm nobody.
        ("Attempting to use hipBLASLt on an unsupported architecture! Overriding blas backend to hipblas", 70, "other"),
        ("MIOpen(HIP): Warning [SearchImpl] Searching the best solution ... Please, be patient...", 70, "other"),
        ("Mem Efficient attention on Current AMD GPU is still experimental.", 70, "other"),
    ],
)  # fmt: skip
def test_trouble_is_named(text: str, returncode: int, trouble: Trouble) -> None:
    assert classify(text, returncode) == trouble


def ladder(policy: Policy, trouble: Trouble) -> list[str]:
    taken: list[Action] = []
    while step := next_step(policy, trouble, taken):
        taken.append(step.action)
        policy = step.policy
    return [*taken]


def test_the_ladder_of_every_trouble() -> None:
    assert ladder(CARD, "oom_gpu") == ["fresh", "cpu"]
    assert ladder(CARD, "oom_batch") == [*["smaller_batch"] * 3, "cpu"], "8, 4, 2, 1"
    assert ladder(CARD, "nan") == ["float32", "cpu"]
    assert ladder(Policy("rocm", "cuda:0"), "nan") == ["cpu"], "NaN in fp32 must not go round in circles"
    assert ladder(CARD, "no_kernel") == ladder(CARD, "driver_mismatch") == ["cpu"]
    assert ladder(CARD, "hang") == ["no_sdma", "cpu"]
    assert ladder(Policy("cuda", "cuda:0"), "hang") == ["fresh", "cpu"]
    assert ladder(CARD, "gpu_fault") == ["smaller_batch", "float32", "cpu"]
    assert ladder(replace(CARD, batch=1), "gpu_fault") == ["float32", "fresh", "cpu"]
    assert ladder(CARD, "oom_host") == ladder(CARD, "killed") == ladder(CARD, "other") == []
    assert ladder(Policy(), "segv") == ladder(Policy(), "hang") == ["fresh"]
    assert ladder(Policy(), "oom_host") == ladder(Policy(), "nan") == []


def test_a_smaller_batch_is_half_when_memory_ran_out_and_one_after_a_crash() -> None:
    fewer, one = next_step(CARD, "oom_batch"), next_step(CARD, "segv")
    assert fewer is not None and (fewer.action, fewer.policy) == ("smaller_batch", replace(CARD, batch=4))
    assert fewer.message.en == "The graphics card ran out of memory: again with at most 4 at once"
    assert one is not None and one.policy == replace(CARD, batch=1)


def test_after_any_trouble_nothing_is_compiled_any_more() -> None:
    compiled = Policy("cuda", "cuda:0", "bfloat16", batch=8, compile=True, graphs=True, benchmark=True)
    for trouble in ("oom_gpu", "oom_batch", "nan", "segv", "hang"):
        step = next_step(compiled, trouble)  # type: ignore[arg-type]
        assert step is not None
        assert (step.policy.compile, step.policy.graphs, step.policy.benchmark) == (False, False, False)


def test_on_the_cpu_no_library_sees_the_card() -> None:
    step = next_step(CARD, "no_kernel")
    assert step is not None and step.lasts
    assert (step.policy.family, step.policy.device, step.policy.precision) == ("cpu", "cpu", "float32")
    assert step.policy.environment == {"CUDA_VISIBLE_DEVICES": "-1", "HIP_VISIBLE_DEVICES": "-1"}
    assert step.message.en == "The installed torch has no code for the card: again on the CPU"
    assert next_step(CARD, "oom_gpu", ["fresh"]).lasts is False  # type: ignore[union-attr]


@pytest.fixture
def steps() -> list[Step]:
    return []


@pytest.fixture
def on_card(store: JobStore, settings: Settings, steps: list[Step]) -> Iterator[LocalExecutor]:
    """An executor whose policy names a card."""
    limits = Limits(heartbeat=8.0)
    made = LocalExecutor(store, settings, policy=CARD, flows=FLOWS, limits=limits, fell_back=steps.append)
    yield made
    made.close()


def tries(view: JobView) -> list[str]:
    return (view.folder / "tries.txt").read_text().split()


@pytest.mark.parametrize(
    ("how", "well", "tried"),
    [
        ("segfault", "cpu", ["rocm|bfloat16|", "rocm|bfloat16|", "rocm|float32|", "cpu|float32|"]),
        ("nan", "fp32", ["rocm|bfloat16|", "rocm|float32|"]),
        ("hang", "sdma", ["rocm|bfloat16|", "rocm|bfloat16|0"]),
        (HIP_OOM, "cpu", ["rocm|bfloat16|", "rocm|bfloat16|", "cpu|float32|"]),
        ("HIP error: invalid device function", "cpu", ["rocm|bfloat16|", "cpu|float32|"]),
    ],
    ids=["segfault", "nan", "hang", "oom", "no kernel"],
)
def test_a_job_goes_on_in_a_safer_way(
    on_card: LocalExecutor, steps: list[Step], how: str, well: str, tried: list[str]
) -> None:
    view = run(on_card, "fragile", how=how, well=well)
    assert view.state == "done" and view.error is None
    assert tries(view) == tried
    assert view.result["first_ran"] is False, "the finished stage was not made again"
    said = [(note.level, note.en) for note in view.notes]
    *grown, made = said  # what the first attempt noted stays
    assert grown == [("warning", step.message.en) for step in steps] and len(steps) == len(tried) - 1
    assert made == ("hint", "made a")
    assert all(note.zh for note in view.notes)
    assert run(on_card, "work").state == "done", "the next job runs"


def test_real_want_of_memory_is_not_tried_again(on_card: LocalExecutor, steps: list[Step]) -> None:
    view = run(on_card, "fragile", how="memory", well="cpu")
    assert view.state == "failed" and view.error is not None and view.error["code"] == "out-of-memory"
    assert steps == [] and tries(view) == ["rocm|bfloat16|"]
    assert run(on_card, "work").state == "done"


def test_a_mistake_of_ours_is_not_tried_again(on_card: LocalExecutor, steps: list[Step]) -> None:
    assert run(on_card, "bug").state == "failed" and steps == []


def test_sound_that_cannot_be_right() -> None:
    good = Audio(np.sin(np.arange(1000, dtype=np.float32) / 9) * 0.1, 16_000)
    check_sound(good, "Hello")
    check_sound(Audio(np.zeros(1000, np.float32), 16_000), "...")
    bad = {
        "not numbers": np.where(np.arange(1000) == 500, np.inf, good.samples),
        "silence": np.full(1000, 1e-6),
        "constant": np.full(1000, 0.5),
    }
    for said, samples in bad.items():
        with pytest.raises(BadOutput, match=said):
            check_sound(Audio(samples.astype(np.float32), 16_000), "你好")


def test_a_warning_of_a_fallen_operator_is_read() -> None:
    warning = "The operator 'aten::_unique2' is not currently supported on the MPS backend and will fall back to run on"
    assert fallen_operator(warning) == "aten::_unique2" and fallen_operator("DeprecationWarning: x") == ""


def test_steps_survive_in_the_record(on_card: LocalExecutor, store: JobStore, tmp_path: Path) -> None:
    view = run(on_card, "fragile", how="nan", well="fp32")
    record = store.record(view.id)
    assert record is not None
    assert [(step["trouble"], step["action"]) for step in record.steps] == [("nan", "float32")]
