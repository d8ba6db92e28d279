"""Logarithms and the exponential function, to 30 significant bits.

The mathematical libraries of engines differ in the last bits of a double, so that a result is rounded to 30
bits, some nine digits. Where the exact value lies within those last bits of the middle of two neighbors,
which happens to about one value in four million, engines may still give different neighbors.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, exp, floor, log

from discreet.data.language.functions.record import Operand, RangedOperand, ScalarFunction
from discreet.data.language.functions.rules import NUMBERS
from discreet.data.language.grid_interval import GridInterval
from discreet.data.language.literals import literal_type
from discreet.data.language.types import Type

__all__ = ["EXP", "LARGEST_POWER", "LN", "LOG"]

LARGEST_POWER = 46
"""The exponential function is NULL above and 0 below: e^46 < 2^67, the largest magnitude in arithmetic."""
_LARGEST = Fraction(1 << 67)
_FINE = 1 << 20
"""Ends of ranges are rounded outward to multiples of 2^-20, and one further: they depend on no library."""


def _outward(low: float, high: float) -> GridInterval:
    return GridInterval(
        low=Fraction(floor(low * _FINE) - 1, _FINE), high=Fraction(ceil(high * _FINE) + 1, _FINE)
    )


def _range_of_logarithm(known: GridInterval, base: float) -> GridInterval:
    low = 1 / _LARGEST if known.low is None else min(max(known.low, 1 / _LARGEST), _LARGEST)
    high = _LARGEST if known.high is None else max(min(known.high, _LARGEST), 1 / _LARGEST)
    ends = [log(end) / base for end in (low, high)]
    return _outward(min(ends), max(ends))


def _range_of_exponential(operands: Sequence[RangedOperand]) -> GridInterval:
    known = operands[0].range
    if known.high is None:
        return GridInterval(low=Fraction(0))
    low = -LARGEST_POWER - 1 if known.low is None else float(known.low)
    least = 0.0 if low < -LARGEST_POWER else exp(min(low, LARGEST_POWER))
    most = exp(max(-LARGEST_POWER, min(float(known.high), LARGEST_POWER)))
    return _outward(least, most).within(Fraction(0), None)


def _is_logarithm(operands: Sequence[Operand]) -> bool:
    base = operands[0].constant
    if not literal_type(base).is_number:
        return False
    number = Fraction(base)  # type: ignore[arg-type]
    return 1 / _LARGEST <= number <= _LARGEST and abs(number - 1) >= Fraction(1, 1000)


def _base(operands: Sequence[Operand]) -> float:
    return log(Fraction(operands[0].constant))  # type: ignore[arg-type]


LN = ScalarFunction(
    name="ln",
    meaning="The natural logarithm, to 30 bits; NULL from 0 down, for NaN, and outside of 2^-67 to 2^67.",
    example="LN(x)",
    takes=NUMBERS,
    gives=Type.FLOAT,
    reads=24,
    range=lambda operands: _range_of_logarithm(operands[0].range, 1.0),
    sql=("LN",),
)
LOG = ScalarFunction(
    name="log",
    # The base is a constant, and the first operand; a base near 1 would magnify the last bits.
    meaning="The logarithm to a constant base, to 30 bits; NULL where LN is.",
    example="LOG(2, x), LOG10(x) or LN(x), with a positive base that is not 1",
    operands=(2, 2),
    takes=NUMBERS,
    gives=Type.FLOAT,
    constants=_is_logarithm,
    reads=24,
    range=lambda operands: _range_of_logarithm(operands[1].range, _base(operands)),
    sql=("LOG",),
)
EXP = ScalarFunction(
    name="exp",
    meaning="The exponential function, to 30 bits; NULL for NaN and above 46, and 0 below -46.",
    example="EXP(x)",
    takes=NUMBERS,
    gives=Type.FLOAT,
    reads=8,
    range=_range_of_exponential,
    sql=("EXP",),
)
