"""The part of a run of Laplace steps in which two losses or more lie between the ends: an integral.

With z = s + 1/2 the moment generating function of one step is exp(-e/2) (a + b), a = cosh(z e) for the two
atoms and b = sinh(z e) / (2 z) for the density. What `LaplaceAtoms` does not sum is the integral, along
Re s = c, of

    product (a + b)^n - product a^n (1 + sum n b / a)

times the kernel of `Contour`. It falls like y^-4 along the line, even where the atoms come back to their
full height, so that nothing need be smoothed. Logarithms of a + b are found without cancellation, so that
ten million steps cost few digits. Proofs: docs/proofs/contour.md, lemmas 1, 7 and 8.
"""

from __future__ import annotations

from math import ceil, exp, inf, log, pi

import numpy as np

from discreet.accounting.contour.contour import Line, peak
from discreet.accounting.laplace_runs.atoms import LaplaceAtoms
from discreet.accounting.laplace_runs.line import ABOVE, LaplaceLine, Parts
from discreet.accounting.laplace_runs.transform import Moduli, Transform, atoms_share
from discreet.accounting.loss.tilted import UNIT

__all__ = ["LaplaceRemainder"]

_IDLE = 1e-15
_MOST_NODES = 2**18
_MOST_CELLS = 2**15
_LOBE_BLOCKS = 400
_GROWTH = 1.2


class LaplaceRemainder(LaplaceLine):
    """The sum over atoms, and the integral of all else.

    Parameters
    ----------
    parts : sequence of (float, int)
        The epsilon of each kind of step, and how often it is run.
    line : Line
        Where to integrate; its smoothing is not used.
    atoms : LaplaceAtoms or None
        The sum over atoms; None if the bound by `atoms_share` will do.
    tail : float
        The relative width in epsilon that nodes left out may cost.
    """

    def __init__(self, parts: Parts, line: Line, atoms: LaplaceAtoms | None, tail: float) -> None:
        super().__init__(parts, line)
        self._atoms = atoms
        self._share = atoms_share(parts, line.order) * exp(float(peak(np.array([line.order]))[0])) * ABOVE
        end, self._tail = self._cut(tail)
        self._fill(ceil(end / self._step) + 1)

    def _beyond(self, place: int, far: float) -> float:
        """Bound the sum over all nodes y >= far, with the phases of one kind of step cut into cells.

        All other kinds of step are taken at their largest.
        """
        logs = several = 0.0
        for other, (loss, n) in enumerate(self._parts):
            if other != place:
                density, both = Moduli(loss, self._line.order).largest(far)
                logs += n * log(both)
                several += n * density / both
        loss, n = self._parts[place]
        period = max(pi / loss, self._step)
        cells = min(max(int(pi / (loss * self._step)), 1), _MOST_CELLS)
        borders = np.linspace(0, pi / loss, cells + 1)
        atoms, densities = Moduli(loss, self._line.order).in_blocks(borders[:-1], borders[1:])
        sides = np.minimum(atoms + densities / (2 * far), 1.0)
        sizes = (several + n * densities / sides) ** 2 / 2 * np.exp(logs + n * np.log(sides))
        # A period may begin inside a cell, whose nodes are then one more.
        nodes = (period / cells / self._step + 1) * float(sizes.sum()) + float(sizes.max())
        mean = nodes * self._step / period
        # |b| is at most `densities` over 2 y, twice, and the kernel is below 1 / y^2.
        return mean / (4 * pi) * (period / far**4 + 1 / (3 * far**3)) * ABOVE

    def _cut(self, share: float) -> tuple[float, float]:
        """Return where to end, and a bound on the sum over all nodes from there on."""
        allowed = self._allowed(share)
        place = max(range(len(self._parts)), key=lambda i: self._parts[i][0] ** 2 * self._parts[i][1])
        period = pi / self._parts[place][0]
        first = end = max(period / 2, 2 * self._step)
        tail, turns = self._beyond(place, end), 1.0
        while tail > allowed and end < _MOST_NODES * self._step:
            end = first + period * ceil(turns)
            tail, turns = self._beyond(place, end), turns * _GROWTH
        return self._cut_first_lobe(end, tail, allowed) if end == first else (end, tail)

    def _cut_first_lobe(self, end: float, tail: float, allowed: float) -> tuple[float, float]:
        """End earlier, if blocks of frequencies show that less will do."""
        borders = np.geomspace(self._step, end, _LOBE_BLOCKS)
        near, here = borders[:-1], borders[1:]
        logs, several = np.zeros(len(near)), np.zeros(len(near))
        for loss, n in self._parts:
            atoms, density = Moduli(loss, self._line.order).in_blocks(near, here)
            both = np.minimum(atoms + density / (2 * near), 1.0)
            logs += n * np.log(both)
            several += n * density / both
        sizes = several**2 / 8 * np.exp(logs) / near**4 * (here - near + self._step) / pi * ABOVE
        tails = np.append(np.cumsum(sizes[::-1])[::-1], 0.0) + tail
        enough = int(np.argmax((tails <= max(allowed, tail)) | (borders > _MOST_NODES * self._step)))
        if borders[enough] > _MOST_NODES * self._step:
            enough -= 1
        return float(borders[enough]), float(tails[enough])

    def _fill(self, count: int) -> None:
        """Sum what does not depend on epsilon, at every node; leave out nodes that hardly count."""
        y = self._step * np.arange(count, dtype=np.float64)
        s = self._line.order + 1j * y
        both, atoms = np.zeros(count, np.complex128), np.zeros(count, np.complex128)
        one = np.zeros(count, np.complex128)
        most_both, most_atoms, sure_one, most_one = (np.zeros(count) for _ in range(4))
        for loss, n in self._parts:
            step = Transform(loss, self._line.order, y)
            log_both, error_both = step.both()
            log_atoms, error_atoms = step.atoms()
            density, error_density = step.density()
            inverse = np.exp(-log_atoms)
            both += n * log_both
            atoms += n * log_atoms
            one += n * density * inverse
            most_both += n * np.log1p(error_both * np.exp(-log_both.real))
            most_atoms += n * np.log1p(error_atoms * np.abs(inverse))
            sure_one += n * np.abs(density * inverse)
            most_one += n * (np.abs(density) + error_density) * np.abs(inverse)
        kernel = np.full(count, self._step / pi) / (s * (s + 1))
        kernel[0] /= 2
        whole, lattice = np.exp(both - self._base), np.exp(atoms - self._base)
        terms = kernel * (whole - lattice * (1 + one))
        sure = np.abs(whole) + np.abs(lattice) * (1 + sure_one)
        error = np.abs(whole) * np.expm1(most_both)
        error += np.abs(lattice) * (np.expm1(most_atoms) * (1 + most_one) + most_one - sure_one)
        error += 64 * UNIT * sure
        self._rounding = float(np.abs(kernel) @ error)
        kept = np.abs(terms) > _IDLE * np.abs(terms).max() / count
        self._tail += float(np.abs(terms[~kept]).sum())
        self._terms, self._s, self._y = terms[kept], s[kept], y[kept]
        self._drift = 8 * UNIT * float(np.abs(self._terms) @ self._y)

    def _sum(self, epsilon: float) -> tuple[float, float, float]:
        """Return the sum over nodes, what it may be off, and its slope."""
        turned = self._terms * self._turns(self._y, epsilon)
        error = self._tail + self._rounding + self._drift * (self._largest + abs(epsilon))
        return float(turned.real.sum()), error, -float((turned * self._s).real.sum())

    def upper(self, epsilon: float) -> tuple[float, float]:
        """Return an upper bound on delta, and roughly its slope."""
        scale, (total, error, slope) = self._scale(epsilon), self._sum(epsilon)
        above = scale * (1 + self._certainty)
        bound, fall = self._atoms.upper(epsilon) if self._atoms else (above * self._share, 0.0)
        return above * max(total + error, 0.0) + bound, scale * slope + fall

    def lower(self, epsilon: float) -> tuple[float, float]:
        """Return a lower bound on delta, and roughly its slope."""
        scale, (total, error, slope) = self._scale(epsilon), self._sum(epsilon)
        bound, fall = self._atoms.lower(epsilon) if self._atoms else (0.0, 0.0)
        if scale == inf:
            return bound, fall
        rest = scale * max(1 - self._certainty, 0.0) * (total - error) - self._images(epsilon, 0.0)
        return max(rest, 0.0) + bound, scale * slope + fall
