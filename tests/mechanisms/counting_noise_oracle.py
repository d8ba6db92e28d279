"""The laws of noises for counted keys, by their definitions."""

from __future__ import annotations

from fractions import Fraction

import mpmath

from discreet.mechanisms.keys.counting_noise import CountingLaplace, CountingRounded, CountingTruncated
from mechanisms.key_selection_oracle import real

FAR = 150


def masses(noise):
    """The law of the noise by its definition, with no help from it: of truncated noise, its table."""
    span = range(-FAR, FAR + 1)
    if isinstance(noise, CountingTruncated):
        levels = noise._levels
        steps = [b - a for a, b in zip((0, *levels.numerators), levels.numerators, strict=False)]
        return {noise.reach - place: real(Fraction(one, 1 << levels.bits)) for place, one in enumerate(steps)}
    if isinstance(noise, CountingRounded):
        deviation = mpmath.sqrt(real(noise.variance))
        half = mpmath.mpf(1) / 2
        return {k: mpmath.ncdf((k + half) / deviation) - mpmath.ncdf((k - half) / deviation) for k in span}
    if isinstance(noise, CountingLaplace):
        weights = {k: mpmath.exp(-abs(k) / real(noise.scale)) for k in span}
    else:
        weights = {k: mpmath.exp(-k * k / (2 * real(noise.variance))) for k in span}
    total = mpmath.fsum(weights.values())
    return {k: one / total for k, one in weights.items()}
