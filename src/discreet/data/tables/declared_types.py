"""Types of columns and what is declared about them: which type a declaration implies, and whether it fits."""

from __future__ import annotations

from discreet.data.language.declarations import Bounds, Dates, Declared, Keys
from discreet.data.language.types import Type
from discreet.errors import ParameterError

__all__ = ["check_declared", "implied_type"]

_MOMENTS = {Type.DATE, Type.TIMESTAMP, Type.INSTANT}
_NUMBERS = {Type.INTEGER, Type.DECIMAL, Type.FLOAT, Type.BOOLEAN}


def implied_type(declared: Declared) -> Type:
    """Return the type that a column of a CSV file has by what is declared about it."""
    if isinstance(declared, Bounds):
        return Type.FLOAT if declared.step_was_given else Type.INTEGER
    if isinstance(declared, Dates):
        return Type.DATE
    return declared.type if isinstance(declared, Keys) else declared


def check_declared(name: str, declared: Declared, found: Type) -> None:
    """Refuse what is declared about a column if it is of a type that cannot have it."""
    if isinstance(declared, Bounds):
        if found not in _NUMBERS:
            raise ParameterError(
                "columns",
                f"declares Bounds of {name!r}, a column of type {found.value}",
                "a column of numbers",
            )
        if found in {Type.FLOAT, Type.DECIMAL} and not declared.step_was_given:
            raise ParameterError(
                "columns",
                f"declares Bounds of {name!r} without a step, but its type, {found.value}, holds fractions",
                "a step, such as step=0.01, or step=1 to round to whole numbers",
            )
    elif isinstance(declared, Dates):
        if found not in _MOMENTS:
            raise ParameterError(
                "columns",
                f"declares Dates of {name!r}, a column of type {found.value}",
                "a column of dates or times",
            )
    elif (declared.type if isinstance(declared, Keys) else declared) is not found:
        kind = declared.type if isinstance(declared, Keys) else declared
        raise ParameterError(
            "columns", f"declares {name!r} as {kind.value}, but it is of type {found.value}", "its own type"
        )
