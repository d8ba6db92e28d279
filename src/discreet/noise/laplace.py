"""Discrete Laplace noise: P(y) proportional to exp(-|y| / scale) on the integers.

With r = exp(-1 / scale) and G geometric, Y = G with probability 1 / (1 + r) and Y = -1 - G
otherwise has exactly that law: P(Y = y) = (1 - r) / (1 + r) r^|y| for both signs. The sign
joins the high part of G in one table, so no draw is ever repeated for a "negative zero".
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from discreet.noise.alias import AliasTable
from discreet.noise.enclosure import Enclosure, exponential, product, products, quotient
from discreet.noise.entropy import in_batches
from discreet.noise.geometric import (
    FEW,
    MANY,
    Cutting,
    check_scale,
    digit_tables,
    high_part,
    low_bits,
    powers_of,
)
from discreet.noise.parameters import check_draws

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.noise.entropy import Source

__all__ = ["sample_laplace", "sign_table"]

_FEW_DRAWS = 1 << 12
"""So many draws take less time, with the words that small tables need, than large tables take to be made."""


@lru_cache(maxsize=64)
def sign_table(scale: Fraction, cutting: Cutting = MANY) -> AliasTable:
    """Tabulate sign and high part: h 2^shift for Y >= 0, and its bitwise complement for Y < 0.

    The low digits can then be joined by exclusive or, since complementing G = 2^shift H + R
    complements the bits of R.
    """
    shift = low_bits(scale, cutting)
    count = high_part(scale, shift)
    values = [value for h in range(count) for value in (h << shift, ~(h << shift))]

    def masses(bits: int) -> list[Enclosure]:
        working = bits + 16
        one = 1 << working
        ratio = exponential(1 / scale, working)
        high_ratio = exponential(Fraction(1 << shift) / scale, working)
        powers = powers_of(high_ratio, count + 1, working)
        stop = one - high_ratio[1], one - high_ratio[0]
        both = one + ratio[0], one + ratio[1]
        plus = quotient(stop, both, working)
        minus = product(plus, ratio, working)
        weights = [products(powers[:count], sign, working, bits) for sign in (plus, minus)]
        both_signs = [mass for pair in zip(*weights, strict=True) for mass in pair]
        return both_signs + products(powers[count:], (one, one), working, bits)

    def tail(source: Source) -> int:
        # Without memory: beyond the table, sign and excess follow the same law again.
        drawn = int(source.decide(table, 1)[0])
        return drawn + (count << shift) if drawn >= 0 else drawn - (count << shift)

    table = AliasTable([*values, 0], masses, tail)
    return table


def sample_laplace(scale: Fraction, size: int, source: Source) -> NDArray[np.int64]:
    """Draw `size` values with P(y) proportional to exp(-|y| / scale), exactly.

    Parameters
    ----------
    scale : Fraction or int
        From 1/100 to 2^40.
    size : int
        How many to draw.
    source : Source
        Where the words come from: one word for scales up to 16, one more for each further
        ten bits; where few are drawn, up to 2, and for each further five. Their number does not depend
        on what is drawn.
    """
    scale, size = check_scale(scale), check_draws(size)
    cutting = FEW if size <= _FEW_DRAWS else MANY
    signs, digits = sign_table(scale, cutting), digit_tables(scale, low_bits(scale, cutting), cutting)
    if not digits:
        return source.decide(signs, size)

    def draw(lanes: int) -> NDArray[np.int64]:
        drawn = source.decide(signs, lanes)
        for position, table in digits:
            drawn ^= source.decide(table, lanes) << position
        return drawn

    return in_batches(draw, size)
