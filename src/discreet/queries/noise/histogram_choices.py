"""How the budget of a histogram is divided over the choices that outputs make from it.

Every question that outputs ask about it gets a share: as many parts as it has picks or, with a split, what
its outputs were given. A choice gets one of these parts. A person may fill g groups, so that a
choice of epsilon e in each group costs g e, or g e^2 / 8 in zero-concentrated privacy, the loss having
bounded range. Permute-and-flip, which has less error at the same epsilon, has no such range and would cost g
e^2 / 2: it is taken for the most frequent key where epsilon is what counts.

An estimate by smooth sensitivity costs the same in every group that a person is in, however few of their rows
are there, so that with a limit on rows it is charged for as many groups as rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from discreet.curator.request.histogram_choices import LARGEST_CHOICES, Choices, HistogramChoice, Selector
from discreet.curator.request.histogram_estimates import (
    FINENESS,
    LARGEST_ESTIMATES,
    HistogramEstimate,
    SmoothRule,
)
from discreet.curator.request.histogram_rules import Rule
from discreet.data import Histogram, Statistic
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.mechanisms import Exponential, PermuteAndFlip, TopK
from discreet.mechanisms.admissible.noise import LARGEST_BUDGET
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.rational import float_below, show
from discreet.queries.outputs.base import QueryOutput
from discreet.queries.outputs.quantiles_and_extremes import ChoiceOutput, Maker
from discreet.records import dataclass

__all__ = ["concentrated_choices", "pure_choices"]

_DECAYS = 10
"""The decay of a smooth sensitivity is this part of epsilon: some third of the budget pays for it."""
_LEAST_DECAY, _LEAST_DECAY_PER_ROW, _MOST_DECAY = Fraction(1, 1000), Fraction(1, 10_000), Fraction(100)
"""With a smaller decay data could be made up for which the smooth sensitivity takes minutes."""


def pure_choices(
    statistic: Statistic,
    outputs: Sequence[QueryOutput],
    cells: int,
    epsilon: Fraction,
    *,
    confidence: Fraction,
    given: Mapping[str, Fraction] | None = None,
) -> Choices:
    """Return the choices that outputs make from a histogram, at a pure epsilon for all of them together.

    Parameters
    ----------
    statistic : Statistic
        The histogram.
    outputs : sequence of QueryOutput
        All outputs of the query; those that do not read the histogram are skipped.
    cells : int
        The number of groups.
    epsilon : Fraction
        What they cost, exactly.
    confidence : Fraction
        Of intervals.
    given : mapping of output names to fractions, optional
        How much each output was given, in proportion.
    """
    return _made(
        statistic,
        outputs,
        cells,
        lambda part: _Pure(statistic=statistic, epsilon=epsilon * part),
        confidence=confidence,
        given=given,
    )


def concentrated_choices(
    statistic: Statistic,
    outputs: Sequence[QueryOutput],
    cells: int,
    rho: Fraction,
    *,
    confidence: Fraction,
    given: Mapping[str, Fraction] | None = None,
) -> Choices:
    """Return the choices that outputs make from a histogram, for at most rho; parameters as above."""
    return _made(
        statistic,
        outputs,
        cells,
        lambda part: _Concentrated(statistic=statistic, rho=rho * part),
        confidence=confidence,
        given=given,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pure(Maker):
    """Makes what costs a pure epsilon in all groups together."""

    statistic: Statistic
    epsilon: Fraction

    def choice(self, rule: Rule) -> HistogramChoice:
        groups = _groups(self.statistic)
        share, most = self.epsilon / groups, int(self.statistic.sensitivity.linf * rule.slope)
        selector: Selector
        if rule.picks > 1:
            selector = TopK(k=rule.picks, sensitivity=most, epsilon=share * rule.picks, monotone=True)
        else:
            kind = PermuteAndFlip if rule.monotone else Exponential
            selector = kind(sensitivity=most, epsilon=share, monotone=rule.monotone)
        return HistogramChoice(rule=rule, mechanism=selector, groups=groups)

    def estimate(self, rule: type[SmoothRule], parameter: Fraction) -> HistogramEstimate:
        share = self.epsilon / self.statistic.groups
        return _estimate(rule, parameter, self.statistic, decay=_decay(share, self.statistic), epsilon=share)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Concentrated(Maker):
    """Makes what costs at most rho in all groups together."""

    statistic: Statistic
    rho: Fraction

    def choice(self, rule: Rule) -> HistogramChoice:
        groups = _groups(self.statistic)
        share, most = (
            sqrt_interval(8 * self.rho / groups)[0],
            int(self.statistic.sensitivity.linf * rule.slope),
        )
        selector: Selector
        if rule.picks > 1:
            selector = TopK(k=rule.picks, sensitivity=most, epsilon=share * rule.picks, monotone=True)
        else:
            selector = Exponential(sensitivity=most, epsilon=share, monotone=rule.monotone)
        return HistogramChoice(rule=rule, mechanism=selector, groups=groups)

    def estimate(self, rule: type[SmoothRule], parameter: Fraction) -> HistogramEstimate:
        share = self.rho / self.statistic.groups
        decay = _decay(sqrt_interval(2 * share)[0], self.statistic)
        return _estimate(rule, parameter, self.statistic, decay=decay, rho=share)


def _estimate(
    rule: type[SmoothRule],
    parameter: Fraction,
    statistic: Statistic,
    *,
    decay: Fraction,
    epsilon: Fraction | None = None,
    rho: Fraction | None = None,
) -> HistogramEstimate:
    from discreet.mechanisms.adaptive.smooth_sensitivity import SmoothSensitivity

    offered = epsilon if rho is None else rho
    if offered is not None and offered > LARGEST_BUDGET:
        raise UnsupportedQuery(
            "the budget for each group is too large for an estimate by smooth sensitivity; offer "
            f"less than {LARGEST_BUDGET} for each"
        )
    try:
        mechanism = SmoothSensitivity.best(
            lower=0, upper=_upper(statistic), grid=1, decay=decay, epsilon=epsilon, rho=rho
        )
    except ParameterError:
        raise UnsupportedQuery(
            "the budget for each group is too small for an estimate by smooth sensitivity, which needs an "
            f"epsilon of about {show(3 * decay)}; offer more, ask for fewer outputs, limit the rows or "
            "groups of a person, or ask for MEDIAN or QUANTILE"
        ) from None
    made = rule(share=parameter, rows=int(statistic.sensitivity.linf))
    return HistogramEstimate(rule=made, mechanism=mechanism, groups=statistic.groups)


def _upper(statistic: Statistic) -> int:
    assert isinstance(statistic.measure, Histogram)  # noqa: S101
    return (statistic.measure.width - 1) * FINENESS


def _decay(epsilon: Fraction, statistic: Statistic) -> Fraction:
    least = max(_LEAST_DECAY, int(statistic.sensitivity.linf) * _LEAST_DECAY_PER_ROW)
    return min(max(Fraction(float_below(epsilon / _DECAYS)), least), _MOST_DECAY)


def _groups(statistic: Statistic) -> int:
    """Return how many groups one person can fill: all rows in one, or as many in each of several."""
    return int(statistic.sensitivity.l1 / statistic.sensitivity.linf)


def _made(
    statistic: Statistic,
    outputs: Sequence[QueryOutput],
    cells: int,
    maker: Callable[[Fraction], Maker],
    *,
    confidence: Fraction,
    given: Mapping[str, Fraction] | None,
) -> Choices:
    histogram = statistic.measure
    assert isinstance(histogram, Histogram)  # noqa: S101
    asked: dict[tuple[object, ...], tuple[ChoiceOutput, Fraction]] = {}
    for output in outputs:
        if isinstance(output, ChoiceOutput) and output.histogram == histogram:
            before = asked[output.question][1] if output.question in asked else Fraction(0)
            more = Fraction(output.picks) if given is None else before + given[output.name]
            asked[output.question] = (output, more)
    total = sum(demand for _, demand in asked.values())
    choices = tuple(
        choice
        for output, demand in asked.values()
        for choice in output.choices(maker(demand / total / output.picks), confidence)
    )
    if cells > LARGEST_ESTIMATES and any(isinstance(one, HistogramEstimate) for one in choices):
        raise UnsupportedQuery(
            f"the request makes more than {LARGEST_ESTIMATES} estimates by smooth sensitivity; group by "
            "fewer columns or fewer keys"
        )
    made = Choices(choices=choices, cells=cells, width=histogram.width)
    if made.size > LARGEST_CHOICES:
        raise UnsupportedQuery(
            f"the request makes more than {LARGEST_CHOICES} choices; group by fewer columns or fewer keys, "
            "or ask for fewer quantiles"
        )
    return made
