"""Divergences of noise that slides and stretches, by quadrature: an oracle that knows only densities.

The densities are written from their definitions here, not taken from the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
from scipy import special
from scipy.interpolate import CubicSpline

LogDensity = Callable[[np.ndarray], np.ndarray]

_HERMITE = np.linspace(-9, 9, 181)
ORDERS = 1 + np.exp(np.linspace(np.log(1e-3), np.log(300), 13))


def student(degrees: int) -> LogDensity:
    d = degrees
    constant = special.gammaln((d + 1) / 2) - special.gammaln(d / 2) - np.log(np.pi * d) / 2
    return lambda z: constant - (d + 1) / 2 * np.log1p(z * z / d)


def cauchy(power: int) -> LogDensity:
    return lambda z: np.log(power * np.sin(np.pi / power) / (2 * np.pi)) - np.log1p(np.abs(z) ** power)


def laplace(z: np.ndarray) -> np.ndarray:
    return -np.abs(z) - np.log(2)


def gaussian(z: np.ndarray) -> np.ndarray:
    return -z * z / 2 - np.log(2 * np.pi) / 2


def _laplace_log_normal(z: np.ndarray, sigma: float) -> np.ndarray:
    """E[exp(-sigma Y - |z| exp(-sigma Y))] / 2, integrated around the mode of the integrand."""
    size = np.abs(z)[:, None]
    level = np.log(np.maximum(size, 1e-300)) + 2 * np.log(sigma) + sigma**2
    w = np.where(
        level < 500,
        special.lambertw(np.exp(np.minimum(level, 500))).real,
        level - np.log(np.maximum(level, 1)),
    )
    width = 1 / np.sqrt(1 + w)
    y = w / sigma - sigma + width * _HERMITE
    exponent = -y * y / 2 - sigma * y - size * np.exp(-sigma * y)
    step = np.log(width[:, 0] * (_HERMITE[1] - _HERMITE[0]))
    return special.logsumexp(exponent, axis=1) + step - np.log(2 * np.pi) / 2 - np.log(2)


@lru_cache(maxsize=16)
def laplace_log_normal(sigma: float) -> LogDensity:
    """A spline through many points: the function is smooth in arcsinh(10^4 |z|)."""
    nodes = np.linspace(0, 75, 7501)
    spline = CubicSpline(nodes, _laplace_log_normal(np.sinh(nodes) / 1e4, sigma))
    return lambda z: spline(np.arcsinh(1e4 * np.abs(z)))


def uniform_log_normal(sigma: float) -> LogDensity:
    """E[exp(-sigma Y); exp(sigma Y) >= |z|] / 2."""

    def log_density(z: np.ndarray) -> np.ndarray:
        a = np.log(np.maximum(np.abs(z), 1e-300)) / sigma
        return np.log(0.5) + sigma**2 / 2 + special.log_ndtr(-(a + sigma))

    return log_density


def arcsinh_normal(sigma: float) -> LogDensity:
    def log_density(z: np.ndarray) -> np.ndarray:
        u = np.arcsinh(sigma * z) / sigma
        return -u * u / 2 - np.log(2 * np.pi) / 2 - np.log1p((sigma * z) ** 2) / 2

    return log_density


def moves(shift: float, dilation: float) -> Iterator[tuple[float, float]]:
    """Pairs (s, u): Z against e^u Z + s, dense in |u| <= dilation, |s| <= shift min(1, e^u)."""
    for u in np.linspace(-dilation, dilation, 7):
        for part in (1.0, -1.0, 0.6, 0.25, 0.0):
            yield part * shift * min(1.0, np.exp(u)), u


def _grid(shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Points that are dense around 0 and around the shift and reach far out, with trapezoidal log-weights."""
    wings = 1e-4 * np.sinh(np.linspace(-60, 60, 4001))
    z = np.unique(np.concatenate([wings, wings + shift]))
    width = np.diff(z)
    weights = np.concatenate([[width[0]], width[1:] + width[:-1], [width[-1]]]) / 2
    return z, np.log(weights)


def largest_loss(log_density: LogDensity, shift: float, dilation: float) -> float:
    """The largest log-ratio over all moves and points."""
    points = np.concatenate([_grid(0.0)[0], np.linspace(-30, 30, 60001)])
    here = log_density(points)
    worst = 0.0
    for s, u in moves(shift, dilation):
        there = log_density((points - s) * np.exp(-u)) - u
        worst = max(worst, float(np.abs(here - there).max()))
    return worst


def hockey_stick(log_density: LogDensity, shift: float, dilation: float, epsilon: float) -> float:
    """The largest delta over all moves."""
    points = np.linspace(-80, 80, 400001)
    here = np.exp(log_density(points))
    worst = 0.0
    for s, u in moves(shift, dilation):
        there = np.exp(epsilon + log_density((points - s) * np.exp(-u)) - u)
        worst = max(worst, float(np.trapezoid(np.maximum(here - there, 0), points)))
    return worst


def largest_rho(log_density: LogDensity, shift: float, dilation: float) -> float:
    """The largest D_order / order over all moves and orders from 1.001 to 301."""
    worst = 0.0
    for s, u in moves(shift, dilation):
        z, log_weights = _grid(s)
        p, q = log_density(z), log_density((z - s) * np.exp(-u)) - u
        p, q = p - special.logsumexp(p + log_weights), q - special.logsumexp(q + log_weights)
        for order in ORDERS:
            total = special.logsumexp(order * p + (1 - order) * q + log_weights)
            worst = max(worst, float(total) / (order - 1) / order)
    return worst
