"""Finding the smallest parameter that suffices: safeguarded bisection in exact decimals."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet.errors import ParameterError

__all__ = ["smallest"]

_DIGITS = 12
_LEAST, _MOST = Fraction(1, 10**9), Fraction(10**6)


def smallest(suffices: Callable[[Fraction], bool], name: str) -> Fraction:
    """Return the smallest number of twelve significant digits for which a monotone test holds.

    The test holds for all parameters above some number, except where they are so large that a
    mechanism refuses them. `name` is the parameter to blame when nothing suffices.
    """
    lower, upper = _LEAST, _MOST
    if not _holds(suffices, upper):
        upper = next((x for x in _descending() if _holds(suffices, x)), Fraction(0))
    if upper == 0:
        raise ParameterError(name, "cannot be met by any supported parameter", "larger")
    while upper - lower > lower / 10 ** (_DIGITS + 1):
        middle = _rounded((lower + upper) / 2 if upper < 2 * lower else _between(lower, upper))
        if not lower < middle < upper:
            break
        if _holds(suffices, middle):
            upper = middle
        else:
            lower = middle
    return upper


def _holds(suffices: Callable[[Fraction], bool], candidate: Fraction) -> bool:
    try:
        return suffices(candidate)
    except ParameterError:
        return False


def _descending() -> list[Fraction]:
    """Return the parameters to try first, from large to small, a factor of two apart."""
    candidates, candidate = [], _MOST
    while candidate > _LEAST:
        candidates.append(_rounded(candidate))
        candidate /= 2
    return candidates


def _between(lower: Fraction, upper: Fraction) -> Fraction:
    """Return roughly the geometric mean, for bisection over many orders of magnitude."""
    return Fraction(float(lower) ** 0.5 * float(upper) ** 0.5)


def _rounded(x: Fraction) -> Fraction:
    """Return x to fifteen significant decimal digits."""
    return Fraction(f"{float(x):.14e}")
