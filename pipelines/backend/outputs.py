"""Is what an engine made any good at all: a device that computes wrong gives NaN, silence or one constant value."""

from __future__ import annotations

import numpy as np

from pipelines.errors import BadOutput, Message
from pipelines.types import Audio

SILENT = 1e-4  # of full scale; the quietest line of a voice is a hundred times louder
TODO = Message(
    "Press Resume with --cpu (or CPU chosen on the System tab): what was finished is kept.",
    "请改用 CPU(--cpu 或“系统”页)后点击“继续”;已完成的部分会保留。",
)


def check_sound(audio: Audio, text: str, where: str = "") -> None:
    """Check speech made from ``text``.

    Args:
        audio: samples (n,) or (n, channels).
        text: what was to be spoken; without letters or digits anything finite is right.
        where: which line.

    Raises:
        BadOutput: a sample is not a number, or there is no sound where there should be, or every sample is the same.
    """
    samples = audio.samples
    if not bool(np.isfinite(samples).all()):
        raise BadOutput(
            Message("The voice engine returned values that are not numbers", "语音引擎返回了无效数值"),
            TODO,
            where,
        )
    if not any(letter.isalnum() for letter in text):
        return
    if samples.size == 0 or float(np.abs(samples).max()) < SILENT:
        raise BadOutput(Message("The voice engine returned silence", "语音引擎返回了静音"), TODO, where)
    if float(np.ptp(samples)) == 0.0:
        raise BadOutput(
            Message("The voice engine returned one constant value", "语音引擎返回了恒定值"), TODO, where
        )
