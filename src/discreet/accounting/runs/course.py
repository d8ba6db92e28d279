"""What a unit meets: a sequence of steps, fixed in advance, and its epsilon and delta from both sides.

A delta is taken as the fraction that it is; floats come last, each on the side that is safe.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import inf
from typing import NamedTuple

from discreet.accounting.formulas.closed_gaussian import gaussian_delta, gaussian_epsilon
from discreet.accounting.loss import Pair
from discreet.accounting.runs.composed_run import WIDTH, ComposedRun, Runs, TwoSided
from discreet.accounting.runs.failure import Chance, fails, failure, rest_epsilon, rest_pair, turned
from discreet.privacy import events
from discreet.privacy.events import Event
from discreet.privacy.rational import float_above, float_below

__all__ = ["Course", "worse"]

_LEAST_SQUARE, _MOST_SQUARE = Fraction(1, 10**300), Fraction(10**300)
_UNKNOWN = TwoSided(0.0, inf, "beyond floats", attained=False)


class _Asked(NamedTuple):
    """How exact an epsilon is asked for, what keeps work for later, and whether a lower bound is wanted."""

    width: float
    runs: Runs | None
    lower_too: bool


class Course:
    """Steps with their number of times, and pairs that stand for parallel steps.

    Parameters
    ----------
    leaves : pairs (event, times)
        Simple events.
    worst : pairs (pair, times)
        Pairs that dominate what was released in parallel.
    """

    def __init__(self, leaves: Iterable[tuple[Event, int]], worst: Sequence[tuple[Pair, int]] = ()) -> None:
        self._leaves = [(leaf, times) for leaf, times in leaves if times]
        self._worst = worst
        self._active = [(leaf, times) for leaf, times in self._leaves if rest_epsilon(leaf) != 0]
        self._directions = (0, 1) if any(_turns(leaf) for leaf, _ in self._leaves) else (0,)

    @property
    def is_known(self) -> bool:
        """Whether every step has a pair."""
        return self._fails_surely or all(
            _square(leaf) is not None or rest_pair(leaf, 0) for leaf, _ in self._active
        )

    @property
    def _fails_surely(self) -> bool:
        return any(fails(leaf, 0, "lower") == 1 for leaf, _ in self._leaves)

    def epsilon(
        self, delta: Fraction, width: float = WIDTH, runs: Runs | None = None, *, lower_too: bool = True
    ) -> TwoSided:
        """Bound epsilon at a delta from 0 to below 1, to a relative width; `runs` keeps work for later."""
        if self._fails_surely:
            return TwoSided(inf, inf, "infinite loss")
        asked = _Asked(width, runs, lower_too)
        found = [self._epsilon(delta, direction, asked) for direction in self._directions]
        return worse(found)

    def delta(self, epsilon: Fraction) -> TwoSided:
        """Bound delta at an epsilon, 0 or greater."""
        if self._fails_surely:
            return TwoSided(1.0, 1.0, "infinite loss")
        found = [self._delta(epsilon, direction) for direction in self._directions]
        return worse(found)

    def _epsilon(self, delta: Fraction, direction: int, asked: _Asked) -> TwoSided:
        least = self._failure(direction).rest(delta)[0]
        most = failure(self._leaves, direction, "lower").rest(delta)[1]
        most = max(most, least)
        above = self._rest(most, direction, asked) if most >= 0 else TwoSided(inf, inf, "infinite loss")
        if least == most:
            return self._within(above)
        below = self._rest(least, direction, asked) if least >= 0 else TwoSided(inf, inf, "infinite loss")
        return self._within(
            TwoSided(above.lower, below.upper, below.method, below.attained and above.attained)
        )

    def _within(self, found: TwoSided) -> TwoSided:
        """Use that no finite loss is beyond the sum of all epsilons."""
        largest = self._largest
        if largest is None or found.upper == inf:
            return found
        return found._replace(
            upper=min(found.upper, float_above(largest)), lower=min(found.lower, float_below(largest))
        )

    @property
    def _largest(self) -> Fraction | None:
        each = [(rest_epsilon(leaf), times) for leaf, times in self._active]
        known = [epsilon * times for epsilon, times in each if epsilon is not None]
        return sum(known, start=Fraction(0)) if len(known) == len(each) and not self._worst else None

    def _rest(self, delta: Fraction, direction: int, asked: _Asked) -> TwoSided:
        """Bound epsilon of what is left without flags."""
        if self._is_gaussian:
            square = self._squared_mu
            if delta >= 1 or square == 0:
                return TwoSided(0.0, 0.0, "closed form")
            if delta == 0:
                return TwoSided(inf, inf, "closed form")
            if not _LEAST_SQUARE < square < _MOST_SQUARE:
                return _UNKNOWN
            return TwoSided(*gaussian_epsilon(square, delta), "closed form")
        run = self._run(direction, asked.runs)
        if delta >= 1:
            return TwoSided(0.0, 0.0, "nothing was released")
        target, above = float_below(delta), float_above(delta)
        if target > 0 or delta == 0:
            return run.epsilon(target, above, asked.width, lower_too=asked.lower_too)
        return run.epsilon(0.0)._replace(lower=run.epsilon(above, width=asked.width).lower)

    def _delta(self, epsilon: Fraction, direction: int) -> TwoSided:
        largest = self._largest
        chance = self._failure(direction)
        certain = failure(self._leaves, direction, "lower").lower
        if largest is not None and epsilon >= largest:
            method = "largest loss" if chance.upper == 0 else "infinite loss"
            return TwoSided(max(float_below(certain), 0.0), float_above(chance.upper), method)
        if self._is_gaussian:
            square = self._squared_mu
            if not _LEAST_SQUARE < square < _MOST_SQUARE:
                return _UNKNOWN._replace(upper=1.0)
            rest = TwoSided(*gaussian_delta(square, epsilon), "closed form")
        else:
            rest = self._run(direction).delta(float_below(epsilon))
            if float_above(epsilon) != float_below(epsilon):
                rest = rest._replace(lower=self._run(direction).delta(float_above(epsilon)).lower)
        if chance.upper == 0:
            return rest
        upper = chance.upper + (1 - chance.upper) * Fraction(min(rest.upper, 1.0))
        lower = certain + (1 - certain) * Fraction(min(max(rest.lower, 0.0), 1.0))
        return rest._replace(lower=float_below(lower), upper=min(float_above(upper), 1.0))

    def _failure(self, direction: int) -> Chance:
        return failure(self._leaves, direction)

    @property
    def _is_gaussian(self) -> bool:
        return not self._worst and all(_square(leaf) is not None for leaf, _ in self._active)

    @property
    def _squared_mu(self) -> Fraction:
        squares = ((_square(leaf), times) for leaf, times in self._active)
        return sum((square * times for square, times in squares if square is not None), start=Fraction(0))

    def _run(self, direction: int, runs: Runs | None = None) -> ComposedRun:
        found = [(rest_pair(leaf, direction), times) for leaf, times in self._active]
        pairs = [*((pair, times) for pair, times in found if pair is not None), *self._worst]
        if len(self._directions) == 2:
            pairs = [(turned(pair, direction), times) for pair, times in pairs]
        return ComposedRun(pairs) if runs is None else runs.setdefault(tuple(pairs), ComposedRun(pairs))


def _square(leaf: Event) -> Fraction | None:
    """Return mu^2 of normal noise, None for any other event."""
    return leaf.squared_mu if isinstance(leaf, events.Gaussian | events.RoundedGaussian) else None


def _turns(leaf: Event) -> bool:
    """Return whether infinite losses are more likely in one direction than in the other."""
    return len({fails(leaf, 0), fails(leaf, 1), fails(leaf, 1, "lower")}) > 1


def worse(found: Sequence[TwoSided]) -> TwoSided:
    """Return bounds on the largest of several numbers."""
    largest = max(found, key=lambda bounds: bounds.upper)
    return largest._replace(
        lower=max(bounds.lower for bounds in found), attained=all(bounds.attained for bounds in found)
    )
