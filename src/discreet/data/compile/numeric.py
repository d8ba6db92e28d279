"""Functions of numbers in Ibis: 64-bit integers and doubles in, exact or IEEE 754's own results out."""

from __future__ import annotations

from fractions import Fraction

import ibis
from ibis.expr.types import BooleanValue, NumericValue, Value

from discreet.data.compile.calls import CallLine, Operands, of_numbers
from discreet.data.compile.comparisons import compare_literal
from discreet.data.engines.base import double
from discreet.data.language.expressions import COLUMN_BITS, Comparison, literal

__all__ = ["FUNCTIONS", "as_integer", "rounded", "tame"]

_LEAST = -(1 << 63)
_BEYOND = 2.0**63
_LARGEST_EXACT = 2.0**53


def tame(value: NumericValue) -> NumericValue:
    """Return a double that is NULL, zero, or from 2^-67 to 2^67 in magnitude."""
    near = ibis.ifelse(value.abs() < double(2.0**-COLUMN_BITS), double(0), value)
    return ibis.ifelse(value.abs() <= double(2.0**COLUMN_BITS), near, ibis.null("float64"))


def as_integer(value: NumericValue) -> NumericValue:
    """Return a double without a fraction as a 64-bit integer; NULL for NaN and beyond 64 bits."""
    return _small(value).cast("int64")


def _small(value: NumericValue) -> NumericValue:
    """Return a double whose floor and ceiling 64 bits hold, else NULL."""
    return ibis.ifelse(value.abs() < double(_BEYOND), value, ibis.null("float64"))


def rounded(value: NumericValue, digits: int = 0) -> NumericValue:
    """Return the nearest multiple of 10^-digits, halves away from zero.

    The fraction x - floor(x) of a double is exact, so halves are recognized exactly.
    """
    if value.type().is_integer():
        if digits >= 0:
            return value
        value = value.cast("float64")
    if digits == 0:
        return as_integer(_nearest(value))
    scale, tamed = double(10 ** abs(digits)), tame(value)
    if digits > 0:
        return _nearest(tamed * scale) / scale
    return as_integer(_nearest(tamed / scale) * scale)


def _nearest(value: NumericValue) -> NumericValue:
    """Return the integer nearest to a double, as a double."""
    size = value.abs()
    # From 2^53 on every double is an integer. Engines convert a floor to 64 bits, which must hold it.
    small = ibis.ifelse(size < double(_LARGEST_EXACT), size, ibis.null("float64"))
    down = small.floor().cast("float64")
    up = ibis.ifelse(small - down >= double(0.5), down + double(1), down)
    nearest = ibis.ifelse(size >= double(_LARGEST_EXACT), size, up)
    return ibis.ifelse(value < double(0), double(-1), double(1)) * nearest


def _modulo(value: NumericValue, divisor: NumericValue | int) -> NumericValue:
    """Return the remainder with the sign of the value; NULL if the divisor is 0."""
    # The least integer divided by -1 overflows; by 1 it leaves the same remainder, 0.
    minus_one, one = (ibis.literal(number, type="int64") for number in (-1, 1))
    if isinstance(divisor, int):
        divisor = ibis.literal(divisor, type="int64")
    safe = ibis.ifelse(divisor == minus_one, one, divisor).nullif(ibis.literal(0, type="int64"))
    return (value % safe).cast("int64")


def _width_bucket(operands: Operands) -> NumericValue:
    """Return the number of thresholds low + i (high - low) / parts, i = 0 to parts, that are not above."""
    value = operands.value(operands.nodes[0])  # in its own type: decimals are compared exactly
    low, high, count = (Fraction(constant) for constant in operands.others(operands.value))
    parts = int(count)
    width = (high - low) / parts

    def reached(index: int) -> BooleanValue:
        return compare_literal(Comparison.AT_LEAST, value, literal(low + index * width))

    def between(least: int, most: int) -> Value:
        """Return the bucket, known to be from `least` to `most`: a balanced tree of comparisons."""
        if least == most:
            return ibis.literal(least, type="int64")
        middle = (least + most + 1) // 2
        return ibis.ifelse(reached(middle - 1), between(middle, most), between(least, middle - 1))

    missing = value.isnull()
    if value.type().is_floating():
        missing |= value.isnan()
    return ibis.ifelse(missing, ibis.null("int64"), between(0, parts + 1))


def _absolute(value: NumericValue) -> NumericValue:
    if value.type().is_integer():
        value = value.nullif(ibis.literal(_LEAST, type="int64"))
    return value.abs()


def _floor(value: NumericValue) -> NumericValue:
    return value if value.type().is_integer() else _small(value).floor().cast("int64")


def _ceiling(value: NumericValue) -> NumericValue:
    return value if value.type().is_integer() else _small(value).ceil().cast("int64")


def _sign(value: NumericValue) -> NumericValue:
    exact = value.type().is_integer()
    zero = ibis.literal(0, type="int64") if exact else double(0)
    minus, none, plus = (ibis.literal(sign, type="int64") for sign in (-1, 0, 1))
    # NaN is above every number, and none of them.
    missing = value.isnull() if exact else value.isnan()
    branches = [(missing, ibis.null("int64")), (value < zero, minus), (value == zero, none)]
    return ibis.cases(*branches, (value > zero, plus), else_=ibis.null("int64"))


def _square_root(value: NumericValue) -> NumericValue:
    value = value.cast("float64")
    return ibis.ifelse(value < double(0), ibis.null("float64"), value).sqrt()


FUNCTIONS: dict[str, CallLine] = {
    "abs": of_numbers(_absolute),
    "floor": of_numbers(_floor),
    "ceiling": of_numbers(_ceiling),
    "round": of_numbers(rounded),
    "sign": of_numbers(_sign),
    "sqrt": of_numbers(_square_root),
    "modulo": of_numbers(_modulo),
    "width_bucket": _width_bucket,
}
