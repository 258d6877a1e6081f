"""Several mouths in one picture: each is drawn as if it were alone, and what each changed is put together."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pipelines.faces.smoothing import runs as runs_of
from pipelines.lipsync import LipReport, LipRun
from pipelines.types import Frame


def together(runs: Sequence[LipRun], source: Callable[[int, int], Iterator[Frame]]) -> LipRun:
    """The runs, which are of one length, as one.

    Args:
        source: the untouched frames [first, last), one by one.
    """
    first = runs[0]
    if len(runs) == 1:
        return first

    def draw(start: int, end: int) -> Iterator[Frame]:
        drawn = [run.draw(start, end) for run in runs]
        for plain, *pictures in zip(source(start, end), *drawn, strict=True):
            whole = pictures[0].copy()
            for picture in pictures[1:]:
                rows = np.flatnonzero((picture != plain).any(axis=(1, 2)))
                if len(rows):
                    part = slice(rows[0], rows[-1] + 1)
                    changed = (picture[part] != plain[part]).any(axis=2)
                    whole[part][changed] = picture[part][changed]
            yield whole

    def signature(start: int, end: int) -> str:
        return hashlib.sha256(" ".join(run.signature(start, end) for run in runs).encode()).hexdigest()

    drawn = np.zeros(first.total, np.bool_)
    for run in runs:
        for start, end in run.report.synthesised:
            drawn[start:end] = True
    notes = tuple(dict.fromkeys(note for run in runs for note in run.report.notes))
    report = LipReport(tuple(runs_of(drawn)), tuple(runs_of(~drawn)), notes, first.report.measures)
    return LipRun(report, first.total, draw, signature)
