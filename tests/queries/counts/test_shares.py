"""Margins and shares of prefixes against dense algebra: the covariance of the estimate, group by group."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.queries.counts.shares import prefix_margins, prefix_shares, share_of
from discreet.workloads import Prefixes, plan
from discreet.workloads.error.intervals import half_width

SIZE = 12


@pytest.fixture(scope="module", params=[{"epsilon": 1}, {"rho": "0.1"}], ids=str)
def design(request):
    return plan(Prefixes(SIZE), **request.param)


def covariance(design, groups):
    """Of the sum of so many tables that are measured one by one, from the matrix of the strategy."""
    inverse = np.linalg.pinv(design.strategy.matrix().astype(float))
    return sum(inverse @ inverse.T for _ in range(groups))


@pytest.mark.parametrize("groups", [1, 2, 5])
@pytest.mark.parametrize("share", [0.0, 0.25, 0.9])
def test_margins_are_those_of_as_many_noisy_tables(design, groups, share):
    found = prefix_margins(design, groups, share, 0.9)
    spread = covariance(design, groups)
    for last in range(SIZE):
        query = (np.arange(SIZE) <= last) - share
        expected = half_width(design.mechanism, float(query @ spread @ query), 0.9)
        assert found[last] == pytest.approx(expected, rel=1e-6, abs=1e-6 * expected + 1e-9)


@pytest.mark.parametrize("groups", [1, 3])
def test_a_share_is_in_its_interval_just_if_the_query_is_within_its_margin(design, groups):
    """Fieller's condition, tried at every share of a fine grid."""
    cells = np.linspace(40, 400, SIZE) * 50
    spread = covariance(design, groups)
    for last in (0, 4, 10):
        row = (np.arange(SIZE) <= last).astype(float)
        low, high = share_of(row, cells, design, groups, about="", confidence=0.9).interval()
        for share in np.linspace(0, 1, 201):
            query = row - share
            margin = half_width(design.mechanism, float(query @ spread @ query), 0.9)
            inside = abs(query @ cells) <= margin
            if not inside:
                assert not low + 1e-9 < share < high - 1e-9
            else:
                assert low - 1e-9 <= share <= high + 1e-9


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("level", [50, 0.01, -1])
def test_all_prefixes_at_once_are_each_by_itself(design, groups, level):
    cells = np.linspace(40, 400, SIZE) * level
    lower, upper = prefix_shares(cells, design, groups, 0.9)
    for last in range(SIZE):
        row = (np.arange(SIZE) <= last).astype(float)
        low, high = share_of(row, cells, design, groups, about="", confidence=0.9).interval()
        assert (lower[last], upper[last]) == pytest.approx((low, high), abs=1e-9)
