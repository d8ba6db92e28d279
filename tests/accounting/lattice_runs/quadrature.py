"""Independent answers for sampled Gaussian steps: quadrature in many digits, and sums of positive numbers."""

from __future__ import annotations

import mpmath
import numpy as np
from scipy.special import ndtr

_REACH = 12


def _tail(x):
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


def one_step_delta(epsilon, mu, rate):
    """The delta of removing a unit in one step, at any real epsilon."""
    ratio = (mpmath.exp(epsilon) - 1 + rate) / rate
    if ratio <= 0:
        return 1 - mpmath.exp(epsilon)
    z = mpmath.log(ratio) / mu + mu / 2
    return (1 - rate) * _tail(z) + rate * _tail(z - mu) - mpmath.exp(epsilon) * _tail(z)


def two_steps_delta(epsilon, sigma, rate):
    """The delta of removing a unit in two steps: the expected delta of the second, after the first."""
    with mpmath.workdps(20):
        epsilon, mu, q = mpmath.mpf(epsilon), 1 / mpmath.mpf(sigma), mpmath.mpf(str(rate))
        # The inner delta bends where the first loss is about epsilon, on the scale of the rate.
        bends = [epsilon - mpmath.log(1 - q)]
        for scale in (0.3, 0.9, 1.5, 10, 100) if rate < 0.1 else (0.5,):
            bends += [epsilon - scale * q, epsilon + scale * q]
        ratios = [(mpmath.exp(loss) - 1 + q) / q for loss in bends]
        points = [mpmath.log(ratio) / mu + mu / 2 for ratio in ratios if ratio > 0]
        points = [*range(-_REACH, _REACH), _REACH + mu, *(z for z in points if -_REACH < z < _REACH)]

        def gain(z):
            density = (1 - q) * mpmath.npdf(z) + q * mpmath.npdf(z - mu)
            loss = mpmath.log(1 - q + q * mpmath.exp(mu * z - mu * mu / 2))
            return density * one_step_delta(epsilon - loss, mu, q)

        return mpmath.quad(gain, sorted({mpmath.mpf(point) for point in points}))


def convolved_delta(epsilon, sigma, rate, times, *, spacing, largest):
    """A little more than delta, by direct convolution: no tilt, no transform, no negative number.

    Masses go to the lattice points around them, and losses beyond the largest count as infinite.
    """
    mu = 1 / sigma
    points = np.arange(int(np.floor(np.log1p(-rate) / spacing)) - 1, int(largest / spacing) + 1)
    z = np.full(len(points), -38.0)
    part = np.expm1(spacing * points) + rate
    z[part > 0] = np.log(part[part > 0] / rate) / mu + mu / 2

    def between(at):
        return np.where(at[1:] > 0, ndtr(-at[:-1]) - ndtr(-at[1:]), ndtr(at[1:]) - ndtr(at[:-1]))

    q = between(z)
    p = (1 - rate) * q + rate * between(z - mu)
    upward = np.clip((p - np.exp(spacing * points[:-1]) * q) / -np.expm1(-spacing), 0, p)
    masses = np.append(p - upward, 0) + np.append(0, upward)
    infinite = (1 - rate) * ndtr(-z[-1]) + rate * ndtr(mu - z[-1])
    masses, first, infinite = _power((masses, int(points[0]), float(infinite)), times, int(largest / spacing))
    losses = spacing * (first + np.arange(len(masses)))
    above = losses > epsilon
    return float(masses[above] @ -np.expm1(epsilon - losses[above])) + infinite


def _power(law, times, last):
    result = None
    while times:
        if times % 2:
            result = law if result is None else _sum(result, law, last)
        times //= 2
        if times:
            law = _sum(law, law, last)
    return result


def _sum(one, other, last):
    masses = np.convolve(one[0], other[0])
    first = one[1] + other[1]
    kept = max(last - first + 1, 0)
    return masses[:kept], first, one[2] + other[2] + float(masses[kept:].sum())


def delta_of_one_sampled_step(epsilon, sigma, rate):
    """Removing a unit, and adding one, in one step: by the two tails themselves."""
    with mpmath.workdps(40):
        e, mu, q = mpmath.mpf(epsilon), 1 / mpmath.mpf(sigma), mpmath.mpf(rate)
        removed = one_step_delta(e, mu, q)
        part = (mpmath.exp(-e) - 1 + q) / q
        if part <= 0:
            return removed, mpmath.mpf(0)
        z = mpmath.log(part) / mu + mu / 2
        plain, moved = 1 - _tail(z), 1 - _tail(z - mu)
        return removed, plain - mpmath.exp(e) * ((1 - q) * plain + q * moved)
