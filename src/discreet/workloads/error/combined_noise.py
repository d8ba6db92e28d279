"""How far a linear combination of a few noises is from zero: the law itself, on a fine grid.

The bounds of `intervals` hold for any coefficients, and are wide where the noise is a few steps only. Here
the law of L = sum of c_i N_i is computed for given coefficients: every c_i N_i is rounded to a multiple of a
width h, and the laws of the multiples are convolved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.error.gaussian import GaussianError
from discreet.mechanisms.error.laplace import LaplaceError
from discreet.mechanisms.error.rounded_gaussian import RoundedGaussianError
from discreet.privacy.rational import Number, confidence_level, float_below
from discreet.workloads.error.intervals import half_width

__all__ = ["combined_half_width"]

_MOST_NOISES = 64
_MOST_DEVIATION = 64.0
"""In steps; beyond it the bounds of `intervals` are nearly as narrow."""
_LEAST_DEVIATION = 0.25
_FINE = 0.02
"""Of the standard deviation, or a quarter of a step: what all roundings to the grid add at most."""
_LEFT = 1e-12
"""The mass of one noise that is left out, and of the sum that lies beyond the array and comes round again."""
_SLACK = 1e-8
"""More than what is left out of all noises, comes round, and is lost to the rounding of transforms."""
_ROUNDING = 1e-9

SingleNoiseError = LaplaceError | GaussianError | RoundedGaussianError


def combined_half_width(
    mechanism: Laplace | Gaussian, coefficients: Sequence[float], confidence: Number
) -> float:
    """Return t with P(abs(L) <= t) at least the confidence, for independent noises of integers.

    Parameters
    ----------
    mechanism : Laplace or Gaussian
        The noise of each.
    coefficients : sequence of numbers
        Of each noise.
    confidence : number
        Above 0 and below 1.

    Guarantee
    ---------
    abs(L) exceeds abs(h sum of multiples) by at most k h / 2, for k noises (proof: strategies, proposition
    13). Where there are many noises, or large ones, it is what `half_width` gives.
    """
    own = tuple(sorted(abs(float(one)) for one in coefficients if one))
    law, failure = mechanism.error, float_below(1 - confidence_level(confidence))
    if not own or len(own) > _MOST_NOISES or sqrt(law.variance) > _MOST_DEVIATION or failure <= 2 * _SLACK:
        return half_width(mechanism, sum(one * one for one in own), confidence)
    width, beyond = _tails(law, own)
    within = int(np.argmax(beyond + _SLACK <= failure))  # the last is 0, so that there is one
    return (within + len(own) / 2) * width * (1 + _ROUNDING)


@lru_cache(maxsize=256)
def _tails(law: SingleNoiseError, coefficients: tuple[float, ...]) -> tuple[float, NDArray[np.float64]]:
    """Return a width h, and P(abs(sum of multiples) > j) for j = 0, 1, …."""
    masses = _masses(law)
    norm = sqrt(sum(one * one for one in coefficients))
    deviation = sqrt(law.variance)
    width = 2 * _FINE * max(deviation, _LEAST_DEVIATION) * norm / len(coefficients)
    # By Chernoff's bound less than 1e-15 lies beyond 40 scales, which are at most 1 or the deviation.
    size = 1 << int(2 * 40 * max(deviation, 1.0) * norm / width).bit_length()
    transform = np.ones(size // 2 + 1, np.complex128)
    for coefficient, times in Counter(coefficients).items():
        places = np.rint(coefficient * np.arange(len(masses)) / width).astype(np.int64)
        one = np.bincount(places % size, masses / 2, minlength=size)
        one += np.bincount(-places % size, masses / 2, minlength=size)
        transform *= np.fft.rfft(one) ** times
    law_of_sum = np.fft.irfft(transform, size)
    middle = size // 2
    folded = law_of_sum[: middle + 1].copy()
    folded[1:middle] += law_of_sum[:middle:-1]
    return width, np.maximum(np.append(folded[::-1].cumsum()[::-1][1:], 0.0), 0.0)


def _masses(law: SingleNoiseError) -> NDArray[np.float64]:
    """Return P(abs(N) = n) for n = 0, 1, … until less than `_LEFT` is left."""
    beyond, masses = 1.0, list[float]()
    while beyond > _LEFT:
        further = min(law.tail_in_steps(len(masses)), beyond)
        masses.append(beyond - further)
        beyond = further
    return np.array(masses)
