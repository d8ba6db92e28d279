"""Plans: parts that add up."""

from __future__ import annotations

import pytest

from discreet.learning.regression.regression_plan import NORMAL_PLAN, PURE_PLAN


@pytest.mark.parametrize("plan", [NORMAL_PLAN, PURE_PLAN])
def test_parts_are_positive_and_add_up(plan):
    assert plan.limits + plan.shape + plan.moments + plan.gradient == 1
    assert min(plan.limits, plan.moments, plan.gradient) > 0
    assert plan.shape >= 0
