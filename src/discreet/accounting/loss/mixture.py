"""Normal noise on a random contribution: a mixture of Gaussians against the Gaussian without it.

With contributions s_i > 0 of probability w_i, and w_0 the probability of none, the loss at x is
log(w_0 + sum w_i exp(s_i (2 x - s_i) / (2 sigma^2))), which grows with x: cells of x are cells of losses.
That this pair dominates, for vectors too, is Kahane's inequality (docs/proofs/dominating_pairs.md).
"""

from __future__ import annotations

import numpy as np

from discreet.accounting.loss.cells import CellMasses, Cells, CutPair, spaced
from discreet.accounting.loss.pair import Pair, pair_of
from discreet.array_types import Floats
from discreet.privacy import events
from discreet.records import dataclass

__all__ = ["DEVIATIONS", "MOST_LOSS", "MOST_SHIFT", "MixturePair", "normal_masses"]


MOST_LOSS = 690.0
"""Beyond it, e^loss leaves the range of floats."""
MOST_SHIFT = 25.0
"""How many standard deviations a law may move, so that no loss in its cells is beyond it."""
DEVIATIONS = 14.0
"""How far from all centers cells reach; beyond lies less than 1e-43."""


@dataclass(frozen=True, slots=True)
class MixturePair(CutPair):
    """The law `nothing` N(0, 1) + the sum of weights_i N(centers_i, 1), against N(0, 1)."""

    centers: tuple[float, ...]
    weights: tuple[float, ...]
    nothing: float
    directions: int = 2

    def outcomes(self, count: int) -> Cells:
        """Cut the line into cells, finest in the middle of the centers."""
        middle = max(self.centers) / 2
        x = middle + (middle + DEVIATIONS) * spaced(max(count, 2))
        parts = [normal_masses(x), *(normal_masses(x - center) for center in self.centers)]
        shares = (self.nothing, *self.weights)
        below, p, above = (
            sum(share * np.asarray(part[place]) for share, part in zip(shares, parts, strict=True))
            for place in range(3)
        )
        return Cells(
            self._losses(x),
            np.asarray(p),
            parts[0][1],
            CellMasses(float(below), parts[0][0]),
            CellMasses(float(above), parts[0][2]),
        )

    def _losses(self, x: Floats) -> Floats:
        """Return the loss at every point, in a form that keeps the digits of small ones."""
        centers, weights = np.array(self.centers), np.array(self.weights)
        exponents = centers * (x[:, None] - centers / 2)
        change = np.expm1(exponents) @ weights
        with np.errstate(divide="ignore"):
            logs = np.append(exponents + np.log(weights), np.full((len(x), 1), np.log(self.nothing)), axis=1)
        largest = logs.max(axis=1)
        losses = largest + np.log(np.exp(logs - largest[:, None]).sum(axis=1))
        return np.maximum.accumulate(
            np.where(np.abs(change) < 0.5, np.log1p(np.maximum(change, -0.5)), losses)
        )


def normal_masses(z: Floats) -> tuple[float, Floats, float]:
    """Return the normal mass below all points, between each two, and above, without cancellation."""
    from scipy.special import ndtr

    left, right = ndtr(z), ndtr(-z)
    return float(left[0]), np.where(z[1:] <= 0, np.diff(left), -np.diff(right)), float(right[-1])


@pair_of.register
def _(event: events.MixtureOfGaussians) -> Pair | None:
    sigma = event.standard_deviation
    centers = tuple(float(size / sigma) for size, _ in event.contributions)
    if max(centers) > MOST_SHIFT:
        return None
    weights = tuple(float(probability) for _, probability in event.contributions)
    return MixturePair(centers, weights, float(event.nothing))
