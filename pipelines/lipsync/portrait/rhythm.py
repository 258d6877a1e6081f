"""When a portrait blinks and how its head moves: curves over time that depend on nothing but the frame's number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipelines.lipsync.geometry import F32

Times = npt.NDArray[np.float64]  # s
FIRST_BLINK = (0.9, 2.2)  # s
PAUSE_MEDIAN, PAUSE_SPREAD = 3.4, 0.45  # s and log units; people who talk blink some 17 times a minute
PAUSE_LIMITS = (1.2, 8.0)  # s
CLOSING, SHUT, OPENING = 0.08, 0.04, 0.17  # s
SETTLE = 1.2  # s in which the head leaves the pose of the picture
SEED = 17
# Periods (s) and phases of two waves for every movement; no two share a period, so nothing is seen to repeat.
WAVES = (
    ((6.1, 0.3), (3.3, 1.9)),
    ((7.7, 2.1), (4.3, 0.2)),
    ((5.3, 1.1), (2.9, 4.0)),
    ((8.9, 3.6), (3.7, 2.7)),
    ((6.7, 5.0), (2.6, 0.9)),
)


@dataclass(frozen=True, slots=True)
class Rhythm:
    """blink: (n,) 0 open … 1 shut. sway: (n, 5) in [-1, 1]: roll, across, down, turn, nod; zeros where the head is still."""

    blink: F32
    sway: F32


def rhythm(frames: int, fps: float, head_motion: bool) -> Rhythm:
    """The curves of ``frames`` output frames; a longer film begins with the same ones."""
    time = (np.arange(frames) / fps).astype(np.float64)
    sway = np.zeros((frames, len(WAVES)), np.float32)
    if head_motion:
        ease = np.clip(time / SETTLE, 0, 1)
        ease = ease * ease * (3 - 2 * ease)
        for column, ((slow, one), (quick, other)) in enumerate(WAVES):
            wave = 0.7 * np.sin(2 * np.pi * time / slow + one) + 0.3 * np.sin(
                2 * np.pi * time / quick + other
            )
            sway[:, column] = ease * wave
    return Rhythm(_blinks(time), sway)


def _blinks(time: Times) -> F32:
    shut = np.zeros(len(time), np.float32)
    end = float(time[-1]) if len(time) else 0.0
    random = np.random.default_rng(SEED)
    start = float(random.uniform(*FIRST_BLINK))
    while start < end:
        away = time - start
        falling = np.clip(away / CLOSING, 0, 1)
        rising = np.clip((away - CLOSING - SHUT) / OPENING, 0, 1)
        lids = _eased(falling) * (1 - _eased(rising))
        shut = np.maximum(shut, lids.astype(np.float32))
        start += float(np.clip(random.lognormal(np.log(PAUSE_MEDIAN), PAUSE_SPREAD), *PAUSE_LIMITS))
    return shut


def _eased(value: Times) -> Times:
    return np.asarray(value * value * (3 - 2 * value))
