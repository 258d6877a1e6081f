"""The network at work on the device and in the number format of the policy, in batches of one size.

A batch that is not full is filled up with copies: every call has the same shape. So a face comes out the same
whichever others stand beside it, and libraries that search for the best way to compute a shape (MIOpen, cuDNN) search once.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pipelines.backend.guard import classify
from pipelines.backend.outputs import check_pictures
from pipelines.backend.policy import Policy
from pipelines.errors import Message, TooManyAtOnce
from pipelines.lipsync.geometry import F32
from pipelines.lipsync.warp import Picture
from pipelines.lipsync.wav2lip.checkpoint import load_generator
from pipelines.lipsync.wav2lip.network import SIZE


class Synthesis:
    """Draws faces; ``batch`` is how many at once."""

    def __init__(self, weights: Path, policy: Policy) -> None:
        """Load the network.

        Raises:
            WeightsMissing: the file holds something else.
        """
        if policy.family == "cpu":
            torch.set_num_threads(policy.threads)
        torch.backends.cudnn.benchmark = policy.benchmark
        self.batch = policy.batch
        self._device = torch.device(policy.device)
        self._precision: torch.dtype = getattr(torch, policy.precision)
        network = load_generator(weights)
        network.fold()
        placed: Any = network.to(self._device, self._precision)
        self._network = _prepared(placed.to(memory_format=torch.channels_last), policy)

    @torch.inference_mode()
    def draw(self, sounds: Sequence[F32], faces: Sequence[Picture]) -> F32:
        """Draw at most ``batch`` faces.

        Args:
            sounds: n × (80, 16), see ``mel``. faces: n × (96, 96, 3), BGR.

        Returns:
            (n, 96, 96, 3) in 0…255.

        Raises:
            BadOutput: a face holds values that are not numbers, or one value only.
            TooManyAtOnce: the card has no room for ``batch`` faces.
        """
        count = len(faces)
        if not 0 < count <= self.batch:
            raise ValueError(f"{count} faces in batches of {self.batch}")
        rows = [min(row, count - 1) for row in range(self.batch)]
        sound = torch.from_numpy(np.stack([sounds[row] for row in rows])[:, None])
        whole = torch.from_numpy(np.stack([faces[row] for row in rows]))
        try:
            drawn = self._computed(sound, whole)[:count]
        except RuntimeError as problem:
            if classify(str(problem)) != "oom_gpu":
                raise
            raise _too_many(self.batch) from problem
        check_pictures(drawn, "wav2lip")
        return drawn

    def _computed(self, sound: torch.Tensor, whole: torch.Tensor) -> F32:
        whole = whole.to(self._device).permute(0, 3, 1, 2).to(self._precision) / 255
        upper = whole.clone()
        upper[:, :, SIZE // 2 :] = 0
        faces = torch.cat((upper, whole), dim=1).contiguous(memory_format=torch.channels_last)
        drawn = self._network(sound.to(self._device, self._precision), faces)
        return np.asarray((drawn.permute(0, 2, 3, 1).float() * 255).cpu().numpy(), np.float32)


def _prepared(network: Any, policy: Policy) -> Any:
    """Compiled or recorded as the policy says; every call has one shape, so both happen once."""
    if policy.compile:
        mode = "reduce-overhead" if policy.graphs else "default"
        return torch.compile(network, mode=mode, dynamic=False)
    return torch.compile(network, backend="cudagraphs", dynamic=False) if policy.graphs else network


def _too_many(batch: int) -> TooManyAtOnce:
    return TooManyAtOnce(
        Message(
            f"The graphics card ran out of memory with {batch} faces at once",
            f"显存不足:一次处理 {batch} 张人脸",
        ),
        Message(
            "Close other programs that use the card, or start with --cpu.",
            "请关闭其他占用显卡的程序,或使用 --cpu。",
        ),
    )
