"""Functions that choose one of their operands, in Ibis."""

from __future__ import annotations

import ibis
from ibis.expr.types import Value

from discreet.data.compile.calls import CallLine, Operands, of_one_type
from discreet.data.compile.comparisons import compare, compare_literal
from discreet.data.language.expressions import Comparison, Literal

__all__ = ["FUNCTIONS"]


def _null_if(operands: Operands) -> Value:
    first, other = operands.nodes
    value = operands.value(first)
    if isinstance(other, Literal):
        equal = compare_literal(Comparison.EQUAL, value, other)
    else:
        equal = compare(Comparison.EQUAL, value, operands.value(other))
    return ibis.ifelse(equal, operands.null(), operands.shared(first))


FUNCTIONS: dict[str, CallLine] = {
    "coalesce": of_one_type(ibis.coalesce),
    "nullif": _null_if,
    "least": of_one_type(ibis.least),
    "greatest": of_one_type(ibis.greatest),
}
