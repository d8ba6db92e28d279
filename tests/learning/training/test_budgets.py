"""Budgets of training runs: what is stated, and what parts of it cost together."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning.training.budgets import stated_budget
from discreet.privacy.guarantees import ApproximateDP, PureDP, ZeroConcentratedDP
from discreet.privacy.sensitivity import Sensitivity

ONE = Sensitivity(l0=1, l1=1, squared_l2=1, linf=1)
STATED = [{"rho": "1/2"}, {"epsilon": "1/2"}, {"epsilon": 1, "delta": "1e-6"}]


@pytest.mark.parametrize("stated", STATED)
def test_parts_together_cost_no_more_than_the_whole(stated):
    budget = stated_budget(**stated)
    parts = sum(budget.share(Fraction(share, 10)).noise(ONE, 3).event for share in (1, 2, 7))
    whole = budget.noise(ONE, 3).event
    if "delta" not in stated:
        name = "concentrated_rho" if "rho" in stated else "pure_epsilon"
        assert getattr(parts, name) == getattr(whole, name) == Fraction(1, 2)
        return
    for delta in (1e-9, 1e-6, 1e-3):
        found, allowed = (accounting.epsilon(one, delta=delta) for one in (parts, whole))
        assert found.upper <= allowed.upper * (1 + 1e-9)
        assert found.lower >= allowed.lower * (1 - 1e-6)


def test_guarantees_are_those_that_were_stated():
    found = [stated_budget(**one).guarantee for one in STATED]
    assert found == [
        ZeroConcentratedDP(rho="1/2"),
        PureDP(epsilon="1/2"),
        ApproximateDP(epsilon=1, delta="1e-6"),
    ]


@pytest.mark.parametrize("stated", [{}, {"delta": 1e-6}, {"rho": 1, "epsilon": 1}, {"rho": 1, "delta": 0.1}])
def test_one_budget_is_stated(stated):
    with pytest.raises(ParameterError, match="epsilon alone, or with delta, or rho"):
        stated_budget(**stated)
