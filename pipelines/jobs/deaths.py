"""Why a worker died, in words a person can use: from its exit status and the end of its log.

The patterns are error texts of PyTorch, HIP, CUDA, ONNX Runtime, CTranslate2 and glibc as users report them.
"""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from pathlib import Path

from pipelines.backend.guard import Trouble, classify
from pipelines.errors import (
    BadOutput,
    DiskFull,
    InternalError,
    Message,
    OutOfMemory,
    PipelineError,
    TooManyAtOnce,
    WorkerDied,
)
from pipelines.jobs.record import JobRecord

EXIT_DISK_FULL = 74  # EX_IOERR of sysexits.h: the worker could not even write down how it ended
EXIT_UNEXPECTED = 70  # EX_SOFTWARE: an exception nobody expected; its traceback is the end of the log

KEPT = Message("What was finished is kept: press Resume.", "已完成的部分会保留,请点击“继续”。")
LOG = Message(
    "What was finished is kept: press Resume. If it happens again, the job's log has the details.",
    "已完成的部分会保留,请点击“继续”。如果再次发生,请查看任务日志。",
)
MEMORY = Message(
    "Close other programs or choose a smaller model or picture, then press Resume: what was finished is kept.",
    "请关闭其他程序,或选择更小的模型或画面,然后点击“继续”;已完成的部分会保留。",
)
CPU = Message(
    "Press Resume with --cpu (or CPU chosen on the System tab): what was finished is kept.",
    "请改用 CPU(--cpu 或“系统”页)后点击“继续”;已完成的部分会保留。",
)
DISK_FULL = DiskFull(
    Message("There is no room left on the disk", "磁盘空间已满"),
    Message("Free some space and press Resume.", "请释放空间后点击“继续”。"),
)

SIGNALS = {
    signal.SIGKILL: Message(
        "The worker was killed from outside (SIGKILL): usually the computer ran out of memory",
        "工作进程被强制结束(SIGKILL),通常是因为内存不足",
    ),
    signal.SIGSEGV: Message(
        "The worker crashed: it used memory that is not its own (SIGSEGV)",
        "工作进程崩溃:访问了无效内存(SIGSEGV)",
    ),
    signal.SIGBUS: Message(
        "The worker crashed: a file or memory it used went away (SIGBUS); the disk may be full",
        "工作进程崩溃:所用文件或内存失效(SIGBUS),磁盘可能已满",
    ),
    signal.SIGABRT: Message(
        "The worker gave up after a fatal error (SIGABRT)", "工作进程因致命错误中止(SIGABRT)"
    ),
    signal.SIGILL: Message(
        "The worker used an instruction that this processor does not know (SIGILL)",
        "工作进程使用了本机处理器不支持的指令(SIGILL)",
    ),
    signal.SIGFPE: Message("The worker crashed in a calculation (SIGFPE)", "工作进程计算出错崩溃(SIGFPE)"),
    signal.SIGTERM: Message(
        "The worker was asked to end from outside (SIGTERM)", "工作进程被外部终止(SIGTERM)"
    ),
    signal.SIGXFSZ: Message(
        "The worker wrote a file larger than the system allows (SIGXFSZ)",
        "工作进程写入的文件超过系统上限(SIGXFSZ)",
    ),
}


@dataclass(frozen=True, slots=True)
class Symptom:
    """A text in the log and what it means."""

    pattern: re.Pattern[str]
    error: type[PipelineError]
    what: Message
    todo: Message


def _symptom(pattern: str, error: type[PipelineError], what: Message, todo: Message) -> Symptom:
    return Symptom(re.compile(pattern, re.IGNORECASE), error, what, todo)


SYMPTOMS = (  # the first that matches counts
    _symptom(
        r"no space left on device|database or disk is full",
        DiskFull,
        DISK_FULL.what,
        DISK_FULL.todo,
    ),
    _symptom(
        r"(CUDA|HIP|MPS backend) out of memory|CUDA error: out of memory|hipErrorOutOfMemory"
        r"|(CU|HIP)BLAS_STATUS_ALLOC_FAILED|miopenStatusAllocFailed|CUDA failed with error out of memory",
        OutOfMemory,
        Message("The graphics card ran out of memory", "显存不足"),
        MEMORY,
    ),
    _symptom(
        r"DefaultCPUAllocator: can't allocate|\bMemoryError\b|\bbad_alloc\b|enforce fail at alloc_cpu"
        r"|Failed to allocate memory for requested buffer|Cannot allocate memory|Insufficient memory",
        OutOfMemory,
        Message("The computer ran out of memory", "内存不足"),
        MEMORY,
    ),
    _symptom(
        r"Memory access fault by GPU|HW Exception by GPU|GPU Hang|GPU core dump",
        WorkerDied,
        Message("The graphics card or its driver failed", "显卡或其驱动出错"),
        CPU,
    ),
    _symptom(
        r"no kernel image is available|invalid device function|hipErrorNoBinaryForGpu"
        r"|Unable to find code object for all current devices|TensileLibrary\.dat",
        WorkerDied,
        Message("The installed PyTorch has no code for this graphics card", "已安装的 PyTorch 不支持此显卡"),
        CPU,
    ),
    _symptom(
        r"driver on your system is too old|CUDA driver version is insufficient|Driver/library version mismatch"
        r"|Found no NVIDIA driver",
        WorkerDied,
        Message(
            "The graphics driver does not fit the installed CUDA libraries",
            "显卡驱动与已安装的 CUDA 库不匹配",
        ),
        CPU,
    ),
    _symptom(
        r"illegal memory access was encountered|device-side assert|unspecified launch failure|hipErrorLaunchFailure",
        WorkerDied,
        Message("The graphics card reported a fatal error", "显卡报告了致命错误"),
        CPU,
    ),
)


def hung(seconds: float) -> WorkerDied:
    """The error of a worker that was killed because it gave no sign of life."""
    span = Message(f"{seconds / 60:.0f} min", f"{seconds / 60:.0f} 分钟")
    if seconds < 120:
        span = Message(f"{seconds:.0f} s", f"{seconds:.0f} 秒")
    return WorkerDied(
        Message(
            f"The worker hung: no sign of life for {span.en}, so it was ended",
            f"工作进程无响应:{span.zh}没有任何进展,已将其结束",
        ),
        LOG,
    )


def oom_kills(counters: Path = Path("/proc/vmstat")) -> int:
    """How many processes Linux has killed for want of memory since it started, in any container; 0 elsewhere."""
    try:
        found = re.search(r"^oom_kill (\d+)$", counters.read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found.group(1)) if found else 0


def diagnose(returncode: int, log: str, *, memory_ran_out: bool = False) -> PipelineError:
    """The error of a worker that ended without writing down how.

    Args:
        returncode: as ``Popen.returncode`` gives it: negative for a signal.
        log: what this attempt wrote to its log (the end of it is enough).
        memory_ran_out: ``oom_kills`` has grown while it ran.
    """
    if returncode == EXIT_DISK_FULL:
        return DISK_FULL
    if memory_ran_out and returncode in (-signal.SIGKILL, 128 + signal.SIGKILL):
        return OutOfMemory(
            Message(
                "The computer ran out of memory, and the system ended the worker",
                "内存不足,系统结束了工作进程",
            ),
            MEMORY,
        )
    for symptom in SYMPTOMS:
        if symptom.pattern.search(log):
            return symptom.error(symptom.what, symptom.todo)
    if returncode == EXIT_UNEXPECTED:
        return _unexpected(log)
    number = -returncode if returncode < 0 else returncode - 128  # a shell in between adds 128
    known = {int(key): message for key, message in SIGNALS.items()}
    if number in known:
        return WorkerDied(known[number], MEMORY if number == signal.SIGKILL else LOG)
    return WorkerDied(
        Message(
            f"The worker ended without a result (exit status {returncode})",
            f"工作进程未返回结果就结束了(退出码 {returncode})",
        ),
        LOG,
    )


def trouble_of(record: JobRecord, hung: bool, log: str, returncode: int) -> Trouble | None:
    """What the guard calls the end of an attempt; None for an end that another attempt would not change.

    Args:
        record: how the attempt ended. hung: it was ended because it gave no sign of life.
        log: what the attempt wrote. returncode: as ``Popen.returncode`` gives it.
    """
    if record.state != "failed" or record.error is None:
        return None
    if hung:
        return "hang"
    code = record.error.get("code")
    if code == BadOutput.code:
        return "nan"
    if code == TooManyAtOnce.code:
        return "oom_batch"
    if code == OutOfMemory.code:
        found = classify(log, returncode)
        return found if found == "oom_gpu" else "oom_host"
    return classify(log, returncode) if returncode else None


def _unexpected(log: str) -> InternalError:
    """The last line of the traceback tells a developer what it was; a user is told where the rest is."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return InternalError(
        Message("Something unexpected went wrong inside Dubwright", "Dubwright 内部发生了意外错误"),
        LOG,
        lines[-1][:300] if lines else "",
    )
