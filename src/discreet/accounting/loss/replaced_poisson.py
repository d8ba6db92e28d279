"""Gaussian noise on a Poisson sample of which one unit is replaced: two mixtures that face each other.

With c = 1 / sigma, the worst pair is P = (1 - q) N(0, 1) + q N(c, 1) against Q, the same with -c: x -> -x
exchanges them, so that one direction is enough. The loss grows with x: cells of x are cells of losses.
That no vectors are worse is Kahane's inequality with signs (docs/proofs/replaced_poisson.md).
"""

from __future__ import annotations

from math import ceil, cos, exp, log1p, pi, sqrt

import numpy as np

from discreet.accounting.formulas.stable_sums import excess
from discreet.accounting.loss.cells import CellMasses, Cells, CutPair, mixed_losses, spaced
from discreet.accounting.loss.gaussian import GaussianPair
from discreet.accounting.loss.mixture import DEVIATIONS, MOST_SHIFT, normal_masses
from discreet.accounting.loss.pair import NO_LOSS, Pair, pair_of
from discreet.accounting.loss.poisson_sampled import rate_as_float
from discreet.array_types import Floats
from discreet.privacy import events
from discreet.records import dataclass

__all__ = ["FacingPair", "facing_cumulant"]


_MOST_POINTS = 200_000
_MOST_EXPONENT = 600.0
_DECAY = 60.0
"""Steps so small that e^-60 bounds what the trapezoidal rule misses, apart from factors below e^4."""
_TAIL = 100.0


@dataclass(frozen=True, slots=True)
class FacingPair(CutPair):
    """(1 - rate) N(0, 1) + rate N(shift, 1) against (1 - rate) N(0, 1) + rate N(-shift, 1)."""

    shift: float
    rate: float
    rest: float

    def outcomes(self, count: int) -> Cells:
        """Cut the line into cells, finest in the middle."""
        x = (self.shift + DEVIATIONS) * spaced(max(count, 2))
        middle, right, left = (normal_masses(x - center) for center in (0.0, self.shift, -self.shift))
        p, q = (
            tuple(
                self.rest * np.asarray(a) + self.rate * np.asarray(b)
                for a, b in zip(middle, one, strict=True)
            )
            for one in (right, left)
        )
        below, above = CellMasses(float(p[0]), float(q[0])), CellMasses(float(p[2]), float(q[2]))
        return Cells(self.losses(x), p[1], q[1], below, above)

    def losses(self, x: Floats) -> Floats:
        """Return the loss at every point; it is odd and grows."""
        own = (sign * self.shift * x - self.shift**2 / 2 for sign in (1, -1))
        up, down = (mixed_losses(loss, self.rate, self.rest) for loss in own)
        return np.asarray(np.maximum.accumulate(up - down))


@pair_of.register
def _(event: events.ReplacedPoissonGaussian) -> Pair | None:
    shift, (rate, rest) = float(1 / event.noise_multiplier), rate_as_float(event.rate)
    if rate == 0:
        return NO_LOSS
    if rest == 0:
        return GaussianPair(2 * shift)
    return FacingPair(shift, rate, rest) if shift <= MOST_SHIFT else None


def facing_cumulant(shift: float, rate: float, order: float) -> float:
    """Bound log E_Q (P / Q)^order from above by the trapezoidal rule; infinity if that is too long.

    The integrand Q (r^a - 1 - a (r - 1)), r = P / Q, is not negative and analytic in the strip
    abs(Im x) < pi / shift, where it is at most e^(width^2 / 2) cos(width shift / 2)^(1 - a) times as large.
    """
    if not 0 < rate < 1:
        return 0.0 if rate == 0 else 2 * shift**2 * order * (order - 1)
    exponent = order * (order - 1) * shift**2 / 2
    if exponent > _MOST_EXPONENT:
        return float("inf")
    angle = min(1.0, 2 / sqrt(order))
    width = min(1.0, 2 * angle / shift)
    step = 2 * pi * width / _DECAY
    last = order * shift + sqrt(2 * (_TAIL + exponent - (order - 1) * log1p(-rate)))
    first = -(shift + sqrt(2 * _TAIL))
    count = ceil((last - first) / step) + 1
    if count > _MOST_POINTS:
        return float("inf")
    x = first + step * np.arange(count)
    up, down = (np.expm1(sign * shift * x - shift**2 / 2) for sign in (1, -1))
    # Two positive terms: next to 1 the rate would cancel all digits of 1 + rate * down.
    base = (1 - rate) + rate * np.exp(-shift * x - shift**2 / 2)
    density = np.exp(-(x**2) / 2) / sqrt(2 * pi) * base
    with np.errstate(over="ignore", invalid="ignore"):
        found = step * float(density @ excess(rate * (up - down) / base, order))
    missed = 2 * exp(width**2 / 2) * (cos(width * shift / 2) ** (1 - order) * (1 + found) + 2 * order)
    return log1p(found * (1 + 1e-11) + missed * exp(-_DECAY) * 1.01 + exp(-_TAIL / 2))
