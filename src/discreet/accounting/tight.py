"""Tight, certified accounting: epsilon and delta of any composition, from both sides.

Valid where the parameters of all steps are fixed ahead; for steps that are chosen as answers
come in, use a filter.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations, product
from math import inf, log, sqrt

import numpy as np

from discreet.accounting import renyi
from discreet.accounting.contour import Contour, Steps, peak
from discreet.accounting.interval import Interval
from discreet.accounting.loss import Pair, pair_of
from discreet.accounting.loss.gaussian import GaussianLoss, GaussianPair
from discreet.accounting.loss.law import LossLaw
from discreet.accounting.loss.pair import Side
from discreet.accounting.loss.poisson_sampled import SampledGaussianPair
from discreet.errors import ParameterError
from discreet.privacy.events import Composed, Event, Parallel
from discreet.privacy.neighbors import Change
from discreet.privacy.rational import Number, float_above, rational

__all__ = ["delta", "epsilon"]

_CELLS = 1200
_FEW_STEPS = 30
_TOLERANCE = 1e-5
_WIDTH = 9e-5
_DELTA_WIDTH = 1e-3
_ONE_STEP_CELLS = 200_000
_MOST_SCENARIOS = 64
_CLOSED_FORM = 1e-11
_SHARP = 1e-12
_FAR = 700.0

Leaves = tuple[tuple[Event, int], ...]
Paired = list[tuple[Pair, int]]


def epsilon(event: Event, *, delta: Number) -> Interval:
    """Return the epsilon of a composition at a delta, between two bounds.

    Parameters
    ----------
    event : Event
        What was run; sums, multiples and parallel parts of events.
    delta : number
        From 0 to below 1. At 0 an unbounded loss has epsilon infinity.

    Returns
    -------
    Interval
        Certified where every step has a known worst pair; otherwise the Rényi upper bound.

    Examples
    --------
    >>> from discreet.privacy import events
    >>> run = events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01) * 10_000
    >>> found = epsilon(run, delta=1e-5)
    >>> round(found.lower, 5), round(found.upper, 5), found.certified
    (0.94686, 0.94688, True)
    """
    target = float(_checked_delta(delta))
    return _worst(event, lambda parts: _epsilon(parts, target), lambda: _without_pairs(event, target))


def delta(event: Event, *, epsilon: Number) -> Interval:
    """Return the delta of a composition at an epsilon, between two bounds.

    Parameters
    ----------
    event : Event
        What was run.
    epsilon : number
        0 or greater.
    """
    loss = float(rational(epsilon, "epsilon"))
    if loss < 0:
        raise ParameterError("epsilon", "is negative", "0 or greater")
    return _worst(event, lambda parts: _delta(parts, loss), lambda: renyi.delta(event, loss))


def _checked_delta(delta: Number) -> float:
    exact = rational(delta, "delta")
    if not 0 <= exact < 1:
        raise ParameterError("delta", "is out of range", "from 0 to below 1")
    return float(exact)


Bounds = tuple[float, float, str]


def _worst(event: Event, solve: Callable[[Paired], Bounds], fallback: Callable[[], float]) -> Interval:
    """Take the worst over all ways in which a unit may sit in parallel parts."""
    if not isinstance(event, Event):
        raise ParameterError("event", "is no event", "an Event")
    scenarios = _scenarios(event)
    answers = []
    for leaves in scenarios or ():
        pairs = [(pair_of(leaf), times) for leaf, times in leaves if leaf.pure_epsilon != 0]
        known = [(pair, times) for pair, times in pairs if pair is not None]
        if len(known) < len(pairs):
            break
        answers.append(solve(known) if known else (0.0, 0.0, "nothing was released"))
    if scenarios is None or len(answers) < len(scenarios):
        return Interval(
            lower=0.0, upper=fallback(), method="Rényi", neighbors=event.neighbors, certified=False
        )
    lower, upper = max(a[0] for a in answers), max(a[1] for a in answers)
    method = max(answers, key=lambda answer: answer[1])[2]
    return Interval(lower=lower, upper=upper, method=method, neighbors=event.neighbors, certified=True)


def _without_pairs(event: Event, target: float) -> float:
    """Return the Rényi bound, or the sum of pure epsilons where that is less or floats end."""
    pure = inf if event.pure_epsilon is None else float_above(event.pure_epsilon)
    return pure if _FAR < pure < inf else min(pure, renyi.epsilon(event, target))


def _scenarios(event: Event) -> list[Leaves] | None:
    """Expand parallel parts: one sequence of leaves for each choice of parts that a unit may sit in."""
    parts: Leaves = event.parts if isinstance(event, Composed) else ((event, 1),)
    fixed: list[tuple[Event, int]] = []
    choices: list[list[Leaves]] = []
    for part, times in parts:
        if not isinstance(part, Parallel):
            fixed.append((part, times))
            continue
        relation = part.neighbors
        touched = relation.size * (1 if relation.change is Change.ADD_REMOVE else 2)
        members = [inner for inner, count in part.parts for _ in range(min(count, touched))]
        if len(members) > _MOST_SCENARIOS:
            return None
        options = []
        for chosen in combinations(members, min(touched, len(members))):
            inner_options = [_scenarios(inner) for inner in chosen]
            if any(option is None for option in inner_options):
                return None
            for picked in product(*(option for option in inner_options if option is not None)):
                options.append(tuple((leaf, n * times) for leaves in picked for leaf, n in leaves))
        choices.append(options)
    scenarios = [tuple(fixed) + sum(picked, ()) for picked in product(*choices)]
    return scenarios if len(scenarios) <= _MOST_SCENARIOS else None


def _steps(parts: Paired, direction: int, side: Side, cells: int) -> Steps:
    laws = [pair.law(direction if pair.directions == 2 else 0, side, cells) for pair, _ in parts]
    return Steps(laws, [times for _, times in parts])


def _directions(parts: Paired) -> range:
    return range(max(pair.directions for pair, _ in parts))


def _epsilon(parts: Paired, target: float) -> Bounds:
    if all(isinstance(pair, GaussianPair) for pair, _ in parts):
        return _closed(_total_mu(parts), lambda mu: _gaussian_epsilon(mu, target))
    largest = max(
        sum(times * _largest_loss(pair, direction) for pair, times in parts)
        for direction in _directions(parts)
    )
    if target == 0:
        return largest, largest, "largest loss"
    if sum(times for _, times in parts) == 1:
        return _both_sides(
            parts, _ONE_STEP_CELLS, lambda steps, side: _one_step_epsilon(steps.laws[0], target)
        )
    lower, upper, method = _narrowed(
        parts, _WIDTH, lambda steps, side, tolerance: _contour_epsilon(steps, side, target, tolerance)
    )
    return min(lower, largest), min(upper, largest), method


def _delta(parts: Paired, loss: float) -> Bounds:
    if all(isinstance(pair, GaussianPair) for pair, _ in parts):
        return _closed(_total_mu(parts), lambda mu: GaussianLoss(mu).delta(loss))
    if sum(times for _, times in parts) == 1:
        return _both_sides(
            parts, _ONE_STEP_CELLS, lambda steps, side: steps.laws[0].delta(loss) + steps.laws[0].infinity
        )
    return _narrowed(
        parts, _DELTA_WIDTH, lambda steps, side, tolerance: _contour_delta(steps, side, loss, tolerance)
    )


def _narrowed(parts: Paired, width: float, bound: Callable[[Steps, Side, float], float]) -> Bounds:
    """Smooth less, and cut finer where there is something to cut, while the interval is too wide."""
    cut = any(isinstance(pair, SampledGaussianPair) for pair, _ in parts)
    # The integral of a few steps decays slowly: finer cuts would take too long.
    few = sum(times for _, times in parts) < _FEW_STEPS
    cells, tolerance = _CELLS, _TOLERANCE
    for last in (cut and few, cut, *([False] * 3), True):
        found = _both_sides(parts, cells, partial(_at_tolerance, bound, tolerance))
        if last or found[1] - found[0] <= width * found[1]:
            return found
        cells, tolerance = 3 * cells, tolerance / 8
    return found


def _at_tolerance(
    bound: Callable[[Steps, Side, float], float], tolerance: float, steps: Steps, side: Side
) -> float:
    return bound(steps, side, tolerance)


def _both_sides(parts: Paired, cells: int, bound: Callable[[Steps, Side], float]) -> Bounds:
    method = "sum over the loss" if cells == _ONE_STEP_CELLS else "contour integral"
    lower = max(bound(_steps(parts, direction, "lower", cells), "lower") for direction in _directions(parts))
    upper = max(bound(_steps(parts, direction, "upper", cells), "upper") for direction in _directions(parts))
    return max(0.0, min(lower, upper)), max(0.0, upper), method


def _largest_loss(pair: Pair, direction: int) -> float:
    law = pair.law(direction if pair.directions == 2 else 0, "upper", 3)
    return law.largest if law.infinity == 0 else inf


def _total_mu(parts: Paired) -> float:
    return sqrt(sum(times * pair.mu**2 for pair, times in parts if isinstance(pair, GaussianPair)))


def _closed(mu: float, answer: Callable[[float], float]) -> Bounds:
    value = answer(mu)
    if value in (0.0, inf):
        return value, value, "closed form"
    return value * (1 - _CLOSED_FORM), value * (1 + _CLOSED_FORM), "closed form"


def _gaussian_epsilon(mu: float, target: float) -> float:
    if target == 0:
        return inf if mu > 0 else 0.0
    most = mu * mu / 2 + mu * sqrt(2 * log(1 / target)) + 1
    return _smallest(GaussianLoss(mu).delta, target, most)


def _smallest(delta_at: Callable[[float], float], target: float, most: float) -> float:
    """Return the least epsilon in [0, most] whose delta is at most the target, to the last bit."""
    if delta_at(0.0) <= target:
        return 0.0
    low, high = 0.0, most
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if delta_at(middle) > target else (low, middle)
    return high


def _one_step_epsilon(law: LossLaw, target: float) -> float:
    if law.infinity >= target:
        return inf
    return _smallest(law.delta, target, law.largest)


def _contour_epsilon(steps: Steps, side: Side, target: float, tolerance: float) -> float:
    """Solve bound(epsilon) = target on the logarithm of the bound."""
    left = target - steps.infinity
    if left <= 0:
        return inf
    contour = Contour(steps, log(left), tolerance)
    order = np.array([contour.order])
    guess = float(((steps.cumulants_at(order) - log(left) + peak(order)) / order)[0])
    if guess <= 0:
        return 0.0  # Chernoff's bound at this order proves it
    bound = contour.upper if side == "upper" else contour.lower

    def excess(at: float) -> float:
        """Return log(bound / target), kept finite: it falls as epsilon grows."""
        with np.errstate(all="ignore"):
            value = bound(at)[0]
        if not value > 0:
            return -_FAR if value <= 0 else _FAR
        return max(-_FAR, min(_FAR, log(value / left))) if value < inf else _FAR

    return _crossing(excess, guess, 1 / contour.order, side)


def _crossing(excess: Callable[[float], float], guess: float, unit: float, side: Side) -> float:
    """Return where a falling function crosses zero, on the safe side of it."""
    from scipy.optimize import brentq

    low = high = guess
    step = unit
    while excess(high) > 0:
        high, step = high + step, 2 * step
        if step > _FAR * max(unit, guess):  # floats have run out: say nothing that is not sure
            return inf if side == "upper" else 0.0
    step = unit
    while excess(low) <= 0:
        low, step = low - step, 2 * step
        if low <= 0:
            return 0.0
    found = float(brentq(excess, low, high, xtol=_SHARP * high, rtol=_SHARP))
    hair = 1e-11 * found
    while (excess(found) > 0) if side == "upper" else (found > 0 and excess(found) < 0):
        found, hair = (found + hair if side == "upper" else found - hair), 2 * hair
    return max(found, 0.0)


def _contour_delta(steps: Steps, side: Side, loss: float, tolerance: float) -> float:
    """Bound delta at an epsilon; the contour is laid where Chernoff's bound there is least."""
    orders = np.geomspace(1e-3, 1e7, 201)
    exponents = steps.cumulants_at(orders) - orders * loss + peak(orders)
    contour = Contour(steps, min(float(exponents.min()), -1e-3), tolerance)
    with np.errstate(all="ignore"):
        bound = (contour.upper if side == "upper" else contour.lower)(loss)[0]
    if not bound < inf:
        return 1.0 if side == "upper" else 0.0
    return min(1.0, max(0.0, bound) + steps.infinity)
