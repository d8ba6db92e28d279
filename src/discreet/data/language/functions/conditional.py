"""Functions that choose one of their operands, which have one type in common."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.data.language.declarations import Dates
from discreet.data.language.functions.record import (
    DatedOperand,
    KeyedOperand,
    RangedOperand,
    ScalarFunction,
    TypedOperand,
    Values,
)
from discreet.data.language.functions.rules import MANY, common_type, days_of_any
from discreet.data.language.grid_interval import GridInterval, hull
from discreet.data.language.types import Type

__all__ = ["COALESCE", "GREATEST", "LEAST", "NULLIF"]


def _type_of_null_if(operands: Sequence[TypedOperand]) -> Type:
    common_type(operands, "NULLIF")
    return common_type(operands[:1], "NULLIF")


def _keys_of_coalesce(operands: Sequence[KeyedOperand]) -> Values:
    known = [operand.values for operand in operands]
    if None in known:
        return None
    found = dict.fromkeys(value for values in known for value in values or ())
    if None not in (known[-1] or ()):
        found.pop(None, None)
    return tuple(found)


def _keys_of_null_if(operands: Sequence[KeyedOperand]) -> Values:
    values, removed = (operand.values for operand in operands)
    if values is None:
        return None
    if removed is not None and len(removed) == 1:
        values = tuple(value for value in values if value != removed[0])
    return (*values, None)


def _least(operands: Sequence[RangedOperand], sides: Sequence[GridInterval]) -> GridInterval:
    """Return the range of the least of several numbers, where NULL is skipped.

    What is never NULL always takes part: the least is at most the least of such operands.
    """
    found = hull(sides)
    sure = [
        side.high
        for operand, side in zip(operands, sides, strict=True)
        if operand.is_never_null and side.high is not None
    ]
    return GridInterval(low=found.low, high=min(sure), step=found.step) if sure else found


def _range_of_least(operands: Sequence[RangedOperand]) -> GridInterval:
    return _least(operands, [operand.range for operand in operands])


def _range_of_greatest(operands: Sequence[RangedOperand]) -> GridInterval:
    return _least(operands, [operand.range.negative() for operand in operands]).negative()


def _days(operands: Sequence[DatedOperand]) -> Dates | None:
    return days_of_any([operand.days for operand in operands])


COALESCE = ScalarFunction(
    name="coalesce",
    meaning="The first operand that is not NULL.",
    example="COALESCE(x, 0)",
    operands=(2, MANY),
    gives=lambda operands: common_type(operands, "COALESCE"),
    keys=_keys_of_coalesce,
    range=lambda operands: hull([operand.range for operand in operands]),
    days=_days,
    skips_null=True,
    sql=("COALESCE", "IFNULL", "NVL"),
)
NULLIF = ScalarFunction(
    name="nullif",
    meaning="NULL if the two operands are equal, else the first.",
    example="NULLIF(x, 0)",
    operands=(2, 2),
    gives=_type_of_null_if,
    reads=2,
    keys=_keys_of_null_if,
    days=lambda operands: operands[0].days,
    sql=("NULLIF",),
)
LEAST = ScalarFunction(
    name="least",
    meaning="The smallest operand. NULL is skipped; NaN is above every number.",
    example="LEAST(x, 100)",
    operands=(2, MANY),
    gives=lambda operands: common_type(operands, "LEAST"),
    range=_range_of_least,
    days=_days,
    skips_null=True,
    sql=("LEAST",),
)
GREATEST = ScalarFunction(
    name="greatest",
    meaning="The largest operand. NULL is skipped; NaN is above every number.",
    example="GREATEST(x, 0)",
    operands=(2, MANY),
    gives=lambda operands: common_type(operands, "GREATEST"),
    range=_range_of_greatest,
    days=_days,
    skips_null=True,
    sql=("GREATEST",),
)
