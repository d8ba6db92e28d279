"""What the samplers accept: exact rationals, whole numbers, and arrays of whole numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["check_draws", "check_exponents", "check_rate", "check_rational"]

_MOST = 1 << 48


def check_rational(value: Fraction, name: str) -> Fraction:
    """Return an int or a Fraction as a Fraction, and refuse every other type."""
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        raise ParameterError(name, f"is a {type(value).__name__}", "an int or a Fraction")
    return Fraction(value)


def check_rate(rate: Fraction) -> Fraction:
    """Return a positive rational."""
    rate = check_rational(rate, "rate")
    if rate <= 0:
        raise ParameterError("rate", "is out of range", "a positive rational")
    return rate


def check_draws(size: int) -> int:
    """Return how many values to draw."""
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 0 <= size <= _MOST:
        raise ParameterError("size", "is not a number of values", "an integer from 0 to 2^48")
    return int(size)


def check_exponents(exponents: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a vector of non-negative 64-bit integers."""
    if not isinstance(exponents, np.ndarray) or exponents.dtype != np.int64 or exponents.ndim != 1:
        raise ParameterError("exponents", "are of another type", "a vector of int64")
    if exponents.size and int(exponents.min()) < 0:
        raise ParameterError("exponents", "contain a negative number", "non-negative integers")
    return exponents
