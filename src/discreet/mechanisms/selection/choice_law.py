"""The law of a choice by exponential weights: probabilities that are the floats nearest to the exact ones."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.enclosure import exponential

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["choice_probabilities"]

_FIRST_BITS = 128


def choice_probabilities(behind: NDArray[np.int64], rate: Fraction) -> NDArray[np.float64]:
    """Return w_i / (w_1 + … + w_n) for w_i = exp(-rate behind_i), each rounded to the nearest float.

    With l_j <= w_j 2^bits <= h_j the probability of i lies between l_i / (l_i + sum of the other h_j) and
    h_i / (h_i + sum of the other l_j). Division of Python's integers rounds to nearest, and rounding never
    falls as its argument grows: where both ends round to one float, so does the probability. More bits decide
    the rest, since no probability is midway between two floats (proof: docs/proofs/exponential.md).
    """
    exponents, where = np.unique(behind, return_inverse=True)
    counts = np.bincount(where)
    open_places, bits = np.arange(len(exponents)), _FIRST_BITS
    results = np.zeros(len(exponents))
    while open_places.size:
        weights = [exponential(int(exponent) * rate, bits) for exponent in exponents]
        low = sum(int(count) * weight[0] for count, weight in zip(counts, weights, strict=True))
        high = sum(int(count) * weight[1] for count, weight in zip(counts, weights, strict=True))
        undecided = []
        for place in open_places:
            least, most = weights[place]
            results[place] = least / (least + high - most)
            if results[place] != most / (most + low - least):
                undecided.append(place)
        open_places, bits = np.array(undecided, np.int64), 2 * bits
    return results[where]
