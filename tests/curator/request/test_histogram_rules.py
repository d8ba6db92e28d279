"""Reaches around a chosen value: scored as defined, moved as little as is charged, paid for with it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.curator.request.histogram_choices import Choices, HistogramChoice
from discreet.curator.request.histogram_rules import HistogramRankRule, HistogramReachRule, reaches
from discreet.errors import ParameterError
from discreet.mechanisms import Exponential

shares = st.fractions(min_value=0, max_value=1, max_denominator=12)
histograms = st.lists(st.integers(0, 9), min_size=1, max_size=40)


def slow_scores(counts, share, shift, center):
    """The definition, reach by reach, from a list of values and whether an interval holds all positions."""
    values = [place for place, count in enumerate(counts) for _ in range(count)]
    a, b, last, scores, before = share.numerator, share.denominator, len(counts) - 1, [], None
    for reach in reaches(len(counts)).tolist():
        lower, upper, ways = center - reach, center + reach, []
        if lower > 0:
            ways.append(a * len(values) - b * sum(x < lower for x in values) - 1)
        if upper < last:
            ways.append(b * sum(x <= upper for x in values) - a * len(values))
        off = [0, *([before - shift] if before is not None else []), *([shift - min(ways)] if ways else [])]
        scores.append(-max(off))
        if not ways:
            break
        before = min(ways)
    return scores


@given(histograms, shares, st.integers(0, 60), st.data())
def test_scores_are_those_of_the_definition(counts, share, shift, data):
    center = data.draw(st.integers(0, len(counts) - 1))
    (found,) = HistogramReachRule(share=share, shift=shift).scores(np.array([counts]), np.array([center]))
    assert found.tolist() == slow_scores(counts, share, shift, center)
    assert found.max() == 0  # one reach is always right


@given(histograms, shares, st.integers(0, 60), st.integers(0, 39))
@example([1, 0, 0, 1], Fraction(1, 2), 0, 2)  # half of the values lie below 1, so that 1 is not the median
@example([1, 0, 0, 2], Fraction(1, 2), 0, 1)
def test_an_interval_misses_only_if_its_score_falls_short_by_more_than_the_shift(counts, share, shift, at):
    values, center = [place for place, many in enumerate(counts) for _ in range(many)], at % len(counts)
    if not values:
        return
    true = next(c for c in range(len(counts)) if sum(x <= c for x in values) >= share * len(values))
    (found,) = HistogramReachRule(share=share, shift=shift).scores(np.array([counts]), np.array([center]))
    for reach, score in zip(reaches(len(counts)), found, strict=False):
        assert abs(true - center) <= reach or score < -shift


@given(histograms, shares, st.integers(0, 60), st.data())
def test_one_row_moves_scores_by_no_more_than_the_slope(counts, share, shift, data):
    place, center = (data.draw(st.integers(0, len(counts) - 1)) for _ in range(2))
    rule, more = HistogramReachRule(share=share, shift=shift), np.array(counts)
    more[place] += 1
    (before,), (after,) = (rule.scores(np.array([one]), np.array([center])) for one in (counts, more))
    assert len(before) == len(after)  # which reaches are candidates depends on the center alone
    assert np.abs(after - before).max() <= rule.slope


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(9, 10), Fraction(1, 10)])
def test_the_slope_is_attained(share):
    rule, largest = HistogramReachRule(share=share, shift=3), 0
    for counts in product(range(3), repeat=4):
        for place, center in product(range(4), repeat=2):
            more = np.array([counts])
            more[0, place] += 1
            (before,), (after,) = (rule.scores(np.array(one), np.array([center])) for one in ([counts], more))
            largest = max(largest, int(np.abs(after - before).max()))
    assert largest == rule.slope


def test_reaches_begin_with_the_value_and_end_with_everything():
    for width in (1, 2, 9, 10, 101, 4096):
        found = reaches(width)
        assert found[0] == 0
        assert found[-1] == width - 1
        assert (np.diff(found) >= 1).all()
        assert (np.diff(found) <= np.maximum(1, found[:-1] // 8)).all()
    assert len(reaches(4096)) < 80


def test_huge_counts_do_not_overflow():
    rule = HistogramReachRule(share=Fraction(9999, 10000), shift=1 << 60)
    huge = np.full((2, 4096), 1 << 62)
    for row in rule.scores(huge, np.array([0, 4095])):
        assert row.max() == 0
        assert (np.abs(row) <= 1 << 61).all()


def made(share, epsilon, shift):
    value, reach = HistogramRankRule(share=share), HistogramReachRule(share=share, shift=shift)
    parts = ((value, epsilon / 3), (reach, 2 * epsilon / 3))
    return Choices(
        choices=tuple(
            HistogramChoice(
                rule=rule, mechanism=Exponential(sensitivity=rule.slope, epsilon=amount), groups=1
            )
            for rule, amount in parts
        ),
        cells=1,
        width=4,
    )


def law(choices, counts):
    """The joint law of the value and of the reach around it, from the scores."""
    first, second = choices.choices
    table, chances = np.array([counts]), {}
    for center, chance in enumerate(weights(first.rule.scores(table)[0], first.mechanism)):
        (row,) = second.rule.scores(table, np.array([center]))
        for reach, further in zip(reaches(len(counts)), weights(row, second.mechanism), strict=False):
            chances[center, int(reach)] = chance * further
    return chances


def weights(scores, mechanism):
    found = [exp(float(mechanism.rate) * float(score - scores.max())) for score in scores]
    return [weight / sum(found) for weight in found]


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(3, 4)])
def test_a_value_and_its_reach_together_cost_what_the_event_says(share):
    """Every pair of neighbors over small histograms, by the joint law of both choices."""
    choices, worst = made(share, Fraction(1), 2), 0.0
    for counts in product(range(3), repeat=4):
        one = law(choices, counts)
        for place in range(4):
            more = list(counts)
            more[place] += 1
            other = law(choices, more)
            assert one.keys() == other.keys()
            worst = max(worst, *(abs(log(one[each] / other[each])) for each in one))
    assert float(choices.event.pure_epsilon) / 3 < worst <= float(choices.event.pure_epsilon) + 1e-9


def test_a_score_that_counts_rows_and_not_shares_is_caught(monkeypatch):
    """The control: with b times the slope that is charged, the same enumeration exceeds the epsilon."""
    monkeypatch.setattr(HistogramReachRule, "slope", property(lambda rule: 1))
    choices = made(Fraction(3, 4), Fraction(1), 2)
    one, other = law(choices, (2, 0, 0, 2)), law(choices, (2, 1, 0, 2))
    assert max(abs(log(one[each] / other[each])) for each in one) > 1


@pytest.mark.statistical
def test_what_is_drawn_has_the_joint_law():
    choices, counts, times = made(Fraction(1, 2), Fraction(2), 1), (3, 1, 0, 2), 4000
    many = Choices(choices=choices.choices, cells=times, width=4)
    drawn = many.release(np.array(counts * times)).reshape(-1, 2)
    assert many.may_draw(drawn.reshape(-1))
    for (center, reach), chance in law(choices, counts).items():
        found = int(((drawn[:, 0] == center) & (drawn[:, 1] == reach)).sum())
        assert abs(found - times * chance) <= 5 * (times * chance * (1 - chance)) ** 0.5 + 2


def test_a_reach_needs_the_value_first():
    value, reach = made(Fraction(1, 2), Fraction(1), 1).choices
    for wrong in ((reach,), (reach, value)):
        with pytest.raises(ParameterError, match="not chosen before"):
            Choices(choices=wrong, cells=1, width=4)
    with pytest.raises(ParameterError):
        HistogramReachRule(share=Fraction(1, 2), shift=-1)
    with pytest.raises(ParameterError):
        HistogramReachRule(share=0.5)
