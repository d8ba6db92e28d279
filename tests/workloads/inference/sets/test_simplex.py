"""Non-negativity and totals: exact projections, and residuals that notice a wrong one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.workloads.inference.sets.simplex import KnownTotal, NonNegative, Simplex

numbers = st.floats(-50, 50).map(lambda x: round(x, 3))
vectors = st.lists(numbers, min_size=1, max_size=7)


def by_supports(answers, weights, total):
    """Try every set of positive entries: the closest feasible point is the projection on the simplex."""
    best, distance = None, np.inf
    for support in product((False, True), repeat=len(answers)):
        kept = np.array(support)
        if not kept.any():
            continue
        price = (answers[kept].sum() - total) / (1 / weights[kept]).sum()
        point = np.where(kept, answers - price / weights, 0.0)
        away = float((weights * (point - answers) ** 2).sum())
        if point.min() >= -1e-12 and away < distance:
            best, distance = point, away
    return best


@given(answers=vectors, total=st.floats(0.1, 60), data=st.data())
def test_the_simplex_is_projected_on_exactly(answers, total, data):
    answers = np.array(answers)
    weights = np.array(data.draw(st.lists(st.floats(0.2, 5), min_size=len(answers), max_size=len(answers))))
    point = Simplex(total).project(answers, weights)
    assert np.abs(point - by_supports(answers, weights, total)).max() < 1e-9
    assert point.min() >= 0
    assert point.sum() == pytest.approx(total)
    assert Simplex(total).residual(point, answers, weights) < 1e-9


@given(answers=vectors, total=numbers)
def test_a_known_total_spreads_the_difference(answers, total):
    point = KnownTotal(total).project(answers)
    assert np.abs(point - (np.array(answers) + (total - sum(answers)) / len(answers))).max() < 1e-9
    assert KnownTotal(total).residual(point, answers) < 1e-9


def test_a_variable_answer_takes_more_of_the_difference():
    point = KnownTotal(10).project([1.0, 1.0], weights=[1.0, 1 / 3])
    assert point == pytest.approx([3.0, 7.0])


@pytest.mark.parametrize("member", [NonNegative(), KnownTotal(12), Simplex(12)])
def test_the_residual_notices_a_point_that_is_not_the_projection(member):
    random = np.random.default_rng(1)
    answers = random.normal(1, 3, 9)
    weights = random.uniform(0.5, 2, 9)
    point = member.project(answers, weights)
    assert member.residual(point, answers, weights) < 1e-12
    for _ in range(20):
        moved = random.normal(0, 0.01, 9)
        other = member.project(point + moved)  # another point of the set
        if np.abs(other - point).max() > 1e-3:
            assert member.residual(other, answers, weights) > 1e-4
    assert member.residual(point - 0.01, answers, weights) > 1e-3


def test_a_heavy_sum_keeps_its_total():
    random = np.random.default_rng(2)
    answers = random.laplace(0, 1e6, 100_000)
    point = Simplex(1234567).project(answers)
    assert abs(point.sum() - 1234567) < 1e-6
    assert Simplex(1234567).residual(point, answers) < 1e-6


def test_edges():
    assert Simplex(0).project([3.0, -1.0]).tolist() == [0, 0]
    assert Simplex(0).residual(np.zeros(2), [3.0, -1.0]) == 0
    assert Simplex(0).project([]).size == 0
    assert KnownTotal(0).project([]).size == 0
    assert Simplex(5).project([-7.0]).tolist() == [5.0]
    for refused in (lambda: Simplex(1).project([]), lambda: KnownTotal(1).project([])):
        with pytest.raises(ParameterError, match="no entries"):
            refused()
    with pytest.raises(ParameterError, match="contradict"):
        Simplex(-1)


@pytest.mark.parametrize("member", [NonNegative(), KnownTotal(3), Simplex(3)])
def test_rows_describe_the_set(member):
    random = np.random.default_rng(3)
    rows = member.rows(4)
    for _ in range(20):
        point = member.project(random.normal(0, 3, 4))
        if rows.equal is not None:
            assert np.abs(rows.equal @ point - rows.values).max() < 1e-9
        if rows.least is not None:
            assert (rows.least @ point >= rows.bounds - 1e-9).all()
