"""Calibration: the one parameter of a run that just keeps a promised epsilon and delta.

Every candidate is priced by the accountant, and only a candidate whose upper bound on epsilon was computed
and found to be within the promise is ever returned. Where the search looked, and how it got
there, cannot make the answer unsafe.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import exp, inf, isfinite, log, sqrt

from discreet.accounting.epsilon_and_delta import epsilon_within as tight_epsilon
from discreet.accounting.runs.composed_run import WIDTH
from discreet.errors import ParameterError
from discreet.privacy.events import Event
from discreet.privacy.rational import Number, float_below, rational, whole

__all__ = ["calibrate", "most_steps"]

_SHARP = 1e-7
_FAR = 50.0
_STRIDE = 4.0
_ROUGH = 0.01
_UNEVEN = 2 * _ROUGH
_HAIR = 1e-300
_BEYOND = 0.02
_FIRST = 1024


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
        Turns a positive parameter (a noise multiplier, a sampling rate, a sensitivity, a scale …) into the
        event of the run. Epsilon must be monotone in it; which way is found out.
    epsilon, delta : number
        What is promised.
    between : pair of float
        Where to look for the parameter. A rate lies between 0 and 1: say so, as in ``(1e-9, 1)``.

    Returns
    -------
    float
        The smallest parameter where more of it means less loss (noise), the largest where it
        means more (a sensitivity, a rate), to a relative 1e-7 and on the safe side: the upper bound of the
        returned parameter's epsilon is at most `epsilon`.

    Raises
    ------
    ParameterError
        If all parameters in between keep the promise, or none does; if the run refuses one of them; if
        epsilon is not monotone.

    Examples
    --------
    >>> from discreet.privacy import events
    >>> noise = calibrate(lambda sigma: events.Gaussian(noise_multiplier=sigma), epsilon=1, delta=1e-6)
    >>> round(noise, 4)
    4.2247
    """
    low, high = _ends(between)
    cost = _Cost(lambda parameter: _made(make, parameter), epsilon, delta)
    good, bad = _bracket(cost, low, high)
    rounds = 0
    while abs(log(bad / good)) > _SHARP:
        rounds += 1
        place = sqrt(good) * sqrt(bad) if rounds % 4 == 0 else _secant(cost, good, bad)
        cost.is_near = abs(log(bad / good)) < _ROUGH
        good, bad = (place, bad) if cost(place) <= 0 else (good, place)
    cost.is_near = False
    # One more look, where the promise should be kept with ease.
    cost(min(good * _STRIDE, high) if good > bad else max(good / _STRIDE, low))
    _check_monotone(cost)
    cost.is_near = True
    short = _shortest(good, bad)
    return short if cost(short) <= 0 else good


def most_steps(
    make: Event | Callable[[int], Event], *, epsilon: Number, delta: Number, most: int = 10**12
) -> int:
    """Return the largest number of steps for which a run is certified to keep (epsilon, delta).

    Parameters
    ----------
    make : Event or callable
        One step; or a function that turns a number of steps into the event of the run.
    epsilon, delta : number
        What is promised.
    most : int
        How far to look.

    Returns
    -------
    int
        A number whose upper bound on epsilon is at most `epsilon`, while that of one more step is not.
        0 where one step is too many.

    Raises
    ------
    ParameterError
        If `most` steps keep the promise; if none at all break it; if fewer steps cost more.

    Examples
    --------
    >>> from discreet.privacy import events
    >>> most_steps(events.Laplace(epsilon=0.1), epsilon=1, delta=0)
    10
    """
    limit = whole(most, "most", least=1)
    cost = _Cost(_steps(make), epsilon, delta)
    good, bad = 0, min(_FIRST, limit)
    while cost(bad) <= 0:
        good = bad
        if good == limit:
            raise ParameterError(
                "most", "is a number of steps that still keeps the promise", "larger, if that many are meant"
            )
        bad = min(8 * bad, limit)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if cost(middle) <= 0 else (good, middle)
    if good == 0 and not isinstance(make, Event) and cost(0) > 0:
        raise ParameterError("make", "breaks the promise without a single step", "a cheaper run")
    _check_monotone(cost)
    return good


class _Cost:
    """log(upper bound on epsilon / promised epsilon) of a parameter: at most 0 where the promise is kept.

    Each parameter is priced once; where it is known to be next to the promise, not roughly first.
    """

    def __init__(self, make: Callable[[float], Event], epsilon: Number, delta: Number) -> None:
        self._make, self._delta = make, delta
        self._target = float_below(rational(epsilon, "epsilon", positive=True))
        self.seen: dict[float, float] = {}
        self.is_near = False

    def __call__(self, parameter: float) -> float:
        if parameter not in self.seen:
            upper = self._upper(self._make(parameter))
            if upper <= self._target:
                cost = max(-_FAR, log(upper / self._target)) if upper > 0 else -_FAR
            else:
                cost = min(_FAR, max(log(upper / self._target), _HAIR)) if upper < inf else _FAR
            self.seen[parameter] = cost
        return self.seen[parameter]

    def _upper(self, event: Event) -> float:
        """Bound epsilon from above, roughly where that tells already that it is far from the promise."""
        rough = self._within(event, _ROUGH) if not self.is_near else self._target
        if not 1 - _UNEVEN <= rough / self._target <= 1 + _UNEVEN:
            return rough
        return self._within(event, WIDTH)

    def _within(self, event: Event, width: float) -> float:
        return tight_epsilon(event, delta=self._delta, width=width, lower_too=False).upper


def _made(make: Callable[[float], Event], parameter: float) -> Event:
    if not callable(make):
        raise ParameterError("make", "is not a function", "a function from a number to an Event")
    try:
        made = make(parameter)
    except ParameterError as error:
        hint = "; for whole numbers of steps use most_steps" if error.parameter == "times" else ""
        problem = f"holds parameters that the run refuses ({error.parameter} {error.problem})"
        raise ParameterError("between", problem, f"narrower{hint}") from error
    return _event(made)


def _steps(make: Event | Callable[[int], Event]) -> Callable[[float], Event]:
    if isinstance(make, Event):
        return lambda steps: make * int(steps)
    if not callable(make):
        raise ParameterError("make", "is neither an event nor a function", "one step, or a function of steps")
    return lambda steps: _event(make(int(steps)))


def _event(made: object) -> Event:
    if not isinstance(made, Event):
        raise ParameterError(
            "make", "made something that is not an event", "a function that returns an Event"
        )
    return made


def _ends(between: object) -> tuple[float, float]:
    allowed = "two positive numbers, the smaller first"
    try:
        low, high = (float(end) for end in between)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise ParameterError("between", "is not a pair of numbers", allowed) from None
    if not (0 < low < high and isfinite(high)):
        raise ParameterError("between", "is not an interval", allowed)
    return low, high


def _bracket(cost: _Cost, low: float, high: float) -> tuple[float, float]:
    """Return a parameter that keeps the promise and one that breaks it.

    From the middle outward, the way on which the cost changes in the right direction: the ends of
    the interval are often absurd, and slow to price.
    """
    stride = _STRIDE
    up = down = sqrt(low) * sqrt(high)
    kept = cost(up) <= 0
    while True:
        rises = _slope(cost)
        upward = rises >= 0 if kept else rises <= 0
        if upward and not (rises == 0 and up == high):
            last, up = up, min(up * stride, high)
            place = up
        else:
            last, down = down, max(down / stride, low)
            place = down
        if place == last:
            break
        if (cost(place) <= 0) != kept:
            return (last, place) if kept else (place, last)
        stride *= 2
    if kept:
        raise ParameterError(
            "between", "holds only parameters that keep the promise, as far as seen", "wider"
        )
    raise ParameterError("between", "holds no parameter that is seen to keep the promise", "wider")


def _slope(cost: _Cost) -> int:
    """Return whether the cost rises (1) or falls (-1) over what was seen so far; 0 if neither."""
    places = sorted(cost.seen)
    difference = cost.seen[places[-1]] - cost.seen[places[0]]
    return (difference > 0) - (difference < 0)


def _secant(cost: _Cost, good: float, bad: float) -> float:
    """Return about where the cost is 0: in logarithms, most costs are nearly straight lines.

    The line goes through the two places with the least costs of all. Look a little beyond its zero, seen
    from the nearer end, so that the other end closes in.
    """
    near, next_ = sorted(cost.seen, key=lambda place: abs(cost.seen[place]))[:2]
    fall = cost(near) - cost(next_)
    width = log(bad / good)
    zero = log(near / good) - cost(near) * log(near / next_) / fall if fall else inf
    if not 0 < zero / width < 1:
        zero = -cost(good) / (cost(bad) - cost(good)) * width
    from_good = abs(cost(good)) <= abs(cost(bad))
    gap = abs(zero) if from_good else abs(width - zero)
    beyond = max(0.45 * _SHARP, _BEYOND * gap) / abs(width)
    edge = min(0.45, 0.9 * _SHARP / abs(width))
    share = zero / width + (beyond if from_good else -beyond)
    return good * exp(width * min(max(share, edge), 1 - edge))


def _shortest(good: float, bad: float) -> float:
    """Return the number with the fewest digits between two numbers that are close to each other."""
    for digits in range(1, 17):
        short = float(f"{(good + bad) / 2:.{digits}g}")
        if min(good, bad) < short < max(good, bad):
            return short
    return good


def _check_monotone(cost: _Cost) -> None:
    """Refuse a cost that rises here and falls there, beyond what the width of bounds explains."""
    values = [cost.seen[parameter] for parameter in sorted(cost.seen)]
    steps = [after - before for before, after in pairwise(values)]
    if any(step > _UNEVEN for step in steps) and any(step < -_UNEVEN for step in steps):
        raise ParameterError("make", "costs more here and less there as its parameter grows", "monotone")
