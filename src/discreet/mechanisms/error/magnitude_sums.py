"""The law of abs(N_1) + … + abs(N_d) for independent normal noise on a lattice, to double precision.

With M(z) = E exp(z abs(N)), P(sum >= m) = (1 / 2 pi i) times the integral of M(z)^d exp(-z m) / (1 - exp(-z))
over any path from c - i pi to c + i pi with c > 0 (docs/proofs/gaussian.md, proposition 9). Where the noise
has few values, this is a Fourier transform of the law, tilted so that m is near its mean: nothing cancels,
however small the probability. Where it has many, M has a closed form, and the path is bent to the right,
where the integrand falls like a normal density.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from math import acosh, comb, exp, log, pi, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats
from discreet.records import dataclass

__all__ = ["DiscreteMagnitude", "Magnitude", "RoundedMagnitude"]

ComplexNumbers: TypeAlias = "NDArray[np.complex128]"

_LARGEST_TABULATED = 4096.0
_LARGEST_SPREAD = 16384.0
"""Up to these deviations, of one noise and of the sum, in steps, the law is tabulated."""
_SPREAD = 26.0
"""Deviations that a table of the sum covers; twelve on each side hold all but 1e-30 of a tilted law."""
_FEW_STEPS = 256
_BEND, _STEP, _FURTHEST = pi / 3, 0.03, 7.7
"""The path: its directions in the end, the step between its places, and how far it is followed."""
_LARGEST_ARGUMENT = 0.5
"""Of the closed form of M: the sums it stands for are then off by less than 1e-14."""
_LEAST_SMOOTH = 2.0
_STEEPEST = 700.0
_LEAST_LOGARITHM = -744.0
_CERTAIN = -40.0


@dataclass(frozen=True, slots=True)
class Magnitude(ABC):
    """The magnitude of normal noise on the integers.

    Attributes
    ----------
    sigma : float
        The deviation of the noise, in steps.
    """

    sigma: float

    @abstractmethod
    def masses(self, count: int) -> Floats:
        """Return P(abs(N) = k) for k = 0, …, count - 1."""

    @abstractmethod
    def transform(self, z: ComplexNumbers) -> ComplexNumbers:
        """Return M(z) where the noise has thousands of values and z is small."""

    def sum_tail(self, size: int, steps: int) -> float:
        """Return P(abs(N_1) + … + abs(N_d) > steps), for a number d of independent noises."""
        if steps < 0:
            return 1.0
        if self.sigma <= _LARGEST_TABULATED and self.sigma * sqrt(size) <= _LARGEST_SPREAD:
            table = self.masses(int(39 * self.sigma) + 3)
            return _tabulated_tail(table[table > 0], size, steps + 1)
        if steps < _FEW_STEPS:
            return max(0.0, 1.0 - float(_power(self.masses(steps + 1), size).sum()))
        return _integrated_tail(self, size, steps + 1)


def _power(masses: Floats, size: int) -> Floats:
    """Return the law of the sum of `size` numbers, cut off where the masses end."""
    found: Floats = np.eye(1, len(masses))[0]
    square = masses
    while size:
        if size & 1:
            found = np.convolve(found, square)[: len(masses)]
        square = np.convolve(square, square)[: len(masses)]
        size >>= 1
    return np.asarray(found, dtype=np.float64)


def _tabulated_tail(masses: Floats, size: int, target: int) -> float:
    """Return P(sum >= target) for `size` independent magnitudes with P(abs(N) = k) = masses[k]."""
    if target > size * (len(masses) - 1):
        return 0.0
    tilt = _tilt(masses, target / size)
    values = np.arange(len(masses))
    weights = masses * np.exp(tilt * (values - target / size))
    total = float(weights.sum())
    exponent = size * log(total)
    if exponent < (_LEAST_LOGARITHM if tilt > 0 else _CERTAIN):
        return 0.0 if tilt > 0 else 1.0
    tilted = weights / total
    mean = float(values @ tilted)
    deviation = sqrt(size * float(((values - mean) ** 2) @ tilted))
    number = 1 << int(_SPREAD * deviation + 2 * len(masses) + 2).bit_length()
    # The sum less the target, wrapped around a circle that is wider than its law.
    law = np.fft.irfft(np.fft.rfft(tilted, number) ** size, number)
    places = np.arange(number // 2)
    if tilt > 0:
        return min(
            1.0, max(0.0, exp(exponent) * float(np.exp(-tilt * places) @ law[(target + places) % number]))
        )
    below = float(np.exp(tilt * (places + 1)) @ law[(target - 1 - places) % number])
    return min(1.0, max(0.0, 1.0 - exp(exponent) * below))


def _tilt(masses: Floats, mean: float) -> float:
    """Return the x at which the law with weights exp(x k) has a mean, to within a small part."""
    values, logarithms = np.arange(len(masses)), np.log(masses)

    def short(x: float) -> bool:
        exponents = logarithms + x * values
        weights = np.exp(exponents - exponents.max())
        return float(values @ weights) < mean * float(weights.sum())

    reach = 1.0 / len(masses)
    while short(reach) and reach < _STEEPEST:
        reach *= 2
    while not short(-reach) and reach < _STEEPEST:
        reach *= 2
    lower, upper = -reach, reach
    for _ in range(50):
        middle = (lower + upper) / 2
        lower, upper = (middle, upper) if short(middle) else (lower, middle)
    return lower


def _integrated_tail(law: Magnitude, size: int, target: int) -> float:
    """Return P(sum >= target) by the integral along the bent path."""
    sigma = law.sigma
    center, exponent = _saddle(target / (size * sigma))
    if size * exponent < (_LEAST_LOGARITHM if center > 0 else _CERTAIN):
        return 0.0 if center > 0 else 1.0
    scale = 1 / (sigma * sqrt(size))
    start = max(center / sigma, scale / 2)
    furthest = min(_FURTHEST, acosh(max(1.0, (_LARGEST_ARGUMENT - start) / scale)))
    places = np.arange(0.0, furthest, _STEP)
    path = start + scale * ((np.cosh(places) - 1) * np.cos(_BEND) + 1j * np.sinh(places) * np.sin(_BEND))
    speed = scale * (np.sinh(places) * np.cos(_BEND) + 1j * np.cosh(places) * np.sin(_BEND))
    transform = law.transform(path)
    first = float(transform[0].real)
    height = size * log(first) - start * target
    ratios = np.exp(size * np.log(transform / first) - (path - start) * target)
    terms = (ratios * speed / -np.expm1(-path) / 1j).real
    terms[0] /= 2
    return min(1.0, max(0.0, exp(height) * float(terms.sum()) * _STEP / pi))


@lru_cache(maxsize=4096)
def _saddle(mean: float) -> tuple[float, float]:
    """Return x with (log E exp(x abs(Z)))' = mean for a normal Z, and log E exp(x abs(Z)) - x mean there."""
    from scipy.special import log_ndtr

    def slope(x: float) -> float:
        return x + exp(-x * x / 2 - float(log_ndtr(x))) / sqrt(2 * pi)

    lower, upper = -2.0 / max(mean, 1e-3), mean
    for _ in range(60):
        middle = (lower + upper) / 2
        lower, upper = (middle, upper) if slope(middle) < mean else (lower, middle)
    return lower, lower * lower / 2 + log(2) + float(log_ndtr(lower)) - lower * mean


def _half_normal(z: ComplexNumbers, sigma: float) -> ComplexNumbers:
    """Return E exp(z sigma abs(Z)) for a normal Z."""
    from scipy.special import wofz

    return np.asarray(wofz(-1j * z * sigma / sqrt(2)), dtype=np.complex128)


def _normal_slopes(sigma: float) -> list[float]:
    """Return the derivatives of exp(-x^2 / (2 sigma^2)) at 0, of orders 0 to 9."""
    slopes = [1.0, 0.0]
    for order in range(1, 9):
        slopes.append(-order * slopes[order - 1] / sigma**2)
    return slopes


def _product_slopes(z: ComplexNumbers, slopes: list[float]) -> list[ComplexNumbers]:
    """Return the derivatives at 0 of exp(z x) times a function, from the function's."""
    return [
        sum(
            (comb(order, low) * slopes[low] * z ** (order - low) for low in range(order + 1)),
            start=np.zeros_like(z),
        )
        for order in range(len(slopes))
    ]


class DiscreteMagnitude(Magnitude):
    """Of discrete Gaussian noise: P(N = k) in proportion to exp(-k^2 / (2 sigma^2))."""

    def masses(self, count: int) -> Floats:
        """Return twice the weights over their sum, and the weight at 0 once.

        By Poisson's summation the sum is sigma sqrt(2 pi), except for a part of exp(-2 pi^2 sigma^2).
        """
        if self.sigma >= _LEAST_SMOOTH:
            total = self.sigma * sqrt(2 * pi)
        else:
            total = 1 + 2 * sum(exp(-(k**2) / (2 * self.sigma**2)) for k in range(1, 40 * int(_LEAST_SMOOTH)))
        weights = np.exp(-(np.arange(count) ** 2.0) / (2 * self.sigma**2)) / total
        weights[1:] *= 2
        return np.asarray(weights, dtype=np.float64)

    def transform(self, z: ComplexNumbers) -> ComplexNumbers:
        """Return the sum over k of P(abs(N) = k) exp(z k), by Euler and Maclaurin."""
        slopes = _product_slopes(z, _normal_slopes(self.sigma))
        ends = sum((slopes[order] * factor for order, factor in _END_WEIGHTS), start=np.zeros_like(z))
        return np.asarray(
            _half_normal(z, self.sigma) + 2 * ends / (self.sigma * sqrt(2 * pi)), dtype=np.complex128
        )


class RoundedMagnitude(Magnitude):
    """Of rounded Gaussian noise: P(abs(N) > k) = 2 Q((k + 1/2) / sigma)."""

    def masses(self, count: int) -> Floats:
        """Return the differences of the tails; tails are exact, so that small ones do not cancel."""
        from scipy.special import erfc

        beyond = erfc((np.arange(count) + 0.5) / (self.sigma * sqrt(2)))
        return np.asarray(-np.diff(beyond, prepend=1.0), dtype=np.float64)

    def transform(self, z: ComplexNumbers) -> ComplexNumbers:
        """Return 1 + (e^z - 1) times the sum over k >= 0 of exp(z k) P(abs(N) > k), a sum at midpoints."""
        normal = _normal_slopes(self.sigma)
        slopes = _product_slopes(z, [1.0, *(-sqrt(2 / pi) / self.sigma * slope for slope in normal[:-1])])
        ends = sum((slopes[order] * factor for order, factor in _MIDDLE_WEIGHTS), start=np.zeros_like(z))
        summed = (_half_normal(z, self.sigma) - 1) / z + ends
        return np.asarray(1 + 2 * np.sinh(z / 2) * summed, dtype=np.complex128)


_END_WEIGHTS = ((1, -1 / 12), (3, 1 / 720), (5, -1 / 30240), (7, 1 / 1209600), (9, -1 / 47900160))
_MIDDLE_WEIGHTS = ((1, 1 / 24), (3, -7 / 5760), (5, 31 / 967680), (7, -127 / 154828800))
"""Of the derivatives of odd orders at 0, where a sum at 1, 2, … or at 1/2, 3/2, … stands for an integral."""
