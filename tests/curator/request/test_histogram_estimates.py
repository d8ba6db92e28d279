"""Estimates by smooth sensitivity over groups: enumerated end to end on small histograms."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest

from discreet.curator.request.histogram_choices import Choices, HistogramChoice
from discreet.curator.request.histogram_estimates import (
    FINENESS,
    HistogramEstimate,
    SmoothQuantileRule,
    TrimmedMeanRule,
)
from discreet.curator.request.histogram_rules import HistogramRankRule
from discreet.curator.request.request import Part
from discreet.data import Bounds, Histogram, Statistic
from discreet.errors import ParameterError
from discreet.mechanisms import Exponential
from discreet.mechanisms.adaptive.smooth_sensitivity import SmoothSensitivity
from discreet.mechanisms.admissible import Student
from discreet.noise import is_private, replay
from discreet.privacy.neighbors import REPLACE_PERSON
from discreet.privacy.sensitivity import Sensitivity
from effort import sizes

WIDTH = 3
HALF, TRIM = Fraction(1, 2), Fraction(1, 4)


def mechanism(epsilon=1, upper=(WIDTH - 1) * FINENESS, **options):
    return SmoothSensitivity(
        noise=Student(degrees=3),
        epsilon=epsilon,
        decay=Fraction(1, 10),
        lower=0,
        upper=upper,
        grid=1,
        **options,
    )


def estimate(rule=SmoothQuantileRule, share=HALF, rows=1, groups=1, epsilon=1):
    return HistogramEstimate(rule=rule(share=share, rows=rows), mechanism=mechanism(epsilon), groups=groups)


def part(choices, *, rows=1, groups=1, touched=None):
    bound = Sensitivity(l0=rows * groups, l1=rows * groups, squared_l2=groups * rows**2, linf=rows)
    statistic = Statistic(
        measure=Histogram(column="x", values=Bounds(0, WIDTH - 1)),
        sensitivity=bound,
        step=Fraction(1),
        center=Fraction(0),
        groups=groups if touched is None else touched,
    )
    return Part(statistic=statistic, mechanism=choices)


def law(one, counts):
    """The probability of every answer for one group, by the mechanism's own certified bounds."""
    profile = one.rule.profile(np.array(counts))
    answers = range((WIDTH - 1) * FINENESS + 1)
    return np.array([float(one.mechanism.probability(profile, answer)[1]) for answer in answers])


@pytest.mark.parametrize("most", sizes(1, 2))
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize(("rule", "share"), [(SmoothQuantileRule, HALF), (TrimmedMeanRule, TRIM)])
def test_all_small_histograms_of_a_group_keep_the_promise(rule, share, rows, most):
    one = estimate(rule, share, rows, epsilon=Fraction(3, 2))
    laws = {counts: law(one, counts) for counts in product(range(most + 1), repeat=WIDTH)}
    worst = 0.0
    for counts, chances in laws.items():
        for more in product(range(rows + 1), repeat=WIDTH):
            if 0 < sum(more) <= rows:
                after = tuple(a + b for a, b in zip(counts, more, strict=True))
                if after in laws:
                    ratios = chances / laws[after]
                    worst = max(worst, ratios.max(), (1 / ratios).max())
    assert worst <= exp(1.5) * (1 + 1e-9)
    assert worst > exp(0.3)  # not noise for nothing


def test_noise_for_fewer_rows_than_a_person_has_is_caught():
    one = estimate(rows=1, epsilon=Fraction(3, 2))
    laws = [law(one, counts) for counts in ((4, 3, 0), (4, 3, 2))]
    ratios = laws[0] / laws[1]
    assert max(ratios.max(), (1 / ratios).max()) > exp(1.5)


def test_an_estimate_must_cover_the_histogram():
    part(Choices(choices=(estimate(rows=2),), cells=1, width=WIDTH), rows=2)
    part(Choices(choices=(estimate(rows=1, groups=3),), cells=3, width=WIDTH), rows=1, groups=3)
    for wrong in (
        {"rows": 2},
        {"rows": 1, "groups": 2},
        {"rows": 1, "touched": 2},  # a limit on rows lets a person be in several groups with few rows each
    ):
        with pytest.raises(ParameterError, match="does not cover"):
            part(Choices(choices=(estimate(),), cells=3, width=WIDTH), **wrong)


def test_the_event_is_that_of_the_groups_a_person_is_in():
    assert estimate(groups=3).event.pure_epsilon == 3
    both = Choices(
        choices=(
            estimate(groups=3),
            HistogramChoice(
                rule=HistogramRankRule(share=HALF),
                mechanism=Exponential(sensitivity=1, epsilon=Fraction(1, 2)),
                groups=1,
            ),
        ),
        cells=3,
        width=WIDTH,
    )
    assert both.event.pure_epsilon == Fraction(7, 2)


def test_choices_and_estimates_leave_side_by_side():
    rank = HistogramChoice(
        rule=HistogramRankRule(share=HALF), mechanism=Exponential(sensitivity=1, epsilon=60), groups=1
    )
    one = HistogramEstimate(
        rule=TrimmedMeanRule(share=TRIM, rows=1), mechanism=mechanism(epsilon=60), groups=1
    )
    choices = Choices(choices=(rank, one), cells=2, width=WIDTH)
    counts = np.array([[0, 400, 0], [0, 0, 400]])
    with replay(1):
        drawn = choices.release(counts.reshape(-1))
    assert not is_private(drawn)
    assert choices.may_draw(drawn)
    assert choices.drawn(drawn, rank.rule).tolist() == [[1], [2]]
    found = choices.drawn(drawn, one.rule)[:, 0] / FINENESS
    assert np.abs(found - [1, 2]).max() < 0.2
    assert not choices.may_draw(np.array([3, 0, 0, 0]))
    assert not choices.may_draw(np.array([0, 2 * FINENESS + 1, 0, 0]))
    assert not choices.may_draw(np.array([0, -1, 0, 0]))


def test_groups_without_values_have_an_answer():
    for rule, share in ((SmoothQuantileRule, HALF), (TrimmedMeanRule, TRIM)):
        choices = Choices(choices=(estimate(rule, share),), cells=2, width=WIDTH)
        assert choices.may_draw(choices.release(np.zeros(2 * WIDTH, np.int64)))


def test_groups_of_billions_take_the_memory_of_a_histogram():
    counts = np.array([10**9, 2 * 10**9, 10**9])
    for rule, share in ((SmoothQuantileRule, HALF), (TrimmedMeanRule, TRIM)):
        one = estimate(rule, share, rows=2)
        profile = one.rule.profile(counts)
        assert profile.value == FINENESS
        assert profile.smooth(one.mechanism.decay) < Fraction(1, 1000)
        assert abs(int(one.release(counts.reshape(1, -1))[0, 0]) - FINENESS) <= 1


def test_what_does_not_fit_is_refused():
    rule = SmoothQuantileRule(share=HALF, rows=1)
    with pytest.raises(ParameterError):
        HistogramEstimate(rule=rule, mechanism=mechanism(neighbors=REPLACE_PERSON), groups=1)
    with pytest.raises(ParameterError):
        HistogramEstimate(rule=HistogramRankRule(share=HALF), mechanism=mechanism(), groups=1)
    with pytest.raises(ParameterError):
        SmoothQuantileRule(share=0.5, rows=1)
    with pytest.raises(ParameterError):
        TrimmedMeanRule(share=HALF, rows=0)


def test_nothing_of_the_data_shows():
    shown = repr(Choices(choices=(estimate(),), cells=1, width=WIDTH))
    profile = estimate().rule.profile(np.array([123456, 0, 0]))
    assert "123456" not in shown + repr(profile)
