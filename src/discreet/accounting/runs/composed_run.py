"""Bounds on epsilon and delta for steps whose worst pairs are known, by the first method that applies.

- all Gaussian, or one Gaussian step on a sample: a closed form;
- Gaussian steps on samples, up to some thousands: the law of their sum on a lattice;
- one step, or finite losses with few distinct sums: a sum over the loss;
- all Laplace: a sum over atoms and a contour integral of the rest;
- else the contour integral, on finer and finer cells until the interval is narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import exp, fsum, inf, log, log1p, sqrt
from typing import NamedTuple

import numpy as np

from discreet.accounting.contour.contour import Contour, Line, LossComposition, choose_line, peak
from discreet.accounting.contour.convolution import convolved
from discreet.accounting.contour.root_search import crossing
from discreet.accounting.formulas.closed_gaussian import (
    gaussian_delta,
    gaussian_epsilon_above,
    gaussian_epsilon_below,
)
from discreet.accounting.laplace_runs import LaplaceRun
from discreet.accounting.lattice_runs import LatticeRun
from discreet.accounting.loss import Pair
from discreet.accounting.loss.gaussian import GaussianPair
from discreet.accounting.loss.laplace import LaplacePair
from discreet.accounting.loss.law import LossLaw
from discreet.accounting.loss.mixture import MOST_SHIFT
from discreet.accounting.loss.pair import Side
from discreet.accounting.loss.poisson_sampled import SampledGaussianPair
from discreet.accounting.loss.tilted import UNIT
from discreet.accounting.runs.one_sample import scaled_delta, step_epsilon, whole_epsilon

__all__ = ["WIDTH", "ComposedRun", "Runs", "TwoSided"]

_FEW_STEPS = 300
_MANY_STEPS_DETAIL = (1200, 3e-6)
_FEW_STEPS_DETAIL = (6000, 1e-5)
_COARSER = 4
_SPARE = 1e-7
_LOOSE = 0.03
_LEAST_EXPONENT = -80.0
_CLOSE = 1e-6
_EXACT_TOLERANCE = 1e-10
_LATTICE_TOLERANCE = 1e-6
WIDTH = 9e-5
"""The relative width of epsilon that is aimed at."""
_DELTA_WIDTH = 1e-3
_ROUNDS = 3
_LEAST_DELTA = 1e-36  # below, what lies outside all cells outweighs what is in them
_MOST_FINER = 100.0
_MOST_CELLS = 120_000
_ONE_STEP_CELLS = 60_000
_ROUNDED = Fraction(1, 2**46)
"""More than the square of a rounded mu is off by, of itself: 2^-52 for each root, quotient and square."""
_TINY = 5e-324
_SUMMED = 2.0**-47
_ORDERS = np.geomspace(1e-3, 1e7, 201)
_FARTHEST = 650.0


class TwoSided(NamedTuple):
    """Two bounds, how they were found, and whether neighbors are known that attain the upper one."""

    lower: float
    upper: float
    method: str
    attained: bool = True


class ComposedRun:
    """Steps with known worst pairs, each with the number of times it is run, fixed in advance."""

    def __init__(self, parts: Sequence[tuple[Pair, int]]) -> None:
        self._parts = parts
        self._directions = range(max((pair.directions for pair, _ in parts), default=0))
        self._is_exact = all(pair.exact for pair, _ in parts)
        self._is_attained = all(pair.attained for pair, _ in parts)
        self._is_gaussian = all(isinstance(pair, GaussianPair) for pair, _ in parts)
        self._total = sum(times for _, times in parts)
        laplace = [(pair.epsilon, times) for pair, times in parts if isinstance(pair, LaplacePair)]
        self._laplace = LaplaceRun(laplace) if len(laplace) == len(parts) else None
        self._lattice = _lattice_run(parts)
        self._sample = (
            parts[0][0] if self._total == 1 and isinstance(parts[0][0], SampledGaussianPair) else None
        )

    def epsilon(
        self, target: float, above: float | None = None, width: float = WIDTH, *, lower_too: bool = True
    ) -> TwoSided:
        """Bound epsilon at a delta that lies from `target` to `above`, by default at the target itself.

        A relative width larger than the usual one may be asked for, or no bound from below, where it saves
        time.
        """
        above = target if above is None else above
        if self._total == 0:
            return TwoSided(0.0, 0.0, "nothing was released")
        if self._is_gaussian:
            return _closed_epsilon(self._mu, target, above)
        largest = self._largest("upper") * (1 + 8 * UNIT)
        if target == 0:
            lower = self._largest("lower") * (1 - 8 * UNIT)
            return TwoSided(lower, largest, "largest loss", self._is_attained)
        if self._sample:
            return self._sample_epsilon(self._sample, target, above)
        if self._lattice and (found := self._lattice.epsilon(target, above, width, lower_too=lower_too)):
            return TwoSided(*found, "lattice", self._is_attained)
        if sums := self._sums():
            summed = partial(_summed_epsilon, steps=self._total)
            lower = max(summed(law, "lower", target=above) for law in sums["lower"])
            upper = max(summed(law, "upper", target=target) for law in sums["upper"])
            return TwoSided(min(lower, upper), min(upper, largest), "sum over the loss", self._is_attained)
        found = self._laplace.epsilon(target, above) if self._laplace else None
        lower, upper = found or self._narrowed(
            WIDTH, lambda *detail: self._contour_epsilon(target, above, *detail)
        )
        lower = max(min(lower, largest), self._from_largest(above))
        if self._laplace:
            lower = max(lower, self._laplace.least(above))
        return TwoSided(min(lower, upper), min(upper, largest), "contour integral", self._is_attained)

    def delta(self, epsilon: float) -> TwoSided:
        """Bound delta at an epsilon."""
        if self._total == 0:
            return TwoSided(0.0, 0.0, "nothing was released")
        if self._is_gaussian:
            return _closed_delta(self._mu, epsilon)
        if self._sample:
            return self._sample_delta(self._sample, epsilon)
        if self._lattice and (found := self._lattice.delta(epsilon, _DELTA_WIDTH)):
            return TwoSided(*found, "lattice", self._is_attained)
        if sums := self._sums():
            summed = partial(_summed_delta, epsilon=epsilon, steps=self._total)
            lower, upper = (max(summed(law, side) for law in sums[side]) for side in sums)
            return TwoSided(lower, min(1.0, upper), "sum over the loss", self._is_attained)
        found = self._laplace.delta(epsilon) if self._laplace else None
        lower, upper = found or self._narrowed(
            _DELTA_WIDTH, lambda *detail: self._contour_delta(epsilon, *detail)
        )
        return TwoSided(lower, upper, "contour integral", self._is_attained)

    @staticmethod
    def _sample_epsilon(pair: SampledGaussianPair, target: float, above: float) -> TwoSided:
        """Bound epsilon of one sampled Gaussian step by that of the step itself."""
        less, more = _squares(1 / pair.sigma)
        most, least = scaled_delta(above, pair.rate, above=True), scaled_delta(target, pair.rate, above=False)
        lower = gaussian_epsilon_below(less, Fraction(most)) if most < 1 else 0.0
        upper = gaussian_epsilon_above(more, Fraction(least)) if least < 1 else 0.0
        return TwoSided(
            step_epsilon(lower, pair.rate, above=False),
            step_epsilon(upper, pair.rate, above=True),
            "closed form",
        )

    @staticmethod
    def _sample_delta(pair: SampledGaussianPair, epsilon: float) -> TwoSided:
        """Bound delta of one sampled Gaussian step by that of the step itself."""
        less, more = _squares(1 / pair.sigma)
        most, least = (whole_epsilon(epsilon, pair.rate, above=above) for above in (True, False))
        lower = gaussian_delta(less, Fraction(most))[0] * pair.rate if most < inf else 0.0
        upper = gaussian_delta(more, Fraction(least))[1] * pair.rate if least < inf else 0.0
        return TwoSided(lower * (1 - 4 * UNIT), upper * (1 + 4 * UNIT) or _TINY, "closed form")

    @property
    def _mu(self) -> float:
        return sqrt(sum(times * pair.mu**2 for pair, times in self._parts if isinstance(pair, GaussianPair)))

    def _largest(self, side: Side) -> float:
        """Return the largest loss in any direction."""
        largest = 0.0
        for direction in self._directions:
            steps = self._steps(direction, side, 3)
            if steps.infinity > 0:
                return inf
            losses = (n * law.largest for law, n in zip(steps.laws, steps.counts, strict=True))
            largest = max(largest, fsum(losses))
        return largest

    def _from_largest(self, target: float) -> float:
        """Bound epsilon from below by the largest loss alone: delta >= p (1 - exp(epsilon - largest))."""
        found = 0.0
        for direction in self._directions:
            steps = self._steps(direction, "lower", 3)
            logs = [
                n * log(law.top) if law.top else -inf for law, n in zip(steps.laws, steps.counts, strict=True)
            ]
            if -fsum(logs) > _FARTHEST:
                continue
            share = target * exp(-fsum(logs)) * (1 + _SUMMED * (64 + self._total))
            if share < 1:
                losses = (n * law.largest for law, n in zip(steps.laws, steps.counts, strict=True))
                found = max(found, (fsum(losses) + log1p(-share)) * (1 - 8 * UNIT))
        return found

    def _steps(self, direction: int, side: Side, cells: int, spare: float = 0.0) -> LossComposition:
        """Return the losses in one direction; those beyond a probability that can be spared are cut off.

        Tails far beyond those that matter would make the integral's period long and its terms large.
        """
        laws = []
        for pair, _ in self._parts:
            law = pair.law(direction if pair.directions == 2 else 0, side, cells)
            laws.append(law if pair.exact else law.capped(spare / self._total, above=side == "upper"))
        return LossComposition(laws, [times for _, times in self._parts])

    def _sums(self) -> dict[Side, list[LossLaw]] | None:
        """Return the law of the whole loss in every direction, where it can be written out."""
        if self._total > 1 and not all(pair.finite for pair, _ in self._parts):
            return None
        sums: dict[Side, list[LossLaw]] = {"lower": [], "upper": []}
        for side, found in sums.items():
            for direction in self._directions:
                steps = self._steps(direction, side, _ONE_STEP_CELLS)
                law = steps.laws[0] if self._total == 1 else convolved(steps, side)
                if law is None:
                    return None
                found.append(law)
        return sums

    def _narrowed(
        self, width: float, bounds: Callable[[int, float], tuple[float, float]]
    ) -> tuple[float, float]:
        """Cut finer and smooth less while the interval is too wide."""
        cells, tolerance = self._detail()
        for _ in range(_ROUNDS):
            lower, upper = bounds(cells, tolerance)
            if upper - lower <= width * upper or not self._is_attained or upper <= _LEAST_DELTA:
                break
            # Both errors are of second order: in the width of cells, and in the size of the smoothing step.
            finer = min(max(2 * (upper - lower) / (width * upper), 4.0), _MOST_FINER)
            cells, tolerance = min(int(cells * sqrt(finer)), _MOST_CELLS), tolerance / finer
        return lower, upper

    def _detail(self) -> tuple[int, float]:
        """Return how many cells to begin with, and how much smoothing may cost."""
        if not self._is_exact:
            return _FEW_STEPS_DETAIL if self._total < _FEW_STEPS else _MANY_STEPS_DETAIL
        smooth = all(isinstance(pair, GaussianPair | LaplacePair) for pair, _ in self._parts)
        return 0, _EXACT_TOLERANCE if smooth else _LATTICE_TOLERANCE

    def _contour_epsilon(
        self, target: float, above: float, cells: int, tolerance: float
    ) -> tuple[float, float]:
        lower = upper = 0.0
        line = None
        for direction in self._directions:
            if line and self._is_less(direction, target, upper, cells // _COARSER, line):
                continue
            steps = self._steps(direction, "upper", cells, _SPARE * target)
            left = target - steps.infinity
            if left <= 0:
                return lower, inf
            line = choose_line(steps.rough(), log(left), tolerance)
            if _chernoff(steps, line.order, log(left)) <= 0:
                continue
            contour = Contour(steps, line)
            found = crossing(contour.upper, left, line.guess, 1 / line.order, above=True)
            if not contour.suits(found):
                line = choose_line(steps.rough(), log(left), tolerance, found)
                contour = Contour(steps, line)
                found = crossing(contour.upper, left, line.guess, 1 / line.order, above=True)
            upper = max(upper, found)
            if not self._is_exact:
                steps = self._steps(direction, "lower", cells, _SPARE * target)
                contour = Contour(steps, line)
            left = above - steps.infinity
            near = found if found < inf else line.guess
            unit = max(min(_CLOSE * near, 1 / line.order), 1e-300)
            lower = max(lower, crossing(contour.lower, left, near, unit, above=False))
        return min(lower, upper), upper

    def _is_less(self, direction: int, target: float, epsilon: float, cells: int, line: Line) -> bool:
        """Return whether coarse cells show already that a direction needs no more than this epsilon."""
        steps = self._steps(direction, "upper", cells, _SPARE * target)
        left = target - steps.infinity
        smoother = replace(line, smoothing=min(_COARSER * line.smoothing, 1.0))
        return left > 0 and Contour(steps, smoother).upper(epsilon)[0] <= left

    def _contour_delta(self, epsilon: float, cells: int, tolerance: float) -> tuple[float, float]:
        lower = upper = 0.0
        for direction in self._directions:
            steps = self._steps(direction, "upper", cells)
            exponents = steps.rough().cumulants_at(_ORDERS) - _ORDERS * epsilon + peak(_ORDERS)
            chernoff = float(np.nanmin(exponents))
            if chernoff < _LEAST_EXPONENT:
                order = float(_ORDERS[int(np.nanargmin(exponents))])
                upper = max(upper, steps.infinity + exp(_exponent(steps, order, epsilon)))
                continue
            bound = exp(min(chernoff, 0.0))
            for _ in range(2):  # the second time with a far better idea of delta
                spare = _SPARE * bound
                steps = self._steps(direction, "upper", cells, spare)
                line = choose_line(steps.rough(), min(log(bound), -1e-3), tolerance, epsilon)
                contour = Contour(steps, line)
                found = contour.upper(epsilon)[0] + steps.infinity
                if not _LOOSE * bound > found > 0:
                    break
                bound = found
            upper = max(upper, found if found <= 1 else 1.0)
            if not self._is_exact:
                steps = self._steps(direction, "lower", cells, spare)
                contour = Contour(steps, line)
            bound = contour.lower(epsilon)[0] + steps.infinity
            lower = max(lower, bound if bound <= upper else 0.0)
        return lower, upper


Runs = dict[tuple[tuple[Pair, int], ...], ComposedRun]
"""Runs by their steps: what one question has worked out serves the next."""


def _lattice_run(parts: Sequence[tuple[Pair, int]]) -> LatticeRun | None:
    """Return a run on a lattice, if all steps are Gaussian, on samples or not."""
    kinds = []
    for pair, times in parts:
        if isinstance(pair, SampledGaussianPair):
            kinds.append((1 / pair.sigma, pair.rate, times))
        elif isinstance(pair, GaussianPair) and pair.mu <= MOST_SHIFT:
            kinds.append((pair.mu, 1.0, times))
        else:
            return None
    return LatticeRun(kinds)


def _exponent(steps: LossComposition, order: float, epsilon: float) -> float:
    """Return the logarithm of Chernoff's bound on delta at an order."""
    orders = np.array([order])
    return float((steps.cumulants_at(orders) - orders * epsilon + peak(orders))[0])


def _chernoff(steps: LossComposition, order: float, log_delta: float) -> float:
    """Return Chernoff's bound on epsilon at an order."""
    orders = np.array([order])
    return float(((steps.cumulants_at(orders) - log_delta + peak(orders)) / orders)[0])


def _squares(mu: float) -> tuple[Fraction, Fraction]:
    """Enclose mu^2, where mu is the root of a sum of squares of rounded numbers."""
    return Fraction(mu) ** 2 * (1 - _ROUNDED), Fraction(mu) ** 2 * (1 + _ROUNDED)


def _closed_epsilon(mu: float, target: float, above: float) -> TwoSided:
    """Bound epsilon of normal noise by profiles that are enclosed: no float decides."""
    if target == 0 or mu == 0 or above >= 1:
        value = inf if target == 0 and mu > 0 else 0.0
        return TwoSided(value if above == target else 0.0, value, "closed form")
    less, more = _squares(mu)
    lower = gaussian_epsilon_below(less, Fraction(above))
    return TwoSided(lower, gaussian_epsilon_above(more, Fraction(target)), "closed form")


def _closed_delta(mu: float, epsilon: float) -> TwoSided:
    """Bound delta of normal noise likewise."""
    if mu == 0 or epsilon == inf:
        return TwoSided(0.0, 0.0, "closed form")
    less, more = _squares(mu)
    lower = gaussian_delta(less, Fraction(epsilon))[0]
    return TwoSided(lower, gaussian_delta(more, Fraction(epsilon))[1], "closed form")


def _smallest(delta_at: Callable[[float], float], target: float, most: float) -> float:
    """Return the least epsilon in [0, most] whose delta is at most the target, to the last bit."""
    if delta_at(0.0) <= target:
        return 0.0
    low, high = 0.0, most
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if delta_at(middle) > target else (low, middle)
    return high


def _rounding(law: LossLaw, steps: int) -> tuple[float, float]:
    """Bound the relative error of a mass and the error of a loss, where both come from many steps."""
    return _SUMMED * (64 + steps), _SUMMED * (steps + abs(law.largest))


def _summed_epsilon(law: LossLaw, side: Side, target: float, steps: int) -> float:
    """Solve for epsilon where delta is a sum of positive terms, with room for its rounding."""
    mass, loss = _rounding(law, steps)
    if side == "upper":
        left = (target - law.infinity) * (1 - mass)
        found = inf if left <= 0 else _smallest(law.delta, left, law.largest)
        return found + loss if found > 0 else 0.0
    left = (target - law.infinity) * (1 + mass)
    return inf if left <= 0 else max(0.0, _smallest(law.delta, left, law.largest) - loss)


def _summed_delta(law: LossLaw, side: Side, epsilon: float, steps: int) -> float:
    """Sum delta, with room for rounding."""
    mass, loss = _rounding(law, steps)
    if side == "upper":
        return (law.delta(epsilon - loss) + law.infinity) * (1 + mass)
    return (law.delta(epsilon + loss) + law.infinity) * (1 - mass)
