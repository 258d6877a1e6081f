"""What went wrong with a device, and the next safer way to run the job: errors in, a changed policy out.

Texts are those of PyTorch, HIP, CUDA, MIOpen, ONNX Runtime and CTranslate2 as users report them. A job's worker is a
process of its own, so "free the caches" is a new worker, which begins with an empty card.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pipelines.backend.policy import NO_CARDS, Policy
from pipelines.errors import Message

Trouble = Literal[
    "oom_gpu", "oom_batch", "oom_host", "no_kernel", "driver_mismatch", "not_compiled", "missing_op", "nan", "illegal_access",
    "gpu_fault", "segv", "hang", "gpu_reset", "conv_algo", "import", "killed", "other",
]  # fmt: skip
Action = Literal["fresh", "smaller_batch", "float32", "no_sdma", "cpu"]

TEXTS: tuple[tuple[Trouble, str], ...] = (  # the first that matches counts
    ("oom_gpu", r"(CUDA|HIP|MPS backend) out of memory|(CUDA|HIP) error: out of memory|hipErrorOutOfMemory"
                r"|(CU|HIP)BLAS_STATUS_ALLOC_FAILED|miopenStatusAllocFailed|CUDA failed with error out of memory"),
    ("oom_host", r"DefaultCPUAllocator: can't allocate|\bMemoryError\b|\bbad_alloc\b|enforce fail at alloc_cpu"
                 r"|Failed to allocate memory for requested buffer|Cannot allocate memory"),
    ("no_kernel", r"no kernel image is available|invalid device function|hipErrorInvalidDeviceFunction"
                  r"|hipErrorNoBinaryForGpu|Unable to find code object for all current devices"
                  r"|find binary for current devices|cudaErrorNoKernelImageForDevice|TensileLibrary\.dat"),
    ("driver_mismatch", r"driver on your system is too old|CUDA driver version is insufficient"
                        r"|Driver/library version mismatch|Found no NVIDIA driver"),
    ("not_compiled", r"Torch not compiled with CUDA enabled|not linked with support for mps"),
    ("gpu_fault", r"Memory access fault by GPU|HW Exception by GPU|GPU core dump failed"),
    ("conv_algo", r"miopenStatusUnknownError|MIOPEN failure 7|miopenStatusInternalError|Unable to find an engine to execute"
                  r"|CUDNN_STATUS_(NOT_SUPPORTED|EXECUTION_FAILED)"),
    ("illegal_access", r"illegal memory access|device-side assert|unspecified launch failure|hipErrorLaunchFailure"
                       r"|HIP error: an illegal|HSA_STATUS_ERROR_EXCEPTION|hipErrorStreamCaptureInvalidated"
                       r"|previous error during capture"),
    ("gpu_reset", r"hipErrorDeviceReset|no (ROCm|CUDA)-capable device is detected|CUDA error: unknown error"),
    ("missing_op", r"Could not run 'aten::|not implemented for '(Half|BFloat16)'|not currently implemented for the MPS"
                   r"|not supported at the MPS device|Cannot convert a MPS Tensor to float64"),
    ("import", r"(libc10_cuda|libnvrtc|libcudnn|libamdhip64)\S*\.(so|dll)|cudnn_ops_infer64_8|torchvision::nms does not exist"),
    ("nan", r"BadOutput"),
)  # fmt: skip
PATTERNS = tuple((trouble, re.compile(text, re.IGNORECASE)) for trouble, text in TEXTS)
CRASHES = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT})
WINDOWS_CRASHES = frozenset({0xC0000005, 0xC0000409, 0x80000003})
# After these the card is not asked again until the application is started anew.
LASTING: frozenset[Trouble] = frozenset(
    {"no_kernel", "driver_mismatch", "not_compiled", "gpu_reset", "gpu_fault", "hang", "import"}
)
FALLBACK = re.compile(
    r"The operator '([^']+)' is not currently supported on the MPS backend and will fall back"
)
NAMES: dict[Trouble, Message] = {
    "oom_gpu": Message("the graphics card ran out of memory", "显存不足"),
    "oom_batch": Message("the graphics card ran out of memory", "显存不足"),
    "no_kernel": Message("the installed torch has no code for the card", "已安装的 torch 不支持该显卡"),
    "driver_mismatch": Message("the driver does not fit the CUDA libraries", "驱动与 CUDA 库不匹配"),
    "not_compiled": Message(
        "the installed torch was not built for the card", "已安装的 torch 不是为该显卡构建的"
    ),
    "missing_op": Message("the card lacks an operator", "显卡缺少所需算子"),
    "nan": Message("the result was not a number or silent", "结果无效或无声"),
    "illegal_access": Message("the card reported an illegal access", "显卡报告非法访问"),
    "gpu_fault": Message("the card or its driver failed", "显卡或驱动出错"),
    "segv": Message("the worker crashed", "工作进程崩溃"),
    "hang": Message("the worker hung", "工作进程无响应"),
    "gpu_reset": Message("the card was reset", "显卡被重置"),
    "conv_algo": Message("the card's library found no way to compute", "显卡的计算库找不到可用算法"),
    "import": Message("a library of the card is missing", "缺少显卡的库文件"),
}
SAYINGS: dict[Action, Message] = {
    "fresh": Message("again with a new worker and the card's memory freed", "已重启工作进程并释放显存后重试"),
    "smaller_batch": Message("again with at most {batch} at once", "每批最多 {batch} 个,重试"),
    "float32": Message("again in 32-bit numbers", "改用 32 位浮点重试"),
    "no_sdma": Message("again with copies made by the card's cores (HSA_ENABLE_SDMA=0)",
                       "改由计算单元复制数据(HSA_ENABLE_SDMA=0)后重试"),
    "cpu": Message("again on the CPU", "改用 CPU 重试"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One step down the ladder: why, what is done, and the policy the next attempt keeps."""

    trouble: Trouble
    action: Action
    policy: Policy

    @property
    def message(self) -> Message:
        """``The graphics card ran out of memory: again on the CPU``."""
        why, what = NAMES[self.trouble], SAYINGS[self.action]
        return Message(
            f"{why.en[0].upper()}{why.en[1:]}: {what.en.format(batch=self.policy.batch)}",
            f"{why.zh}:{what.zh.format(batch=self.policy.batch)}",
        )

    @property
    def lasts(self) -> bool:
        """Whether later jobs of this session had better stay off the card too."""
        return self.action == "cpu" and self.trouble in LASTING

    def plain(self) -> dict[str, Any]:
        """JSON for the job's record."""
        return {"trouble": self.trouble, "action": self.action, "en": self.message.en, "zh": self.message.zh}


def classify(text: str, returncode: int = 0) -> Trouble:
    """Name the trouble from what the worker wrote and how it ended: texts first, for a signal says less.

    Args:
        text: the end of its log, or an exception's text.
        returncode: as ``Popen.returncode`` gives it: negative for a signal.
    """
    for trouble, pattern in PATTERNS:
        if pattern.search(text):
            return trouble
    number = -returncode if returncode < 0 else returncode - 128
    if number == signal.SIGKILL:
        return "killed"
    return "segv" if number in CRASHES or returncode in WINDOWS_CRASHES else "other"


def next_step(policy: Policy, trouble: Trouble, taken: Sequence[Action] = ()) -> Step | None:
    """The next rung after ``taken``, or None: stop.

    A rung that would change nothing (fp32 on fp32, one item at once) is left out; on the CPU only a crash or a hang is
    tried again, once, because only those may be chance. The batch is halved as often as memory runs out in an engine
    that computes in batches; after a crash one item at once is tried, once.
    """
    if "cpu" in taken:
        return None
    for action in _rungs(policy, trouble):
        fresh_was_tried = action == "fresh" and "smaller_batch" in taken  # every attempt has a new worker
        if fresh_was_tried or (action in taken and trouble != "oom_batch"):
            continue
        safer = _applied(policy, action, trouble)
        if safer is not None:
            return Step(trouble, action, safer)
    return None


def _rungs(policy: Policy, trouble: Trouble) -> tuple[Action, ...]:
    if policy.family == "cpu":
        return ("fresh",) if trouble in ("segv", "hang") else ()
    if trouble == "oom_gpu":
        return ("fresh", "cpu")
    if trouble == "oom_batch":
        return ("smaller_batch", "cpu")
    if trouble in ("nan", "missing_op", "conv_algo"):
        return ("float32", "cpu")
    if trouble in ("gpu_fault", "segv", "illegal_access"):
        return ("smaller_batch", "float32", "fresh", "cpu")
    if trouble == "hang":
        return ("no_sdma", "cpu") if policy.family == "rocm" else ("fresh", "cpu")
    return ("cpu",) if trouble in LASTING else ()


def _applied(policy: Policy, action: Action, trouble: Trouble) -> Policy | None:
    """The policy with a rung applied, or None where that changes nothing; nothing is compiled any more."""
    policy = replace(policy, compile=False, graphs=False, benchmark=False)
    if action == "fresh":
        return policy
    if action == "smaller_batch":
        fewer = policy.batch // 2 if trouble == "oom_batch" else 1
        return replace(policy, batch=fewer) if policy.batch > 1 else None
    if action == "float32":
        return None if policy.precision == "float32" else replace(policy, precision="float32")
    if action == "no_sdma":
        environment = {**policy.environment, "HSA_ENABLE_SDMA": "0"}
        return (
            None
            if policy.environment.get("HSA_ENABLE_SDMA") == "0"
            else replace(policy, environment=environment)
        )
    return replace(
        policy, family="cpu", device="cpu", precision="float32", short_side_cap=None, fps_cap=None,
        environment={**policy.environment, **NO_CARDS}, reason="the graphics card failed in this session",
    )  # fmt: skip


def fallen_operator(warning: str) -> str:
    """The operator that a warning says runs on the CPU instead of the card, or nothing."""
    match = FALLBACK.search(warning)
    return match.group(1) if match else ""
