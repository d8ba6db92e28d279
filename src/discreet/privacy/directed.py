"""Irrational functions of fractions, enclosed between two fractions.

Each function returns a pair (lower, upper) that holds the true value. Python's decimal
module rounds exp and ln correctly (to nearest), so one step outward is a proof.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

__all__ = ["exp_interval", "log_interval", "sqrt_interval"]

_DIGITS = 40
# Wide enough for quotients of parameters, and narrow enough that the neighbor of 0 is a short fraction.
_MOST_EXPONENT = 20_000


def exp_interval(x: Fraction, digits: int = _DIGITS) -> tuple[Fraction, Fraction]:
    """Enclose e^x, for abs(x) of at most a few thousand, with `digits` significant digits."""
    if x == 0:
        return Fraction(1), Fraction(1)
    down, up = _contexts(digits)
    lower = down.next_minus(down.exp(_divide(x, down)))
    upper = up.next_plus(up.exp(_divide(x, up)))
    return Fraction(lower), Fraction(upper)


def log_interval(x: Fraction) -> tuple[Fraction, Fraction]:
    """Enclose the natural logarithm of a positive x.

    Near 1 the digits of x - 1 are lost to the rounding of x; there 1 - 1/x <= log x <= x - 1
    is the better bound.
    """
    down, up = _contexts(_DIGITS)
    lower = Fraction(down.next_minus(down.ln(_divide(x, down))))
    upper = Fraction(up.next_plus(up.ln(_divide(x, up))))
    return max(lower, 1 - 1 / x), min(upper, x - 1)


def sqrt_interval(x: Fraction) -> tuple[Fraction, Fraction]:
    """Enclose the square root of x >= 0 to 100 bits; both ends are equal where it is rational."""
    numerator, denominator = math.isqrt(x.numerator), math.isqrt(x.denominator)
    if numerator**2 == x.numerator and denominator**2 == x.denominator:
        return Fraction(numerator, denominator), Fraction(numerator, denominator)
    # Scale by a power of four so that the integer part of the root has about 100 bits.
    step = Fraction(2) ** (100 - (x.numerator.bit_length() - x.denominator.bit_length()) // 2)
    root = math.isqrt(math.floor(x * step * step))
    return root / step, (root + 1) / step


def _contexts(digits: int) -> tuple[Context, Context]:
    return (
        Context(prec=digits, rounding=ROUND_FLOOR, Emin=-_MOST_EXPONENT, Emax=_MOST_EXPONENT),
        Context(prec=digits, rounding=ROUND_CEILING, Emin=-_MOST_EXPONENT, Emax=_MOST_EXPONENT),
    )


def _divide(x: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(x.numerator), Decimal(x.denominator))
