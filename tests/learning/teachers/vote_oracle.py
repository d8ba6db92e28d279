"""The law of an answer by enumeration, written apart from the package: sums over all integers that matter."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np


def rounded_normal(sigma):
    """Return the probabilities of rounded normal noise as a dict over integers, beyond 39 deviations none."""
    far = math.ceil(39 * sigma) + 1

    def upper(place):
        return mpmath.erfc(mpmath.mpf(place) / sigma / mpmath.sqrt(2)) / 2

    return {k: float(upper(abs(k) - 0.5) - upper(abs(k) + 0.5)) for k in range(-far, far + 1)}


def discrete_laplace(gamma):
    far = math.ceil(90 / gamma)
    heads = -math.expm1(-gamma) / (1 + math.exp(-gamma))
    return {k: heads * math.exp(-gamma * abs(k)) for k in range(-far, far + 1)}


def winner_law(counts, noise):
    """Return the probability that each class has the largest noisy count, the first one of equals."""
    far = max(noise)
    values = np.array([noise[k] for k in range(-far, far + 1)])
    below = np.cumsum(values)
    places = np.arange(min(counts) - far, max(counts) + far + 1)

    def at(table, index, beyond):
        found = table[np.clip(index, 0, len(table) - 1)]
        return np.where(index < 0, 0.0, np.where(index >= len(table), beyond, found))

    law = []
    for one, count in enumerate(counts):
        chance = at(values, places - count + far, 0.0)
        for other, rival in enumerate(counts):
            if other != one:
                chance = chance * at(below, places - rival + far - (other < one), 1.0)
        law.append(float(chance.sum()))
    return np.array(law)


def divergence(first, second, order):
    """Return the Rényi divergence of two laws."""
    inside = first > 0
    logs = np.log(first[inside]) * order + np.log(second[inside]) * (1 - order)
    return float(np.log(np.exp(logs).sum()) / (order - 1))


def histograms(teachers, classes):
    """Give all counts of votes."""
    for bars in itertools.combinations(range(teachers + classes - 1), classes - 1):
        edges = (-1, *bars, teachers + classes - 1)
        yield tuple(high - low - 1 for low, high in itertools.pairwise(edges))


def neighbors(counts):
    """Give counts after one teacher has turned."""
    for one, other in itertools.permutations(range(len(counts)), 2):
        if counts[one]:
            moved = list(counts)
            moved[one] -= 1
            moved[other] += 1
            yield tuple(moved)
