"""Where somebody speaks, as numbers a page can draw over the waveform: at most two thousand columns for any length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.asr.vad import FRAME_SECONDS, Span, SpeechMap

COLUMNS = 2000


def speech_picture(speech: SpeechMap, start: float = 0.0) -> dict[str, Any]:
    """The map as JSON: columns of equal length from ``start``, spans on the file's clock.

    Returns:
        ``start`` and ``duration`` in seconds; ``spans``: ``[[start, end], …]`` in seconds; ``peaks``: loudest sample of every
        column, 0 to 1; ``speech``: highest probability of speech of every column.
    """
    frames = max(math.ceil(speech.duration / FRAME_SECONDS), 1)
    each = max(math.ceil(frames / COLUMNS), 1)
    return {
        "start": start,
        "duration": round(speech.duration, 3),
        "spans": [[round(start + a, 3), round(start + b, 3)] for a, b in speech.spans],
        "peaks": _columns(speech.levels, each),
        "speech": _columns(speech.probabilities, each),
    }


def together(maps: Sequence[SpeechMap]) -> SpeechMap:
    """Several channels of one sound as one: speech where there is any, the louder of their levels."""
    if len(maps) == 1:
        return maps[0]
    spans: list[Span] = []
    for start, end in sorted(span for part in maps for span in part.spans):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], end))
        else:
            spans.append((start, end))
    return SpeechMap(
        _highest([part.probabilities for part in maps]),
        tuple(spans),
        max(part.duration for part in maps),
        _highest([part.levels for part in maps]),
    )


def _highest(rows: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
    """The highest value of every place, rows filled up with zeros to the longest."""
    longest = max(len(row) for row in rows)
    return np.asarray(np.max([np.pad(row, (0, longest - len(row))) for row in rows], axis=0), np.float32)


def _columns(values: npt.NDArray[np.float32], each: int) -> list[float]:
    """The largest of every ``each`` values, the last column of what is left."""
    if not len(values):
        return []
    padded = np.pad(values, (0, -len(values) % each))
    return [round(float(value), 3) for value in padded.reshape(-1, each).max(axis=1).clip(0, 1)]
