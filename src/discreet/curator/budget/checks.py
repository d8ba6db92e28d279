"""What is refused before a budget is looked at: names that are none; budgets and ledgers that are missing."""

from __future__ import annotations

from pathlib import Path

from discreet.curator.budget.budget import Budget
from discreet.curator.ledger import Store
from discreet.errors import ParameterError

__all__ = ["check_analyst", "checked_budget", "checked_ledger"]

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


def checked_ledger(ledger: str | Path | Store | None) -> str | Path | Store:
    """Return where a ledger is, if that is said."""
    if ledger is None:
        raise ParameterError(
            "ledger",
            "is missing: spending must be recorded",
            "the path of a file, such as ledger='clinic.ledger', created if it is missing",
        )
    return ledger
