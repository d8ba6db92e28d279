"""How the budget of a histogram is divided over the choices that outputs make from it.

Every question that outputs ask of it gets a share: as many parts as it has picks or, with a split, what its
outputs were given. Each pick of a question gets an equal part. A person may fill g groups, so that a choice
of epsilon e in each group costs g e, or g e^2 / 8 in zero-concentrated privacy, the loss having bounded
range. Permute-and-flip, which errs less at the same epsilon, has no such range and would cost g e^2 / 2: it
is taken for the most frequent key where epsilon is what counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from discreet.curator.choices import LARGEST_CHOICES, Choices, Rule, Selector
from discreet.data import Histogram, Statistic
from discreet.errors import UnsupportedQuery
from discreet.mechanisms import Exponential, PermuteAndFlip, TopK
from discreet.privacy.directed import sqrt_interval
from discreet.queries.choice_outputs import ChoiceOutput
from discreet.queries.output import QueryOutput

__all__ = ["concentrated_choices", "pure_choices"]


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
        All outputs of the query; those that do not read the histogram are passed over.
    cells : int
        The number of groups.
    epsilon : Fraction
        What they cost, exactly.
    confidence : Fraction
        Of intervals.
    given : mapping of output names to fractions, optional
        How much each output was given, in proportion.
    """
    groups = _groups(statistic)

    def selector(rule: Rule, part: Fraction) -> Selector:
        share, most = epsilon * part / groups, statistic.sensitivity.linf * rule.slope
        if rule.picks > 1:
            return TopK(k=rule.picks, sensitivity=int(most), epsilon=share * rule.picks, monotone=True)
        kind = PermuteAndFlip if rule.monotone else Exponential
        return kind(sensitivity=int(most), epsilon=share, monotone=rule.monotone)

    return _made(statistic, outputs, cells, selector, confidence=confidence, given=given)


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
    groups = _groups(statistic)

    def selector(rule: Rule, part: Fraction) -> Selector:
        share = sqrt_interval(8 * rho * part / groups)[0]
        most = statistic.sensitivity.linf * rule.slope
        if rule.picks > 1:
            return TopK(k=rule.picks, sensitivity=int(most), epsilon=share * rule.picks, monotone=True)
        return Exponential(sensitivity=int(most), epsilon=share, monotone=rule.monotone)

    return _made(statistic, outputs, cells, selector, confidence=confidence, given=given)


def _groups(statistic: Statistic) -> int:
    """Return how many groups one person can fill: all rows in one, or as many in each of several."""
    return int(statistic.sensitivity.l1 / statistic.sensitivity.linf)


def _made(
    statistic: Statistic,
    outputs: Sequence[QueryOutput],
    cells: int,
    selector: Callable[[Rule, Fraction], Selector],
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
        for choice in output.choices(
            lambda rule, part=demand / total / output.picks: selector(rule, part),  # type: ignore[misc]
            confidence,
        )
    )
    made = Choices(choices=choices, cells=cells, width=histogram.width, groups=_groups(statistic))
    if made.size > LARGEST_CHOICES:
        raise UnsupportedQuery(
            f"the request makes more than {LARGEST_CHOICES} choices; group by fewer columns or fewer keys, "
            "or ask for fewer quantiles"
        )
    return made
