"""How far a unit that takes part in several steps can move a matrix mechanism, and its event.

Over sets S of steps that a unit may take part in, and vectors u_i of norm at most 1, the squared sensitivity
of a strategy C is the most of sum_ij G_ij <u_i, u_j> over i, j in S, with G = C^T C: the sum of the entries
of G where none is negative, and no more than the sum of their absolute values in general.
Proofs: docs/proofs/matrix.md.
"""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from math import comb, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.privacy import events
from discreet.privacy.events import Event
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Change, Neighbors
from discreet.privacy.rational import Number, rational, whole

__all__ = [
    "ParticipationSensitivity",
    "banded_event",
    "cyclic_sensitivity",
    "matrix_event",
    "separated_sensitivity",
]

Array = NDArray[np.float64]

_MOST_STEPS = 4096
_ROWS, _FEW_SETS = 64, 20_000
_ROUNDING = 1e-11
"""More than products and sums over 4096 steps are off, relative to sums of absolute values."""


class ParticipationSensitivity(NamedTuple):
    """Two bounds on a sensitivity; the lower one is attained by some unit."""

    lower: float
    upper: float


def cyclic_sensitivity(strategy: ArrayLike, *, period: int) -> ParticipationSensitivity:
    """Return the sensitivity where a unit takes part every `period` steps: once in every epoch.

    The order of units is the same in all epochs, so there are `period` sets of steps, and each is looked at.
    The two bounds are equal, except for rounding, where no entry of C^T C is negative.
    """
    matrix = _checked(strategy)
    period = whole(period, "period", least=1, most=len(matrix))
    gram, size = _products(matrix)
    upper = max(float(size[start::period, start::period].sum()) for start in range(period))
    lower = max(_attained(gram, size, np.arange(start, len(gram), period)) for start in range(period))
    return _bounds(lower, upper)


def separated_sensitivity(
    strategy: ArrayLike, *, separation: int, most: int | None = None
) -> ParticipationSensitivity:
    """Return the sensitivity where the steps of a unit are at least `separation` apart, `most` in number.

    Guarantee
    ---------
    The upper bound holds for every strategy. Where no entry of C^T C is negative it is attained if the
    strategy has no more bands than `separation`, or if there are so few sets of steps that each is looked at.

    Parameters
    ----------
    strategy : array
        The lower triangular matrix C.
    separation : int
        The least distance between two steps of one unit.
    most : int, optional
        In how many steps a unit takes part; as many as fit where it is left out.
    """
    matrix = _checked(strategy)
    steps = len(matrix)
    apart = whole(separation, "separation", least=1, most=steps)
    count = _most(steps, apart, most)
    gram, size = _products(matrix)
    is_banded = not np.triu(size, apart).any()
    if not is_banded and _number_of_sets(steps, apart, count) <= _FEW_SETS:
        upper, chosen = _worst_set(size, apart, count)
    else:
        weights = np.diag(size).copy() if is_banded else _row_weights(size, apart, count)
        upper, chosen = _heaviest(weights, apart, count)
    candidates = [chosen, *(np.arange(start, steps, apart)[:count] for start in range(apart))]
    return _bounds(max(_attained(gram, size, places) for places in candidates), upper)


def matrix_event(
    strategy: ArrayLike,
    *,
    standard_deviation: Number,
    separation: int,
    most: int | None = None,
    neighbors: Neighbors = ADD_REMOVE_PERSON,
) -> events.MatrixGaussian:
    """Return the event of a matrix mechanism whose units take part several times.

    Parameters
    ----------
    strategy : array
        The lower triangular matrix C; C X plus noise is released, or anything computed from it.
    standard_deviation : number
        Of the noise, over the norm to which the vectors of one unit are clipped.
    separation, most : int
        The least distance between two steps of one unit, and how many of them there are.
    neighbors : Neighbors
        Where a unit is replaced, C X moves twice as far.

    Examples
    --------
    >>> import numpy as np
    >>> sums = np.tril(np.ones((8, 8)))
    >>> event = matrix_event(sums, standard_deviation=10, separation=4)
    >>> event.most, round(float(event.noise_multiplier), 4)
    (2, 2.2361)
    """
    matrix = _checked(strategy)
    found = separated_sensitivity(matrix, separation=separation, most=most).upper
    exact = Fraction(found) * (2 if _relation(neighbors).change is Change.REPLACE else 1)
    return events.MatrixGaussian(
        noise_multiplier=_above_zero(standard_deviation) / exact,
        sensitivity=exact,
        steps=len(matrix),
        separation=int(separation),
        most=_most(len(matrix), int(separation), most),
        neighbors=neighbors,
    )


def banded_event(
    strategy: ArrayLike,
    *,
    bands: int,
    standard_deviation: Number,
    rate: Number,
    neighbors: Neighbors = ADD_REMOVE_PERSON,
) -> Event:
    """Return the event of a banded matrix mechanism on Poisson samples of parts that take turns.

    Units are put into `bands` parts by a rule that reads no other unit; step t samples each unit of part
    t mod `bands` with probability `rate`. Then the steps of one unit do not share their noise, and it faces
    a Poisson-sampled Gaussian once in every `bands` steps (Choquette-Choo et al. 2023).

    Parameters
    ----------
    strategy : array
        A lower triangular matrix C with C[i, j] = 0 unless 0 <= i - j < bands.
    bands : int
        The number of bands and of parts.
    standard_deviation : number
        Of the noise, over the norm to which the vectors of one unit are clipped.
    rate : number
        The probability with which a unit is sampled when its part has its turn.
    neighbors : Neighbors
        A relation that adds or removes one unit, or replaces one within its part.
    """
    matrix = _checked(strategy)
    count = whole(bands, "bands", least=1, most=len(matrix))
    if np.tril(matrix, -count).any():
        raise ParameterError(
            "strategy", "has more bands than stated", f"0 from {count} below the diagonal on"
        )
    longest = Fraction(_bounds(0.0, float((matrix**2).sum(axis=0).max())).upper)
    multiplier = _above_zero(standard_deviation) / longest
    if _relation(neighbors).change is Change.REPLACE:
        step: Event = events.ReplacedPoissonGaussian(
            noise_multiplier=multiplier, rate=rate, neighbors=neighbors
        )
    else:
        inner = events.Gaussian(noise_multiplier=multiplier, neighbors=neighbors)
        step = events.PoissonSampled(inner, rate=rate)
    return step * -(-len(matrix) // count)


def _checked(strategy: ArrayLike) -> Array:
    matrix = np.array(strategy, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not 1 <= len(matrix) <= _MOST_STEPS:
        raise ParameterError("strategy", "is not a square matrix", f"of 1 to {_MOST_STEPS} steps")
    if not np.isfinite(matrix).all() or not 1e-100 < np.abs(matrix).max() < 1e100:
        raise ParameterError(
            "strategy", "has entries that are not finite, too large or all 0", "moderate numbers"
        )
    if np.triu(matrix, 1).any():
        raise ParameterError("strategy", "is not lower triangular", "0 above the diagonal")
    return matrix


def _relation(neighbors: Neighbors) -> Neighbors:
    if not isinstance(neighbors, Neighbors) or neighbors.size > 1:
        raise ParameterError("neighbors", "is not a relation of one unit", "such a relation")
    return neighbors


def _above_zero(standard_deviation: Number) -> Fraction:
    return rational(standard_deviation, "standard_deviation", positive=True)


def _most(steps: int, apart: int, most: int | None) -> int:
    fitting = -(-steps // apart)
    return fitting if most is None else min(fitting, whole(most, "most", least=1))


def _bounds(lower: float, upper: float) -> ParticipationSensitivity:
    return ParticipationSensitivity(sqrt(lower * (1 - _ROUNDING)), sqrt(upper * (1 + _ROUNDING)))


def _products(matrix: Array) -> tuple[Array, Array]:
    """Return C^T C and bounds on its absolute values, with room for what cancelled."""
    gram = matrix.T @ matrix
    return gram, np.abs(gram) + _ROUNDING / 2 * (np.abs(matrix).T @ np.abs(matrix))


def _attained(gram: Array, size: Array, places: NDArray[np.intp]) -> float:
    """Return what equal vectors, or orthogonal ones, attain at these steps."""
    inner = gram[np.ix_(places, places)]
    slack = float((size[np.ix_(places, places)] - np.abs(inner)).sum())
    return max(float(inner.sum()) - slack, float(np.trace(inner)) - slack, 0.0)


def _number_of_sets(steps: int, apart: int, count: int) -> int:
    return sum(comb(max(steps - (size - 1) * (apart - 1), 0), size) for size in range(1, count + 1))


def _worst_set(size: Array, apart: int, count: int) -> tuple[float, NDArray[np.intp]]:
    """Look at every set of steps: each is one that ends earlier, and a last step."""
    best, chosen = 0.0, [0]
    waiting: list[tuple[list[int], float]] = [([], 0.0)]
    while waiting:
        places, total = waiting.pop()
        for step in range(places[-1] + apart if places else 0, len(size)):
            now = total + 2 * float(size[step, places].sum()) + float(size[step, step])
            if now > best:
                best, chosen = now, [*places, step]
            if len(places) + 1 < count:
                waiting.append(([*places, step], now))
    return best, np.array(chosen, dtype=np.intp)


def _row_weights(size: Array, apart: int, count: int) -> Array:
    """Return, for every step i, the most of sum_j size_ij over sets of steps that i may belong to."""
    steps = len(size)
    found = np.empty(steps)
    for start in range(0, steps, _ROWS):
        rows = np.arange(start, min(start + _ROWS, steps))
        before = _best_before(size[rows], rows, apart, count)
        after = _best_before(size[rows][:, ::-1], steps - 1 - rows, apart, count)
        pairs = [before[:, used] + after[:, count - 1 - used] for used in range(count)]
        found[rows] = size[rows, rows] + np.max(pairs, axis=0)
    return found


def _best_before(weights: Array, rows: NDArray[np.intp], apart: int, count: int) -> Array:
    """Return, for each row, the heaviest sets of up to 0, …, count - 1 steps that end `apart` before it."""
    found = np.zeros((len(rows), count))
    recent: deque[Array] = deque([np.zeros((len(rows), count))] * apart, maxlen=apart)
    for step in range(int(rows.max()) - apart + 1):
        taken = recent[0][:, :-1] + weights[:, step, None]
        best = recent[-1].copy()
        np.maximum(best[:, 1:], taken, out=best[:, 1:])
        recent.append(best)
        ending = rows == step + apart
        found[ending] = best[ending]
    return found


def _heaviest(weights: Array, apart: int, count: int) -> tuple[float, NDArray[np.intp]]:
    """Return the heaviest set of up to `count` steps that are `apart`, and its weight."""
    steps = len(weights)
    best = np.zeros((steps + apart, count + 1))
    for step in range(steps):
        place = step + apart
        best[place] = best[place - 1]
        np.maximum(best[place, 1:], best[step, :-1] + weights[step], out=best[place, 1:])
    place, left, chosen = steps + apart - 1, count, []
    while left and place >= apart:
        if best[place, left] > best[place - 1, left]:
            chosen.append(place - apart)
            place, left = place - apart, left - 1
        else:
            place -= 1
    return float(best[-1, count]), np.array(chosen[::-1] or [0], dtype=np.intp)
