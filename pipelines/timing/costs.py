"""What a plan costs: the sum over its lines of costs that are convex and made of straight pieces.

Every price is per second, and their order is what the plan prefers. From the cheapest: a line is spoken up to a tenth
faster, slower up to the fill limit, up to a fifth faster; it ends beside the end of its original; off the screen its
start moves by up to ``shift``; it is pressed below the preferred length; on the screen its start moves; any start moves
further; the plan runs past the end; a held line moves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pipelines.timing.lines import DEFAULT_LIMITS, FitLimits, LineFit, LineWish, Stretch

EASY = 0.9  # factor down to which nobody hears that a line was pressed
PRESSED_EASILY, PRESSED, PRESSED_HARD, STRETCHED = 0.3, 0.6, 10.0, 0.5
BESIDE_END = 1.0
FLOATING, LEAVING_LIPS, FAR = 2.0, 20.0, 100.0
PAST_END = 200.0  # for each line of the plan: rather than that, all of them move as far as must be
MOVING_HELD = 10_000.0

Piece = tuple[float, float]  # how far, in seconds (may be infinite), at which price


def start_of(wish: LineWish, begin: float) -> float:
    """Where the line would begin if it were alone."""
    return wish.held.start if wish.held else max(wish.start, begin)


def seconds_of(wish: LineWish, limits: FitLimits) -> float:
    """How long it would be spoken if its length did not matter."""
    if wish.held:
        return wish.held.seconds
    return min(max(wish.natural, wish.shortest), longest_of(wish, limits))


def longest_of(wish: LineWish, limits: FitLimits) -> float:
    """The longest it may be spoken."""
    return max(wish.shortest, min(wish.longest, limits.fill * wish.natural))


def moved_pieces(wish: LineWish, limits: FitLimits) -> tuple[Piece, ...]:
    """What moving the start costs, the same either way."""
    if wish.held:
        return ((math.inf, MOVING_HELD),)
    near = LEAVING_LIPS if wish.on_screen else FLOATING
    return (limits.shift, near), (math.inf, FAR)


def shorter_pieces(wish: LineWish, limits: FitLimits) -> tuple[Piece, ...]:
    """What speaking it shorter than ``seconds_of`` costs, down to the shortest."""
    usual = seconds_of(wish, limits)
    if wish.held:
        return ((max(usual - wish.shortest, 0.0), MOVING_HELD),)
    pieces, above = [], usual
    for bound, price in (
        (EASY * wish.natural, PRESSED_EASILY),
        (limits.preferred * wish.natural, PRESSED),
        (0.0, PRESSED_HARD),
    ):
        below = min(max(bound, wish.shortest), above)
        pieces.append((above - below, price))
        above = below
    return tuple(pieces)


def longer_pieces(wish: LineWish, limits: FitLimits) -> tuple[Piece, ...]:
    """What speaking it longer than ``seconds_of`` costs, up to the longest."""
    room = max(longest_of(wish, limits) - seconds_of(wish, limits), 0.0)
    return ((0.0 if wish.held else room, STRETCHED),)


def total_cost(stretch: Stretch, fits: Sequence[LineFit], limits: FitLimits = DEFAULT_LIMITS) -> float:
    """What the plan of a stretch costs."""
    cost = PAST_END * len(fits) * max([0.0, *(fit.end - stretch.until for fit in fits)])
    for wish, fit in zip(stretch.wishes, fits, strict=True):
        cost += _price(abs(fit.start - start_of(wish, stretch.begin)), moved_pieces(wish, limits))
        longer = fit.seconds - seconds_of(wish, limits)
        cost += _price(-longer, shorter_pieces(wish, limits)) + _price(longer, longer_pieces(wish, limits))
        cost += 0.0 if wish.held else BESIDE_END * abs(fit.end - wish.end)
    return cost


def _price(amount: float, pieces: Sequence[Piece]) -> float:
    cost = 0.0
    for far, price in pieces:
        taken = min(max(amount, 0.0), far)
        cost, amount = cost + taken * price, amount - taken
    return cost
