"""The variance of a prediction by linear regression at a public point, with a smooth bound on its change."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Change, Neighbors
from discreet.privacy.rational import Number, rational, whole
from discreet.stability.eigenvalue import gram, quadratic_form, smallest_eigenvalue
from discreet.stability.entries import exact_integers
from discreet.stability.grid import rounded_to_grid, whole_steps
from discreet.stability.profile import Profile, check_step

__all__ = ["prediction_variance", "scaled_rows"]

_MOST_COLUMNS = 64
_MOST = 2**31
_FARTHEST = 2**53
"""In steps: where entries of a real design are clipped, before rows are shortened to `largest`."""
_LARGEST = Fraction(2**256)


def scaled_rows(design: NDArray[Any], largest: int) -> NDArray[np.int64]:
    """Return integer rows, each no longer than `largest`: longer ones are scaled, and rounded toward 0."""
    wide = design.dtype == object or np.abs(design.astype(np.float64)).max(initial=0.0) > 2**28
    held = design.astype(object) if wide else design.copy()
    squares = (held**2).sum(axis=1)
    for index in np.flatnonzero(np.asarray(squares > largest**2, dtype=bool)):
        length = isqrt(int(squares[index]) - 1) + 1
        row = [int(entry) for entry in held[index]]
        held[index] = [abs(entry) * largest // length * (1 if entry > 0 else -1) for entry in row]
    return held.astype(np.int64)


def prediction_variance(
    design: ArrayLike,
    point: Sequence[Number],
    *,
    largest: Number,
    ridge: Number,
    relation: Neighbors = ADD_REMOVE_PERSON,
    rows: int = 1,
    step: Number | None = None,
) -> Profile:
    """Return x0^T (X^T X + ridge)^-1 x0, with a smooth bound on its local sensitivities.

    Up to the variance of the errors it is the variance of the prediction at x0: small where the
    data have much to say about x0.

    Parameters
    ----------
    design : integers, or numbers with a `step`; one row for each row of the data
        X, on a public grid. Rows longer than `largest` are shortened.
    point : numbers
        x0, public, on the same scale.
    largest : int, or number with a `step`
        The largest Euclidean length of a row, public.
    ridge : number
        Positive and public, from 2^-256 to 2^256. It makes every design regular, the empty one too.
    relation : Neighbors
        What one step changes.
    rows : int
        How many rows one person has at most; under add/remove of persons only.
    step : number, optional
        The public grid of a design of real numbers, of which `largest` is a multiple: every entry is rounded
        to the nearest multiple, and what is not a number is 0. Point, `largest` and ridge stay in the
        units of the data.

    Returns
    -------
    Profile
        The value is exact. With g = ridge + the integer part of the smallest eigenvalue of X^T X,
        T = (k + 1) rows and B = `largest`, it is bounded at distance k by q_k r B^2 / (g_k + r B^2), where
        g_k = max(ridge, g - T B^2) and q_k = min(q g / (g - T B^2), |x0|^2 / g_k)
        (proof: docs/proofs/prediction_variance.md).

    Examples
    --------
    >>> from discreet.stability.prediction_variance import prediction_variance
    >>> prediction_variance([[3], [4]], [5], largest=10, ridge=1).value
    Fraction(25, 26)
    >>> prediction_variance([[1.5], [2.04]], [2.5], largest=5, ridge=0.25, step=0.5).value
    Fraction(25, 26)
    """
    if step is not None:
        unit = rational(step, "step", positive=True)
        return prediction_variance(
            rounded_to_grid(design, "design", unit, (-_FARTHEST, _FARTHEST), missing=0),
            [rational(entry, "point") / unit for entry in point],
            largest=whole_steps(largest, unit, "largest"),
            ridge=rational(ridge, "ridge", positive=True) / unit**2,
            relation=relation,
            rows=rows,
        )
    each = check_step(relation, rows)
    bound = whole(largest, "largest", least=1, most=_MOST)
    extra = rational(ridge, "ridge", positive=True)
    if not 1 / _LARGEST <= extra <= _LARGEST:
        raise ParameterError("ridge", "is out of range", "from 2^-256 to 2^256")
    place = [rational(entry, "point") for entry in point]
    if any(abs(entry) > _LARGEST for entry in place):
        raise ParameterError("point", "is out of range", "numbers of at most 2^256")
    if not 1 <= len(place) <= _MOST_COLUMNS:
        raise ParameterError("point", "has no coordinate, or too many", f"from 1 to {_MOST_COLUMNS} numbers")
    held = exact_integers(design, "design")
    if not held.size:
        held = np.zeros((0, len(place)), np.int64)
    if held.ndim != 2 or held.shape[1] != len(place):
        raise ParameterError(
            "design", "has another number of columns than the point", "one for each coordinate"
        )
    matrix = gram(scaled_rows(held, bound), bound)
    value = quadratic_form(matrix, extra, place)
    least = smallest_eigenvalue(matrix)
    floor = extra + least
    square, length = bound**2, sum(entry**2 for entry in place)
    constant = relation.change is Change.REPLACE and not len(held)

    def sensitivity(distance: int) -> Fraction:
        if constant:
            return Fraction(0)
        left = floor - (distance + 1) * each * square
        held_up = max(left, extra)
        form = length / held_up
        if left > 0:
            form = min(form, value * floor / left)
        return form * each * square / (held_up + each * square)

    return Profile(
        value=value,
        reach=-(
            -floor // (each * square)
        ),  # from there on every row may be gone, and the ridge alone is left
        sensitivity=sensitivity,
        relation=relation,
        rows=each,
        exact_to=-1,
    )
