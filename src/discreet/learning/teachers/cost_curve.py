"""What queries will cost, before any is asked: by their number, for hypothetical agreement of teachers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.accounting import epsilon as tight_epsilon
from discreet.array_types import Floats, Integers
from discreet.errors import ParameterError
from discreet.learning.teachers.aggregation import Aggregation, ConfidentGNMax, InteractiveGNMax
from discreet.learning.teachers.cost_release import CostRelease, ReleasedCost
from discreet.learning.teachers.vote_costs import UNIT, answer_costs, check_costs, smooth_costs
from discreet.learning.teachers.vote_noise import normal_tail_above
from discreet.privacy.rational import Number, probability, whole
from discreet.records import dataclass

__all__ = ["CostCurve", "cost_curve"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CostCurve:
    """Epsilon by the number of queries. All of it is public; `discreet.learning.plot.costs` draws it.

    Attributes
    ----------
    queries : array of int
        How many queries are asked.
    answers : array
        How many of them are answered, on average.
    worst : array
        The epsilon of all answers, whatever the votes are: what a ledger is charged.
    released : array
        The epsilon that a release of the cost would state if its noise were 0; its own cost included.
    delta : Fraction
        At which delta.
    """

    queries: Integers
    answers: Floats
    worst: Floats
    released: Floats
    delta: Fraction


def cost_curve(
    aggregation: Aggregation,
    tops: Any,
    *,
    release: CostRelease,
    delta: Number,
    queries: Sequence[int] | None = None,
) -> CostCurve:
    """Return what queries would cost if teachers agreed as supposed. Nothing is read or spent.

    Parameters
    ----------
    aggregation : Aggregation
        How votes will be answered.
    tops : array of int
        For each query, how many teachers are supposed to agree: a guess, such as that of made-up or public
        data. Only this forecast hangs on it.
    release : CostRelease
        How the cost will be released.
    delta : number
        At which delta, above the failure of the release.
    queries : numbers, optional
        Where to ask, each at most as many as `tops`; by default some twenty.
    """
    supposed = np.asarray(tops)
    if supposed.ndim != 1 or not len(supposed) or supposed.dtype.kind not in "iu":
        raise ParameterError("tops", "are not a list of numbers of votes", "one for each query")
    if ((supposed < 0) | (supposed > aggregation.teachers)).any():
        raise ParameterError("tops", "are not numbers of votes", f"from 0 to {aggregation.teachers}")
    stated = probability(delta, "delta", zero=False, one=False)
    most = len(supposed)
    asked = np.unique(np.linspace(1, most, min(most, 20)).astype(np.int64)) if queries is None else queries
    numbers = np.array([whole(one, "queries", least=1, most=most) for one in asked], dtype=np.int64)
    passes, spent = _forecast(aggregation, supposed, release)
    worst = [tight_epsilon(aggregation.event(int(one)), delta=stated).upper for one in numbers]
    answers = np.cumsum(passes)[numbers - 1]
    found = [
        _stated(aggregation, release, float(np.cumsum(spent)[one - 1]), stated, int(one)) for one in numbers
    ]
    return CostCurve(
        queries=numbers, answers=answers, worst=np.array(worst), released=np.array(found), delta=stated
    )


def _forecast(aggregation: Aggregation, tops: Integers, release: CostRelease) -> tuple[Floats, Floats]:
    """Return how often each query is answered, and its smooth cost on average, in units."""
    table = answer_costs(aggregation.noise, release.order, aggregation.teachers, aggregation.classes)
    costs = smooth_costs(table, release.decay)[tops].astype(np.float64)
    if not isinstance(aggregation, ConfidentGNMax | InteractiveGNMax):
        return np.ones(len(tops)), costs
    sigma = aggregation.check.sigma
    checks = check_costs(sigma, release.order, aggregation.threshold, aggregation.teachers)
    passes = normal_tail_above((aggregation.threshold - tops - 0.5).astype(np.float64) / float(sigma))
    if aggregation.most_answers is not None:
        before = np.concatenate([[0.0], np.cumsum(passes)[:-1]])
        passes = np.minimum(passes, np.maximum(aggregation.most_answers - before, 0.0))
    return passes, passes * costs + smooth_costs(checks, release.decay)[tops + aggregation.teachers]


def _stated(
    aggregation: Aggregation, release: CostRelease, units: float, delta: Fraction, queries: int
) -> float:
    """Return the epsilon that would be released for so many units, without noise."""
    raised = math.log(1 + units) + release.margin * float(release.decay) / 64
    worst = aggregation.event(queries).concentrated_rho
    cap = release.order * worst if worst is not None else Fraction(10**9)
    cost = ReleasedCost(
        order=release.order,
        divergence=min(Fraction(math.exp(min(raised, 600.0))) * UNIT, cap),
        own=release.own,
        failure=release.failure,
        worst=cap,
    )
    return cost.epsilon(delta)
