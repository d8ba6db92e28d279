"""Consistent distribution functions and quantiles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.workloads.inference.cumulative import (
    RangeSums,
    cumulative_from_prefixes,
    cumulative_from_ranges,
)
from workloads.inference.convex_oracle import general_solver


def test_prefixes_match_a_general_solver():
    random = np.random.default_rng(1)
    for size in (1, 2, 9):
        answers = np.cumsum(random.poisson(2, size)) + random.laplace(0, 5, size)
        variances = random.uniform(0.3, 3, size)
        free = cumulative_from_prefixes(answers, variances=variances)
        expected = general_solver(
            np.eye(size),
            answers,
            1 / variances,
            lambda x: [x >= 0, x[1:] >= x[:-1]] if x.size > 1 else [x >= 0],
        )
        assert free.counts == pytest.approx(expected, abs=1e-6)
        if size > 1:
            known = cumulative_from_prefixes(answers, variances=variances, total=15)
            expected = general_solver(
                np.eye(size),
                answers,
                1 / variances,
                lambda x: [x >= 0, x[1:] >= x[:-1], x[-1] == 15],
            )
            assert known.counts == pytest.approx(expected, abs=1e-6)
            assert known.total == 15


def test_ranges_match_a_general_solver():
    random = np.random.default_rng(2)
    size = 10
    ends = np.sort(random.integers(0, size, (60, 2)), axis=1)
    cells = random.poisson(1, size)
    answers = np.array([cells[a : b + 1].sum() for a, b in ends]) + random.laplace(0, 3, 60)
    matrix = np.array([[a <= i <= b for i in range(size)] for a, b in ends], float)
    for total in (None, int(cells.sum())):
        made = cumulative_from_ranges(size, ends, answers, total=total)
        expected = general_solver(
            matrix,
            answers,
            np.ones(60),
            lambda x, total=total: [x >= 0, *([] if total is None else [sum(x) == total])],
        )
        assert made.counts == pytest.approx(np.cumsum(expected), abs=1e-6)
        assert made.estimate.residual < 1e-9


@settings(deadline=None)
@given(
    answers=st.lists(st.floats(-30, 60), min_size=1, max_size=12),
    total=st.one_of(st.none(), st.integers(1, 40)),
    levels=st.lists(st.floats(0, 1), min_size=2, max_size=4).map(sorted),
)
def test_monotone_within_the_total_and_so_are_quantiles(answers, total, levels):
    made = cumulative_from_prefixes(answers, total=total)
    assert (np.diff(made.counts) >= 0).all()
    assert made.counts.min() >= 0
    assert made.counts.max() == made.total
    if made.total > 0:
        found = [made.quantile(level) for level in levels]
        assert found == sorted(found)
        for level, cell in zip(levels, found, strict=True):
            assert made.counts[cell] >= level * made.total
            assert cell == 0 or made.counts[cell - 1] < level * made.total
    for first in range(len(answers)):
        assert made.range(first, len(answers) - 1) >= 0


def test_quantiles_of_a_certain_distribution():
    made = cumulative_from_prefixes([0.0, 10.0, 10.0, 40.0], total=40)
    assert [made.quantile(level) for level in (0, 0.25, 0.26, 0.5, 1)] == [0, 1, 3, 3, 3]
    assert made.range(1, 1) == 10
    assert made.share(1) == 0.25


def test_the_operator_is_the_matrix_and_its_transpose():
    random = np.random.default_rng(3)
    ends = np.sort(random.integers(0, 8, (20, 2)), axis=1)
    operator = RangeSums(size=8, ranges=ends)
    matrix = np.array([[a <= i <= b for i in range(8)] for a, b in ends], float)
    x, y = random.normal(size=8), random.normal(size=20)
    assert operator.matvec(x) == pytest.approx(matrix @ x)
    assert operator.rmatvec(y) == pytest.approx(matrix.T @ y)
    assert operator.shape == matrix.shape


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: cumulative_from_prefixes([]), "empty"),
        (lambda: cumulative_from_prefixes([1.0], total=-1), "total"),
        (lambda: cumulative_from_prefixes([1.0], variances=0.0), "variances"),
        (lambda: cumulative_from_ranges(0, [[0, 0]], [1.0]), "size"),
        (lambda: cumulative_from_ranges(4, [], []), "ranges are empty"),
        (lambda: cumulative_from_ranges(4, [[0, 1], [3, 2]], [1.0, 2.0]), r"ranges\[1\] are reversed"),
        (lambda: cumulative_from_ranges(4, [[0, 4]], [1.0]), "outside the domain"),
        (lambda: cumulative_from_ranges(4, [[0.5, 1.0]], [1.0]), "pairs of integers"),
        (lambda: cumulative_from_ranges(4, [[0, 1]], [1.0, 2.0]), "answers"),
        (lambda: cumulative_from_prefixes([1.0, 2.0]).quantile(1.5), "level"),
        (lambda: cumulative_from_prefixes([1.0, 2.0]).range(1, 0), "before first"),
        (lambda: cumulative_from_prefixes([1.0, 2.0]).range(0, 2), "last"),
        (lambda: cumulative_from_prefixes([-1.0, -2.0]).quantile(0.5), "nothing"),
    ],
)
def test_bad_input_is_refused(call, match):
    with pytest.raises(ParameterError, match=match):
        call()


@pytest.mark.parametrize(("size", "said"), [(1 << 25, "33554432 cells"), (1 << 38, "274877906944 cells")])
def test_too_many_cells_are_refused_with_their_number(size, said):
    with pytest.raises(ParameterError, match=said):
        cumulative_from_ranges(size, [[0, 1]], [1.0])
