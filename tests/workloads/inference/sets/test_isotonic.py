"""Order: pooled blocks against the min-max formula, bounds, and residuals that notice."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.workloads.inference.sets.isotonic import Ordered, pool_adjacent_violators


def min_max(values, weights):
    """The closest rising sequence: x_i = max over j <= i of min over k >= i of the mean of j … k."""
    exact = [Fraction(value) for value in values]
    mass = [Fraction(weight) for weight in weights]
    size = len(exact)

    def mean(j, k):
        total = sum(mass[j : k + 1], Fraction(0))
        return (
            sum((m * v for m, v in zip(mass[j : k + 1], exact[j : k + 1], strict=True)), Fraction(0)) / total
        )

    return [max(min(mean(j, k) for k in range(i, size)) for j in range(i + 1)) for i in range(size)]


@given(
    pairs=st.lists(st.tuples(st.integers(-20, 20), st.integers(1, 5)), min_size=1, max_size=8),
)
def test_pooling_is_the_min_max_formula(pairs):
    values, weights = zip(*pairs, strict=True)
    pooled = pool_adjacent_violators(np.array(values, float), np.array(weights, float))
    assert pooled == pytest.approx([float(x) for x in min_max(values, weights)], abs=1e-12)


@given(
    values=st.lists(st.floats(-20, 20), max_size=12),
    lower=st.one_of(st.none(), st.integers(-10, 0)),
    upper=st.one_of(st.none(), st.integers(0, 10)),
    falling=st.booleans(),
)
def test_the_bounded_order_has_no_residual(values, lower, upper, falling):
    member = Ordered(lower=lower, upper=upper, falling=falling)
    point = member.project(values)
    steps = np.diff(point)
    assert (steps <= 0).all() if falling else (steps >= 0).all()
    assert member.residual(point, values) < 1e-9


def test_the_residual_notices_a_point_that_is_not_the_projection():
    random = np.random.default_rng(1)
    for falling in (False, True):
        member = Ordered(lower=0, upper=5, falling=falling)
        for _ in range(30):
            answers, weights = random.normal(2, 4, 10), random.uniform(0.5, 2, 10)
            point = member.project(answers, weights)
            assert member.residual(point, answers, weights) < 1e-9
            other = member.project(point + random.normal(0, 0.05, 10))
            if np.abs(other - point).max() > 1e-2:
                assert member.residual(other, answers, weights) > 1e-4
            assert member.residual(point[::-1] + np.arange(10) * 1e-3, answers, weights) > 1e-4


def test_clipping_first_would_be_another_point():
    """The lemma says pool, then clip; the other order is not the projection."""
    answers = [9.0, 0.0]
    member = Ordered(upper=6)
    assert member.project(answers).tolist() == [4.5, 4.5]
    assert pool_adjacent_violators(np.array([6.0, 0.0]), np.ones(2)).tolist() == [3.0, 3.0]


def test_a_million_falling_answers_are_pooled():
    values = -np.arange(1_000_000, dtype=float)
    pooled = pool_adjacent_violators(values, np.ones(values.size))
    assert np.ptp(pooled) == 0
    assert pooled[0] == pytest.approx(values.mean())


def test_edges():
    assert Ordered().project([]).size == 0
    assert Ordered().residual(np.zeros(0), []) == 0
    assert Ordered(lower=1, upper=1).project([5.0, -3.0]).tolist() == [1, 1]
    assert Ordered(lower=1, upper=1).residual(np.ones(2), [5.0, -3.0]) == 0
    with pytest.raises(ParameterError, match="lower bound is above the upper"):
        Ordered(lower=2, upper=1)
    with pytest.raises(ParameterError, match="contradict"):
        Ordered(upper=-1).non_negative()


@pytest.mark.parametrize("member", [Ordered(), Ordered(lower=0, upper=3), Ordered(upper=2, falling=True)])
@pytest.mark.parametrize("size", [1, 2, 6])
def test_rows_describe_the_set(member, size):
    random = np.random.default_rng(3)
    rows = member.rows(size)
    for _ in range(20):
        point = member.project(random.normal(1, 3, size))
        assert (rows.least @ point >= rows.bounds - 1e-9).all()
        outside = random.normal(1, 3, size)
        meets = bool((rows.least @ outside >= rows.bounds).all())
        assert meets == bool(np.array_equal(member.project(outside), outside))
