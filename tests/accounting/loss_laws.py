"""The losses of one step, as the oracles read them: their cumulants and, for samples, their outcomes.

The law of a loss is that of log(P / Q) under P. `turned` exchanges P and Q, which changes nothing where the
pair is symmetric.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, expm1, inf, log, log1p, pi, sqrt

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

SMALLEST_TERM = 60.0


@dataclass(frozen=True, slots=True)
class Laplace:
    """Losses +-epsilon with masses 1/2 and exp(-epsilon)/2, and a density between them."""

    epsilon: float

    @property
    def largest(self):
        return self.epsilon

    def cumulant(self, order):
        """Return log of e^(s e) (s + 1)/(2 s + 1) + e^(-(s + 1) e) s/(2 s + 1), symmetric about -1/2."""
        order = max(order, -1 - order)
        if 2 * order + 1 < 1e-6:
            return -self.epsilon / 2 + log1p(self.epsilon / 2)
        return order * self.epsilon + log1p(expm1(-(2 * order + 1) * self.epsilon) * order / (2 * order + 1))

    def turned(self):
        return self


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Noise of standard deviation sigma on a value that moves by one."""

    sigma: float
    largest: float = inf

    def cumulant(self, order):
        return order * (order + 1) / (2 * self.sigma**2)

    def turned(self):
        return self


@dataclass(frozen=True, slots=True)
class SampledGaussian:
    """(1 - q) N(0, sigma^2) + q N(1, sigma^2) against N(0, sigma^2); adding a unit is the reverse."""

    sigma: float
    rate: float
    adding: bool = False

    @property
    def largest(self):
        return -log1p(-self.rate) if self.adding else inf

    def turned(self):
        return SampledGaussian(self.sigma, self.rate, not self.adding)

    def loss(self, x):
        """Return the loss of the outcome x when a unit is removed."""
        exponent = (2 * x - 1) / (2 * self.sigma**2)
        large = log(self.rate) + exponent + np.log1p((1 / self.rate - 1) * np.exp(-np.maximum(exponent, 1)))
        return np.where(exponent > 1, large, np.log1p(self.rate * np.expm1(np.minimum(exponent, 1))))

    def outcome(self, loss):
        """Return the outcome with a loss above log(1 - q); none below it."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return 0.5 + self.sigma**2 * np.log1p(np.expm1(loss) / self.rate)

    def log_integrand(self, x, order):
        """Return the log of the Q-density at x, times exp((order + 1) loss)."""
        power = -order if self.adding else order + 1
        return power * self.loss(x) - (x / self.sigma) ** 2 / 2 - log(self.sigma * sqrt(2 * pi))

    def outcomes(self, order):
        """Return an interval of outcomes that holds the tilted law."""
        power = -order if self.adding else order + 1
        low, high = min(0.0, power) - 16 * self.sigma, max(1.0, power) + 16 * self.sigma
        for _ in range(2):
            x = np.linspace(low, high, 4001)
            logs = self.log_integrand(x, order)
            kept = np.flatnonzero(logs > logs.max() - SMALLEST_TERM)
            low, high = x[max(kept[0] - 1, 0)], x[min(kept[-1] + 1, len(x) - 1)]
        return float(low), float(high)

    def cumulant(self, order):
        """Use the trapezoid rule, which converges geometrically here."""
        low, high = self.outcomes(order)
        x = np.linspace(low, high, max(400, ceil((high - low) / (0.1 * min(self.sigma, self.sigma**2)))))
        return float(logsumexp(self.log_integrand(x, order))) + log(x[1] - x[0])


@dataclass(frozen=True, slots=True)
class Lattice:
    """Finitely many losses: `masses[i]` at (first + i) unit."""

    unit: float
    first: int
    masses: tuple[float, ...]

    @property
    def largest(self):
        return self.unit * (self.first + len(self.masses) - 1)

    def cumulant(self, order):
        return float(logsumexp(order * self.unit * (self.first + np.arange(len(self.masses))), b=self.masses))

    def turned(self):
        return self


Law = Laplace | Gaussian | SampledGaussian | Lattice
Run = Sequence[tuple[Law, int]]


def randomized_response(loss: float, categories: int) -> Lattice:
    """Tell the truth exp(loss) times as often as each lie."""
    lie = 1 / (categories - 1 + exp(loss))
    return Lattice(loss, -1, (lie, (categories - 2) * lie, 1 / (1 + (categories - 1) * exp(-loss))))


def discrete_laplace(shift: int, scale: float) -> Lattice:
    """Add k with probability proportional to exp(-|k| / scale) to a value that moves by `shift`."""
    masses, ratio = np.zeros(2 * shift + 1), exp(-1 / scale)
    masses[2 : 2 * shift : 2] = tanh_half(1 / scale) * ratio ** np.arange(shift - 1, 0, -1)
    masses[0], masses[-1] = ratio**shift / (1 + ratio), 1 / (1 + ratio)
    return Lattice(1 / scale, -shift, tuple(masses.tolist()))


def tanh_half(x: float) -> float:
    """Return (1 - e^-x) / (1 + e^-x)."""
    return -expm1(-x) / (1 + exp(-x))


def cumulant(run: Run, order: float) -> float:
    """Return the cumulant of the sum of all losses."""
    return sum(times * law.cumulant(order) for law, times in run)


def peak(order: float) -> float:
    """Return the log of the maximum over x > 0 of (1 - exp(-x)) exp(-order x)."""
    return -order * log1p(1 / order) - log1p(order)


def best_order(run: Run, delta: float) -> float:
    """Return the order at which Chernoff's bound on epsilon is least, within what floats can hold."""
    most = min(1e8, 200 / sum(law.largest for law, _ in run)) or 1e8
    found = minimize_scalar(
        lambda t: (cumulant(run, exp(t)) - log(delta) + peak(exp(t))) / exp(t),
        bounds=(log(0.05), log(most)),
        method="bounded",
        options={"xatol": 1e-2},
    )
    return exp(found.x)


def window(run: Run, order: float, tail: float = 36.0) -> tuple[float, float]:
    """Return losses between which lies all of the tilted law but exp(-tail), by Chernoff's bound."""
    here, top, bottom = cumulant(run, order), inf, -inf
    for shift in np.geomspace(1e-4 * order, 1e4 * order + 10, 60).tolist():
        top = min(top, (cumulant(run, order + shift) - here + tail) / shift)
        bottom = max(bottom, (here - cumulant(run, order - shift) - tail) / shift)
    return bottom, top
