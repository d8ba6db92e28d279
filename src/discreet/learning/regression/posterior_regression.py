"""Private linear regression by posterior sampling, around a place and on a scale that adapt to the data."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, isqrt, sqrt

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import ParameterError
from discreet.learning.design.row_grid import public_bound
from discreet.learning.regression.linear_fit import Units
from discreet.learning.regression.linear_rows import rows_on_grid
from discreet.learning.regression.posterior_fit import PosteriorFit
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.exponential import Exponential
from discreet.noise import current
from discreet.privacy.events import Event, Pure
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import Number, float_above, rational, show, whole
from discreet.records import Record, dataclass
from discreet.stability.eigenvalue import gram, smallest_eigenvalue

__all__ = ["PosteriorRegression"]

_FINE = 1 << 16  # units in a coarse step, so that a fine grid has room
_SCORE_STEPS = 1 << 20  # steps in the sensitivity of a score: rounding raises it by less than a millionth
_MOST_POINTS = 1 << 14
_EIGENVALUE_SHARE = Fraction(1, 8)
_FAILURE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class PosteriorRegression(Record):
    """A sample of the posterior of a linear model: data-adaptive posterior sampling.

    With a uniform prior on a grid of coefficients, the posterior at temperature 1 / rate is proportional to
    exp(-rate RSS(theta)), RSS the residual sum of squares: an exponential mechanism. How large the rate may
    be depends on how far theta may lie from the center of the grid. So the smallest eigenvalue of X^T X is
    released, then a sample on a coarse grid over the whole prior, then samples on finer grids, each around
    the one before. The richer the data in every direction, the narrower the grids, and the larger the rates.

    Parameters
    ----------
    columns : int
        The number of columns of X, 1 to 4. A constant column is not added.
    largest : number
        The largest Euclidean length of a row of X. Longer rows are shortened.
    response : number
        The largest absolute value of y. What is beyond is clipped.
    radius : number
        The prior: each coefficient lies within this of 0.
    epsilon : number
        The privacy loss: an eighth is for the eigenvalue, and the samples have equal parts of the rest.
    rounds : int
        How many samples are drawn at most, 1 to 8. Where the eigenvalue does not let the second grid be half
        as wide as the first, one sample gets all of it.
    rows : int
        How many rows a person has at most. That the data keep to it is the caller's promise.
    points : int, optional
        How many points a grid has in every direction, odd. By default at most 129, and at most 2^14 in
        all.
    resolution : int
        In how many steps `largest` is divided; as for `AdaptiveRidge`.

    Guarantee
    ---------
    epsilon-DP under add/remove of a person. In steps, a row moves the eigenvalue by at most N^2, and the
    difference of two residual sums, at theta and at the center c, by at most N |theta - c| (2 M + N |theta +
    c|), which is computed for every point in integers (Wang, Fienberg & Smola 2015, for sampling; Wang 2018,
    for the adaptation; proof: docs/proofs/posterior_regression.md).

    Finite precision
    ----------------
    Rows are rounded to integers, each by itself; coefficients are integer multiples of a power of two;
    residual sums are exact integers, and are rounded once to a public unit, which is charged. Every sample is
    an exact draw.

    Error
    -----
    `choice` has the law of how much larger the residual sum of a sample is than the least on its grid. The
    half width of the next grid is what that and the eigenvalue allow with 99%.

    Examples
    --------
    >>> from discreet.learning import PosteriorRegression
    >>> regression = PosteriorRegression(columns=2, largest=2, response=5, radius=3, epsilon=1)
    >>> regression.guarantee
    PureDP(epsilon=1)
    >>> regression.event
    Pure(epsilon=0.875) + DiscreteLaplace(sensitivity=16777216, scale=134217728, size=1)
    """

    columns: int
    units: Units
    rows: int
    rounds: int
    half: int
    """How many points a grid has on either side of its center."""
    unit: Fraction
    """What coefficients are multiples of, in steps of y per step of x: a power of two, at most 1."""
    step: int
    """The distance of two points of the coarse grid, in units."""
    eigenvalue: Laplace
    """The noise on the smallest eigenvalue."""
    guarantee: PureDP

    def __init__(
        self,
        *,
        columns: int,
        largest: Number,
        response: Number,
        radius: Number,
        epsilon: Number,
        rows: int = 1,
        rounds: int = 3,
        points: int | None = None,
        resolution: int = 2**12,
    ) -> None:
        width = whole(columns, "columns", least=1, most=4)
        held = whole(rows, "rows", least=1, most=2**20)
        units = Units.of(width, largest, response, resolution)
        most = min(int(_MOST_POINTS ** (1 / width) + 1e-9), 129)
        across = most if points is None else whole(points, "points", least=3, most=2**14)
        if (points is not None and not across % 2) or across**width > _MOST_POINTS:
            raise ParameterError(
                "points", "is even, or makes too many in all", f"odd, at most {_MOST_POINTS} in all"
            )
        half = (across - 1) // 2
        ratio = units.response * units.row_steps / (units.response_steps * units.largest)
        reach = public_bound(radius, "radius") / ratio  # in steps of y per step of x
        if reach > 2**16:
            raise ParameterError(
                "radius", "is too large for the bounds", "about response / largest, or some times that"
            )
        step, unit = _coarse(reach, half)
        loss = rational(epsilon, "epsilon", positive=True)
        self._set(
            columns=width,
            units=units,
            rows=held,
            rounds=whole(rounds, "rounds", least=1, most=8),
            half=half,
            unit=unit,
            step=step,
            eigenvalue=Laplace(sensitivity=held * units.steps**2, epsilon=_EIGENVALUE_SHARE * loss, size=1),
            guarantee=PureDP(epsilon=loss, neighbors=ADD_REMOVE_PERSON),
        )

    def __repr__(self) -> str:
        return f"PosteriorRegression(columns={self.columns}, epsilon={show(self.guarantee.epsilon)})"

    @property
    def event(self) -> Event:
        """The eigenvalue, and all samples together: their number depends on it, their cost does not."""
        return self.eigenvalue.event + Pure(epsilon=self._samples, neighbors=ADD_REMOVE_PERSON)

    @property
    def _samples(self) -> Fraction:
        """The epsilon of all samples together."""
        return (1 - _EIGENVALUE_SHARE) * self.guarantee.epsilon

    def rounds_for(self, level: int) -> int:
        """Return how many samples are drawn for a released eigenvalue: `rounds`, or 1. Public."""
        start = (0,) * self.columns
        points = self.grid(start, self.step)
        finer = self.finer(level, *self.choice(points, start, self.rounds), len(points), self.step)
        return self.rounds if 2 * finer <= self.step else 1

    @property
    def epsilon(self) -> float:
        """The privacy loss, rounded up to a float."""
        return float_above(self.guarantee.epsilon)

    def release(self, design: ArrayLike, response: ArrayLike) -> PosteriorFit:
        """Return a sample of the coefficients for rows of X and their y. All data are answered."""
        rows, target = rows_on_grid(design, response, columns=self.columns, units=self.units)
        products, moments = gram(rows, self.units.steps), [int(entry) for entry in rows.T @ target]
        level = int(self.eigenvalue.release(smallest_eigenvalue(products)))  # type: ignore[arg-type]
        center, step, path, steps = (0,) * self.columns, self.step, [], []
        rounds = self.rounds_for(level)
        for _ in range(rounds):
            points = self.grid(center, step)
            choice, quantum = self.choice(points, center, rounds)
            scores = [score // quantum for score in self.scores(products, moments, points, center)]
            finer = self.finer(level, choice, quantum, len(points), step)
            center = points[int(choice.release(scores))]
            path.append(center)
            steps.append(step)
            step = finer
        source = current()
        scale = float(self.unit) * self.units.coefficient
        return PosteriorFit(
            samples=source.mark(np.array(path, np.float64) * scale),
            steps=source.mark(np.array(steps, np.float64) * scale),
            eigenvalue=source.mark(float(level)),
        )

    def grid(self, center: tuple[int, ...], step: int) -> list[tuple[int, ...]]:
        """Return the points around a center that lie within the prior, in units."""
        most = self.half * self.step
        offsets = [place * step for place in range(-self.half, self.half + 1)]
        axes = [[c + offset for offset in offsets if abs(c + offset) <= most] for c in center]
        return list(product(*axes))

    def scores(
        self,
        products: list[list[int]],
        moments: list[int],
        points: list[tuple[int, ...]],
        center: tuple[int, ...],
    ) -> list[int]:
        """Return RSS(center) - RSS(point) for every point, in units squared: exact integers. Private."""
        inverse = int(1 / self.unit)
        held = np.array(points, dtype=object).reshape(len(points), self.columns)
        matrix, vector = np.array(products, dtype=object), np.array(moments, dtype=object)
        middle = np.array(center, dtype=object)
        quadratic = ((held @ matrix) * held).sum(axis=1) - middle @ matrix @ middle
        return [int(score) for score in 2 * inverse * ((held - middle) @ vector) - quadratic]

    def sensitivity(self, points: list[tuple[int, ...]], center: tuple[int, ...]) -> int:
        """Return the most that one row moves any score: the largest N |k - c| (2 M / unit + N |k + c|)."""
        length, twice = self.units.steps, 2 * self.units.response_steps * int(1 / self.unit)
        held = np.array(points, dtype=object).reshape(len(points), self.columns)
        middle = np.array(center, dtype=object)
        pairs = set(zip(((held - middle) ** 2).sum(axis=1), ((held + middle) ** 2).sum(axis=1), strict=True))
        largest, reached = 0, -1
        for near, far in sorted(pairs, reverse=True):
            if far > reached:  # else a pair before this one is at least as large in both
                reached = far
                largest = max(largest, _root(length**2 * near) * (twice + _root(length**2 * far)))
        return largest

    def choice(
        self, points: list[tuple[int, ...]], center: tuple[int, ...], rounds: int
    ) -> tuple[Exponential, int]:
        """Return the choice of one of `rounds`, and the unit that scores are rounded down to. Public."""
        moved = max(self.rows * self.sensitivity(points, center), 1)
        quantum = max(moved // _SCORE_STEPS, 1)
        return Exponential(sensitivity=-(-moved // quantum), epsilon=self._samples / rounds), quantum

    def finer(self, level: int, choice: Exponential, quantum: int, candidates: int, step: int) -> int:
        """Return the step of the grid after this choice, in units: from 1 to that of this one. Public.

        With 99% each, the eigenvalue is at least `level` less its noise, and the sample's residual sum is
        within a bound of the least one; their ratio bounds the squared distance to the best point, to
        which a step of the grid is added.
        """
        least = level - self.eigenvalue.error.quantile(1 - _FAILURE)
        if least <= 0:
            return step
        excess = choice.error.textbook_bound(1 - _FAILURE, candidates=candidates) * quantum
        return max(1, min(step, ceil((sqrt(excess / least) + step) / self.half)))


def _coarse(reach: Fraction, half: int) -> tuple[int, Fraction]:
    """Return the coarse step in units, and the unit: a power of two of which a step has at least 2^16."""
    unit = Fraction(1)
    while reach / unit < half * _FINE:
        unit /= 2
    return ceil(reach / unit / half), unit


def _root(n: int) -> int:
    """Return the square root, rounded up."""
    return isqrt(n - 1) + 1 if n else 0
