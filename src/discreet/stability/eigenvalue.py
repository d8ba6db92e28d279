"""The smallest eigenvalue of an integer matrix, and its quadratic forms, by exact arithmetic.

A float eigenvalue is off by an amount that depends on the data, and whatever is promised about
its sensitivity is off with it. Here every step is on integers (Bareiss' elimination,
in which all divisions are exact), so that what is proven about matrices holds for what is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["gram", "quadratic_form", "smallest_eigenvalue"]

Matrix = list[list[int]]


def gram(design: NDArray[np.int64], largest: int) -> Matrix:
    """Return X^T X exactly, where no row of X is longer than `largest`."""
    wide = max(len(design), 1) * largest**2 >= 2**62
    held = design.astype(object) if wide else design
    if not len(design):
        return [[0] * design.shape[1] for _ in range(design.shape[1])]
    return [[int(entry) for entry in row] for row in held.T @ held]


def smallest_eigenvalue(matrix: Matrix) -> int:
    """Return the integer part of the smallest eigenvalue of a positive semidefinite matrix of integers.

    It is the largest integer g for which matrix - g is positive semidefinite. A float guess is
    confirmed, or corrected by bisection.
    """
    if not matrix:
        return 0
    high = min(matrix[i][i] for i in range(len(matrix)))  # no eigenvalue is above a diagonal entry
    low = 0
    guess = min(max(int(np.linalg.eigvalsh(np.array(matrix, dtype=np.float64))[0]), low), high)
    if _at_least(matrix, guess):
        low = guess
        if guess == high or not _at_least(matrix, guess + 1):
            return guess
    else:
        high = guess - 1
    while low < high:
        middle = (low + high + 1) // 2
        if _at_least(matrix, middle):
            low = middle
        else:
            high = middle - 1
    return low


def _at_least(matrix: Matrix, shift: int) -> bool:
    """Return whether matrix - shift has no negative eigenvalue.

    Elimination with pivots from the diagonal: what remains is a positive multiple of a Schur
    complement. It is positive semidefinite if and only if no diagonal entry ever is negative,
    and what remains is 0 once its diagonal is.
    """
    rest = [[entry - shift * (i == j) for j, entry in enumerate(row)] for i, row in enumerate(matrix)]
    divisor = 1
    while rest:
        diagonal = [row[i] for i, row in enumerate(rest)]
        if min(diagonal) < 0:
            return False
        at = diagonal.index(max(diagonal))
        pivot = diagonal[at]
        if pivot == 0:
            return not any(entry for row in rest for entry in row)
        kept = [i for i in range(len(rest)) if i != at]
        rest = [[(pivot * rest[i][j] - rest[i][at] * rest[at][j]) // divisor for j in kept] for i in kept]
        divisor = pivot
    return True


def quadratic_form(matrix: Matrix, ridge: Fraction, point: Sequence[Fraction]) -> Fraction:
    """Return x^T (matrix + ridge)^-1 x for a positive semidefinite matrix and a positive ridge.

    With M = matrix + ridge it is -det [[M, x], [x^T, 0]] / det M, and elimination meets both
    determinants as its last two pivots.
    """
    if not matrix:
        return Fraction(0)
    unit = ridge.denominator
    for entry in point:
        unit = unit * entry.denominator // np.gcd(unit, entry.denominator, dtype=object)
    scaled = [[entry * unit for entry in row] for row in matrix]
    for i, row in enumerate(scaled):
        row[i] += int(ridge * unit)
        row.append(int(point[i] * unit))
    scaled.append([int(entry * unit) for entry in point] + [0])
    previous = divisor = 1
    for step in range(len(matrix)):
        pivot = scaled[step][step]  # positive, since M is positive definite
        for i in range(step + 1, len(scaled)):
            for j in range(step + 1, len(scaled)):
                scaled[i][j] = (pivot * scaled[i][j] - scaled[i][step] * scaled[step][j]) // divisor
        previous = divisor = pivot
    return Fraction(-scaled[-1][-1], previous * unit)
