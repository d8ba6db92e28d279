"""Functions of numbers: 64-bit integers and doubles."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor

from discreet.data.language.functions.record import Operand, RangedOperand, ScalarFunction, TypedOperand
from discreet.data.language.functions.rules import (
    INTEGERS,
    NUMBERS,
    common_type,
    fixed,
    is_whole,
    whole_range,
)
from discreet.data.language.grid_interval import GridInterval
from discreet.data.language.literals import LiteralValue, literal_type
from discreet.data.language.types import Type

__all__ = ["ABS", "CEILING", "FLOOR", "MODULO", "ROUND", "SIGN", "SQRT", "WIDTH_BUCKET"]

MOST_DIGITS = 15
"""ROUND scales by at most 10^15, which a double holds exactly, as it does every power of ten up to 10^22."""
LARGEST_PARTS = 1000
LARGEST_BUCKET_TREE = 20_000
"""How many nodes WIDTH_BUCKET may compare in all: as many parts, each with a copy of the first operand."""


def _same(value: int) -> int:
    return value


def _digits(operands: Sequence[Operand]) -> int:
    return int(operands[1].constant) if len(operands) == 2 else 0  # type: ignore[arg-type]


def _type_of_round(operands: Sequence[TypedOperand]) -> Type:
    return common_type(operands[:1], "ROUND") if _digits(operands) > 0 else Type.INTEGER


def _round(value: int, digits: int = 0) -> int:
    if digits >= 0:
        return value
    scale: int = 10 ** abs(digits)
    size = (abs(value) + scale // 2) // scale * scale
    return size if value >= 0 else -size


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def _modulo(value: int, divisor: int) -> int | None:
    if divisor == 0:
        return None
    rest = abs(value) % abs(divisor)
    return rest if value >= 0 else -rest


def _range_of_modulo(operands: Sequence[RangedOperand]) -> GridInterval:
    value, divisor = (operand.range for operand in operands)
    found = GridInterval(step=Fraction(1))
    size, most = value.magnitude().high, divisor.magnitude().high
    limits = [
        limit for limit in (size, None if most is None else max(most - 1, Fraction(0))) if limit is not None
    ]
    if limits:
        found = found.within(-min(limits), min(limits))
    if value.low is not None and value.low >= 0:
        found = found.within(Fraction(0), None)
    return found.within(None, Fraction(0)) if value.high is not None and value.high <= 0 else found


def _is_bucket(operands: Sequence[Operand]) -> bool:
    value, low, high, parts = operands
    if not all(literal_type(end.constant).is_number for end in (low, high)):
        return False
    ends = [Fraction(end.constant) for end in (low, high)]  # type: ignore[arg-type]
    if ends[0] >= ends[1] or not is_whole(parts, 1, LARGEST_PARTS):
        return False
    return int(parts.constant) * value.size <= LARGEST_BUCKET_TREE  # type: ignore[arg-type]


def _parts(operands: Sequence[Operand]) -> int:
    return int(operands[3].constant)  # type: ignore[arg-type]


def _width_bucket(value: int, low: Fraction, high: Fraction, parts: int) -> int:
    place = (Fraction(value) - Fraction(low)) * parts // (Fraction(high) - Fraction(low)) + 1
    return max(0, min(parts + 1, int(place)))


def _width_bucket_at(value: float, constants: Sequence[LiteralValue], whole: bool) -> float | None:
    low, high, parts = (Fraction(one) for one in constants)  # type: ignore[arg-type]
    marks = [low + index * (high - low) / parts for index in range(int(parts) + 1)]
    if whole and any(value == float(mark) and Fraction(value) != mark for mark in marks):
        return None  # integers are compared exactly, doubles with the nearest double
    return float(sum(value >= float(mark) for mark in marks))


ABS = ScalarFunction(
    name="abs",
    meaning="The magnitude; NULL if an integer's is beyond 64 bits.",
    example="ABS(x)",
    takes=NUMBERS,
    gives=lambda operands: common_type(operands, "ABS"),
    reads=3,
    value=abs,
    range=lambda operands: operands[0].range.magnitude(),
    sql=("ABS",),
)
FLOOR = ScalarFunction(
    name="floor",
    meaning="The largest integer that is not above; NULL for NaN and beyond 64 bits.",
    example="FLOOR(x)",
    takes=NUMBERS,
    reads=2,
    value=_same,
    range=lambda operands: operands[0].range.rounded(Fraction(1)),
    rises_in=0,
    at=lambda value, _, __: float(floor(value)),
    sql=("FLOOR",),
)
CEILING = ScalarFunction(
    name="ceiling",
    meaning="The smallest integer that is not below; NULL for NaN and beyond 64 bits.",
    example="CEILING(x)",
    takes=NUMBERS,
    reads=2,
    value=_same,
    range=lambda operands: operands[0].range.rounded(Fraction(1)),
    rises_in=0,
    at=lambda value, _, __: float(ceil(value)),
    sql=("CEILING", "CEIL"),
)
ROUND = ScalarFunction(
    name="round",
    # With d > 0 it is rounded(x 10^d) / 10^d in doubles, and an integer stays as it is.
    meaning="The nearest multiple of 10^-d, halves away from zero; d is a constant from -15 to 15, or 0. "
    "With d <= 0 an integer; NULL for NaN and beyond 64 bits.",
    example="ROUND(x), or ROUND(x, 2) with 2 from -15 to 15",
    operands=(1, 2),
    last_default=0,
    takes=NUMBERS,
    gives=_type_of_round,
    constants=lambda operands: all(is_whole(one, -MOST_DIGITS, MOST_DIGITS) for one in operands[1:]),
    reads=lambda operands: 66 if len(operands) == 2 else 22,
    value=_round,
    range=lambda operands: operands[0].range.rounded(Fraction(10) ** -_digits(operands)),
    rises_in=0,
    sql=("ROUND",),
)
SIGN = ScalarFunction(
    name="sign",
    meaning="-1, 0 or 1, an integer; NULL for NaN.",
    example="SIGN(x)",
    takes=NUMBERS,
    reads=4,
    value=_sign,
    range=fixed(-1, 1),
    sql=("SIGN", "SIGNUM"),
)
SQRT = ScalarFunction(
    name="sqrt",
    meaning="The double next to the square root; NULL below 0.",
    example="SQRT(x)",
    takes=NUMBERS,
    gives=Type.FLOAT,
    reads=2,
    range=lambda operands: operands[0].range.root(),
    sql=("SQRT",),
)
MODULO = ScalarFunction(
    name="modulo",
    meaning="The remainder of two integers, with the sign of the first; NULL if the second is 0.",
    example="MOD(n, 10) of integers, or CAST(x AS INTEGER) in it",
    operands=(2, 2),
    takes=INTEGERS,
    reads=3,
    value=_modulo,
    range=_range_of_modulo,
    sql=("MOD",),
)
WIDTH_BUCKET = ScalarFunction(
    name="width_bucket",
    # x is in part i or above exactly if x >= low + (i - 1)(high - low) / n, compared as with a literal.
    meaning="Which of n equal parts of [low, high) holds x: 1 to n, 0 below, n + 1 from high on; NULL for "
    "NaN. low, high and n are constants, n at most 1,000.",
    example="WIDTH_BUCKET(x, 0, 100, 10), with constants, the lower bound first, and 1 to 1000 parts",
    operands=(4, 4),
    takes=NUMBERS,
    constants=_is_bucket,
    reads=lambda operands: 2 + _parts(operands),
    value=_width_bucket,
    range=lambda operands: whole_range(0, _parts(operands) + 1),
    rises_in=0,
    at=_width_bucket_at,
    sql=("WIDTH_BUCKET",),
)
