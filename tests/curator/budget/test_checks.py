"""What is refused before a budget is looked at."""

from __future__ import annotations

import pytest

from discreet.curator import Budget
from discreet.curator.budget.checks import check_analyst, checked_budget
from discreet.errors import ParameterError


def test_names_of_analysts():
    check_analyst("")
    check_analyst("ana")
    for name in ("a" * 201, "tab\t", 7):
        with pytest.raises(ParameterError, match="analyst"):
            check_analyst(name)


def test_budgets_are_budgets():
    assert checked_budget(Budget(epsilon=1)) == Budget(epsilon=1)
    with pytest.raises(ParameterError, match="is missing"):
        checked_budget(None)
    with pytest.raises(ParameterError, match="not a budget"):
        checked_budget(3)
