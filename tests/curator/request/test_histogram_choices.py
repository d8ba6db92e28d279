"""Choices in every group: scores move as little as is charged, and all together cost what the event says."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.curator import Part
from discreet.curator.request.histogram_choices import Choices, HistogramChoice
from discreet.curator.request.histogram_rules import FrequencyRule, HistogramRankRule
from discreet.data import Bounds, CountRows, Histogram, Statistic
from discreet.errors import ParameterError
from discreet.mechanisms import Exponential, PermuteAndFlip, TopK
from discreet.noise import is_private, replay
from discreet.privacy import Sensitivity
from discreet.privacy.events import ExponentialChoice
from discreet.privacy.events import PermuteAndFlip as PermuteAndFlipEvent
from discreet.privacy.neighbors import REPLACE_PERSON
from effort import examples

shares = st.fractions(min_value=0, max_value=1, max_denominator=12)
tables = st.integers(2, 6).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 9), min_size=width, max_size=width), min_size=1, max_size=3
    )
)


def slow_scores(counts, share, shift):
    """The definition, candidate by candidate, from a list of values."""
    values = [place for place, count in enumerate(counts) for _ in range(count)]
    a, b = share.numerator, share.denominator
    target = a * len(values) + shift
    scores = []
    for place in range(len(counts)):
        below, at_most = sum(x < place for x in values), sum(x <= place for x in values)
        off = [0]
        off += [b * below - target] if place > 0 else []
        off += [target - b * at_most] if place < len(counts) - 1 else []
        scores.append(-max(off))
    return scores


@given(tables, shares, st.integers(-40, 40))
def test_scores_are_distances_of_ranks(table, share, shift):
    scores = HistogramRankRule(share=share, shift=shift).scores(np.array(table))
    assert scores.tolist() == [slow_scores(counts, share, shift) for counts in table]
    assert (scores.max(axis=1) == 0).all()  # one candidate is always right


@given(tables, shares)
def test_the_quantile_itself_is_right(table, share):
    for counts in table:
        values = [place for place, count in enumerate(counts) for _ in range(count)]
        least = next((c for c in range(len(counts)) if sum(x <= c for x in values) >= share * len(values)), 0)
        assert HistogramRankRule(share=share).scores(np.array([counts]))[0, least] == 0


@given(tables, shares, st.integers(-40, 40), st.data())
def test_one_row_moves_scores_by_no_more_than_the_slope(table, share, shift, data):
    counts = np.array(table[:1])
    place = data.draw(st.integers(0, counts.shape[1] - 1))
    more = counts.copy()
    more[0, place] += 1
    for rule in (HistogramRankRule(share=share, shift=shift), FrequencyRule()):
        moved = rule.scores(more) - rule.scores(counts)
        assert np.abs(moved).max() <= rule.slope
        assert not rule.monotone or (moved >= 0).all()


@pytest.mark.parametrize(
    "share", [Fraction(1, 2), Fraction(9, 10), Fraction(1, 10), Fraction(0), Fraction(1)]
)
def test_the_slope_is_attained(share):
    """A slope of min(q, 1 - q), or of 1 for all, would charge too little."""
    rule, largest = HistogramRankRule(share=share), 0
    for counts in product(range(4), repeat=3):
        for place in range(3):
            more = np.array([counts])
            more[0, place] += 1
            moved = rule.scores(more) - rule.scores(np.array([counts]))
            largest = max(largest, int(np.abs(moved).max()))
    assert largest == rule.slope


def test_huge_counts_neither_overflow_nor_move_farther():
    rule = HistogramRankRule(share=Fraction(9999, 10000), shift=-5)
    huge = np.full((1, 4096), 1 << 62)
    assert rule.scores(huge).max() == 0
    assert (np.abs(rule.scores(huge)) <= 1 << 61).all()
    assert (FrequencyRule().scores(huge) <= 1 << 61).all()


def probabilities(scores, mechanism):
    """The law of one choice, from its definition."""
    rate = float(mechanism.rate)
    if isinstance(mechanism, PermuteAndFlip):
        coins = [exp(-rate * (max(scores) - score)) for score in scores]
        chances = [0.0] * len(scores)
        for outcome in product([0, 1], repeat=len(scores)):
            weight = np.prod([c if hit else 1 - c for c, hit in zip(coins, outcome, strict=True)])
            for place, hit in enumerate(outcome):
                chances[place] += weight * hit / max(sum(outcome), 1)
        return chances
    weights = [exp(rate * (score - max(scores))) for score in scores]
    return [weight / sum(weights) for weight in weights]


def made(rule, *, rows, groups, epsilon=1, cells=2, width=3, permute=False):
    kind = PermuteAndFlip if permute else Exponential
    mechanism = kind(
        sensitivity=rows * rule.slope, epsilon=Fraction(epsilon) / groups, monotone=rule.monotone
    )
    return Choices(
        choices=(HistogramChoice(rule=rule, mechanism=mechanism, groups=groups),), cells=cells, width=width
    )


def spreads(rows, groups):
    """How one person's rows may lie: all in one group, or some here and some there, anywhere."""
    if groups == 1:
        split = [(first, second) for first in range(rows + 1) for second in range(rows + 1 - first)]
    else:
        split = [(rows, rows), (rows, 0), (0, rows)]
    for counts in split:
        places = [list(product(range(3), repeat=count)) for count in counts]
        yield from product(*places)


@pytest.mark.parametrize(("rows", "groups"), [(2, 1), (1, 2)], ids=["rows", "groups"])
@pytest.mark.parametrize(
    ("rule", "permute"),
    [
        (HistogramRankRule(share=Fraction(1, 2)), False),
        (HistogramRankRule(share=Fraction(3, 4), shift=-2), False),
        (HistogramRankRule(share=Fraction(0), shift=2), False),
        (FrequencyRule(), False),
        (FrequencyRule(), True),
    ],
)
def test_the_joint_loss_over_groups_is_that_of_the_event(rule, permute, rows, groups):
    """Every pair of neighbors over small histograms, both groups together, by enumeration of the law."""
    choices = made(rule, rows=rows, groups=groups, permute=permute)
    epsilon, worst, widest = float(choices.event.pure_epsilon), 0.0, 0.0
    law = {}

    def chances(counts):
        if counts not in law:
            scores = rule.scores(np.array([counts]))[0].tolist()
            law[counts] = probabilities(scores, choices.choices[0].mechanism)
        return law[counts]

    for base in product([(0, 0, 0), (2, 0, 1), (0, 3, 0)], repeat=2):
        for theirs in spreads(rows, groups):
            after = [list(counts) for counts in base]
            for group, places in enumerate(theirs):
                for place in places:
                    after[group][place] += 1
            losses = [
                [log(p / q) for p, q in zip(chances(tuple(counts)), chances(tuple(more)), strict=True)]
                for counts, more in zip(base, after, strict=True)
            ]
            worst = max(worst, sum(max(map(abs, one)) for one in losses))
            widest = max(widest, sum(max(one) - min(one) for one in losses))
    assert worst <= epsilon + 1e-9
    assert worst > epsilon / 3  # not charged for nothing
    if not permute:
        assert widest <= epsilon + 1e-9  # bounded range, which rho = epsilon^2 / 8 rests on


def test_a_slope_without_the_larger_share_is_caught():
    """The mutant takes min(q, 1 - q): the same enumeration exceeds its epsilon."""
    rule = HistogramRankRule(share=Fraction(3, 4))
    mechanism = Exponential(sensitivity=1, epsilon=1)
    scores = [rule.scores(np.array([counts]))[0].tolist() for counts in ((0, 0, 0), (0, 0, 1))]
    one, other = (probabilities(each, mechanism) for each in scores)
    assert max(abs(log(p / q)) for p, q in zip(one, other, strict=True)) > 0.5
    with pytest.raises(ParameterError, match="does not cover"):
        part(
            Choices(choices=(HistogramChoice(rule=rule, mechanism=mechanism, groups=1),), cells=2, width=3),
            rows=1,
        )


def part(choices, *, rows=2, groups=1, width=3):
    bound = Sensitivity(l0=rows * groups, l1=rows * groups, squared_l2=groups * rows**2, linf=rows)
    measure = Histogram(column="x", values=Bounds(0, width - 1))
    return Part(
        statistic=Statistic(
            measure=measure, sensitivity=bound, step=Fraction(1), center=Fraction(0), groups=groups
        ),
        mechanism=choices,
    )


def test_choices_must_cover_the_histogram():
    rule = HistogramRankRule(share=Fraction(1, 3))
    part(made(rule, rows=2, groups=1))
    part(made(rule, rows=3, groups=4))
    part(made(rule, rows=2, groups=3), rows=2, groups=3)
    for wrong in (
        made(rule, rows=1, groups=1),
        made(rule, rows=1, groups=2),
        made(rule, rows=2, groups=1, width=4),
        Choices(
            choices=(
                HistogramChoice(rule=rule, mechanism=Exponential(sensitivity=4.0, epsilon=1), groups=1),
            ),
            cells=2,
            width=3,
        ),
        Choices(
            choices=(
                HistogramChoice(
                    rule=rule,
                    mechanism=Exponential(sensitivity=4, epsilon=1, neighbors=REPLACE_PERSON),
                    groups=1,
                ),
            ),
            cells=2,
            width=3,
        ),
    ):
        with pytest.raises(ParameterError, match="does not cover"):
            part(wrong)
    with pytest.raises(ParameterError, match="does not cover"):
        part(made(rule, rows=2, groups=2), rows=2, groups=3)
    counts = part(made(rule, rows=2, groups=1)).statistic
    with pytest.raises(ParameterError, match="does not cover"):
        Part(
            statistic=Statistic(
                measure=CountRows(),
                sensitivity=counts.sensitivity,
                step=Fraction(1),
                center=Fraction(0),
                groups=1,
            ),
            mechanism=made(rule, rows=2, groups=1),
        )


def test_what_does_not_fit_together_is_refused():
    exponential = Exponential(sensitivity=1, epsilon=1)
    with pytest.raises(ParameterError, match="monotone"):
        HistogramChoice(
            rule=HistogramRankRule(share=Fraction(1, 2)),
            mechanism=Exponential(sensitivity=2, epsilon=1, monotone=True),
            groups=1,
        )
    with pytest.raises(ParameterError, match="another number"):
        HistogramChoice(rule=FrequencyRule(picks=2), mechanism=exponential, groups=1)
    with pytest.raises(ParameterError, match="another number"):
        HistogramChoice(rule=FrequencyRule(picks=2), mechanism=TopK(k=3, sensitivity=1, epsilon=1), groups=1)
    good = HistogramChoice(
        rule=FrequencyRule(picks=2), mechanism=TopK(k=2, sensitivity=1, epsilon=1), groups=1
    )
    with pytest.raises(ParameterError, match="more values than there are"):
        Choices(choices=(good,), cells=1, width=1)
    for wrong in ((), (exponential,), [good]):
        with pytest.raises(ParameterError):
            Choices(choices=wrong, cells=1, width=3)
    with pytest.raises(ParameterError):
        HistogramRankRule(share=Fraction(3, 2))
    with pytest.raises(ParameterError):
        HistogramRankRule(share=0.5)


def test_the_event_is_that_of_the_groups_a_person_fills():
    rule = HistogramRankRule(share=Fraction(1, 2))
    assert made(rule, rows=5, groups=1).event == ExponentialChoice(epsilon=1)
    assert made(rule, rows=5, groups=4).event == ExponentialChoice(epsilon=Fraction(1, 4)) * 4
    assert made(FrequencyRule(), rows=1, groups=1, permute=True).event == PermuteAndFlipEvent(epsilon=1)
    assert made(rule, rows=5, groups=4).event.concentrated_rho == Fraction(1, 32)


def test_places_come_group_by_group():
    median, top = HistogramRankRule(share=Fraction(1, 2)), FrequencyRule(picks=2)
    choices = Choices(
        choices=(
            HistogramChoice(rule=median, mechanism=Exponential(sensitivity=1, epsilon=500), groups=1),
            HistogramChoice(rule=top, mechanism=TopK(k=2, sensitivity=1, epsilon=1000), groups=1),
        ),
        cells=2,
        width=4,
    )
    counts = np.array([90, 10, 50, 0, 0, 50, 10, 90])
    steps = choices.release(counts)
    assert steps.tolist() == [0, 0, 2, 3, 3, 1]
    assert choices.size == 6
    assert choices.drawn(steps, median).tolist() == [[0], [3]]
    assert choices.drawn(steps, top).tolist() == [[0, 2], [3, 1]]
    assert choices.of(top).k == 2
    for ask in (lambda rule: choices.drawn(steps, rule), choices.of):
        with pytest.raises(ParameterError):
            ask(FrequencyRule())
    assert is_private(steps)
    with replay(3):
        assert not is_private(choices.release(counts))
    assert "counts" not in repr(choices)


@settings(max_examples=examples(10))
@given(st.integers(0, 2**32))
def test_a_replay_chooses_the_same(seed):
    choices = made(HistogramRankRule(share=Fraction(1, 2)), rows=1, groups=1)
    with replay(seed):
        one = choices.release(np.array([1, 2, 3, 4, 5, 6])).tolist()
    with replay(seed):
        assert choices.release(np.array([1, 2, 3, 4, 5, 6])).tolist() == one
