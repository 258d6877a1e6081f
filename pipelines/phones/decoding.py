"""Phones without a text: the best path through all classes, for sounds whose words nobody knows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pipelines.phones.classes import NAMES, SILENCE
from pipelines.phones.network import STEP, Heard
from pipelines.types import Phone

CHANGE = -2.5  # natural log; what it costs to go from one class to another


def decode(heard: Heard, start: float = 0.0) -> tuple[Phone, ...]:
    """The phones that are heard, each by the first symbol of its class; where nobody speaks there are none."""
    frames, count = heard.scores.shape
    if not frames:
        return ()
    score = heard.scores[0].copy()
    came = np.zeros((frames, count), np.int16)
    stay = np.arange(count)
    for frame in range(1, frames):
        best = int(score.argmax())
        moved = score[best] + CHANGE
        came[frame] = np.where(score >= moved, stay, best)
        score = np.maximum(score, moved) + heard.scores[frame]
    path = np.zeros(frames, np.int16)
    path[-1] = int(score.argmax())
    for frame in range(frames - 1, 0, -1):
        path[frame - 1] = came[frame, path[frame]]
    edges = np.concatenate([[0], np.flatnonzero(np.diff(path)) + 1, [frames]])
    return tuple(
        Phone(start + float(first) * STEP, start + float(last) * STEP, NAMES[path[first]])
        for first, last in pairwise(edges)
        if path[first] != SILENCE
    )
