"""The law of a sum of losses on a grid: never below the true one, and near it.

For parts of a parallel release that are several steps themselves. Sums of atoms are moved to the two nearest
points of a grid such that both masses are kept, which dominates (docs/proofs/contour.md, lemma 4).
"""

from __future__ import annotations

import numpy as np

from discreet.accounting.loss.law import AtomicLoss
from discreet.array_types import Floats

__all__ = ["summed"]


_NODES = 800
_SPARE = 1e-30
_ROUNDING = 1 + 1e-12


def summed(laws: list[tuple[AtomicLoss, int]], count: int = _NODES) -> AtomicLoss:
    """Return a law that dominates the sum of independent losses, each taken several times."""
    total = AtomicLoss(np.ones(1), np.zeros(1), 0.0)
    for law, times in laws:
        power, left = law, times
        while left:
            if left % 2:
                total = _added(total, power, count)
            left //= 2
            if left:
                power = _added(power, power, count)
    return total


def _added(one: AtomicLoss, other: AtomicLoss, count: int) -> AtomicLoss:
    masses = np.multiply.outer(one.masses, other.masses).ravel()
    losses = np.add.outer(one.losses, other.losses).ravel()
    infinity = one.infinity + other.infinity
    if len(masses) > count:
        masses, losses, far = _moved(masses, losses, count)
        infinity += far
    return AtomicLoss(masses * _ROUNDING, losses, infinity * _ROUNDING)


def _moved(masses: Floats, losses: Floats, count: int) -> tuple[Floats, Floats, float]:
    """Move atoms to a grid; the least of all rise to its start, and the largest to infinity."""
    order = np.argsort(losses, kind="stable")
    masses, losses = masses[order], losses[order]
    first = int(np.searchsorted(np.cumsum(masses), _SPARE))
    last = len(masses) - int(np.searchsorted(np.cumsum(masses[::-1]), _SPARE))
    low, high = float(losses[min(first, len(losses) - 1)]), float(losses[max(last - 1, 0)])
    if not low < high:
        return np.array([masses[:last].sum()]), np.array([high]), float(masses[last:].sum())
    grid = np.linspace(low, high, count)
    inside = np.maximum(losses[:last], low)
    gap = (high - low) / (count - 1)
    place = np.minimum(((inside - low) / gap).astype(np.intp), count - 2)
    rest = np.maximum(inside - grid[place], 0.0)
    up = np.clip(np.expm1(-rest) / np.expm1(grid[place] - grid[place + 1]), 0.0, 1.0)
    found = np.zeros(count)
    np.add.at(found, place, masses[:last] * (1 - up))
    np.add.at(found, place + 1, masses[:last] * up)
    keep = found > 0
    return found[keep], grid[keep], float(masses[last:].sum())
