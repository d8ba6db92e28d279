"""Between real numbers and integers: a public grid of a power of two.

A float enters as the nearest multiple of the grid (halves upward), moves in integers, and
leaves as an exact multiple of the grid. The grid comes from public parameters only, so no
low-order bit of a release depends on the data. Values beyond 2^52 steps are clamped on
entry and results beyond 2^53 steps on exit, which keeps every result representable.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.parameters import check_rational

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["check_grid", "from_grid", "rounded_l1", "rounded_squared_l2", "steps_of", "suitable_grid"]

LARGEST_STEPS = 1 << 52

_LEAST_EXPONENT, _LARGEST_EXPONENT = -1000, 900


def check_grid(grid: Fraction) -> Fraction:
    """Return a grid that floats can be rounded to, or refuse it."""
    grid = check_rational(grid, "grid")
    exponent = grid.numerator.bit_length() - grid.denominator.bit_length()
    if grid <= 0 or not _LEAST_EXPONENT <= exponent <= _LARGEST_EXPONENT or grid != Fraction(2) ** exponent:
        raise ParameterError("grid", "is not usable", "a power of two from 2^-1000 to 2^900")
    return grid


def suitable_grid(resolution: Fraction) -> Fraction:
    """Return the largest power of two that is at most `resolution`."""
    resolution = check_rational(resolution, "resolution")
    if resolution <= 0:
        raise ParameterError("resolution", "is not positive", "a positive rational")
    exponent = resolution.numerator.bit_length() - resolution.denominator.bit_length()
    grid = Fraction(2) ** exponent
    return check_grid(grid if grid <= resolution else grid / 2)


def steps_of(values: NDArray[np.float64], grid: Fraction) -> NDArray[np.int64]:
    """Round finite floats to grid steps, halves upward, clamped to 2^52 steps.

    Rounding is monotone and commutes with adding a multiple of the grid, so two numbers at
    distance D land at most ceil(D / grid) steps apart. Scaling by a power of two within the clamp
    and the floor are exact, and the difference of a number and its floor is compared with 1/2
    correctly: it is exact, except for numbers just below zero, whose difference is far above 1/2.
    (Where scaling underflows, the number is far below half a step and lands on 0.)
    """
    exponent = grid.numerator.bit_length() - grid.denominator.bit_length()
    bound = float(LARGEST_STEPS)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.clip(np.ldexp(values, -exponent), -bound, bound)
    whole = np.floor(scaled)
    rounded: NDArray[np.int64] = (whole + (scaled - whole >= 0.5)).astype(np.int64)
    return rounded


def from_grid(steps: NDArray[np.int64], grid: Fraction) -> NDArray[np.float64]:
    """Return the floats that grid steps stand for, clamped to 2^53 steps: no rounding occurs."""
    exponent = grid.numerator.bit_length() - grid.denominator.bit_length()
    clamped = np.clip(steps, -2 * LARGEST_STEPS, 2 * LARGEST_STEPS)
    return np.ldexp(clamped.astype(np.float64), exponent)


def rounded_l1(sensitivity: Fraction, grid: Fraction, size: int) -> Fraction:
    """Bound the L1 distance of two rounded vectors whose L1 distance is at most `sensitivity`.

    In steps: coordinates a_i >= 0 with sum at most A land at most ceil(a_i) apart, and
    sum ceil(a_i) < A + size, an integer, hence at most ceil(A) + size - 1.
    """
    return ((Fraction(sensitivity) / grid).__ceil__() + size - 1) * grid


def rounded_squared_l2(squared_sensitivity: Fraction, grid: Fraction, size: int) -> Fraction:
    """Bound the squared L2 distance of two rounded vectors in the same way.

    In steps: one coordinate lands at most ceil(A) apart. Several land at most
    A + sqrt(size) apart, by the triangle inequality, and the square of a distance
    between integer vectors is an integer.
    """
    squared = Fraction(squared_sensitivity) / grid**2
    if size == 1:
        root = isqrt((squared.numerator - 1) // squared.denominator) + 1 if squared > 0 else 0
        return root**2 * grid**2
    # (A + sqrt d)^2 = A^2 + d + 2 sqrt(A^2 d), rounded up.
    crossed = 4 * squared * size
    root = isqrt(crossed.numerator // crossed.denominator) + 1
    return (squared + size + root).__floor__() * grid**2
