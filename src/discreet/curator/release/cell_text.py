"""How an answer is printed: each value beside its interval, and what has to be said below the table."""

from __future__ import annotations

from math import isfinite, isnan

import numpy as np

from discreet.curator.request.request import AnswerColumn, AnswerValues
from discreet.privacy.decimals import decimals_of, number
from discreet.visible import visible

__all__ = ["cell", "key_text", "known_values", "remark_of"]

_MISSING = "NULL"
_ALIKE = 0.01
"""Two margins that differ by less than this share are printed as one."""
_LIMITS = {-1: 2.0**-49, 0: 2.0**-999, 1: 2.0**-49}
"""Where correlations and shares end, and how far arithmetic leaves ends beyond: twice what `possible_numbers`
adds to an exact one."""


def cell(column: AnswerColumn, place: int) -> str:
    """Write a value with its interval, if it has one."""
    value = column.values[place]
    if column.lower is None or column.upper is None:
        return ", ".join(map(key_text, value)) if isinstance(value, list) else key_text(value)
    shown = float(value)
    lower, upper = (
        _without_slack(float(column.lower[place]), -1),
        _without_slack(float(column.upper[place]), 1),
    )
    if all(map(isnan, (shown, lower, upper))):  # no number is possible: as the first LAG
        return _MISSING
    if not all(map(isfinite, (shown, lower, upper))):
        return "unknown"
    below, above = shown - lower, upper - shown
    error, whole = max(below, above), column.values.dtype.kind == "i"
    # Of numbers that were rounded, as by ROUND(x, 1), further digits would be zeros.
    decimals = max(map(decimals_of, (shown, lower, upper)))
    low, high = (
        number(end, error, side=side, whole=whole, decimals=decimals)
        for end, side in ((lower, -1), (upper, 1))
    )
    if column.unknown is not None and column.unknown[place]:
        return f"unknown ({low} to {high})"
    text = number(shown, error, whole=whole, decimals=decimals)
    if column.excess is not None and lower == 0 and below < above:
        return f"{text} (at most {high})"
    if abs(above - below) <= _ALIKE * error:
        error = round(error, decimals)  # a difference of floats is off in its last digit
        return f"{text} ± {number(error, error, side=1, whole=whole, decimals=decimals)}"
    return f"{text} ({low} to {high})"


def known_values(column: AnswerColumn) -> AnswerValues:
    """Return the values of a column, without a number where `cell` writes that it is unknown.

    What was calculated there says nothing: its interval, which is kept, is all that is possible.
    """
    if column.lower is None or column.upper is None:
        return column.values
    values = np.asarray(column.values, np.float64)
    hidden = ~(np.isfinite(values) & np.isfinite(column.lower) & np.isfinite(column.upper))
    if column.unknown is not None:
        hidden |= column.unknown
    return np.where(hidden, np.nan, values) if hidden.any() else column.values


def _without_slack(end: float, side: int) -> float:
    """Return an end that is a limit but for the slack of arithmetic as that limit.

    Rounded outward, the square of a correlation would else be printed as up to 1.01.
    """
    for limit, slack in _LIMITS.items():
        if 0 < side * (end - limit) <= slack:
            return float(limit)
    return end


def key_text(value: object) -> str:
    """Write a key, or a value without an interval: without separated thousands, in one line of its own."""
    if value is None:
        return _MISSING
    if isinstance(value, float):
        return _MISSING if isnan(value) else f"{value + 0.0:.10g}"
    return visible(value)


def remark_of(column: AnswerColumn) -> str:
    """Return what has to be said about a column below the table; empty if nothing."""
    if column.bias:
        bias = number(column.bias, column.bias, side=1)
        return f"{column.name}: raised to 0 where negative, which puts it up to {bias} too high on average"
    if column.excess is not None and bool((column.values < 0).any()):
        return f"{column.name}: negative values are noise around small counts; nonnegative() raises them to 0"
    return f"{column.name}: {column.offers}" if column.offers else ""
