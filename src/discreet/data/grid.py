"""From a column of numbers to integers on its public grid, inside the engine.

The index of a value is computed in double precision by operations that IEEE 754 defines to the last
bit (conversion, multiplication, division, addition, floor), so that every engine gives the same integers.
The last step clips integers, so the bounds always hold.
"""

from __future__ import annotations

import ibis
from ibis.expr.types import IntegerColumn, NumericValue, Value

from discreet.data.engines.base import double
from discreet.data.language.declarations import CLAMP, DROP, Bounds, MissingRule

__all__ = ["clipped", "steps"]

_TINY = 1e-150
"""What is nearer to zero counts as zero: its quotient may underflow, which is an error on some engines."""


def steps(value: Value, bounds: Bounds) -> IntegerColumn:
    """Return the index k of the grid point k step that a value is rounded to; NULL if it is absent.

    A finite value x becomes the integer nearest to x / step, halves upward, clipped to
    [lower / step, upper / step]. Integers on a grid of step 1 are clipped as they are; other numbers are
    converted to the nearest double x', clipped, and become floor((x' q) / p + 1/2) for step = p / q,
    each operation rounded to double precision. NaN, infinities and NULL follow the rules of the bounds.
    """
    kind = value.type()
    if kind.is_boolean():
        value = value.cast("int64")
        kind = value.type()
    if kind.is_integer() and bounds.step == 1:
        index = clipped(value.cast("int64"), bounds)
        special = []
    else:
        value = value.cast("float64")
        index = _nearest(value, bounds)
        special = [(value.isnan(), _rule(bounds.nan, bounds))]
        if bounds.infinity != CLAMP:
            special.append((value.isinf(), _rule(bounds.infinity, bounds)))
    return ibis.cases((value.isnull(), _rule(bounds.null, bounds)), *special, else_=index)


def _rule(rule: MissingRule, bounds: Bounds) -> Value:
    return ibis.null("int64") if rule == DROP else ibis.literal(bounds.steps(rule, "rule"), type="int64")


def clipped(index: NumericValue, bounds: Bounds) -> NumericValue:
    """Return the index of a grid point, clipped to the bounds."""
    least, largest = (ibis.literal(end, type="int64") for end in (bounds.lower_steps, bounds.upper_steps))
    return ibis.greatest(ibis.least(index, largest), least)


def _nearest(value: NumericValue, bounds: Bounds) -> NumericValue:
    # Clipped first: beyond the bounds lie infinities, and numbers whose quotient overflows.
    inside = ibis.greatest(ibis.least(value, double(float(bounds.upper))), double(float(bounds.lower)))
    tame = ibis.ifelse(value.abs() < double(_TINY), double(0), inside)
    quotient = tame * double(bounds.step.denominator) / double(bounds.step.numerator)
    return clipped((quotient + double(0.5)).floor().cast("int64"), bounds)
