"""The plan of least cost, found for all lines at once as a linear program.

Costs are convex and piecewise linear and the conditions are linear, so the optimum is exact, and it is sparse: a line
that is not in anybody's way stays exactly where its original stands, which a quadratic cost would not do. The solver is
HiGHS, as SciPy brings it (``milp`` without an integer: ``linprog`` takes twice as long to check the same arguments);
1,000 lines take a tenth of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pipelines.errors import Message, PipelineError
from pipelines.timing import costs
from pipelines.timing.lines import DEFAULT_LIMITS, FitLimits, LineFit, LineWish, Stretch
from pipelines.timing.tight import name_tight

CLEAN = 1e-5  # seconds: the solver keeps conditions to about 1e-7, and what it leaves alone shall be exactly alone
Floats = npt.NDArray[np.float64]
Terms = list[tuple[int, float]]  # column and coefficient


@dataclass(slots=True)
class _Program:
    """A linear program while it is put together: columns are amounts ≥ 0, rows have a least and a greatest value."""

    prices: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)
    rows: list[Terms] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    greatest: list[float] = field(default_factory=list)

    def amounts(self, pieces: Sequence[costs.Piece], sign: float) -> Terms:
        """New columns for one direction of a convex cost."""
        first = len(self.prices)
        self.prices += [price for _, price in pieces]
        self.most += [far for far, _ in pieces]
        return [(first + number, sign) for number in range(len(pieces))]

    def row(self, terms: Terms, least: float, greatest: float = np.inf) -> None:
        """A condition on a sum."""
        self.rows.append(terms)
        self.least.append(least)
        self.greatest.append(greatest)

    def solve(self) -> Floats | None:
        """The amounts of least total price; None when no amounts keep the conditions."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csc_array

        entries = [(place, *term) for place, terms in enumerate(self.rows) for term in terms]
        places, columns, values = (np.array(part) for part in zip(*entries, strict=True))
        shape = (len(self.rows), len(self.prices))
        matrix = csc_array((values, (places, columns)), shape=shape)
        conditions = LinearConstraint(matrix, np.array(self.least), np.array(self.greatest))
        found = milp(np.array(self.prices), constraints=conditions, bounds=Bounds(0, np.array(self.most)))
        return None if found.x is None else np.asarray(found.x, np.float64)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line inside the program: its start is ``start`` plus ``moved``, its length ``seconds`` plus ``bent``."""

    start: float
    moved: Terms
    seconds: float
    bent: Terms

    @property
    def end(self) -> tuple[float, Terms]:
        """When it ends."""
        return self.start + self.seconds, self.moved + self.bent


def fit_lines(
    wishes: Sequence[LineWish], duration: float, limits: FitLimits = DEFAULT_LIMITS, begin: float = 0.0
) -> tuple[LineFit, ...]:
    """``fit_stretches`` for one stretch: from ``begin`` to ``duration``, the length of the video in seconds."""
    return fit_stretches([Stretch(tuple(wishes), duration, begin)], limits)[0]


def fit_stretches(
    stretches: Sequence[Stretch], limits: FitLimits = DEFAULT_LIMITS
) -> tuple[tuple[LineFit, ...], ...]:
    """Place all lines of a dub.

    Returns:
        For each stretch one fit per line, starts in order, no two of one speaker overlapping; the last one may end
        after the stretch only when the lines cannot be spoken within it at all.

    Raises:
        PipelineError: the wishes contradict themselves.
    """
    if not any(stretch.wishes for stretch in stretches):
        return ((),) * len(stretches)
    placed = _placed(stretches, limits, fixed=True)
    if placed is None:  # a line does not fit between its held neighbours: they give way as little as can be
        placed = _placed(stretches, limits, fixed=False)
    if placed is None:
        raise PipelineError(
            Message("No times were found for the lines", "无法为各行安排时间"),
            Message("Look for a line whose times make no sense.", "请检查是否有时间不合理的行。"),
        )
    return tuple(name_tight(stretch, fits, limits) for stretch, fits in zip(stretches, placed, strict=True))


def _placed(stretches: Sequence[Stretch], limits: FitLimits, *, fixed: bool) -> list[list[LineFit]] | None:
    """The plan of least cost; None when held lines are ``fixed`` and leave no room for the others."""
    program = _Program()
    lines = [_stretch(program, stretch, limits, fixed) for stretch in stretches]
    amounts = program.solve()
    if amounts is None:
        return None
    return [
        [_fit(wish, line, amounts, stretch.begin) for wish, line in zip(stretch.wishes, inside, strict=True)]
        for stretch, inside in zip(stretches, lines, strict=True)
    ]


def _stretch(program: _Program, stretch: Stretch, limits: FitLimits, fixed: bool) -> list[_Line]:
    """The lines of a stretch inside the program, in order and within its time."""
    wishes = stretch.wishes
    lines = [_line(program, wish, limits, stretch.begin, fixed) for wish in wishes]
    _keep_order(program, wishes, lines, limits)
    past = program.amounts([(np.inf, costs.PAST_END * len(wishes))], -1.0)
    for line in lines:
        at, terms = line.end
        program.row(terms + past, -np.inf, stretch.until - at)
    return lines


def _line(program: _Program, wish: LineWish, limits: FitLimits, begin: float, fixed: bool) -> _Line:
    start, seconds = costs.start_of(wish, begin), costs.seconds_of(wish, limits)
    if wish.held and fixed:
        return _Line(start, [], seconds, [])
    pieces = costs.moved_pieces(wish, limits)
    earlier = program.amounts(pieces, -1.0)
    program.row(earlier, begin - start)
    moved = program.amounts(pieces, 1.0) + earlier
    bent = program.amounts(costs.shorter_pieces(wish, limits), -1.0)
    bent += program.amounts(costs.longer_pieces(wish, limits), 1.0)
    if not wish.held:
        beside = [(np.inf, costs.BESIDE_END)]
        late, early = program.amounts(beside, -1.0), program.amounts(beside, 1.0)
        off = wish.end - start - seconds
        program.row(moved + bent + late + early, off, off)
    return _Line(start, moved, seconds, bent)


def _keep_order(
    program: _Program, wishes: Sequence[LineWish], lines: Sequence[_Line], limits: FitLimits
) -> None:
    """Every line begins after those before it have ended, or as long before as the original of another speaker does."""
    last: dict[str | None, int] = {}
    for number, (wish, line) in enumerate(zip(wishes, lines, strict=True)):
        for speaker, before in last.items():
            own = speaker == wish.speaker
            pause = limits.gap if own else min(limits.gap, wish.start - wishes[before].end)
            _after(program, line, *lines[before].end, pause)
            if pause < 0 and before == number - 1:
                _after(program, line, lines[before].start, lines[before].moved, 0.0)
        last[wish.speaker] = number


def _after(program: _Program, line: _Line, at: float, terms: Terms, pause: float) -> None:
    """``line`` begins ``pause`` seconds after a time in the program, at the earliest."""
    program.row(line.moved + [(column, -value) for column, value in terms], at + pause - line.start)


def _fit(wish: LineWish, line: _Line, amounts: Floats, begin: float) -> LineFit:
    moved = _clean(line.start, sum(value * amounts[column] for column, value in line.moved))
    seconds = _clean(line.seconds, sum(value * amounts[column] for column, value in line.bent))
    seconds = max(seconds, wish.shortest) if not wish.held else seconds
    return LineFit(max(moved, begin), seconds, seconds / wish.natural)


def _clean(value: float, change: float) -> float:
    return value if abs(change) < CLEAN else float(value + change)
