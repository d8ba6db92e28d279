"""Where a falling bound on delta meets a target: the epsilon, on the safe side."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite, log

__all__ = ["crossing"]

_FAR = 700.0
_SHARP = 1e-13
_MOST_STEPS = 100

Bound = Callable[[float], tuple[float, float]]


def crossing(bound: Bound, target: float, guess: float, unit: float, *, above: bool) -> float:
    """Solve bound(epsilon) = target, by Newton's method on logarithms inside a bracket.

    Parameters
    ----------
    bound : callable
        Returns a bound on delta at an epsilon, and its slope.
    target : float
        The delta to meet, greater than 0.
    guess, unit : float
        Where to begin, and the first stride in search of a bracket.
    above : bool
        Whether to return an epsilon at which the bound is surely at most the target (infinity
        if none is found), or one at which it is surely at least the target (0 if none is found).
    """

    def excess(at: float) -> tuple[float, float]:
        value, slope = bound(at)
        if not value < inf:  # nothing is known here
            return _FAR if above else -_FAR, 0.0
        if value <= 0:
            return -_FAR, 0.0
        return max(-_FAR, min(_FAR, log(value / target))), slope / value

    if not isfinite(guess):
        return inf if above else 0.0
    low = high = guess
    stride, beyond = unit, _SHARP * abs(guess)
    found, height, slope = guess, *excess(guess)
    while height > 0:
        low, stride, beyond = found, 2 * stride, 4 * beyond
        if stride > _FAR * max(unit, guess):  # floats have run out: say nothing that is not sure
            return inf if above else max(low, 0.0)
        found += beyond - height / slope if _is_steep(height, slope, stride) else stride
        height, slope = excess(found)
    high, stride = found, unit
    while low >= high:
        found, stride = high - stride, 4 * stride
        if found <= 0:
            low = 0.0
            if excess(0.0)[0] <= 0:
                return 0.0
            break
        if excess(found)[0] > 0:
            low = found
        else:
            high = found
    low, high = _narrowed(excess, low, high)
    return high if above else max(low, 0.0)


def _is_steep(height: float, slope: float, stride: float) -> bool:
    """Return whether Newton's step can be trusted in search of a bracket."""
    return slope < 0 and isfinite(slope) and 0 < -height / slope < stride


def _narrowed(excess: Callable[[float], tuple[float, float]], low: float, high: float) -> tuple[float, float]:
    """Shrink a bracket to its last digits; the function is above zero at its low end only."""
    at, (height, slope) = high, excess(high)
    for _ in range(_MOST_STEPS):
        hair = _SHARP * max(abs(low), abs(high))
        if high - low <= 4 * hair:
            break
        step = -height / slope if slope < 0 else inf
        # Land a hair beyond the root, so that both ends of the bracket close in on it.
        at = at + step + (hair if height > 0 else -hair) if isfinite(step) else inf
        if not low + hair / 2 < at < high - hair / 2:
            at = (low + high) / 2
        height, slope = excess(at)
        low, high = (at, high) if height > 0 else (low, at)
    return low, high
