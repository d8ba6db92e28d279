"""What is refused before a budget is looked at: names that are none, and budgets that are missing."""

from __future__ import annotations

from discreet.curator.budget.budget import Budget
from discreet.errors import ParameterError

__all__ = ["check_analyst", "checked_budget"]

_LONGEST_NAME = 200


def check_analyst(analyst: str) -> None:
    """Refuse what is not the name of an analyst."""
    if not isinstance(analyst, str) or len(analyst) > _LONGEST_NAME or not analyst.isprintable():
        raise ParameterError(
            "analyst", "is not a name", f"text of at most {_LONGEST_NAME} characters, none of them invisible"
        )


def checked_budget(budget: Budget | None) -> Budget:
    """Return a budget, if it is one."""
    if not isinstance(budget, Budget):
        problem = "is missing" if budget is None else "is not a budget"
        raise ParameterError("budget", problem, "such as budget=Budget(epsilon=3)")
    return budget
