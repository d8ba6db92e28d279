"""The law of one step's loss moved to the lattice of all multiples of a spacing.

Above: the mass of a cell goes to the two lattice points around it, so that both its P-mass and its Q-mass are
kept, which connects the dots of the profile. Below: a cell becomes one outcome, and its borders are chosen so
that the loss of this outcome is a lattice point, or a little more. Either way rounding is made up for on the
safe side: docs/proofs/lattice.md, lemmas 2 and 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, expm1, floor

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.lattice.step import Masses, NormalStep
from discreet.accounting.loss.tilted import UNIT

__all__ = ["LatticeLaw", "above", "below"]

Array = NDArray[np.float64]

_EVEN_ROUNDS, _RAISING_ROUNDS = 2, 2
_MOST_MOVE = 0.45
_RAISE = 2.2  # a border that moves up by d lifts the mean of an even cell by d / 2


@dataclass(frozen=True, slots=True, eq=False)
class LatticeLaw:
    """A measure on the lattice that bounds the loss of one step, but for the losses of its last cell upward.

    Attributes
    ----------
    first : int
        The number of the first lattice point.
    masses : array
        P-masses at successive lattice points.
    slack : float
        How far the losses themselves may be beyond the lattice points, to the unsafe side.
    threshold : float
        All losses that are left out are at least so large.
    jump : Masses
        Among others, the masses of the losses left out.
    """

    first: int
    masses: Array
    slack: float
    threshold: float
    jump: Masses

    @property
    def last(self) -> int:
        """The number of the last lattice point."""
        return self.first + len(self.masses) - 1


def _range(step: NormalStep, spacing: float, least: float, most: float) -> tuple[int, int]:
    low, high = step.ends
    first, last = floor(max(low, least) / spacing), ceil(min(high, most) / spacing)
    return first, max(last, first + 2)


def above(step: NormalStep, spacing: float, least: float, most: float) -> LatticeLaw:
    """Return a law that dominates all losses up to `most`; what is below `least` moves up to about there."""
    first, last = _range(step, spacing, least, most)
    borders = spacing * np.arange(first, last + 1)
    z, _, rounding = step.outcomes(borders)
    found = step.masses(z)
    mass = found.p + found.p_error
    unseen = found.p_error + np.exp(borders[:-1]) * found.q_error + (16 * UNIT + 4 * rounding) * mass
    moved = (found.p - np.exp(borders[:-1]) * found.q + unseen) / -expm1(-spacing)
    upward = np.clip(moved, 0.0, mass)
    masses = np.zeros(len(borders))
    masses[1:] += upward
    masses[:-1] += mass - upward
    # The first lattice point may be less than the losses below the first outcome; the second is not.
    masses[1] += found.below * (1 + found.above_error)
    slack = rounding + 2 * UNIT * max(abs(borders[0]), abs(borders[-1]))
    return LatticeLaw(first, masses, slack, _threshold(step, float(borders[-1]), rounding), found)


def below(step: NormalStep, spacing: float, least: float, most: float, order: float) -> LatticeLaw:
    """Return a law that all losses up to about `most` dominate; under the tilt of an order it is close."""
    first, last = _range(step, spacing, least, most)
    points = spacing * np.arange(first, last + 1)
    borders = np.append(points - spacing / 2, points[-1] + spacing / 2)
    z, speed, rounding = step.outcomes(borders)
    speed = speed if step.direction == 0 else -speed
    moves = np.zeros(len(borders))
    for turn in range(_EVEN_ROUNDS + _RAISING_ROUNDS + 1):
        found, short = _short(step, _moved(step, z, speed * moves), points)
        if turn == _EVEN_ROUNDS + _RAISING_ROUNDS:
            break
        if turn < _EVEN_ROUNDS:
            moves[1:-1] += (short[1:] + short[:-1]) / 2
        else:
            moves[1:-1] += _RAISE * np.maximum(short[1:], 0.0)
        np.clip(moves, -_MOST_MOVE * spacing, _MOST_MOVE * spacing, out=moves)
    mass = np.maximum(found.p - found.p_error, 0.0)
    shift, masses = _shifted(mass, np.maximum(short, 0.0), points, spacing, order)
    slack = shift + 2 * UNIT * max(abs(points[0]), abs(points[-1]))
    return LatticeLaw(first - 1, masses, slack, _threshold(step, float(borders[-1]), rounding), found)


def _threshold(step: NormalStep, border: float, rounding: float) -> float:
    """Bound from below the losses beyond the last outcome, which may lie at the end before its border."""
    last = min(border, step.ends[1])
    return last - rounding - 16 * UNIT * abs(last)


def _moved(step: NormalStep, z: Array, by: Array) -> Array:
    """Move outcomes, which stay in their order and between the ends."""
    moved = np.clip(np.where(np.isfinite(by), z + by, z), -step.far, step.far + step.mu)
    moved[-1] = z[-1]
    if step.direction == 0:
        return np.minimum(np.maximum.accumulate(moved), z[-1])
    return np.maximum(np.minimum.accumulate(moved), z[-1])


def _short(step: NormalStep, z: Array, points: Array) -> tuple[Masses, Array]:
    """Return the masses of cells and by how much the loss of each, as one outcome, may miss its point."""
    found = step.masses(z)
    p, q = found.p - found.p_error, found.q + found.q_error
    kept = (p > 0) & (q > 0)
    ratio = np.divide(p, q, out=np.ones_like(p), where=kept)
    loss = np.log(ratio)
    return found, np.where(kept, points - loss + 8 * UNIT * (1 + np.abs(loss)), 0.0)


def _shifted(
    mass: Array, short: Array, points: Array, spacing: float, order: float
) -> tuple[float, Array]:
    """Lower the whole lattice a little, and the worst cells by one point more, whichever costs least."""
    weights = mass * np.exp(np.clip(order * (points - points[-1]), -700.0, 700.0))
    total = weights.sum()
    increasing = np.argsort(short)
    heavier = np.append(np.cumsum(weights[increasing][::-1])[::-1][1:], 0.0) / (total or 1.0)
    best = int(np.argmin(short[increasing] + spacing * heavier))
    shift = float(short[increasing][best])
    lowered = short > shift
    gone = short > shift + spacing
    masses = np.zeros(len(points) + 1)
    masses[1:] += np.where(lowered, 0.0, mass)
    masses[:-1] += np.where(lowered & ~gone, mass, 0.0)
    return shift, masses
