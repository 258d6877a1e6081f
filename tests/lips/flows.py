"""A job that lays mouths into a clip on a card with room for so many faces at once; for the worker of a test."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from pipelines.lipsync.wav2lip.network import Generator
from pipelines.progress import Report
from pipelines.registry import EngineContext
from pipelines.sync import picture
from pipelines.sync.options import SyncOptions
from pipelines.types import Phone

FLOWS = {"small-card": "tests.lips.flows:small_card"}
TEXT = "HIP out of memory. Tried to allocate 978.00 MiB. GPU 0 has a total capacity of 15.98 GiB"


def small_card(
    folder: Path, options: dict[str, Any], context: EngineContext, report: Report
) -> dict[str, Any]:
    """The picture of a lip-sync job; ``room``: faces that the card has memory for."""
    forward = Generator.forward

    def limited(self: Generator, sound: torch.Tensor, faces: torch.Tensor) -> torch.Tensor:
        if context.policy.family != "cpu" and len(faces) > options["room"]:
            raise torch.OutOfMemoryError(TEXT)
        return forward(self, sound, faces)

    Generator.forward = limited  # type: ignore[method-assign]
    with (folder / "tries.txt").open("a", encoding="utf-8") as file:
        file.write(f"{context.policy.family} {context.policy.batch}\n")
    asked = SyncOptions.read({**options, "engine": "wav2lip", "fit": "trim"})
    phones = (Phone(0.0, 9.0, "a"),)
    record = picture.draw(folder, asked, Path(options["audio"]), 0.4, phones, context, report)
    return {"frames": record["frames"], "environment": dict(os.environ)}
