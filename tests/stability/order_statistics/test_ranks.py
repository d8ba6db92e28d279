"""Rank rules."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.stability.order_statistics.ranks import RankRule, rank_rule

LEVELS = st.fractions(0, 1, max_denominator=50)


@given(LEVELS, st.booleans(), st.integers(0, 500))
def test_a_rank_grows_by_none_or_one_and_is_within_the_values(level, above, size):
    if level == (1 if above else 0):
        return
    rule = RankRule(level=level, above=above)
    assert rule.at(size + 1) - rule.at(size) in {0, 1}
    assert rule.at(0) == int(above)
    if size:
        assert 1 <= rule.at(size) <= size
    assert rule.of(np.array([size])).tolist() == [rule.at(size)]
    assert rule.reflected().at(size) == size + 1 - rule.at(size)
    assert rule.reflected().reflected() == rule


def test_quantiles_by_name():
    assert [rank_rule(0.5).at(size) for size in range(6)] == [0, 1, 1, 2, 2, 3]
    assert [rank_rule(0).at(size) for size in range(4)] == [1, 1, 1, 1]
    assert [rank_rule(1).at(size) for size in range(4)] == [0, 1, 2, 3]
    assert rank_rule(0.1) == RankRule(level=Fraction(1, 10), above=False)


@pytest.mark.parametrize("level", [-0.1, 1.1, "1/1000001", float("nan")])
def test_a_level_is_a_part_of_a_whole(level):
    with pytest.raises(ParameterError, match="level"):
        rank_rule(level)
