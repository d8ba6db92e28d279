"""The exact law of a sum of finite losses, where it has few enough values.

Losses of randomized response, of any pure step and of discrete noise lie on lattices, so that even
thousands of them have few distinct sums.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.contour.contour import Steps
from discreet.accounting.loss.law import AtomicLoss
from discreet.accounting.loss.pair import Side

__all__ = ["convolved"]

_MOST_PRODUCTS = 1_200_000
_SAME = 1e-13

Atoms = tuple[NDArray[np.float64], NDArray[np.float64]]


def convolved(steps: Steps, side: Side) -> AtomicLoss | None:
    """Return the law of the sum, or None if its values are too many or no finite list.

    Sums that differ by rounding only, a part in 1e13 of the largest, are taken as one value: the largest
    of them in an upper bound, the least in a lower one. Masses are products and sums of positive numbers.
    """
    total: Atoms = (np.ones(1), np.zeros(1))
    for law, count in zip(steps.laws, steps.counts, strict=True):
        several = _repeated((law.masses, law.losses), count, side) if isinstance(law, AtomicLoss) else None
        combined = None if several is None else _added(total, several, side)
        if combined is None:
            return None
        total = combined
    return AtomicLoss(*total, steps.infinity)


def _repeated(atoms: Atoms, count: int, side: Side) -> Atoms | None:
    """Add `count` copies by doubling."""
    if (count // 2 * (len(atoms[0]) - 1)) ** 2 > _MOST_PRODUCTS:
        return None  # a sum of sets has at least this many values
    result: Atoms | None = None
    power: Atoms | None = atoms
    while count and power is not None:
        if count % 2:
            result = power if result is None else _added(result, power, side)
            if result is None:
                return None
        count //= 2
        if count:
            power = _added(power, power, side)
    return None if count else result


def _added(one: Atoms, other: Atoms, side: Side) -> Atoms | None:
    if len(one[0]) * len(other[0]) > _MOST_PRODUCTS:
        return None
    masses = np.multiply.outer(one[0], other[0]).ravel()
    losses = np.add.outer(one[1], other[1]).ravel()
    order = np.argsort(losses, kind="stable")
    masses, losses = masses[order], losses[order]
    same = _SAME * max(abs(losses[0]), abs(losses[-1]))
    starts = np.flatnonzero(np.append(True, np.diff(losses) > same))
    picked = losses[np.append(starts[1:], len(losses)) - 1] if side == "upper" else losses[starts]
    return np.add.reduceat(masses, starts), picked
