"""A step on a random sample: Poisson samples, and samples of fixed size.

*Poisson, add or remove.* If (P, Q) dominates the step where a unit is removed, and (Q, P) where one is added,
the sampled step is dominated by ((1 - q) Q + q P, Q) and by (Q, (1 - q) Q + q P) (Zhu, Dong & Wang
2022). No symmetry is needed, only that each direction of the step is dominated by its own pair.

*Fixed size, replace.* For epsilon >= 0 the profile of the sampled step is at most that of the first
pair above, in both directions; neither pair alone covers epsilon < 0. The pair that has this profile
at epsilon >= 0 and is its own mirror image does. Proofs: docs/proofs/dominating_pairs.md, lemmas 8 and 9.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple, cast

import numpy as np

from discreet.accounting.loss.cells import Cells, CutPair, mixed_losses
from discreet.accounting.loss.finite import TwoWayPair
from discreet.accounting.loss.gaussian import GaussianPair
from discreet.accounting.loss.laplace import LaplacePair
from discreet.accounting.loss.law import AtomicLoss, LossLaw
from discreet.accounting.loss.mixture import MOST_SHIFT, MixturePair
from discreet.accounting.loss.pair import NO_LOSS, BoundedPair, FinitePair, Pair, Side, finite_pair, pair_of
from discreet.accounting.loss.pure import MOST_EPSILON
from discreet.accounting.loss.tilted import UNIT
from discreet.privacy import events
from discreet.records import dataclass

__all__ = ["FloatRate", "MirroredPair", "SampledGaussianPair", "SampledPair", "rate_as_float", "sampled_pair"]

_LEAST_RATE = 1e-200


@dataclass(frozen=True, slots=True)
class SampledPair(CutPair):
    """The mixture (1 - rate) Q + rate P against Q, of the pair (P, Q) of the step."""

    step: CutPair
    rate: float
    rest: float
    directions: int = 2

    def outcomes(self, count: int) -> Cells:
        """Mix the cells of the step."""
        return self.step.outcomes(count).sampled(self.rate, self.rest)


@dataclass(frozen=True, slots=True)
class SampledGaussianPair(CutPair):
    """(1 - rate) N(0, sigma^2) + rate N(1, sigma^2) against N(0, sigma^2)."""

    sigma: float
    rate: float
    directions: int = 2

    def outcomes(self, count: int) -> Cells:
        """Cut a mixture of one part."""
        return MixturePair((1 / self.sigma,), (self.rate,), 1 - self.rate).outcomes(count)


@dataclass(frozen=True, slots=True)
class MirroredPair(Pair):
    """The pair that is as easy to tell apart as (P, Q) at epsilon >= 0, in both directions.

    Where the loss of (P, Q) is l > 0, it keeps the masses and has -l with masses exchanged;
    whatever is left has loss 0. No neighbors need attain it.
    """

    one_sided: Pair

    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return the mirrored loss, an upper bound."""
        del direction, side
        law = cast(AtomicLoss, self.one_sided.law(0, "upper", cells))
        above = law.losses > 0
        masses, losses = law.masses[above], law.losses[above]
        mirrored = masses * np.exp(-losses)
        rest = max(1 - law.infinity - float(masses.sum()) - float(mirrored.sum()), 0.0)
        masses, losses = np.concatenate([masses, mirrored, [rest]]), np.concatenate([losses, -losses, [0.0]])
        return AtomicLoss(masses[masses > 0], losses[masses > 0], law.infinity)


def sampled_pair(step: Pair | None, rate: float, rest: float | None = None) -> Pair | None:
    """Return the pair of a Poisson-sampled step, None if that of the step is not known well enough.

    `rest` is 1 - rate, where it has digits that a float next to 1 has lost.
    """
    if rest is None:
        rest = 1 - rate
    if rate == 0:
        return NO_LOSS
    if rest == 0 or step is None:
        return step
    if isinstance(step, BoundedPair):
        upper, lower = sampled_pair(step.upper, rate, rest), sampled_pair(step.lower, rate, rest)
        return upper and lower and BoundedPair(upper, lower)
    if isinstance(step, GaussianPair):
        if rate == 1:  # rounded up, and bounded below by the float before
            lower = SampledGaussianPair(1 / step.mu, 1 - UNIT) if step.mu <= MOST_SHIFT else NO_LOSS
            return BoundedPair(step, lower)
        return SampledGaussianPair(1 / step.mu, rate) if step.mu <= MOST_SHIFT else None
    if isinstance(step, LaplacePair) and step.epsilon > MOST_EPSILON:
        return None
    if isinstance(step, TwoWayPair):
        return step.sampled(rate, rest)
    if isinstance(step, FinitePair):
        mixed = rest * step.q + rate * step.p
        return finite_pair(mixed, step.q, directions=2, losses=mixed_losses(step.losses, rate, rest))
    return SampledPair(step, rate, rest) if isinstance(step, CutPair) else None


class FloatRate(NamedTuple):
    """A rate and one less it, each with all its digits."""

    rate: float
    rest: float


def rate_as_float(rate: Fraction) -> FloatRate:
    """Return floats of a rate and its rest, 0 only for 0; a larger rate is never more private."""
    rest = max(float(1 - rate), _LEAST_RATE) if rate < 1 else 0.0
    return FloatRate(max(float(rate), _LEAST_RATE) if rate else 0.0, rest)


@pair_of.register
def _(event: events.PoissonSampled) -> Pair | None:
    """Only where one unit comes or goes: of several, some may come and others go."""
    return (
        sampled_pair(pair_of(event.inner), *rate_as_float(event.rate)) if event.neighbors.size == 1 else None
    )


@pair_of.register
def _(event: events.SampledWithoutReplacement) -> Pair | None:
    """Others that hold what one of the two holds make the mixture against Q; so that is attained."""
    mixed = sampled_pair(pair_of(event.inner), *rate_as_float(event.rate))
    if event.batch in (0, event.population):
        return mixed
    return mixed and BoundedPair(
        MirroredPair(mixed.upper if isinstance(mixed, BoundedPair) else mixed), mixed
    )
