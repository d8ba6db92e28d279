"""Logarithms and the exponential function in Ibis, to 30 significant bits."""

from __future__ import annotations

from fractions import Fraction
from math import log

import ibis
from ibis.expr.types import NumericValue

from discreet.data.compile.calls import CallLine, Operands, of_numbers
from discreet.data.compile.numeric import tame
from discreet.data.engines.base import double
from discreet.data.language.expressions import Literal
from discreet.data.language.functions.exponential import LARGEST_POWER

__all__ = ["FUNCTIONS"]

_SPLITTER = 2.0**23 + 1
"""A double x is rounded to 53 - 23 bits by c - (c - x) with c = x (2^23 + 1) (Veltkamp): three operations
that every engine rounds alike."""


def _to_thirty_bits(value: NumericValue) -> NumericValue:
    multiple = value * double(_SPLITTER)
    return multiple - (multiple - value)


def _logarithm(value: NumericValue, base: float = 1.0) -> NumericValue:
    """Return a logarithm; engines fail from 0 down, so what is there is NULL before."""
    tamed = tame(value.cast("float64"))
    positive = ibis.ifelse(tamed > double(0), tamed, ibis.null("float64"))
    return _to_thirty_bits(positive.ln() / double(base))


def _log(operands: Operands) -> NumericValue:
    base, node = operands.nodes
    assert isinstance(base, Literal)  # noqa: S101
    return _logarithm(operands.number(node), log(Fraction(base.value)))  # type: ignore[arg-type]


def _exp(value: NumericValue) -> NumericValue:
    """Return the exponential function; engines fail where it overflows, and one where it underflows."""
    value = value.cast("float64")
    small = ibis.ifelse(value.abs() <= double(LARGEST_POWER), value, ibis.null("float64"))
    return ibis.ifelse(value < double(-LARGEST_POWER), double(0), _to_thirty_bits(small.exp()))


FUNCTIONS: dict[str, CallLine] = {
    "ln": of_numbers(_logarithm),
    "log": _log,
    "exp": of_numbers(_exp),
}
