"""Is what an engine made any good at all: a device that computes wrong gives NaN, silence or one constant value."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipelines.errors import BadOutput, Message
from pipelines.types import Audio

SILENT = 1e-4  # of full scale; the quietest line of a voice is a hundred times louder
ADVICE = Message(
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
            ADVICE,
            where,
        )
    if not any(letter.isalnum() for letter in text):
        return
    if samples.size == 0 or float(np.abs(samples).max()) < SILENT:
        raise BadOutput(Message("The voice engine returned silence", "语音引擎返回了静音"), ADVICE, where)
    if float(np.ptp(samples)) == 0.0:
        raise BadOutput(
            Message("The voice engine returned one constant value", "语音引擎返回了恒定值"), ADVICE, where
        )


def check_pictures(pictures: npt.NDArray[np.float32], where: str = "") -> None:
    """Check pictures (n, h, w, channels) that a network drew of something that is not one colour.

    Raises:
        BadOutput: a value is not a number, or a whole picture has one value.
    """
    flat = pictures.reshape(len(pictures), -1)
    if not bool(np.isfinite(flat).all()):
        raise BadOutput(
            Message("The lip engine returned values that are not numbers", "口型引擎返回了无效数值"),
            ADVICE,
            where,
        )
    if bool((np.ptp(flat, axis=1) == 0).any()):
        raise BadOutput(
            Message("The lip engine returned a picture of one constant value", "口型引擎返回了恒定值的画面"),
            ADVICE,
            where,
        )
