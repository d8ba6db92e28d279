"""One integral of a run of Laplace steps, smoothed, for kinds of steps whose atoms are too many to sum.

The atoms of one kind come back to their full height again and again along the line, but those of different
kinds seldom at once. So the tiny Gaussian step of `Contour` can be far tinier: nodes are kept only where a
bound on the product of all kinds says that they count. Proofs: docs/proofs/contour.md, lemmas 2 and 9.
"""

from __future__ import annotations

from math import ceil, inf, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.contour.contour import BUMP_HEIGHT, BUMP_WIDTH, Line
from discreet.accounting.laplace_runs.line import ABOVE, LaplaceLine, Parts
from discreet.accounting.laplace_runs.transform import Moduli, Transform
from discreet.accounting.loss.tilted import UNIT

__all__ = ["SmoothedLaplace"]

_FAR = 25.0
_MOST_BLOCKS = 2**21
_MOST_NODES, _MOST_CANDIDATES = 2**18, 8
_NARROW = 0.5  # of the width of the narrowest peak
_MOST_PER_BLOCK = 64
_LEAST_GROWTH = 1.2
_CHUNK = 2**14

Array = NDArray[np.float64]


class SmoothedLaplace(LaplaceLine):
    """All outcomes, with one more tiny Gaussian step.

    Parameters
    ----------
    parts : sequence of (float, int)
        The epsilon of each kind of step, and how often it is run.
    line : Line
        Where to integrate. More smoothing is used where nodes would be too many.
    tail : float
        The relative width in epsilon that nodes left out may cost.
    """

    def __init__(self, parts: Parts, line: Line, tail: float) -> None:
        super().__init__(parts, line)
        self._moduli = sorted(
            ((Moduli(loss, line.order), n) for loss, n in parts), key=lambda part: -part[0].spread(part[1])
        )
        # Blocks of nodes, as wide as resolves the peaks of every kind of step.
        narrowest = max(self._moduli[0][0].spread(self._moduli[0][1]) * self._step, _NARROW / _MOST_PER_BLOCK)
        self._nodes_per_block = max(int(_NARROW / narrowest), 1)
        width = self._nodes_per_block * self._step
        self._smoothing = max(line.smoothing, sqrt(2 * _FAR) / (_MOST_BLOCKS * width))
        self._fill(self._choose(self._allowed(tail)))

    def _envelope(self, y: Array) -> Array:
        """Bound both integrands, except for the transform: decreasing in y."""
        c, t = self._line.order, self._smoothing
        kernel = np.exp(t**2 * (c * (c + 1) - y**2) / 2) / y**2
        return np.asarray(kernel + self._bump * np.exp((BUMP_WIDTH * t) ** 2 * (c**2 - y**2) / 2))

    @property
    def _bump(self) -> float:
        """The integral of the bump."""
        return BUMP_HEIGHT * BUMP_WIDTH * self._smoothing**2 * sqrt(2 * pi)

    def _choose(self, allowed: float) -> NDArray[np.int64]:
        """Return the numbers of the nodes that count, and bound the sum over all others.

        Where they are too many, the tiny step grows, up to 1.
        """
        size = self._nodes_per_block
        while True:
            t = self._smoothing
            blocks = ceil(sqrt(2 * _FAR) / (t * size * self._step)) + 1
            end = np.array([blocks * size * self._step])
            self._tail = float(self._envelope(end)[0]) * (1 / (t**2 * float(end[0])) + self._step) / pi
            first = self._counting(size * np.arange(1, blocks, dtype=np.int64), size, allowed / blocks)
            excess = len(first) * size / (_MOST_CANDIDATES * _MOST_NODES)
            if excess <= 1:
                numbers = (first[:, None] + np.arange(size)).ravel()
                numbers = self._counting(numbers, 1, allowed / max(len(numbers), 1))
                excess = len(numbers) / _MOST_NODES
            if excess <= 1:
                return np.concatenate([np.arange(size, dtype=np.int64), numbers])
            if t >= 1:
                return self._give_up(size)
            self._smoothing = min(t * max(excess, _LEAST_GROWTH), 1.0)

    def _give_up(self, size: int) -> NDArray[np.int64]:
        """Sum next to nothing: the bound on all that is left out says that nothing is known."""
        self._tail = inf
        return np.arange(size, dtype=np.int64)

    def _counting(self, first: NDArray[np.int64], size: int, allowed: float) -> NDArray[np.int64]:
        """Return those blocks of nodes whose sum may exceed what is allowed; the others go to the tail."""
        found = [first[:0]]
        for start in range(0, len(first), _CHUNK):  # small enough for a processor's cache
            part = first[start : start + _CHUNK]
            near = self._step * part.astype(np.float64)
            bounds = np.log(self._envelope(near) * (size * self._step / pi) * ABOVE)
            for modulus, n in self._moduli:
                atoms, density = modulus.in_blocks(near, near + (size - 1) * self._step)
                bounds += n * np.log(np.minimum(atoms + density / (2 * near), 1.0))
                kept = bounds > log(allowed)
                self._tail += float(np.exp(bounds[~kept]).sum())
                part, near, bounds = part[kept], near[kept], bounds[kept]
            found.append(part)
        return np.concatenate(found)

    def _fill(self, nodes: NDArray[np.int64]) -> None:
        """Sum what does not depend on epsilon, at every node."""
        c, t, y = self._line.order, self._smoothing, self._step * nodes.astype(np.float64)
        logs, most = np.zeros(len(y), np.complex128), np.zeros(len(y))
        for loss, n in self._parts:
            both, error = Transform(loss, c, y).both()
            logs += n * both
            most += n * np.log1p(error * np.exp(-both.real))
        s = c + 1j * y
        weights = np.where(nodes == 0, self._step / (2 * pi), self._step / pi)
        plain = weights * np.exp(logs - self._base)
        smooth = np.exp(t**2 * s * (s + 1) / 2) / (s * (s + 1))
        bump = self._bump * np.exp((BUMP_WIDTH * t * s) ** 2 / 2)
        self._y, self._s = y, s
        self._terms, self._bumped = plain * smooth, plain * bump
        sizes = np.abs(plain) * (np.abs(smooth) + np.abs(bump))
        self._rounding = float(sizes @ (np.expm1(most) + 64 * UNIT))
        self._drift = 8 * UNIT * float(sizes @ y)

    def _left_out(self, epsilon: float) -> float:
        return self._tail + self._rounding + self._drift * (self._largest + abs(epsilon))

    def upper(self, epsilon: float) -> tuple[float, float]:
        """Return an upper bound on delta, and roughly its slope."""
        turned = self._terms * self._turns(self._y, epsilon)
        scale = self._scale(epsilon) * (1 + self._certainty)
        bound = scale * max(float(turned.real.sum()) + self._left_out(epsilon), 0.0)
        return bound, -scale * float((turned * self._s).real.sum())

    def lower(self, epsilon: float) -> tuple[float, float]:
        """Return a lower bound on delta, and roughly its slope."""
        turns = self._turns(self._y, epsilon)
        turned = self._terms * turns
        total = float(turned.real.sum()) - float((self._bumped * turns).real.sum())
        scale = self._scale(epsilon) * max(1 - self._certainty, 0.0)
        if scale == inf:
            return 0.0, 0.0
        bound = scale * (total - 2 * self._left_out(epsilon)) - self._images(epsilon, self._smoothing)
        return max(bound, 0.0), -scale * float((turned * self._s).real.sum())
