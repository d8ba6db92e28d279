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

_ROUNDS = 4
_MANY, _EARLY = 0.03, 1  # of all outcomes, in one of the first cells
_FINE = 1e-4
_ROOT = 2.5066282746310002  # of two pi: densities come without it
_MOST_MOVE, _MOST_LIFT = 0.45, 0.2


@dataclass(frozen=True, slots=True, eq=False)
class LatticeLaw:
    """A measure on the lattice that bounds the loss of one step, but for the losses of its last cell upward.

    Attributes
    ----------
    base, spacing : float
        Point number k of the lattice is the loss base + k spacing.
    first : int
        The number of the first point.
    masses : array
        P-masses at successive lattice points.
    slack : float
        How far the losses themselves may be beyond the lattice points, to the unsafe side.
    threshold : float
        All losses that are left out are at least so large.
    jump : Masses
        Among others, the masses of the losses left out.
    """

    base: float
    spacing: float
    first: int
    masses: Array
    slack: float
    threshold: float
    jump: Masses

    @property
    def last(self) -> int:
        """The number of the last lattice point."""
        return self.first + len(self.masses) - 1


def _lattice(step: NormalStep, spacing: float, least: float, most: float) -> tuple[float, int, Array]:
    """Return the base of a lattice, the number of its first point, and its points.

    Most outcomes may have nearly one loss, in a range far below the spacing: the base is the loss of these as
    one outcome, so that they need not be moved.
    """
    low, high = step.ends
    base = float(step.losses(np.zeros(1))[0]) * (1 if step.direction == 0 else -1)
    around, _, _ = step.outcomes(np.array([base - spacing / 2, base + spacing / 2]))
    common = step.masses(around)
    if common.p[0] > 0 and common.q[0] > 0:
        base = float(np.log(common.p[0] / common.q[0]))
    first = floor((max(low, least) - base) / spacing)
    last = max(ceil((min(high, most) - base) / spacing), first + 2)
    return base, first, base + spacing * np.arange(first, last + 1, dtype=np.float64)


def above(step: NormalStep, spacing: float, least: float, most: float) -> LatticeLaw:
    """Return a law that dominates all losses up to `most`; what is below `least` moves up to about there."""
    base, first, borders = _lattice(step, spacing, least, most)
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
    slack = rounding + 4 * UNIT * max(abs(borders[0]), abs(borders[-1]))
    return LatticeLaw(
        base, spacing, first, masses, slack, _threshold(step, float(borders[-1]), rounding), found
    )


def below(step: NormalStep, spacing: float, least: float, most: float, order: float) -> LatticeLaw:
    """Return a law that all losses up to about `most` dominate; under the tilt of an order it is close."""
    base, first, points = _lattice(step, spacing, least, most)
    borders = np.append(points - spacing / 2, points[-1] + spacing / 2)
    z, speed, rounding = step.outcomes(borders)
    sign = 1 if step.direction == 0 else -1
    far = _MOST_MOVE * spacing * np.abs(speed)
    placed, moved = z, 0.0
    for turn in range(_ROUNDS + 1):
        found, short = _short(step, placed, points + moved)
        weights = found.p * np.exp(np.clip(order * (points - points[-1]), -700.0, 0.0))
        if turn == _ROUNDS or float(weights @ np.abs(short)) <= _FINE * spacing * float(weights.sum()):
            break
        moves, lift = _toward(step, placed, found, short, _MOST_LIFT * spacing)
        moved += lift
        middle = z + sign * moved * speed
        placed = _ordered(step, np.clip(placed + sign * moves, middle - far, middle + far), z)
    base, points = base + moved, points + moved
    mass = np.maximum(found.p - found.p_error, 0.0)
    shift, masses = _shifted(mass, np.maximum(short, 0.0), points, spacing, order)
    slack = shift + 4 * UNIT * max(abs(points[0]), abs(points[-1]))
    return LatticeLaw(
        base, spacing, first - 1, masses, slack, _threshold(step, float(borders[-1]), rounding), found
    )


def _threshold(step: NormalStep, border: float, rounding: float) -> float:
    """Bound from below the losses beyond the last outcome, which may lie at the end before its border."""
    last = min(border, step.ends[1])
    return last - rounding - 16 * UNIT * abs(last)


def _ordered(step: NormalStep, z: Array, start: Array) -> Array:
    """Keep outcomes in their order, between the ends, and the last where it was."""
    z = np.clip(np.where(np.isfinite(z), z, start), -step.far, step.far + step.mu)
    z[0], z[-1] = start[0], start[-1]
    if step.direction == 0:
        return np.asarray(np.minimum(np.maximum.accumulate(z), start[-1]))
    return np.asarray(np.maximum(np.minimum.accumulate(z), start[-1]))


def _toward(step: NormalStep, z: Array, found: Masses, short: Array, most: float) -> tuple[Array, float]:
    """Return Newton's step to cells whose losses are lattice points: how borders move, and the lattice.

    The loss of a cell depends on its two borders, so the equations are solved from the last cell down. On the
    way every deviation shrinks where masses fall with the loss. Where many outcomes are in the first
    cell, whose lower border is an end, the lattice moves so that its loss is a point as well.
    """
    from scipy.linalg import solve_banded

    losses = step.losses(z) * (1 if step.direction == 0 else -1)
    density = np.exp(-np.square(z) / 2 + (0.0 if step.direction == 0 else -losses)) / _ROOT
    kept = (found.p > 0) & (found.q > 0)
    loss = np.log(np.divide(found.p, found.q, out=np.ones_like(found.p), where=kept))
    heights = np.where(kept, found.q, 1.0)
    below = -density[:-1] * np.expm1(losses[:-1] - loss) / heights
    above = density[1:] * np.expm1(losses[1:] - loss) / heights
    usable = kept & (below > 0) & (above > 0) & np.isfinite(below) & np.isfinite(above)
    banded = np.zeros((2, len(short)))
    banded[1] = np.where(usable, below, 1.0)
    banded[0, 1:] = np.where(usable, above, 0.0)[:-1]
    sides = np.stack([np.where(usable, short, 0.0), np.where(usable, 1.0, 0.0)], axis=1)
    solved = solve_banded((0, 1), banded, sides)
    moves, lift = np.zeros(len(z)), 0.0
    first = int(np.argmax(found.p > _MANY * found.p.sum()))
    if first <= _EARLY and usable[first]:
        # All outcomes before the first such cell belong to it: its lower border does not move.
        slope = above[first] * solved[first + 1, 1] - 1
        lift = float((short[first] - above[first] * solved[first + 1, 0]) / slope) if slope < -0.05 else 0.0
        lift = min(max(lift, -most), most)
    moves[:-1] = solved[:, 0] + lift * solved[:, 1]
    if lift:
        moves[: first + 1] = z[0] - z[: first + 1] if step.direction == 0 else z[: first + 1] - z[0]
    return moves, lift


def _short(step: NormalStep, z: Array, points: Array) -> tuple[Masses, Array]:
    """Return the masses of cells and by how much the loss of each, as one outcome, may miss its point."""
    found = step.masses(z)
    p, q = found.p - found.p_error, found.q + found.q_error
    kept = (p > 0) & (q > 0)
    ratio = np.divide(p, q, out=np.ones_like(p), where=kept)
    loss = np.log(ratio)
    return found, np.where(kept, points - loss + 8 * UNIT * (1 + np.abs(loss)), 0.0)


def _shifted(mass: Array, short: Array, points: Array, spacing: float, order: float) -> tuple[float, Array]:
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
