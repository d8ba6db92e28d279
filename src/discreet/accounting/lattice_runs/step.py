"""One Gaussian step on a Poisson sample, in one direction: masses of outcomes in the order of their loss.

In units of the noise, P = (1 - q) N(0, 1) + q N(mu, 1) and Q = N(0, 1). The loss at z is
L(z) = log(1 - q + q exp(mu z - mu^2 / 2)), which grows with z. In direction 1 the two laws are exchanged: the
loss is -L, and its order that of -z. A rate of 1 is the step on all data.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, log1p
from typing import NamedTuple

import numpy as np

from discreet.accounting.loss.tilted import UNIT
from discreet.array_types import Floats
from discreet.records import dataclass

__all__ = ["LatticeMasses", "NormalStep"]


_ROUGH = 256
_MOST_EXPONENT = 690.0


class LatticeMasses(NamedTuple):
    """What P and Q put between neighboring outcomes and beyond the last, with bounds on the rounding."""

    p: Floats
    q: Floats
    p_error: Floats
    q_error: Floats
    below: float
    p_above: float
    q_above: float
    above_error: float


@dataclass(frozen=True, slots=True)
class NormalStep:
    """A step, how often it is run, and the direction.

    Attributes
    ----------
    mu : float
        The reciprocal of the noise multiplier.
    rate : float
        The probability q of a unit to be in the sample, above 0 and up to 1.
    times : int
        How often it is run.
    direction : int
        0 for the mixture against the plain law, 1 for the reverse.
    far : float
        How many standard deviations beyond both centers outcomes are looked at.
    """

    mu: float
    rate: float
    times: int
    direction: int
    far: float

    @property
    def least(self) -> float:
        """A bound below all losses, also those that are too rare to be looked at."""
        if self.direction == 1:
            return -inf
        return log1p(-self.rate) * (1 + 4 * UNIT) if self.rate < 1 else -inf

    @property
    def most(self) -> float:
        """A bound above all losses."""
        if self.direction == 0:
            return inf
        return -log1p(-self.rate) * (1 + 4 * UNIT) if self.rate < 1 else inf

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest loss that are looked at."""
        low, high = self.losses(np.array([-self.far, self.far + self.mu]))
        return (float(low), float(high)) if self.direction == 0 else (float(-high), float(-low))

    def losses(self, z: Floats) -> Floats:
        """Return L at outcomes, with all digits of small ones."""
        exponents = np.minimum(self.mu * z - self.mu**2 / 2, _MOST_EXPONENT)
        change = self.rate * np.expm1(exponents)
        with np.errstate(divide="ignore"):
            large = np.logaddexp(np.log1p(-self.rate), np.log(self.rate) + exponents)
        return np.where(np.abs(change) < 0.5, np.log1p(np.clip(change, -0.5, 0.5)), large)

    def outcomes(self, losses: Floats) -> tuple[Floats, Floats, float]:
        """Return where increasing losses are reached, how fast outcomes move there, and the rounding.

        Outcomes are in the order of the losses: decreasing z in direction 1. The last number bounds
        how far the true loss at an outcome may be from the one asked for, unless the outcome is an end.
        """
        plain = losses if self.direction == 0 else -losses
        rest = 1 - self.rate
        growth, change = np.exp(np.minimum(plain, _MOST_EXPONENT)), np.expm1(plain)
        part = np.where(plain > -0.5, change + self.rate, growth - rest)
        inside = part > 0
        part = np.where(inside, part, self.rate)
        logs = np.log(part / self.rate)
        z = np.where(inside, logs / self.mu + self.mu / 2, -inf)
        speed = growth / (part * self.mu)
        kept = inside & (z > -self.far) & (z < self.far + self.mu)
        # An error of the logarithm moves the loss by part / e^loss times as much; that of `part` itself is
        # two units of its terms.
        terms = np.minimum(np.abs(change) + self.rate, growth + rest)
        moved = (2 * terms + part * (2 + 3 * np.abs(logs) + 2 * self.mu**2)) / growth
        rounding = 2 * UNIT * float(np.max(moved, initial=0.0, where=kept))
        return np.clip(z, -self.far, self.far + self.mu), speed, rounding

    def masses(self, z: Floats) -> LatticeMasses:
        """Return the masses between outcomes that are in the order of their losses."""
        ordered = z if self.direction == 0 else z[::-1]
        zero, zero_error, zero_ends = _normal(ordered)
        one, one_error, one_ends = _normal(ordered - self.mu)
        mixed = (1 - self.rate) * zero + self.rate * one
        error = (1 - self.rate) * zero_error + self.rate * one_error + 4 * UNIT * mixed
        ends = [(1 - self.rate) * a + self.rate * b for a, b in zip(zero_ends, one_ends, strict=True)]
        # The tails beyond an end are off by a few units, times the square of how far they are.
        relative = UNIT * (32 + 4 * float(np.max(np.square(ordered[[0, -1]]))) + 4 * self.mu**2)
        if self.direction == 0:
            return LatticeMasses(mixed, zero, error, zero_error, ends[0], ends[1], zero_ends[1], relative)
        return LatticeMasses(
            zero[::-1],
            mixed[::-1],
            zero_error[::-1],
            error[::-1],
            zero_ends[1],
            zero_ends[0],
            ends[0],
            relative,
        )

    @lru_cache(maxsize=32)  # noqa: B019 - small, and by value
    def rough(self) -> tuple[Floats, Floats]:
        """Return a few losses and their P-masses: for choices that need no proof."""
        z = np.linspace(-self.far, self.far + self.mu, _ROUGH)
        zero, one = _normal(z)[0], _normal(z - self.mu)[0]
        losses = self.losses((z[1:] + z[:-1]) / 2)
        if self.direction == 0:
            return (1 - self.rate) * zero + self.rate * one, losses
        return zero[::-1], -losses[::-1]


def _normal(z: Floats) -> tuple[Floats, Floats, tuple[float, float]]:
    """Return the normal masses between increasing points, bounds on their rounding, and both tails.

    The smaller tail at a point is off by a few units, and by z^2 units since its argument is rounded.
    """
    from scipy.special import ndtr

    tails = ndtr(-np.abs(z))
    signed = np.where(z <= 0, tails, -tails)
    masses = np.diff(signed)
    middle = int(np.searchsorted(z, 0.0, side="right")) - 1
    if 0 <= middle < len(masses):
        masses[middle] += 1.0
    errors = UNIT * (8 + 4 * z**2) * tails
    found = errors[1:] + errors[:-1] + 2 * UNIT * masses
    lower = tails[0] if z[0] <= 0 else 1 - tails[0]
    upper = tails[-1] if z[-1] > 0 else 1 - tails[-1]
    return np.maximum(masses, 0.0), found, (float(lower), float(upper))
