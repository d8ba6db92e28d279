"""Finding the best of several: the smallest parameter that suffices, and the mechanism that errs least.

The smallest parameter is found by safeguarded bisection in exact decimals. A mechanism refuses parameters for
which its noise cannot be drawn, so that some of several cannot be built: those are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, TypeVar

from discreet.errors import ParameterError

__all__ = ["least_error", "smallest"]

Made = TypeVar("Made")

_DIGITS = 12
_LEAST, _MOST = Fraction(1, 10**9), Fraction(10**6)


def least_error(
    makers: Iterable[Callable[[], Made]], error: Callable[[Made], Any], *, built: Made | None = None
) -> Made:
    """Return, of what can be built, the one of the least error; of several such, the first.

    Parameters
    ----------
    makers : iterable of functions
        Each builds one, or refuses.
    error : function
        What is compared: numbers, or tuples of them.
    built : object, optional
        One that is there already, and comes before all others.

    Raises
    ------
    ParameterError
        The last refusal, if all refuse and nothing was there.
    """
    best: tuple[Any, Made] | None = None if built is None else (error(built), built)
    refusal: ParameterError | None = None
    for make in makers:
        try:
            made = make()
        except ParameterError as refused:
            refusal = refused
            continue
        size = error(made)
        if best is None or size < best[0]:
            best = size, made
    if best is None:
        assert refusal is not None  # noqa: S101
        raise refusal
    return best[1]


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
