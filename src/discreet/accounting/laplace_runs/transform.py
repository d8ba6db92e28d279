"""One Laplace step along a line in the complex plane: its transform, with its rounding, and its modulus.

With z = s + 1/2 the moment generating function of a loss is exp(-e/2) (a + b), a = cosh(z e) for the two
atoms and b = sinh(z e) / (2 z) for the density between them (docs/proofs/contour.md, lemma 7).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, expm1, log1p, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.loss.tilted import UNIT

__all__ = ["Moduli", "Transform", "atoms_share", "cumulant"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_OVERFLOW = 700.0


class Transform:
    """One kind of step along a line, over exp(z e): (a + b), a and b.

    With t = exp(-2 z e) - 1 they are 1 + t s / (2 z), 1 + t / 2 and -t / (4 z). Each comes with a bound on
    its rounding, that of its logarithm, of a multiple of it and of e itself included, which is as small as t.
    """

    def __init__(self, loss: float, order: float, y: Array) -> None:
        self._s = order + 1j * y
        self._z = self._s + 0.5
        width, turned = min((2 * order + 1) * loss, _OVERFLOW), 2 * loss * y
        fall = exp(-width)
        real = expm1(-width) * np.cos(turned) - 2 * np.sin(turned / 2) ** 2
        self._t = real - 1j * fall * np.sin(turned)
        self._error = UNIT * (8 * np.abs(self._t) + 4 * loss * fall * np.abs(self._z))

    def both(self) -> tuple[Complex, Array]:
        """Return the logarithm of a + b, and what a + b may be off."""
        return self._logarithm(self._t * self._s / (2 * self._z))

    def atoms(self) -> tuple[Complex, Array]:
        """Return the logarithm of a, and what a may be off."""
        return self._logarithm(self._t / 2)

    def density(self) -> tuple[Complex, Array]:
        """Return b, and what it may be off."""
        return -self._t / (4 * self._z), self._error / np.abs(self._z)

    def _logarithm(self, u: Complex) -> tuple[Complex, Array]:
        logs = _log1p(u)
        return logs, self._error + 8 * UNIT * np.exp(logs.real) * np.abs(logs)


def _log1p(u: Complex) -> Complex:
    """Return log(1 + u), with all digits where u is small; -700 in place of the logarithm of 0."""
    x, y = u.real, u.imag
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.log1p(np.maximum(2 * x + x * x + y * y, -0.99)) / 2
        far = np.maximum(np.log(np.hypot(1 + x, y)), -_OVERFLOW)
    return np.asarray(np.where(np.abs(u) < 0.5, near, far) + 1j * np.arctan2(y, 1 + x))


class Moduli:
    """Bounds on |a| and 2 y |b| of one kind of step, both over a + b at the real point of the line.

    They are the roots of S + cos^2 and S + sin^2 of the phase y e, with S = sinh^2((c + 1/2) e).
    """

    def __init__(self, loss: float, order: float) -> None:
        width = min((2 * order + 1) * loss, _OVERFLOW)
        total = 1 + expm1(-width) * order / (2 * order + 1)
        self._loss = loss
        self._share = exp(-width) * 4 / (1 + exp(-width)) ** 2
        self._low, self._unit = (-expm1(-width) / 2 / total) ** 2, exp(-width) / total**2

    def spread(self, count: int) -> float:
        """Return about the standard deviation of `count` losses that are all atoms."""
        return self._loss * sqrt(count * self._share)

    def largest(self, far: float) -> tuple[float, float]:
        """Return the largest 2 y |b|, and the largest |a| + |b|, over all y >= far.

        The two squares add up to 2 S + 1, so their roots, weighted by 1 and k, to at most
        sqrt((1 + k^2)(2 S + 1)); where that needs a sine below 0, the largest is at phase 0.
        """
        small, squares = 1 / (2 * far), 2 * self._low + self._unit
        high = sqrt(self._low + self._unit)
        turns = small**2 * squares > self._low * (1 + small**2)
        most = sqrt((1 + small**2) * squares) if turns else high + small * sqrt(self._low)
        return high, min(most, 1.0)

    def in_blocks(self, near: Array, here: Array) -> tuple[Array, Array]:
        """Return the largest |a| and 2 y |b| in blocks [near, here] of frequencies."""
        near, here = near * (self._loss / pi), here * (self._loss / pi)
        first, last = np.abs(near - np.rint(near)), np.abs(here - np.rint(here))
        # How near to a whole turn a block comes, and how near to a half one.
        closest = np.where(np.floor(near) == np.floor(here), np.minimum(first, last), 0.0)
        farthest = np.where(np.rint(near) == np.rint(here), np.maximum(first, last), 0.5)
        cosine, sine = np.cos(pi * closest) ** 2, np.sin(pi * farthest) ** 2
        return np.sqrt(self._low + self._unit * cosine), np.sqrt(self._low + self._unit * sine)


def cumulant(parts: Iterable[tuple[float, int]], order: float) -> tuple[float, float]:
    """Return K(order) less order times the largest loss, and a bound on its rounding."""
    total = units = 0.0
    for loss, n in parts:
        width = min((2 * order + 1) * loss, _OVERFLOW)
        u = expm1(-width) * order / (2 * order + 1)
        total += n * log1p(u)
        units += n * (16 * abs(u) + 4 * width * exp(-width) + 4 * abs(log1p(u)))
    return total, UNIT * units


def atoms_share(parts: Iterable[tuple[float, int]], order: float) -> float:
    """Return the chance that at most one loss is not an atom, under the law tilted by an order."""
    logs, several = 0.0, 1.0
    for loss, n in parts:
        width = min((2 * order + 1) * loss, _OVERFLOW)
        odds = -expm1(-width) / (1 + exp(-width)) / (2 * order + 1)  # b / a
        logs -= n * log1p(odds)
        several += n * odds
    return exp(logs) * several
