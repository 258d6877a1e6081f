"""A FunASR model from a local folder, on exactly the device that was asked for.

What FunASR does by itself and must not here: ask a model hub for anything that is not a whole folder (20 s of retries, then a
misleading error), fall back to the CPU without a word, look for its newest version on the internet, and register only a few of
its models, quietly, when torchaudio does not fit torch.
"""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

from pipelines.backend.policy import Policy
from pipelines.errors import EngineMissing, Message, WeightsMissing

NEEDED = ("config.yaml",)
WEIGHTS = ("model.pt", "campplus_cn_common.bin")


def load(folder: Path, policy: Policy) -> Any:
    """A ``funasr.AutoModel`` over a folder.

    Raises:
        WeightsMissing: the folder is not whole, or holds something else. EngineMissing: funasr or the device cannot be used.
    """
    _check_folder(folder)
    _check_device(policy.device)
    os.environ["HF_HUB_OFFLINE"] = "1"
    from funasr import AutoModel
    from funasr.register import tables

    kind = model_kind(folder)
    if kind not in tables.model_classes:
        raise EngineMissing(
            Message(f"funasr does not know the model {kind}", f"funasr 不支持模型 {kind}"),
            Message(
                "torchaudio may not fit torch: a funasr that cannot import it knows few models.",
                "torchaudio 可能与 torch 不匹配,导致 funasr 只能加载少数模型。",
            ),
            str(folder),
        )
    try:
        model = AutoModel(
            model=str(folder.absolute()),
            device=policy.device,
            ncpu=policy.threads,
            disable_update=True,
            disable_pbar=True,
            disable_log=True,
            log_level="ERROR",
        )
    except (pickle.UnpicklingError, RuntimeError, KeyError, OSError, ValueError, AssertionError) as error:
        raise _unusable(folder, str(error).strip().splitlines()[0][:200] if str(error) else kind) from error
    found = next(model.model.parameters()).device.type
    if found != policy.device.partition(":")[0]:
        raise _no_device(policy.device, f"funasr took {found}")
    frontend = model.kwargs.get("frontend")
    if hasattr(frontend, "dither"):
        frontend.dither = (
            0.0  # noise added to the sound: the same recording would give another text each time
        )
    return model


def model_kind(folder: Path) -> str:
    """The class that ``config.yaml`` names, such as ``SeacoParaformer``."""
    for line in (folder / "config.yaml").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name == "model":
            return value.partition("#")[0].strip().strip("'\"")
    raise _unusable(folder, "config.yaml names no model")


def _check_folder(folder: Path) -> None:
    absent = [name for name in NEEDED if not (folder / name).is_file()]
    if not any((folder / name).is_file() for name in WEIGHTS):
        absent.append(WEIGHTS[0])
    if absent:
        raise _unusable(folder, f"{', '.join(absent)} not there")


def _check_device(device: str) -> None:
    import torch

    kind, _, number = device.partition(":")
    if kind == "cuda" and not (torch.cuda.is_available() and int(number or 0) < torch.cuda.device_count()):
        raise _no_device(device, "torch sees no such card")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise _no_device(device, "torch sees no Apple graphics")


def _no_device(device: str, why: str) -> EngineMissing:
    return EngineMissing(
        Message(f"FunASR cannot run on {device}: {why}", f"FunASR 无法在 {device} 上运行:{why}"),
        Message("Choose --cpu, or another engine.", "请使用 --cpu,或选择其他引擎。"),
    )


def _unusable(folder: Path, what: str) -> WeightsMissing:
    return WeightsMissing(
        Message(
            f"This folder holds no whole FunASR model: {what}", f"该文件夹中没有完整的 FunASR 模型:{what}"
        ),
        Message(
            "Fetch it again (System → Weights), or put all its files there.",
            "请重新获取,或放入全部模型文件。",
        ),
        str(folder),
    )
