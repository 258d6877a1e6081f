"""Diarisation error rate against a reference in RTTM, without a collar, overlapping speech counted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.diarise.turns import Turn

STEP = 0.01  # seconds


def read_rttm(path: Path) -> tuple[Turn, ...]:
    """Turns of an RTTM file (``SPEAKER file 1 start length <NA> <NA> name …``), speakers numbered as they come."""
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    spoken = [row for row in rows if row and row[0] == "SPEAKER"]
    names = list(dict.fromkeys(row[7] for row in spoken))
    return tuple(Turn(float(row[3]), float(row[3]) + float(row[4]), names.index(row[7])) for row in spoken)


def error_rate(said: Sequence[Turn], heard: Sequence[Turn]) -> float:
    """Missed speech, false alarms and confused speakers over all speech that was said (1.0: as much wrong as was said)."""
    from scipy.optimize import linear_sum_assignment

    until = max(turn.end for turn in [*said, *heard])
    wanted, found = _active(said, until), _active(heard, until)
    rows, columns = linear_sum_assignment(-(wanted.astype(int) @ found.T.astype(int)))
    right = int(sum((wanted[row] & found[column]).sum() for row, column in zip(rows, columns, strict=True)))
    in_wanted, in_found = wanted.sum(axis=0), found.sum(axis=0)
    errors = int(np.maximum(in_wanted, in_found).sum()) - right
    return errors / int(in_wanted.sum())


def _active(turns: Sequence[Turn], until: float) -> npt.NDArray[np.bool_]:
    """Who speaks at each step, bool (speakers, steps)."""
    speakers = max((turn.speaker for turn in turns), default=0) + 1
    active = np.zeros((speakers, int(np.ceil(until / STEP)) + 1), np.bool_)
    for turn in turns:
        active[turn.speaker, round(turn.start / STEP) : round(turn.end / STEP)] = True
    return active
