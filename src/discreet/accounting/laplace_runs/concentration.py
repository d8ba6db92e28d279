"""A lower bound on epsilon for runs of any length: losses gather around their mean."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, expm1, fsum, hypot, inf, log, log1p, sqrt

__all__ = ["least_epsilon"]

_SMALL = 1e-3
_ROUNDING = 1e-12


def least_epsilon(parts: Iterable[tuple[float, int]], target: float) -> float:
    """Bound the epsilon of Laplace steps from below at a delta.

    A step's loss lies in [-e, e] and has the mean m = e - 1 + exp(-e). By Hoeffding's inequality the sum
    falls short of its mean M by more than s with probability at most h = exp(-s^2 / (2 sum n e^2)), and
    where it does not, it exceeds M - s - t by t. So delta(M - s - t) >= (1 - h)(1 - exp(-t)), which with
    h = (1 - delta) / 2 and exp(-t) = (1 - delta) / (1 + delta) is delta.

    Parameters
    ----------
    parts : iterable of (float, int)
        The epsilon of each step, and how often it is run.
    target : float
        The delta, above 0 and below 1.
    """
    if target >= 1:
        return 0.0
    steps = list(parts)
    mean = fsum(n * _mean(loss) for loss, n in steps)
    short = hypot(*(loss * sqrt(n) for loss, n in steps)) * sqrt(-2 * log((1 - target) / 2))
    beyond = log1p(target) - log1p(-target)
    found = mean * (1 - _ROUNDING) - (short + beyond) * (1 + _ROUNDING)
    return found if 0 < found < inf else 0.0


def _mean(loss: float) -> float:
    """Return the mean loss of a step, or less: e - 1 + exp(-e) >= e^2 / 2 - e^3 / 6."""
    if loss < _SMALL:
        return loss**2 * (0.5 - loss / 6)
    return loss + expm1(-loss) if loss < 1 else loss - 1 + exp(-loss)
