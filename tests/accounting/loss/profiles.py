"""Deltas by definition: E max(0, p - e^epsilon q) over all outcomes, with nothing taken from the package."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
from scipy import optimize

CELLS = (60, 1200)
_PANELS = 40
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


def of_masses(p, q, epsilon):
    """The hockey-stick divergence of two lists of probabilities."""
    return float(np.maximum(0.0, np.asarray(p) - np.exp(epsilon) * np.asarray(q)).sum())


def normal(center=0.0, sigma=1.0):
    """The density of a Gaussian."""
    return lambda x: math.exp(-(((x - center) / sigma) ** 2) / 2) / (math.sqrt(2 * math.pi) * sigma)


def of_densities(p, q, epsilon, low, high, *, kinks):
    """The same of two densities, by quadrature between the points where the integrand has a corner."""

    def excess(x):
        return p(x) - math.exp(epsilon) * q(x)

    marks = [low, *sorted(kinks), high]
    grid = np.unique(np.concatenate([np.linspace(a, b, 81) for a, b in pairwise(marks)]))
    heights = [excess(x) for x in grid]
    corners = set(marks) | {x for x, height in zip(grid, heights, strict=True) if height == 0}
    for (a, one), (b, other) in pairwise(zip(grid, heights, strict=True)):
        if one * other < 0:
            corners.add(optimize.brentq(excess, a, b, xtol=1e-15))
    total = []
    for a, b in pairwise(sorted(corners)):
        for left, right in pairwise(np.linspace(a, b, _PANELS + 1)):
            half = (right - left) / 2
            points = left + half * (_NODES + 1)
            total += [half * w * max(excess(x), 0.0) for x, w in zip(points, _WEIGHTS, strict=True)]
    return math.fsum(total)


def assert_between(pair, exact, epsilons, *, width=1e-3, cells=CELLS):
    """Check upper >= exact >= lower in every direction, and that the finest cells are close to it.

    `exact(direction, epsilon)` is a delta by definition.
    """
    for direction, epsilon in product(range(pair.directions), epsilons):
        truth = exact(direction, epsilon)
        for count in cells:
            found = {side: pair.law(direction, side, count) for side in ("lower", "upper")}
            low, high = (law.delta(epsilon) + law.infinity for law in found.values())
            at = (direction, count, epsilon)
            assert low <= truth * (1 + 1e-9) + 1e-13, at
            assert high >= truth * (1 - 1e-9) - 1e-13, at
            if count == cells[-1]:
                assert high - low <= width * truth + 1e-12, at


def upper(pair, direction, epsilon, cells=2000):
    """The delta that a pair charges."""
    law = pair.law(direction if pair.directions == 2 else 0, "upper", cells)
    return law.delta(epsilon) + law.infinity
