"""Geometric draws with success ratio exp(-1 / scale), digit by digit.

G >= 0 has P(G = k) proportional to exp(-k / scale). Write G = 2^shift H + R with
0 <= R < 2^shift: since exp(-G / scale) is a product of a function of H and a function of R,
the two are independent, and so are the digits of R in any base 2^b. Each digit follows a
finite law, H its own geometric law with scale / 2^shift <= 16. So a draw needs one
alias table per ten bits and no rejection. Where few are drawn (`Cutting`), smaller tables are made sooner.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.alias import AliasTable
from discreet.noise.enclosure import Enclosure, exponential, products, quotient
from discreet.noise.parameters import check_draws, check_rational

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.entropy import Source

__all__ = [
    "FEW",
    "MANY",
    "Cutting",
    "check_scale",
    "digit_tables",
    "high_part",
    "low_bits",
    "sample_geometric",
]


class Cutting(NamedTuple):
    """How a geometric number is cut into digits: the law is the same for all of them.

    Attributes
    ----------
    high_scale : int
        The largest scale of the high part, whose table has some 46 entries for each unit of it.
    digit_bits : int
        The bits of a digit, whose table has an entry for each digit.
    """

    high_scale: int
    digit_bits: int


MANY = Cutting(high_scale=16, digit_bits=10)
"""Few words for each draw: the time of large tables, two milliseconds each, is spread over many draws."""
FEW = Cutting(high_scale=2, digit_bits=5)
"""More words for each draw, and tables that are made in a fraction of a millisecond."""

LEAST_SCALE, LARGEST_SCALE = Fraction(1, 100), Fraction(2**40)

_TAIL_BITS = 66
_LONGEST_DENOMINATOR = 4096


def check_scale(scale: Fraction) -> Fraction:
    """Return a scale for which the tables are certified, or refuse it."""
    scale = check_rational(scale, "scale")
    if not LEAST_SCALE <= scale <= LARGEST_SCALE or scale.denominator.bit_length() > _LONGEST_DENOMINATOR:
        raise ParameterError("scale", "is out of range", "a rational from 1/100 to 2^40 grid steps")
    return scale


def low_bits(scale: Fraction, cutting: Cutting = MANY) -> int:
    """Return the smallest shift with scale / 2^shift <= 16, or as the cutting has it."""
    shift = 0
    while scale > cutting.high_scale << shift:
        shift += 1
    return shift


def high_part(scale: Fraction, shift: int) -> int:
    """Return the number of high parts to tabulate: the rest weighs less than 2^-66."""
    # exp(-h 2^shift / scale) < 2^-66 once h 2^shift / scale > 66 log 2, and log 2 < 7/10.
    return int(Fraction(7 * _TAIL_BITS, 10) * scale / (1 << shift)) + 1


def powers_of(ratio: Enclosure, count: int, bits: int) -> list[Enclosure]:
    """Enclose ratio^0, ratio^1, …, ratio^(count - 1)."""
    least, most = ratio
    low = high = 1 << bits
    powers = [(low, high)]
    for _ in range(count - 1):  # `product`, in place: a table has a thousand
        low, high = (low * least) >> bits, -((-high * most) >> bits)
        powers.append((low, high))
    return powers


@lru_cache(maxsize=64)
def digit_tables(scale: Fraction, shift: int, cutting: Cutting = MANY) -> tuple[tuple[int, AliasTable], ...]:
    """Return (position, table) for each digit of the low `shift` bits."""
    tables = []
    for position in range(0, shift, cutting.digit_bits):
        count = 1 << min(cutting.digit_bits, shift - position)
        tables.append((position, _digit_table(Fraction(1 << position) / scale, count)))
    return tuple(tables)


def _digit_table(step: Fraction, count: int) -> AliasTable:
    """Tabulate P(d) = exp(-d step) (1 - exp(-step)) / (1 - exp(-count step)) on 0 <= d < count."""

    def masses(bits: int) -> list[Enclosure]:
        working = bits + 64  # the quotient of two small differences loses at most 50 bits
        one = 1 << working
        ratio, last = exponential(step, working), exponential(count * step, working)
        first = quotient((one - ratio[1], one - ratio[0]), (one - last[1], one - last[0]), working)
        return products(powers_of(ratio, count, working), first, working, bits)

    return AliasTable(range(count), masses)


@lru_cache(maxsize=64)
def _high_table(scale: Fraction) -> AliasTable:
    """Tabulate the high part, in units of its shift."""
    shift = low_bits(scale)
    count = high_part(scale, shift)

    def masses(bits: int) -> list[Enclosure]:
        ratio = exponential(Fraction(1 << shift) / scale, bits + 16)
        one = 1 << (bits + 16)
        powers = powers_of(ratio, count + 1, bits + 16)
        failure = one - ratio[1], one - ratio[0]
        rest = products(powers[count:], (one, one), bits + 16, bits)
        return products(powers[:count], failure, bits + 16, bits) + rest

    def tail(source: Source) -> int:
        # Without memory: given H >= count, H - count follows the law of H.
        return count + int(source.decide(table, 1)[0])

    table = AliasTable([*range(count), 0], masses, tail)
    return table


def sample_geometric(scale: Fraction, size: int, source: Source) -> NDArray[np.int64]:
    """Draw `size` values with P(k) = (1 - r) r^k on k >= 0, r = exp(-1 / scale), exactly."""
    scale, size = check_scale(scale), check_draws(size)
    shift = low_bits(scale)
    drawn = source.decide(_high_table(scale), size) << shift
    for position, table in digit_tables(scale, shift):
        drawn |= source.decide(table, size) << position
    return drawn
