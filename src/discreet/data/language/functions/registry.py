"""All scalar functions of the language, found by their names."""

from __future__ import annotations

from discreet.data.language.functions import conditional, exponential, numeric, strings, temporal
from discreet.data.language.functions.record import ScalarFunction

__all__ = ["FUNCTIONS", "function_named"]

FUNCTIONS: dict[str, ScalarFunction] = {
    record.name: record
    for family in (conditional, numeric, exponential, strings, temporal)
    for record in vars(family).values()
    if isinstance(record, ScalarFunction)
}
"""Every scalar function, by name."""


def function_named(name: str | ScalarFunction) -> ScalarFunction:
    """Return the function of a name; a record stands for itself."""
    found = FUNCTIONS.get(name.name if isinstance(name, ScalarFunction) else name)
    if found is None or (isinstance(name, ScalarFunction) and found is not name):
        raise ValueError("not a function of the language")
    return found
