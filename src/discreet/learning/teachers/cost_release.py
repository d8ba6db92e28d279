"""The release of what answers have cost, where teachers agreed: that cost is a function of private votes.

At a fixed order the cost is a sum of functions of integers that a person moves by at most one. Each function
is raised until it moves by a factor of at most e^decay in a step: a smooth bound. The logarithm of the sum
then moves by at most `decay` between neighbors, and leaves with normal noise, which is taken into account:
what is released falls below the cost with a stated probability only.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from discreet.accounting.filters.conversion import divergence_below
from discreet.array_types import Integers
from discreet.errors import ParameterError
from discreet.learning.teachers.aggregation import (
    Aggregation,
    Answers,
    ConfidentGNMax,
    InteractiveGNMax,
)
from discreet.learning.teachers.vote_costs import UNIT, answer_costs, check_costs, checked_order, smooth_costs
from discreet.learning.teachers.vote_counts import checked_counts
from discreet.noise import current, sample_rounded_gaussian
from discreet.privacy.directed import exp_interval, sqrt_interval
from discreet.privacy.events import Event, RoundedGaussian
from discreet.privacy.rational import Number, float_above, probability, rational
from discreet.records import Record, dataclass

__all__ = ["CostRelease", "ReleasedCost", "divergence_spent", "spent_at_worst"]

_STEPS = 64
"""How many steps of the grid of logarithms make up the decay; rounding to it adds one."""
_MOST_DECAY = 8
_LEAST_FAILURE = Fraction(1, 10**100)
_LEAST_RHO = Fraction(1, 10**9)


def divergence_spent(
    aggregation: Aggregation, counts: Any, answers: Answers, order: Number, predictions: Any = None
) -> Fraction:
    """Return the divergence that answers have cost at an order, for these votes. Private.

    For these answers it bounds what all of them together reveal about the difference to any neighbor (proof:
    docs/proofs/private_teachers.md, theorem 6).

    Parameters
    ----------
    aggregation : Aggregation
        How they were answered.
    counts : array of int (queries, classes)
        The votes.
    answers : Answers
        What was answered.
    order : number
        The order, chosen before anything was answered.
    predictions : array, optional
        What the student predicted, for `InteractiveGNMax`.
    """
    parts = _parts(aggregation, counts, answers, checked_order(order), predictions)
    return sum(_total(costs, places) for costs, places in parts) * UNIT


def spent_at_worst(aggregation: Aggregation, answers: Answers, order: Number) -> Fraction:
    """Return what the same answers cost at an order whatever the votes are. Public."""
    stated = checked_order(order)
    whole = int(answers.voted.sum()) * aggregation.noise.worst(stated)
    if isinstance(aggregation, ConfidentGNMax | InteractiveGNMax):
        whole += answers.checks * stated / (2 * aggregation.check.sigma**2)
    return whole


def _parts(
    aggregation: Aggregation, counts: Any, answers: Answers, order: Fraction, predictions: Any
) -> list[tuple[Integers, Integers]]:
    """Return tables of costs, and where in them each answer and each check is."""
    teachers = aggregation.teachers
    held = checked_counts(counts, teachers=teachers, classes=aggregation.classes)
    if len(answers.labels) != len(held):
        raise ParameterError("answers", "are not those to these counts", "one for each query")
    tops = held.max(axis=1, initial=0)[answers.voted]
    parts = [(answer_costs(aggregation.noise, order, teachers, aggregation.classes), tops)]
    if isinstance(aggregation, ConfidentGNMax):
        checked = aggregation.checked(held)
    elif isinstance(aggregation, InteractiveGNMax):
        checked = aggregation.checked(held, predictions)
    else:
        return parts
    costs = check_costs(aggregation.check.sigma, order, aggregation.threshold, teachers)
    parts.append((costs, checked[: answers.checks] + teachers))
    return parts


def _total(costs: Integers, places: Integers) -> int:
    """Return the sum of costs at places: Python's integers hold any."""
    return sum(costs[places].tolist())


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedCost:
    """An upper bound on what was spent, which may be shown.

    Attributes
    ----------
    order : Fraction
        The order of the divergence.
    divergence : Fraction
        With a probability of 1 - failure at least what the answers cost.
    own : Fraction
        What this release costs itself, at the same order.
    failure : Fraction
        The probability that the divergence is too low.
    worst : Fraction
        What the same answers cost whatever the votes are.
    """

    order: Fraction
    divergence: Fraction
    own: Fraction
    failure: Fraction
    worst: Fraction

    def epsilon(self, delta: Number) -> float:
        """Return the epsilon of all answers and of this release, at a delta above `failure`; rounded up.

        Guarantee
        ---------
        With epsilon(o) what is returned for the outcome o, P(S) <= integral over S of e^epsilon(o) dP'(o) +
        delta for all events S and all neighbors (proof: docs/proofs/private_teachers.md, theorem 8).
        """
        rest = probability(delta, "delta", one=False) - self.failure
        if rest <= 0:
            raise ParameterError("delta", "is not above the probability of failure", "larger")
        whole = self.divergence + self.own - divergence_below(self.order, Fraction(0), rest)
        return float_above(max(whole, Fraction(0)))


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class CostRelease(Record):
    """Release an upper bound on the divergence that answers have cost.

    Parameters
    ----------
    order : number
        The order of the divergence, above 1 and at most 1024. Public, and chosen before votes are seen.
    rho : number
        What the release costs: at this order, order times rho.
    decay : number
        By which factor, e^decay, the bound may move between neighbors. A small decay raises the bound where
        many teachers agree; a large one takes more noise.
    failure : number
        The probability with which the bound may be too low.

    Guarantee
    ---------
    Under add/remove of a person the release is Gaussian private with mu^2 = 2 rho, and keeps what
    `ReleasedCost` states (proof: docs/proofs/private_teachers.md, theorems 7 and 8).

    Finite precision
    ----------------
    Costs are integers in units of 2^-40, rounded up. The logarithm of their sum is rounded up to a multiple
    of decay / 64, which is charged; rounded normal noise is drawn exactly.

    Error
    -----
    What is released exceeds the smooth bound by a factor of exp(z s) on average, where s is about
    decay / sqrt(2 rho) and z the normal quantile of `failure`. It is never above what holds whatever the
    votes are.
    """

    order: Fraction
    rho: Fraction
    decay: Fraction
    failure: Fraction

    def __init__(
        self, *, order: Number, rho: Number, decay: Number, failure: Number = Fraction(1, 10**6)
    ) -> None:
        rate = rational(decay, "decay", positive=True)
        if not Fraction(1, 2**16) <= rate <= _MOST_DECAY:
            raise ParameterError("decay", "is out of range", f"from 2^-16 to {_MOST_DECAY}")
        spare = probability(failure, "failure", zero=False, one=False)
        if spare < _LEAST_FAILURE:
            raise ParameterError("failure", "is smaller than floats can tell", "at least 1e-100")
        cost = rational(rho, "rho", positive=True)
        if cost < _LEAST_RHO:
            raise ParameterError("rho", "is too small for any use", f"at least {float(_LEAST_RHO):g}")
        self._set(order=checked_order(order), rho=cost, decay=rate, failure=spare)

    @property
    def variance(self) -> Fraction:
        """That of the noise, in steps of decay / 64; rounded up to a quarter of a step squared."""
        return Fraction(math.ceil((_STEPS + 1) ** 2 / (2 * self.rho) * 4), 4)

    @property
    def event(self) -> Event:
        """The law of the release: rounded normal noise on a logarithm that moves by at most 65 steps."""
        return RoundedGaussian(squared_sensitivity=(_STEPS + 1) ** 2, variance=self.variance, grid=1, size=1)

    @property
    def squared_mu(self) -> Fraction:
        """The square of the mu for which the release is Gaussian private: at most 2 rho."""
        return (_STEPS + 1) ** 2 / self.variance

    @property
    def own(self) -> Fraction:
        """What the release costs at its order."""
        return self.order * self.squared_mu / 2

    @property
    def margin(self) -> int:
        """The steps by which noise falls short with a probability of at most `failure`, and no more."""
        deviation = sqrt_interval(self.variance)[1]
        margin = 0
        for step in reversed(range(48)):  # the least one, by bisection: tails fall
            middle = margin + (1 << step)
            chance = math.erfc((middle - 0.5) / (math.sqrt(2) * float_above(deviation))) / 2
            if chance * (1 + 1e-9) > self.failure:
                margin = middle
        return margin + 1

    def release(
        self, aggregation: Aggregation, counts: Any, answers: Answers, predictions: Any = None
    ) -> ReleasedCost:
        """Return an upper bound on the cost of answers; see `divergence_spent` for what it takes."""
        steps = self.logarithm(aggregation, counts, answers, predictions)
        source = current()
        noisy = steps + int(sample_rounded_gaussian(self.variance, 1, source)[0]) + self.margin
        worst = spent_at_worst(aggregation, answers, self.order)
        most = math.ceil(math.log(float(worst / UNIT) + 2) * _STEPS / float(self.decay)) + 1
        units = exp_interval(min(max(source.mark(noisy), 0), most) * self.decay / _STEPS)[1]
        return ReleasedCost(
            order=self.order,
            divergence=min(units * UNIT, worst),
            own=self.own,
            failure=self.failure,
            worst=worst,
        )

    def logarithm(
        self, aggregation: Aggregation, counts: Any, answers: Answers, predictions: Any = None
    ) -> int:
        """Return the logarithm of the smooth bound in units, in steps of decay / 64, rounded up. Private."""
        parts = _parts(aggregation, counts, answers, self.order, predictions)
        units = 1 + sum(_total(smooth_costs(costs, self.decay), places) for costs, places in parts)
        return math.ceil(math.log(units) * (1 + 1e-14) * _STEPS / float(self.decay))
