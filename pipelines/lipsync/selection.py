"""Choosing a mouth for every output frame: Viterbi over the dictionary (after Video Rewrite, Bregler et al. 1997).

The path is found piece by piece between fixed posts, and the unit at a post is decided by the frames around it alone
(the finite traceback of Viterbi decoders: Forney, The Viterbi Algorithm, 1973): survivors of different
beginnings have long merged after REACH frames. So what is chosen for a frame depends on nothing that is asked for more
than POST + REACH frames away, and an edited line leaves the rest of the film as it is.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipelines.lipsync.geometry import F32
from pipelines.lipsync.mouths import FaceMotion, Mouths
from pipelines.progress import Report

CANDIDATES = 32
BLOCK = 256
SWITCH = 0.25  # cost of leaving the run of consecutive frames
HOLD = 0.08  # cost of standing still
POST = 48  # frames from post to post, on a grid of the output
REACH = 32  # frames before and after a post that decide about it


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the output frames ask for: source frame (n,), opening and width in the speaker's units (n,), drawn (n,) bool."""

    base: npt.NDArray[np.intp]
    opening: F32
    width: F32
    drawn: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Features:
    opening: F32
    width: F32
    place: F32  # (…, 4) turn, nod, size and roll, each over its tolerance


def select(wanted: Wanted, motion: FaceMotion, mouths: Mouths, report: Report) -> npt.NDArray[np.intp]:
    """Unit number for every output frame (−1 where nothing is drawn), a cheap path through each uninterrupted stretch."""
    chosen = np.full(len(wanted.base), -1, np.intp)
    place = _places(motion)
    units = _Features(motion.opening[mouths.frames], motion.width[mouths.frames], place[mouths.frames])
    edges = np.flatnonzero(np.diff(np.r_[0, wanted.drawn.astype(np.int8), 0]))
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        here = slice(first, last)
        candidates, costs = _shortlist(wanted, here, units, place, motion, mouths, report)
        feature = np.concatenate([mouths.looks, (units.opening / motion.span.widest)[:, None] * 2], axis=1)
        rows = _path(candidates, costs, _Steps(feature, mouths.frames), first, report)
        chosen[here] = np.take_along_axis(candidates, rows[:, None], axis=1)[:, 0]
    return chosen


def _places(motion: FaceMotion) -> F32:
    size = np.log(np.maximum(np.abs(motion.poses.scale_turn), 1e-3))
    roll = np.angle(motion.poses.scale_turn)
    place = [motion.turn / 0.12, motion.terms[:, 2] / 0.05, size / 0.20, roll / 0.30]
    return np.asarray(np.stack(place, axis=1), np.float32)


def _shortlist(
    wanted: Wanted,
    here: slice,
    units: _Features,
    place: F32,
    motion: FaceMotion,
    mouths: Mouths,
    report: Report,
) -> tuple[npt.NDArray[np.int32], F32]:
    """The CANDIDATES best units of each frame on their own merits, with their costs."""
    count = here.stop - here.start
    keep = min(CANDIDATES, len(mouths.frames))
    candidates, costs = np.zeros((count, keep), np.int32), np.zeros((count, keep), np.float32)
    odd = np.clip(mouths.odd - 4, 0, 6) * 0.5
    for start in range(0, count, BLOCK):
        report.step("lips", here.start + start, len(wanted.base), "frames")
        rows = slice(here.start + start, min(here.start + start + BLOCK, here.stop))
        cost = _mouth_cost(wanted.opening[rows], wanted.width[rows], units, motion)
        away = place[wanted.base[rows]][:, None] - units.place[None]
        cost += 0.35 * (away * away).sum(2) + odd
        best = (
            np.argpartition(cost, keep - 1, axis=1)[:, :keep]
            if keep < cost.shape[1]
            else np.argsort(cost, axis=1)
        )
        best = np.sort(best, axis=1)  # a fixed order, so that ties fall the same way everywhere
        candidates[start : start + len(best)] = best
        costs[start : start + len(best)] = np.take_along_axis(cost, best, axis=1)
    return candidates, costs


def _mouth_cost(opening: F32, width: F32, units: _Features, motion: FaceMotion) -> F32:
    span = motion.span
    gap = (units.opening[None] - opening[:, None]) / span.widest
    # An open mouth can be closed by warping, a shut one hardly opened: there are no teeth in it.
    weight = np.where(gap < 0, 7.0, np.where(opening[:, None] < 0.15 * span.widest, 3.0, 1.5))
    wide = (units.width[None] - width[:, None]) / (span.spread + span.rounded)
    cost: F32 = (weight * gap * gap + 0.8 * wide * wide).astype(np.float32)
    return cost


def _path(
    candidates: npt.NDArray[np.int32], costs: F32, steps: _Steps, first: int, report: Report
) -> npt.NDArray[np.intp]:
    """Rows of the candidates (n,) that make the cheapest path between posts; ``first`` is the stretch's first frame."""
    count = len(candidates)
    posts = [post for post in range(-first % POST, count, POST) if 0 < post < count - 1]
    fixed: dict[int, int] = {}
    for post in posts:
        low = max(post - REACH, 0)
        around = slice(low, min(post + REACH + 1, count))
        fixed[post] = int(_cheapest(candidates[around], costs[around], steps)[post - low])
    rows = np.zeros(count, np.intp)
    for start, stop in itertools.pairwise([0, *posts, count - 1]):
        report.step("lips", first + start, None, "frames")
        here = slice(start, stop + 1)
        rows[here] = _cheapest(candidates[here], costs[here], steps, fixed.get(start), fixed.get(stop))
    return rows


def _cheapest(
    candidates: npt.NDArray[np.int32],
    costs: F32,
    steps: _Steps,
    first: int | None = None,
    last: int | None = None,
) -> npt.NDArray[np.intp]:
    """Viterbi: the rows (n,) of the cheapest path, which may have to begin and end in a given row."""
    count, keep = candidates.shape
    total = costs[0].copy()
    if first is not None:
        total[np.arange(keep) != first] = np.inf
    back = np.zeros((count, keep), np.int8 if keep <= 127 else np.int16)
    for index in range(1, count):
        step = steps.costs(candidates[index - 1], candidates[index]) + total[:, None]  # (before, now)
        back[index] = step.argmin(0)
        total = step.min(0) + costs[index]
    path = np.zeros(count, np.intp)
    row = int(total.argmin()) if last is None else last
    for index in range(count - 1, -1, -1):
        path[index] = row
        row = int(back[index, row])
    return path


@dataclass(frozen=True, slots=True)
class _Steps:
    """What it costs to go from one unit to another: feature (M, L + 1), source frames (M,)."""

    feature: F32
    frames: npt.NDArray[np.intp]

    def costs(self, before: npt.NDArray[np.int32], now: npt.NDArray[np.int32]) -> F32:
        """(before, now)."""
        one, other = self.feature[before], self.feature[now]
        square = (one * one).sum(1)[:, None] + (other * other).sum(1)[None] - 2 * (one @ other.T)
        cost = 0.35 * np.sqrt(np.maximum(square, 0)) + SWITCH
        advance = self.frames[now][None] - self.frames[before][:, None]
        cost = np.where(advance == 0, HOLD, cost)
        following: F32 = np.where(advance == 1, 0.0, np.where(advance == -1, 0.05, cost)).astype(np.float32)
        return following
