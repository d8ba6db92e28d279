"""The law of integer noise, as logarithms of probabilities: for figures, in double precision.

Ratios are differences of the logarithms, so that they are right where probabilities underflow.
"""

from __future__ import annotations

from math import exp, expm1, log, log1p, pi

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.events import DiscreteGaussian, DiscreteLaplace, RoundedGaussian

__all__ = ["log_probabilities"]

_TERMS = 40
"""A discrete Gaussian of a deviation of at most 3 has less than 1e-38 beyond so many steps."""


def log_probabilities(
    event: DiscreteLaplace | DiscreteGaussian | RoundedGaussian, steps: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return log P(N = k) for the noise N of one value, k in steps of its grid.

    With a = grid / scale the discrete Laplace law is (1 - e^-a) / (1 + e^-a) e^(-a |k|). The discrete
    Gaussian of variance v is e^(-k^2 / 2v) over the sum of these: by Poisson summation sqrt(2 pi v), up to a
    factor of about 1 + 2 e^(-2 pi^2 v); it is summed where v <= 9. The rounded Gaussian is the mass of a
    normal law between k - 1/2 and k + 1/2.
    """
    if isinstance(event, DiscreteLaplace):
        a = float(event.grid / event.scale)
        return np.asarray(log(-expm1(-a)) - log1p(exp(-a)) - a * np.abs(steps))
    variance = float(event.variance / event.grid**2)
    if isinstance(event, DiscreteGaussian):
        near = np.arange(-_TERMS, _TERMS + 1.0)
        total = np.exp(-(near**2) / (2 * variance)).sum() if variance <= 9 else (2 * pi * variance) ** 0.5
        return np.asarray(-(steps**2) / (2 * variance) - log(total))
    from scipy.special import log_ndtr

    # By symmetry both ends are taken from the lower tail, where the logarithms of both are accurate.
    deviation = variance**0.5
    outer, inner = (log_ndtr((-np.abs(steps) + half) / deviation) for half in (-0.5, 0.5))
    return np.asarray(inner + np.log(-np.expm1(outer - inner)))
