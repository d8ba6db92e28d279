"""Which rank a quantile has among n values: a public rule that moves by at most one with n."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import ParameterError
from discreet.privacy.rational import rational
from discreet.records import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.privacy.rational import Number

__all__ = ["RankRule", "rank_rule"]

LARGEST_LEVEL_DENOMINATOR = 10**6
"""The largest denominator of a level, so that ranks of many sizes are exact in 64 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRule:
    """The rank r(n) of a quantile: ceil(level n), or floor(level n) + 1.

    Either rule grows by 0 or 1 from n to n + 1. Among no values the first has the
    rank 0, which is the lower bound, and the second the rank 1, which is the upper bound.

    Parameters
    ----------
    level : Fraction
        Which part of the values lies below, from 0 to 1; above 0 where the rank is rounded up, below 1
        otherwise.
    above : bool
        Whether the rank is the first that is *above* level n: floor(level n) + 1.
    """

    level: Fraction
    above: bool

    def at(self, size: int) -> int:
        """Return r(size)."""
        if self.above:
            return self.level.numerator * size // self.level.denominator + 1
        return -(-self.level.numerator * size // self.level.denominator)

    def of(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return r of many sizes."""
        if self.above:
            return self.level.numerator * sizes // self.level.denominator + 1
        return -(-self.level.numerator * sizes // self.level.denominator)

    def reflected(self) -> RankRule:
        """Return the rule n + 1 - r(n) of the same quantile among the mirrored values."""
        return RankRule(level=1 - self.level, above=not self.above)


def rank_rule(level: Number) -> RankRule:
    """Return the rule of a quantile: the rank ceil(level n), at least 1 where there are values.

    The quantile at level 0 is the minimum, and among no values it is the upper bound. All
    others are the lower bound there.
    """
    exact = rational(level, "level")
    if not 0 <= exact <= 1:
        raise ParameterError("level", "is out of range", "from 0, the minimum, to 1, the maximum")
    if exact.denominator > LARGEST_LEVEL_DENOMINATOR:
        raise ParameterError(
            "level", "is too long", f"a fraction of a denominator up to {LARGEST_LEVEL_DENOMINATOR}"
        )
    return RankRule(level=exact, above=not exact)
