"""What no strategy with Laplace noise can beat: columns of bounded L1 norm cannot serve all scales at once.

Let U_0 ⊃ U_1 ⊃ … be spaces of vectors that are constant on coarser and coarser blocks of cells. What a
row of a strategy says about each scale, its leverage there, adds up to at most 1, and a row of L1 norm t
whose leverage at scale l is q has an error of at least (q c_l / t)^2 there, where 1 / c_l^2 is the largest
diagonal entry of U_l (U_l^T G U_l)^-1 U_l^T. Other spaces than blocks do better, and so do cells with weights
in t: those of `flat_chain`. All rows together have the leverage dim U_l - dim U_(l + 1) at
scale l, and L1 norms that add up to at most the number of cells. The least error that this allows grows with
the cube of the number of scales, as that of the best known strategies does (docs/proofs/workloads.md,
theorem 8).
"""

from __future__ import annotations

from itertools import pairwise
from math import pi, sin
from typing import TYPE_CHECKING

import numpy as np

from discreet.workloads.algebra.cache import remembered
from discreet.workloads.planning.flat_chain import cell_weights, flat_levels
from discreet.workloads.queries.ranges import AllRanges, Prefixes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from discreet.workloads.queries.base import Vector, Workload

__all__ = ["LARGEST_CHAINED", "laplace_bound", "least_cube", "wave_square"]

LARGEST_CHAINED = 1024
_RATIOS = (2, 3)
"""How many blocks become one. Of the ratios from 1.5 to 6, one of these was best for ranges and prefixes."""
_WAVE_RATIOS = (2, 2.5)
_POWERS = (4, 24)
"""Means of cells by which levels are compared: for long domains, and for short ones."""
_GRID, _FINE_GRID = 400, 8000
"""Sizes of a row's cost at which worst rows are sought, and at which prices are proven."""
_MOST_ROUNDS = 40
_CUTS = 6
_CLOSE = 1.002
_LOWER, _MOST_LOWERED = 0.9998, 500
_ROUNDING = 1e-9


@remembered(64)
def laplace_bound(workload: Workload) -> float:
    """Return a total variance, at L1 norm 1 and for noise of variance 1, that no strategy is below.

    0 where nothing is known: domains of several axes, of one cell, or of more than 1024 unless all ranges or
    prefixes are asked for.
    """
    if len(workload.shape) != 1 or workload.size < 2:
        return 0.0
    found = 0.0
    if isinstance(workload, AllRanges | Prefixes):
        found = _by_waves(workload.size) * (workload.size + 1 if isinstance(workload, AllRanges) else 1)
    if workload.size > LARGEST_CHAINED:
        return found
    gram = workload.gram()
    largest = float(np.diagonal(gram).max())
    if not largest > 0:
        return 0.0
    exponent = int(np.frexp(largest)[1])
    gram = np.ldexp(gram, -exponent)
    scaled = max(_by_blocks(gram), _by_flat_chain(gram)) * (1 - _ROUNDING)
    return max(found, float(np.ldexp(scaled, exponent)))


def _by_flat_chain(gram: Vector) -> float:
    """Return the bound of leading eigenvectors that are turned until they are flat, with weights of cells."""
    reached, leverages = flat_levels(gram)
    if not len(reached):
        return 0.0
    weighted = (cell_weights(reached, power) for power in _POWERS)
    return max(least_cube(1 / inverse, leverages) / float(weight.sum()) ** 2 for weight, inverse in weighted)


def _by_blocks(gram: Vector) -> float:
    """Return the bound of spaces of vectors that are constant on blocks."""
    size, found = len(gram), 0.0
    cells = _square(gram, np.arange(size))  # the first level of every chain
    for ratio in _RATIOS:
        squares, leverages = _levels(gram, cells, ratio)
        if len(squares):
            found = max(found, least_cube(squares, leverages) / size**2)
    return found


def _by_waves(size: int) -> float:
    """Return the bound of differences of waves, for prefixes; n + 1 times it is that of all ranges.

    Waves of up to h periods on a circle of n + 1 points have 2 h differences that serve, and in each of the
    n cells the same 1 / c^2 at most, which has a closed form (docs/proofs/workloads.md, proposition 9).
    """
    found = 0.0
    for ratio in _WAVE_RATIOS:
        dimensions, inverses = [size], [2.0]
        periods = int(size / (2 * ratio))
        while periods >= 1:
            dimensions.append(2 * periods)
            inverses.append(wave_square(periods, size + 1))
            periods = min(periods - 1, round(periods / ratio))
        leverages = -np.diff(np.array([*dimensions, 0], dtype=np.float64))
        found = max(found, least_cube(1 / np.array(inverses), leverages) / size**2)
    return found * (1 - _ROUNDING)


def wave_square(periods: int, points: int) -> float:
    """Return the mean over a circle's points of the squared differences of all waves: at most so, up to 1e-9.

    It is (2 / N) times the sum of 4 sin^2(pi m / N) over m = 1 … h.
    """
    if 1000 * periods <= points:  # of the difference below few digits would be left; sin x <= x
        total = 4 * (pi / points) ** 2 * periods * (periods + 1) * (2 * periods + 1) / 6
    else:
        total = 2 * periods + 1 - sin((2 * periods + 1) * pi / points) / sin(pi / points)
    return 2 * total / points


def _levels(gram: Vector, cells: float, ratio: int) -> tuple[Vector, Vector]:
    """Return c_l^2 and the leverage of each scale; scales that the queries do not tell are left out."""
    chain = [*_chain(len(gram), ratio), np.zeros(0, np.intp)]
    squares = np.array([cells, *(_square(gram, starts) for starts in chain[1:-1])])
    leverages = np.array([float(len(starts) - len(coarser)) for starts, coarser in pairwise(chain)])
    return squares[squares > 0], leverages[squares > 0]


def _square(gram: Vector, starts: NDArray[np.intp]) -> float:
    """Return c^2 of the vectors that are constant on blocks, rounded down; 0 if not all of them are told.

    Without what sums and eigenvalues may be off, the matrix is below the true one, and its inverse above.
    """
    sums = np.add.reduceat(np.add.reduceat(gram, starts, axis=0), starts, axis=1)
    values, vectors = np.linalg.eigh(sums)
    below = values - 4 * len(gram) * float(np.finfo(np.float64).eps) * values[-1]
    return 1 / float(((vectors**2) @ (1 / below)).max()) if below[0] > 0 else 0.0


def _chain(size: int, ratio: int) -> Iterator[NDArray[np.intp]]:
    """Yield where blocks of cells begin: single cells, then of each level some blocks become one."""
    starts = np.arange(size)
    yield starts
    while len(starts) > 1:
        count = max(1, len(starts) // ratio)
        starts = starts[np.arange(count) * len(starts) // count]
        yield starts


def least_cube(squares: Vector, leverages: Vector) -> float:
    """Bound, from below, the cube of the sum over rows of (sum over l of q_l^2 c_l^2)^(1/3).

    Over all rows of q_l >= 0 with sum at most 1 that add up to the leverages. Any prices p with
    p q <= (sum q_l^2 c_l^2)^(1/3) for all such q give (p · leverages)^3; those that give the most are
    sought by cutting planes, and what is returned is lowered until it is proven.
    """
    from scipy.optimize import linprog

    widths = np.cbrt(squares)
    least, largest = np.cbrt(1 / (1 / squares).sum()), widths.max()
    sizes, fine = (np.geomspace(least, largest, count) for count in (_GRID, _FINE_GRID))
    points, best = np.eye(len(squares)), np.zeros(len(squares))
    for _ in range(_MOST_ROUNDS):
        costs = np.cbrt(points**2 @ squares)
        found = linprog(
            -leverages / (leverages @ widths),
            A_ub=points / costs[:, None],
            b_ub=np.ones(len(points)),
            bounds=[(None, None)] * len(squares),
            method="highs",
        )
        if found.x is None:
            break
        prices = np.asarray(found.x)
        worst = _worst_rows(prices, squares, sizes)
        ratios = (worst @ prices) / np.cbrt(worst**2 @ squares)
        if not 0 < ratios.max() < np.inf:
            break
        best = max(best, prices / ratios.max(), key=lambda some: float(some @ leverages))
        if ratios.max() <= _CLOSE:
            break
        points = np.concatenate([points, worst[np.argsort(-ratios)[:_CUTS]]])
    return max(float(_proven(best, squares, fine) @ leverages), 0.0) ** 3


def _multipliers(prices: Vector, squares: Vector, sizes: Vector) -> Vector:
    """Return, for each size u, the m at which the q_l = (p_l + m)^+ 3 u^2 / (2 c_l^2) add up to 1."""
    order = np.argsort(-prices)
    sorted_prices, weights = prices[order], 1.5 / squares[order]
    total, priced = np.cumsum(weights), np.cumsum(weights * sorted_prices)
    trial = (1 / sizes[:, None] ** 2 - priced) / total
    # The most expensive entries are positive: as many as stay so with their own multiplier.
    held = (trial + sorted_prices > 0).sum(axis=1) - 1
    return np.asarray(trial[np.arange(len(sizes)), held])


def _worst_rows(prices: Vector, squares: Vector, sizes: Vector) -> Vector:
    """Return the rows at which prices come nearest to the cost, or exceed it, for each size of the cost."""
    level = _multipliers(prices, squares, sizes)[:, None]
    rows = np.maximum(prices + level, 0.0) * 1.5 * sizes[:, None] ** 2 / squares
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _proven(prices: Vector, squares: Vector, sizes: Vector) -> Vector:
    """Return the prices, lowered until they are proven to be below the cost of every row.

    For a row whose cost is between two sizes v <= u, cost - p q is at least
    sum of q^2 c^2 / (3 u^2) + 2 v / 3 - p q, since x = (x^3 / u^2 + 2 u) / 3 at u = x; and by duality, for
    any m, at least 2 v / 3 + m - (sum of ((p + m)^+)^2 / c^2) 3 u^2 / 4.
    """
    before = np.append(sizes[0], sizes[:-1])
    for _ in range(_MOST_LOWERED):
        level = _multipliers(prices, squares, sizes)
        taken = (np.maximum(prices + level[:, None], 0.0) ** 2 / squares).sum(axis=1) * 0.75 * sizes**2
        if np.all(2 * before / 3 + level - taken >= 0) or not (prices > 0).any():
            return prices
        prices = prices * _LOWER
    return np.zeros_like(prices)
