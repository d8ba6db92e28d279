"""The law of the whole loss on the lattice, by one Fourier transform, and bounds on delta at every node.

Masses are tilted by e^(c L), so that those near the epsilon of interest keep their digits, transformed,
raised to the number of steps and transformed back. What the period of the transform folds into the window,
what lies beyond it, and all rounding are bounded: docs/proofs/lattice.md, lemmas 4 to 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, exp, expm1, floor, fsum, inf, log, log1p, log2

import numpy as np

from discreet.accounting.contour.contour import peak
from discreet.accounting.lattice_runs.cut import LatticeLaw, powers
from discreet.accounting.lattice_runs.step import NormalStep
from discreet.accounting.lattice_runs.window import LatticeWindow
from discreet.accounting.loss.pair import Side
from discreet.accounting.loss.tilted import UNIT
from discreet.array_types import Floats
from discreet.records import dataclass

__all__ = ["Nodes", "delta_nodes"]


_FAR = 600.0
_MILDER = 30.0  # a second order, where few outcomes far below make the first useless
_GONE = -80.0  # the logarithm of what a value of a transform may be to be left out


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Bounds on delta at evenly spaced epsilons, between which delta is at most its chord over e^epsilon.

    Attributes
    ----------
    first : float
        The first epsilon.
    spacing : float
        The distance to the next.
    values : array
        Bounds from above, or the law's own deltas where `errors` have yet to be subtracted.
    errors : array
        What must be subtracted between a node and the next; 0 in an upper bound.
    slack : float
        How far each epsilon must be moved to the safe side.
    side : str
        Whether bounds are upper or lower ones.
    """

    first: float
    spacing: float
    values: Floats
    errors: Floats
    slack: float
    side: Side

    def epsilon(self, target: float) -> float:
        """Return an epsilon whose delta is surely at most (an upper bound) or at least the target."""
        if self.side == "upper":
            kept = self.values <= target
            if not kept.any():
                return inf
            place = int(np.argmax(kept))
            if place == 0:
                return max(self.first + self.slack, 0.0)
            return max(self._between(place - 1, self.values[place - 1] - target) + self.slack, 0.0)
        kept = self.values - self.errors >= target
        if not kept.any():
            return 0.0
        place = min(int(np.flatnonzero(kept)[-1]), len(kept) - 2)
        height = float(self.values[place] - self.errors[place]) - target
        return max(self._between(place, height) - self.slack, 0.0)

    def _between(self, place: int, height: float) -> float:
        """Return where a chord has fallen by a height."""
        fall = float(self.values[place] - self.values[place + 1])
        if not fall < inf:  # nothing is known at the first of both
            return self.first + self.spacing * (place + 1)
        share = min(max(height / fall, 0.0), 1.0) if fall > 0 else 0.0
        rounding = 8 * UNIT * (1 if self.side == "upper" else -1)
        along = log1p(min(max(share + rounding, 0.0), 1.0) * expm1(self.spacing))
        at = self.first + self.spacing * place
        return at + along + rounding * abs(at)

    def delta(self, epsilon: float) -> float:
        """Bound delta at an epsilon."""
        moved = epsilon - self.slack if self.side == "upper" else epsilon + self.slack
        along = (moved - self.first) / self.spacing
        place = int(min(max(along, 0.0), len(self.values) - 2.0))
        if not 0 <= along <= len(self.values) - 1:
            return 0.0 if self.side == "lower" else (1.0 if along < 0 else float(self.values[-1]))
        share = expm1((along - place) * self.spacing) / expm1(self.spacing)
        low, high = float(self.values[place]), float(self.values[place + 1])
        if not low < inf:  # nothing is known
            return 1.0
        value = low + (high - low) * min(max(share, 0.0), 1.0)
        if self.side == "upper":
            return min(value + 16 * UNIT * low * (1 + len(self.values)), 1.0)
        return max(value - float(self.errors[place]) - 16 * UNIT * low * (1 + len(self.values)), 0.0)


def delta_nodes(
    steps: Sequence[NormalStep], laws: Sequence[LatticeLaw], window: LatticeWindow, size: int, side: Side
) -> Nodes:
    """Return bounds on delta at those nodes of a window of `size` points that are about 0 or more."""
    order, spacing = window.order, laws[0].spacing
    counts = [step.times for step in steps]
    base = fsum(n * law.base for n, law in zip(counts, laws, strict=True))
    begin = sum(n * law.first for n, law in zip(counts, laws, strict=True))
    end = sum(n * law.last for n, law in zip(counts, laws, strict=True))
    top = ceil((window.top - base) / spacing)
    if top < end <= top + 2 * sum(counts):  # the ends of laws are rounded up to points of the lattice
        top = end
    bottom = top - size + 1
    start = max(bottom, floor(-base / spacing) - 1)
    numbers = np.arange(start, top + 1)
    tilted = [_Tilted(law, order) for law in laws]
    folded, error = _composed(tilted, counts, size)
    inside = np.maximum(np.roll(folded, (begin - start) % size)[: len(numbers)], 0.0)
    total = fsum(
        n * (law.cumulant - order * one.base) for n, law, one in zip(counts, tilted, laws, strict=True)
    )
    certainty = UNIT * fsum(n * law.units for n, law in zip(counts, tilted, strict=True))
    certainty += UNIT * (8 * (abs(total) + order * spacing * max(abs(top), abs(start))) + 8 * size)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not a number says nothing, below
        untilted = powers(total - order * spacing * start, -order * spacing, len(numbers))
        delta = _deltas(inside * untilted, spacing)
        rounding = error * untilted * _series(order * spacing, spacing)
    epsilons: Floats = base + spacing * numbers.astype(np.float64)
    slack = fsum(n * law.slack for n, law in zip(counts, laws, strict=True))
    slack += 8 * UNIT * (abs(base) + spacing * max(abs(begin), abs(end), abs(top)))
    jump = _jump(steps, laws, epsilons + slack if side == "lower" else epsilons - slack, side)
    if side == "upper":
        beyond = 0.0
        if end > top:
            beyond = _exp(
                _cumulant(laws, counts, window.tail) - window.tail * (base + spacing * (top + 0.99))
            )
        values = (delta + rounding) * (1 + certainty) + jump + beyond
        values = np.where(np.isnan(values), inf, values)
        return Nodes(float(epsilons[0]), spacing, values, np.zeros(len(values)), slack, side)
    with np.errstate(invalid="ignore"):
        errors = rounding + 2 * certainty * (delta + rounding)
    period = size * spacing
    if begin < bottom:
        below = min(
            _exp(_cumulant(laws, counts, -smaller) + smaller * (base + spacing * top - period))
            for smaller in (window.smaller, window.smaller / _MILDER)
        )
        errors = errors + min(1.0, below) * exp(-order * period) / -expm1(-order * period)
    if end > top:
        larger = window.larger
        fold = _cumulant(laws, counts, larger) + float(peak(np.array([larger]))[0])
        away = (larger - order) * period
        with np.errstate(over="ignore"):
            errors = errors + np.exp(fold - away - larger * epsilons) / -expm1(-away)
    values = delta + jump
    known = np.isfinite(values) & np.isfinite(errors)
    return Nodes(
        float(epsilons[0]), spacing, np.where(known, values, 0.0), np.where(known, errors, inf), slack, side
    )


def _exp(exponent: float) -> float:
    return exp(exponent) if exponent < 700 else inf


def _series(tilt: float, spacing: float) -> float:
    """Return the sum of e^(-j tilt) (1 - e^(-j spacing)) over j = 1, 2, …, and a little more."""
    if tilt + spacing > 600:
        return exp(-min(tilt, 600.0))
    return (1 / expm1(tilt) - 1 / expm1(tilt + spacing)) * (1 + 1e-9) + 1e-13 / expm1(tilt)


class _Tilted:
    """One law, tilted and scaled to the mass 1, its cumulant, and how many units that may be off."""

    def __init__(self, law: LatticeLaw, order: float) -> None:
        reach = order * law.spacing * (len(law.masses) - 1)
        largest = 0.0
        if abs(reach) < _FAR:
            weights = law.masses * powers(0.0, order * law.spacing, len(law.masses))
        else:
            with np.errstate(divide="ignore"):
                logs = np.log(law.masses) + order * law.spacing * np.arange(len(law.masses))
            largest = float(logs.max())
            weights = np.exp(logs - largest)
        total = float(weights.sum())
        self.weights = weights / total
        begin = order * (law.base + law.spacing * law.first)
        self.cumulant = largest + log(total) + begin
        self.units = 64 + 8 * (abs(largest) + abs(reach) + abs(begin))


def _cumulant(laws: Sequence[LatticeLaw], counts: Sequence[int], order: float) -> float:
    """Return a bound on the logarithm of the sum of all mass times e^(order L), rounding included."""
    found = [(n, _Tilted(law, order)) for n, law in zip(counts, laws, strict=True)]
    return fsum(n * (law.cumulant + UNIT * law.units) for n, law in found)


def _composed(tilted: Sequence[_Tilted], counts: Sequence[int], size: int) -> tuple[Floats, float]:
    """Return the law of the sum of all steps, folded into one period, and a bound on the error of each mass.

    Every value of a transform is off by at most 8 units for each doubling of its size, times the sum of the
    moduli that go in; a power adds a few units for each step.
    """
    from scipy.fft import irfft, rfft

    half = size // 2 + 1
    units = UNIT * (8 * log2(size) + 32)
    transforms, inflated = [], np.zeros(half)
    for law, n in zip(tilted, counts, strict=True):
        values = rfft(np.bincount(np.arange(len(law.weights)) % size, law.weights, size))
        transforms.append(values)
        inflated += n * np.log(np.abs(values) + units)
    live = np.flatnonzero(inflated > _GONE)
    logs = np.zeros(len(live), complex)
    for values, n in zip(transforms, counts, strict=True):
        logs += n * np.log(np.where(values[live] == 0, 1e-300, values[live]))
    product = np.zeros(half, complex)
    product[live] = np.exp(logs)
    powers = np.exp(logs.real)
    errors = np.exp(inflated[live]) - powers + UNIT * powers * (16 + 8 * np.abs(logs.real))
    bound = 2 * exp(_GONE) + 2 / size * float(errors.sum())
    bound += 16 * log2(size) * UNIT / size * float(powers.sum())
    return irfft(product, size), bound * (1 + 1e-9)


def _deltas(masses: Floats, spacing: float) -> Floats:
    """Return delta at each node: sums of positive terms, from the last node on.

    With G_k the sum over i >= k of p_i e^(-(i - k) h), delta at k is that at k + 1 plus (1 - e^(-h)) G_(k+1).
    """
    # Where e^-L would leave the range of floats, the sum is taken in pieces.
    pieces = int(spacing * len(masses) // _FAR) + 1
    found, carried = np.zeros(len(masses)), 0.0
    for piece in reversed(np.array_split(np.arange(len(masses)), pieces)):
        first, count = int(piece[0]), len(piece)
        down = powers(0.0, -spacing, count)
        sums = np.cumsum((masses[first : first + count] * down)[::-1])[::-1]
        found[first : first + count] = (sums + carried * down[-1] * exp(-spacing)) / down
        carried = float(found[first])
    deltas = np.zeros(len(masses))
    deltas[:-1] = -expm1(-spacing) * np.cumsum(found[1:][::-1])[::-1]
    return deltas


def _jump(steps: Sequence[NormalStep], laws: Sequence[LatticeLaw], epsilons: Floats, side: Side) -> Floats:
    """Bound what outcomes with a loss beyond its law add to delta.

    Where the least such loss of a kind of steps exceeds epsilon for anything that the others add, the kind
    decides alone, and adds its P-mass less e^epsilon times its Q-mass; any other adds at most its P-mass,
    and nothing negative.
    """
    sign = 1 if side == "upper" else -1
    least = sum(step.times * step.least for step in steps)
    kinds = sorted(zip(steps, laws, strict=True), key=lambda kind: kind[1].threshold, reverse=True)
    found = np.full(len(epsilons), _missed(kinds, 1)[0] if side == "upper" else 0.0)
    if least == -inf:
        return found
    with np.errstate(over="ignore"):
        ratios = np.exp(np.minimum(epsilons, 700.0))
    for number, (_, law) in enumerate(kinds):
        decided = epsilons * (1 + 4 * UNIT) + 4 * UNIT * abs(least) <= law.threshold + least
        p, q = _missed(kinds[: number + 1], sign)
        others = _missed(kinds[number + 1 :], 1)[0] if side == "upper" else 0.0
        found = np.where(decided, np.maximum(p - ratios * q, 0.0) + others, found)
    return found


def _missed(kinds: Sequence[tuple[NormalStep, LatticeLaw]], sign: int) -> tuple[float, float]:
    """Bound the P-mass and the Q-mass of a loss beyond its law in any step, one up and the other down."""
    p = q = 0.0
    for step, law in kinds:
        wrong = law.jump.above_error
        p += step.times * log1p(-min(law.jump.p_above * (1 + sign * wrong), 0.5))
        q += step.times * log1p(-min(law.jump.q_above * (1 - sign * wrong), 0.5))
    rounding = sign * 32 * UNIT
    return -expm1(p) * (1 + rounding), -expm1(q) * (1 - rounding)
