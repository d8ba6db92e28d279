"""Noise that takes itself back: coefficients by which the noise of a step returns in the steps after it.

A run that is judged by sums of gradients, as every descent is, need not add independent noise. Let C be the
lower triangular Toeplitz matrix with c_0, c_1, …, c_(b-1) in its first column. Releasing C G + Z instead of
G + Z, for the matrix G of gradients, and solving for G leaves noise C^-1 Z, of which prefix sums have little:
with the coefficients of (1 - x)^(-1/2), about log(n) / pi of what one step has instead of sqrt(n).
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt

import numpy as np

from discreet.array_types import Floats

__all__ = ["chosen_band", "prefix_error", "root_coefficients"]

SCALE = 2**8
"""c_0: coefficients are integers in these units."""

_WIDEST = 64  # bands that are tried: a wider one keeps as many gradients in memory
_MOST_STEPS = 1 << 14  # for which bands are compared


def root_coefficients(band: int) -> tuple[int, ...]:
    """Return the first `band` coefficients of (1 - x)^(-1/2), binom(2 k, k) / 4^k, in units and rounded down.

    They are positive and do not grow, so that C^-1 is bounded (docs/proofs/correlated_gradients.md, lemma 3).
    """
    found, numerator, denominator = [], SCALE, 1
    for place in range(band):
        found.append(numerator // denominator)
        numerator, denominator = numerator * (2 * place + 1), denominator * (2 * place + 2)
    return tuple(found)


def _inverse(band: int, steps: int) -> Floats:
    """Return the first column of C^-1, for c_0 = 1."""
    ratios = np.array(root_coefficients(band)[1:]) / SCALE
    found = np.zeros(steps + len(ratios))
    found[len(ratios)] = 1.0
    for place in range(len(ratios) + 1, len(found)):
        found[place] = -(ratios @ found[place - len(ratios) : place][::-1])
    return found[len(ratios) :]


def prefix_error(band: int, steps: int) -> float:
    """Return the deviation of noise in sums of the first t gradients, root mean square over t <= steps.

    It is in units of the deviation that independent noise of the same guarantee has in one step. For one
    coefficient, independent noise, it is sqrt((steps + 1) / 2).
    """
    length = sqrt(sum(one * one for one in root_coefficients(band))) / SCALE
    sums = np.cumsum(_inverse(band, steps))
    return length * sqrt(float(np.cumsum(sums**2).mean()))


@lru_cache(maxsize=64)
def chosen_band(steps: int, most: int) -> int:
    """Return the power of two, up to `most`, with the least error in prefix sums of that many steps."""
    bands = [1 << power for power in range(_WIDEST.bit_length()) if 1 << power <= min(most, _WIDEST)]
    return min(bands, key=lambda band: prefix_error(band, min(steps, _MOST_STEPS)))
