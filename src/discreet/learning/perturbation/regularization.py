"""How much to regularize: rules over public numbers.

Rows are no longer than 1, so a score w x moves by about as much as a coordinate of w does. Noise in
proportion to a standard deviation s has to be small against scores of about 1; regularization must not make
scores small. The constants were measured on Adult (24,129 rows, 105 columns) at epsilon 0.1 and 1: twice or
half as much changed accuracy by about a point or less. No rule reads data, and none needs a number of rows.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import ParameterError
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.rational import Number, rational

__all__ = ["euclidean_deviation", "for_objective", "for_output", "stated_regularization"]

_STEPS = 16
_LEAST, _MOST = Fraction(1, 2**20), Fraction(2**40)


def euclidean_deviation(size: int, scale: Fraction) -> Fraction:
    """Return the standard deviation of a coordinate of noise with density ~ exp(-|x| / scale), rounded up.

    The length has the second moment size (size + 1) scale^2, and no coordinate has more of it than another.
    """
    return scale * sqrt_interval(Fraction(size + 1))[1]


def for_output(deviation: Fraction) -> Fraction:
    """Return Lambda for noise of deviation / Lambda on every coordinate of the weights.

    2 times the deviation: the score of the longest row is off by about 1/2. A rule by an expected number of
    rows n, which balances noise / Lambda and Lambda / n, was no better on Adult, with 24,129 rows or 3,000.
    """
    return _rounded(2 * deviation)


def for_objective(deviation: Fraction, least: Fraction) -> Fraction:
    """Return Lambda for noise of this deviation on every coordinate of the linear term.

    Where data say little about a weight it is noise / Lambda: 3/2 at two thirds of the deviation.
    """
    return _rounded(max(2 * deviation / 3, least))


def stated_regularization(value: Number) -> Fraction:
    """Return a Lambda that a user states."""
    stated = rational(value, "regularization", positive=True)
    if not _LEAST <= stated <= _MOST:
        raise ParameterError("regularization", "is out of range", "from 2^-20 to 2^40")
    return stated


def _rounded(value: Fraction) -> Fraction:
    """Return the next multiple of 1/16, a short number that labels can show."""
    return Fraction((value * _STEPS).__ceil__(), _STEPS)
