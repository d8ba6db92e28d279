"""The part of a run of Laplace steps in which at most one loss lies between the two ends: a sum over atoms.

One loss is an atom at +e (mass 1/2), an atom at -e (mass exp(-e)/2) or has the density exp((l - e)/2)/4
between them. Losses of which all are atoms add up to a lattice of binomial masses p(l). Where exactly one of
the n losses with this e is none, delta is n times the sum of p(l) G(l - epsilon) over the lattice of the
others,

    G(x) = (1 - exp(-(x + e)/2))^2 / 2 on [-e, e],   (1 - exp(-e)) (1 - exp(-x)) / 2 above.

All terms are positive, so that no digits are lost (docs/proofs/contour.md, lemma 7).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, exp, expm1, floor, fsum, log1p, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.loss.tilted import UNIT
from discreet.records import dataclass

__all__ = ["LaplaceAtoms", "count_atoms"]

_REACH = 10.0
_MISSING = 1e-75
_NEGLIGIBLE = 1e-90
_ROUNDING = 48.0


def _window(steps: int, loss: float) -> tuple[int, int, int]:
    """Return the likeliest number of upper atoms, and the first and last that are summed.

    By Hoeffding's inequality those beyond 10 sqrt(n) have together less than 2 exp(-200) of all mass.
    """
    middle = min(floor((steps + 1) / (1 + exp(-loss))), steps)
    reach = ceil(_REACH * sqrt(steps)) + 1
    return middle, max(middle - reach, 0), min(middle + reach, steps)


def count_atoms(parts: Sequence[tuple[float, int]]) -> int:
    """Return how many atoms would be summed."""
    windows = (_window(n, loss) for loss, n in parts)
    return (1 + len(parts)) * prod(last - first + 1 for _, first, last in windows)


@dataclass(frozen=True, slots=True, eq=False)
class _Lattice:
    """Losses in increasing order, their P-masses, and bounds on the relative error of each mass."""

    losses: NDArray[np.float64]
    masses: NDArray[np.float64]
    errors: NDArray[np.float64]


def _walk(steps: int, loss: float) -> _Lattice:
    """Return the law of `steps` losses that are all atoms: binomial masses, by ratios from the likeliest."""
    middle, first, last = _window(steps, loss)
    up, down = np.arange(middle, last, dtype=np.float64), np.arange(middle, first, -1, dtype=np.float64)
    weights = np.concatenate(
        [
            np.cumprod(down / (steps - down + 1) * exp(-loss))[::-1],
            [1.0],
            np.cumprod((steps - up) / (up + 1) * exp(loss)),
        ]
    )
    upper = np.arange(first, last + 1, dtype=np.float64)
    errors = UNIT * (6 + 2 * loss) * np.abs(upper - middle)
    total = float(weights.sum())
    log_mass = steps * log1p(expm1(-loss) / 2)
    shared = float(errors @ weights) / total + UNIT * (_ROUNDING + 4 * abs(log_mass) + 4 * steps * loss)
    return _Lattice((2 * upper - steps) * loss, weights * (exp(log_mass) / total), errors + shared)


def _added(first: _Lattice, second: _Lattice) -> _Lattice:
    """Return the law of the sum of two independent losses."""
    masses = np.multiply.outer(first.masses, second.masses).ravel()
    kept = masses > _NEGLIGIBLE
    losses = np.add.outer(first.losses, second.losses).ravel()[kept]
    errors = np.add.outer(first.errors, second.errors).ravel()[kept]
    increasing = np.argsort(losses)
    return _Lattice(losses[increasing], masses[kept][increasing], 2 * UNIT + errors[increasing])


class _Term:
    """A lattice, and what a loss l on it adds to delta: p(l) G(l - epsilon)."""

    width = 0.0  # how far below epsilon a loss still adds to delta

    def __init__(self, steps: Sequence[tuple[float, int]], factor: int) -> None:
        lattice = _Lattice(np.zeros(1), np.ones(1), np.zeros(1))
        for loss, n in steps:
            lattice = _added(lattice, _walk(n, loss))
        self._losses, self._errors = lattice.losses, lattice.errors + 8 * UNIT
        self._masses = factor * lattice.masses

    def gains(self, above: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return 1 - exp(-x) and its slope."""
        gain = -np.expm1(-above)
        return gain, 1 - gain

    def sums(self, epsilon: float) -> tuple[float, float, float]:
        """Return the sum over losses, a bound on its rounding, and its slope in epsilon."""
        start = int(np.searchsorted(self._losses, epsilon - self.width, side="right"))
        gain, slope = self.gains(self._losses[start:] - epsilon)
        gain *= self._masses[start:]
        rounding = float(gain @ self._errors[start:]) + 32 * UNIT * float(gain.sum())
        return float(gain.sum()), rounding, -float(slope @ self._masses[start:])


class _TermWithDensity(_Term):
    def __init__(self, steps: Sequence[tuple[float, int]], factor: int, width: float) -> None:
        super().__init__(steps, factor)
        self.width = width

    def gains(self, above: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return G and its slope."""
        near = np.expm1(-(np.minimum(above, self.width) + self.width) / 2)
        far = -np.expm1(-np.maximum(above, 0.0))
        share = -expm1(-self.width) / 2
        gain = np.where(above <= self.width, near**2 / 2, share * far)
        slope = np.where(above <= self.width, -near * (1 + near) / 2, share * (1 - far))
        return gain, slope


class LaplaceAtoms:
    """Delta of a run of Laplace steps on the event that at most one loss is not an atom.

    Parameters
    ----------
    parts : sequence of (float, int)
        The epsilon of each kind of step, and how often it is run.
    """

    def __init__(self, parts: Sequence[tuple[float, int]]) -> None:
        self._terms = [_Term(parts, 1)]
        for place, (loss, n) in enumerate(parts):
            others = [*parts[:place], (loss, n - 1), *parts[place + 1 :]]
            self._terms.append(_TermWithDensity(others, n, loss))
        self._largest = fsum(loss * n for loss, n in parts)

    def _shift(self, epsilon: float) -> float:
        """Bound the rounding of the losses that matter, less epsilon: each is at most the largest."""
        return 8 * UNIT * (self._largest + abs(epsilon))

    def upper(self, epsilon: float) -> tuple[float, float]:
        """Return an upper bound on delta, and its slope."""
        sums = [term.sums(epsilon - self._shift(epsilon)) for term in self._terms]
        return sum(total + rounding for total, rounding, _ in sums) + _MISSING, sum(s for *_, s in sums)

    def lower(self, epsilon: float) -> tuple[float, float]:
        """Return a lower bound on delta, and its slope."""
        sums = [term.sums(epsilon + self._shift(epsilon)) for term in self._terms]
        return sum(total - rounding for total, rounding, _ in sums), sum(s for *_, s in sums)
