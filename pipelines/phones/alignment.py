"""Forced alignment: known phones laid over what the network hears, by the best path through both (Viterbi).

The path visits every phone in order; between words it may rest in silence, and it may leave out phones that quick
speech leaves out. A frame scores the likelihood of its class relative to how common the class is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipelines.phones.classes import SILENCE, WEAK, classes
from pipelines.phones.network import STEP, Heard, network

Floats = npt.NDArray[np.float32]

PRIOR = 0.3  # how much of a class's frequency is taken out of its score
FLOOR = -7.0  # natural log; no frame speaks more strongly than this against a phone
SKIPPED = -3.0  # score of leaving out a weak phone
PAUSE = -1.5  # score of resting between two words
FURTHEST = 3  # states a path may step over at once, and one more


@dataclass(frozen=True, slots=True)
class Span:
    """When one phone sounds; ``score`` is the geometric mean of its likelihood, 0…1; a phone left out has no length."""

    start: float
    end: float
    score: float


@dataclass(frozen=True, slots=True)
class _States:
    """The path's states in order: their class, which phone each belongs to (−1: a pause), and the cost of passing it by.

    ``skip`` is −inf where a state must be visited.
    """

    numbers: npt.NDArray[np.intp]
    owners: npt.NDArray[np.intp]
    skip: Floats


def align(words: Sequence[Sequence[str]], heard: Heard, start: float = 0.0) -> list[list[Span]] | None:
    """When each phone of each word sounds.

    Args:
        words: the phones of every word, as ``classes`` reads them.
        heard: the stretch of sound that holds exactly these words, beginning at ``start`` seconds.

    Returns:
        Spans word by word, in order of time, or None where the sound is too short for the words.
    """
    states = _states(words)
    if len(states.numbers) < 2 or len(heard.scores) < np.isinf(states.skip).sum():
        return None
    path = _best_path(_emissions(heard, states), states)
    flat = _spans(path, heard.scores, states, sum(map(len, words)), start)
    spans = iter(flat)
    return [[next(spans) for _ in word] for word in words]


def _states(words: Sequence[Sequence[str]]) -> _States:
    numbers, owners, skip = [SILENCE], [-1], [0.0]
    phone = 0
    for word in words:
        for symbol in word:
            parts = classes(symbol)
            for part in parts:
                numbers.append(part)
                owners.append(phone)
                skip.append(SKIPPED if part in WEAK and len(parts) == 1 and len(word) > 1 else -np.inf)
            phone += 1
        numbers.append(SILENCE)
        owners.append(-1)
        skip.append(0.0)
    return _States(np.array(numbers, np.intp), np.array(owners, np.intp), np.array(skip, np.float32))


def _emissions(heard: Heard, states: _States) -> Floats:
    """Score of every frame in every state, float32 (frames, states)."""
    scaled = np.maximum(heard.scores - PRIOR * network().log_prior, FLOOR)
    return np.asarray(scaled[:, states.numbers], np.float32)


def _best_path(emissions: Floats, states: _States) -> npt.NDArray[np.intp]:
    """The state of every frame."""
    frames, count = emissions.shape
    entry = np.where(states.owners < 0, PAUSE, 0.0).astype(np.float32)
    entry[[0, -1]] = 0.0
    passing = [np.zeros(count, np.float32)]  # cost of coming from k + 1 states before
    for reach in range(1, FURTHEST + 1):
        between = np.full(count, -np.inf, np.float32)
        between[reach + 1 :] = passing[-1][reach + 1 :] + states.skip[1:-reach][: count - reach - 1]
        passing.append(between)
    score = np.full(count, -np.inf, np.float32)
    open_until = 0  # the path may begin behind states that can be passed by
    while open_until < count and (open_until == 0 or np.isfinite(states.skip[open_until - 1])):
        score[open_until] = emissions[0, open_until] + states.skip[:open_until].sum()
        open_until += 1
    back = np.zeros((frames, count), np.int8)
    for frame in range(1, frames):
        options = np.full((FURTHEST + 2, count), -np.inf, np.float32)
        options[0] = score
        for reach, cost in enumerate(passing, 1):
            options[reach, reach:] = score[:-reach] + cost[reach:] + entry[reach:]
        back[frame] = options.argmax(axis=0)
        score = options.max(axis=0) + emissions[frame]
    return _traced(back, _last_state(score, states))


def _last_state(score: Floats, states: _States) -> int:
    """The best state to end in: the last, or one behind which all may be passed by."""
    last = len(score) - 1
    best, cost, state = last, 0.0, last
    while state > 0 and np.isfinite(states.skip[state]):
        cost += float(states.skip[state])
        state -= 1
        if score[state] + cost > score[best]:
            best = state
    return best


def _traced(back: npt.NDArray[np.int8], state: int) -> npt.NDArray[np.intp]:
    path = np.zeros(len(back), np.intp)
    for frame in range(len(back) - 1, -1, -1):
        path[frame] = state
        state -= int(back[frame, state])
    return path


def _spans(
    path: npt.NDArray[np.intp], scores: Floats, states: _States, phones: int, start: float
) -> list[Span]:
    """Times of all phones; one that was left out stands where its neighbour ends."""
    owners = states.owners[path]
    spans: list[Span] = []
    clock = start
    for phone in range(phones):
        frames = np.flatnonzero(owners == phone)
        if not len(frames):
            spans.append(Span(clock, clock, 0.0))
            continue
        first, clock = start + frames[0] * STEP, start + (frames[-1] + 1) * STEP
        likely = scores[frames, states.numbers[path[frames]]]
        spans.append(Span(float(first), float(clock), float(np.exp(likely.mean()))))
    return spans
