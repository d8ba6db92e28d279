"""Calibration: the parameter of a run that just keeps a promised epsilon and delta."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log

from discreet.accounting.tight import epsilon as tight_epsilon
from discreet.errors import ParameterError
from discreet.privacy.events import Event
from discreet.privacy.rational import Number, rational

__all__ = ["calibrate"]

_SHARP = 1e-7


def calibrate(
    make: Callable[[float], Event],
    *,
    epsilon: Number,
    delta: Number,
    between: tuple[float, float] = (1e-4, 1e4),
) -> float:
    """Return the extreme parameter for which a run is certified to keep (epsilon, delta).

    Parameters
    ----------
    make : callable
        Turns a positive parameter into the event of the run. Epsilon must be monotone in it.
    epsilon, delta : number
        What is promised.
    between : pair of float
        Where to look for the parameter.

    Returns
    -------
    float
        The smallest parameter where more of it means less loss (noise), the largest where it
        means more (steps, a sampling rate), to a relative 1e-7 and on the safe side: the
        upper bound of the returned parameter's epsilon is at most `epsilon`.

    Examples
    --------
    >>> from discreet.privacy import events
    >>> noise = calibrate(lambda sigma: events.Gaussian(noise_multiplier=sigma), epsilon=1, delta=1e-6)
    >>> round(noise, 4)
    4.2247
    """
    target = float(rational(epsilon, "epsilon", positive=True))

    def keeps(parameter: float) -> bool:
        return tight_epsilon(make(parameter), delta=delta).upper <= target

    low, high = between
    if not 0 < low < high:
        raise ParameterError("between", "is no interval", "two positive numbers, the smaller first")
    at_low, at_high = keeps(low), keeps(high)
    if at_low == at_high:
        problem = "holds parameters that all keep the promise" if at_low else "holds no parameter that does"
        raise ParameterError("between", problem, "wider")
    good, bad = (low, high) if at_low else (high, low)
    while abs(log(good / bad)) > _SHARP:
        middle = exp((log(good) + log(bad)) / 2)
        if keeps(middle):
            good = middle
        else:
            bad = middle
    return good
