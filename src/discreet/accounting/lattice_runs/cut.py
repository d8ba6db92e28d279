"""The law of one step's loss moved to the lattice of all multiples of a spacing.

Above: the mass of a cell goes to the two lattice points around it, so that both its P-mass and its Q-mass are
kept, which connects the dots of the profile. Below: a cell becomes one outcome, whose loss is a lattice point
or a little more, since its borders lie well and its neighbors give it what it misses. Either way rounding is
made up for on the safe side: docs/proofs/lattice.md, lemmas 2 and 3.
"""

from __future__ import annotations

from math import ceil, expm1, floor

import numpy as np

from discreet.accounting.lattice_runs.step import LatticeMasses, NormalStep
from discreet.accounting.loss.tilted import UNIT
from discreet.array_types import Floats
from discreet.records import dataclass

__all__ = ["LatticeLaw", "law_above", "law_below", "powers"]


_EARLY = 16
_ROW = 256
_MANY = 1e-4  # of all outcomes: below, what one cell misses hardly matters
_LIFTS, _FINE, _MOST_LIFT, _LEAST_SLOPE = 5, 1e-6, 1.5, 0.1
_FLAT, _STEEP = 1e-4, 50.0  # slopes over half a cell: a series serves below, and the limit above
_MOST_TAKEN = 0.25  # of a cell by its neighbor on either side, so that about half of it is kept
_MOST_EXPONENT = 690.0
_MOST_GONE = -1 + 2.0**-52
_HARDLY = 1e-9  # of a spacing


@dataclass(frozen=True, slots=True, eq=False)
class LatticeLaw:
    """A measure on the lattice that bounds the loss of one step, except the losses of its last cell upward.

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
    masses: Floats
    slack: float
    threshold: float
    jump: LatticeMasses

    @property
    def last(self) -> int:
        """The number of the last lattice point."""
        return self.first + len(self.masses) - 1


def powers(start: float, step: float, count: int) -> Floats:
    """Return e^(start + k step) for k = 0, …, count - 1: products of two, off by 4 units and as exponents."""
    row = min(_ROW, count)
    coarse = np.exp(start + step * row * np.arange(-(-count // row)))
    found: Floats = np.multiply.outer(coarse, np.exp(step * np.arange(row))).ravel()[:count]
    return found


def _lattice(step: NormalStep, spacing: float, least: float, most: float) -> tuple[float, int, Floats]:
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


def law_above(step: NormalStep, spacing: float, least: float, most: float) -> LatticeLaw:
    """Return a law that dominates all losses up to `most`; what is below `least` moves up to about there."""
    base, first, borders = _lattice(step, spacing, least, most)
    z, _, rounding = step.outcomes(borders)
    found = step.masses(z)
    mass = found.p + found.p_error
    ratios = np.exp(borders[:-1])
    unseen = found.p_error + ratios * found.q_error + (16 * UNIT + 4 * rounding) * mass
    moved = (found.p - ratios * found.q + unseen) / -expm1(-spacing)
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


def law_below(step: NormalStep, spacing: float, least: float, most: float, order: float) -> LatticeLaw:
    """Return a law that all losses up to about `most` dominate; under the tilt of an order it is close."""
    base, first, points = _lattice(step, spacing, least, most)
    lift, heavy, end = _lift(step, points, spacing)
    base, points = base + lift, points + lift
    z, rounding = _borders(step, np.append(points - spacing / 2, points[-1] + spacing / 2), spacing)
    z[: heavy + 1] = end
    z = _ordered(step, z)
    found = step.masses(z)
    mass, short = _mixed(found, points)
    shift, masses = _shifted(mass, np.maximum(short, 0.0), points, spacing, order)
    slack = shift + 4 * UNIT * max(abs(points[0]), abs(points[-1]))
    threshold = _threshold(step, float(points[-1] + spacing / 2), rounding)
    empty = int(np.argmax(masses > 0))
    return LatticeLaw(base, spacing, first - 1 + empty, masses[empty:], slack, threshold, found)


def _threshold(step: NormalStep, border: float, rounding: float) -> float:
    """Bound from below the losses beyond the last outcome, which may lie at the end before its border."""
    last = min(border, step.ends[1])
    return last - rounding - 16 * UNIT * abs(last)


def _borders(step: NormalStep, borders: Floats, spacing: float) -> tuple[Floats, float]:
    """Return the outcomes at which cells around lattice points begin, and the rounding of the last.

    Where the density of the loss, halfway between P and Q, is e^(r l), a cell has its center of mass at its
    lattice point if its borders are moved by -(h / 2)(coth k - 1 / k), k = r h / 2.
    """
    z, speed, rounding = step.outcomes(borders)
    slope = 1.5 - speed * (z + step.mu) if step.direction == 0 else speed * (z + step.mu) - 1.5
    bend = np.clip(slope * spacing / 2, -_STEEP, _STEEP)
    flat = np.abs(bend) < _FLAT
    bend = np.where(flat, 1.0, bend)
    moves = np.where(flat, slope * spacing / 6, 1 / np.tanh(bend) - 1 / bend) * (-spacing / 2)
    # With e^L = 1 - q + part, a loss that grows by m has its part grow by e^L (e^m - 1).
    sign = 1 if step.direction == 0 else -1
    grown = np.maximum(step.mu * speed * np.expm1(sign * moves), _MOST_GONE)
    moved = np.clip(z + np.log1p(grown) / step.mu, -step.far, step.far + step.mu)
    moved[0], moved[-1] = z[0], z[-1]  # what lies beyond the last border is to be known
    return _ordered(step, moved), rounding


def _ordered(step: NormalStep, z: Floats) -> Floats:
    """Keep borders in the order of their losses, whatever these are, and the last where it is."""
    if step.direction == 0:
        return np.asarray(np.minimum(np.maximum.accumulate(z), z[-1]))
    return np.asarray(np.maximum(np.minimum.accumulate(z), z[-1]))


def _lift(step: NormalStep, points: Floats, spacing: float) -> tuple[float, int, float]:
    """Return by how much the lattice moves, the cell that all outcomes before it join, and their end.

    One of the first cells may hold many outcomes, and has no other below to take from: the lattice moves so
    that its loss is a point. Its upper border moves along.
    """
    few = points[:_EARLY]
    z, _ = _borders(step, np.append(few - spacing / 2, few[-1] + spacing / 2), spacing)
    p = step.masses(z).p
    heavy = int(np.argmax(p > _MANY))
    if p[heavy] <= _MANY or p[:heavy] @ np.square(heavy - np.arange(heavy)) > _MANY:
        return 0.0, -1, float(z[0])
    end = float(z[0])

    def missed(lift: float) -> float:
        border = points[heavy] + lift + spacing * np.array([-0.5, 0.5, 1.5])
        found = step.masses(np.append(end, _borders(step, border, spacing)[0][1]))
        both = found.p[0] > 0 and found.q[0] > 0
        return float(np.log(found.p[0] / found.q[0]) - points[heavy]) - lift if both else 0.0

    before, lift = 0.0, 0.0
    error = missed(lift)
    slope = -1.0
    for _ in range(_LIFTS):
        if abs(error) <= _FINE * spacing:
            break
        before, lift = lift, min(max(lift - error / slope, -_MOST_LIFT * spacing), _MOST_LIFT * spacing)
        if lift == before:
            break
        last, error = error, missed(lift)
        slope = min((error - last) / (lift - before), -_LEAST_SLOPE)
    # What is left is on the side where the cell is beyond its point.
    return lift - max(-error, 0.0), heavy, end


def _mixed(found: LatticeMasses, points: Floats) -> tuple[Floats, Floats]:
    """Return the masses of outcomes mixed of a cell and parts of its neighbors, and what they miss.

    A cell whose loss misses its point takes the part of the cell above that makes up for it; one whose loss
    is beyond its point takes a part of the cell below.
    """
    p, q = np.maximum(found.p - found.p_error, 0.0), found.q + found.q_error
    scaled = np.exp(np.clip(-points, -_MOST_EXPONENT, _MOST_EXPONENT))
    excess = np.where(p > 0, p * scaled - q, 0.0)
    from_above, from_below = np.zeros(len(p)), np.zeros(len(p))
    with np.errstate(divide="ignore", invalid="ignore"):
        from_above[:-1] = -excess[:-1] / (p[1:] * scaled[:-1] - q[1:])
        from_below[1:] = excess[1:] / (q[:-1] - p[:-1] * scaled[1:])
    for part in (from_above, from_below):
        part[~((part > 0) & (part <= _MOST_TAKEN))] = 0.0
    given = np.append(0.0, from_above[:-1]) + np.append(from_below[1:], 0.0)
    from_below *= 1 - given
    kept = (1 - np.append(0.0, from_above[:-1]) - np.append(from_below[1:], 0.0)) * (1 - 8 * UNIT)

    def mixed(masses: Floats) -> Floats:
        total: Floats = kept * masses
        total[:-1] += from_above[:-1] * masses[1:]
        total[1:] += from_below[1:] * masses[:-1]
        return total

    p, q = mixed(p), mixed(q)
    seen = (p > 0) & (q > 0)
    loss = np.log(np.divide(p, q, out=np.ones_like(p), where=seen))
    return p * (1 - 8 * UNIT), np.where(seen, points - loss + 16 * UNIT * (1 + np.abs(loss)), 0.0)


def _shifted(
    mass: Floats, short: Floats, points: Floats, spacing: float, order: float
) -> tuple[float, Floats]:
    """Lower the whole lattice a little, and the worst cells by one point more, whichever costs least."""
    worst, hardly = float(np.max(short, initial=0.0)), _HARDLY * spacing + 64 * UNIT * (1 + abs(points[-1]))
    if worst <= hardly:
        return worst, np.append(0.0, mass)
    weights = mass * np.exp(np.clip(order * (points - points[-1]), -700.0, 700.0))
    total = float(weights.sum()) or 1.0
    missing = np.flatnonzero(short > hardly)
    missing = missing[np.argsort(short[missing])]
    shifts = np.append(hardly, short[missing])
    heavier = np.append(np.cumsum(weights[missing][::-1])[::-1], 0.0) / total
    shift = float(shifts[int(np.argmin(shifts + spacing * heavier))])
    lowered = short > shift
    gone = short > shift + spacing
    masses = np.zeros(len(points) + 1)
    masses[1:] += np.where(lowered, 0.0, mass)
    masses[:-1] += np.where(lowered & ~gone, mass, 0.0)
    return shift, masses
