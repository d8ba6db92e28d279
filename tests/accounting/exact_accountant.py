"""References to many digits: closed forms where there are any, else a contour integral in extended precision.

The integral is the textbook one, delta(epsilon) = 1/(2 pi i) ∫ exp(K(s) - s epsilon) / (s (s + 1)) ds over
Re s = c, by the trapezoid rule, with nothing added to it. It is not a proof: what the rule leaves out is
estimated, and `fft_accountant` guards the answer from both sides. On machines whose long double has 64 bits
of mantissa the rounding of ten million steps stays near 1e-12.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, product
from math import ceil, comb, inf, log, pi, prod

import mpmath
import numpy as np
from scipy.optimize import brentq

from accounting.fft_accountant import epsilon
from accounting.loss_laws import (
    Gaussian,
    Laplace,
    Lattice,
    Run,
    SampledGaussian,
    best_order,
    cumulant,
    window,
)

_CHUNK = 256
_MOST_NODES = 40_000
_MOST_SAMPLED_NODES = 5_000
_NEGLIGIBLE = 1e-19
_ALIAS = 46.0
_REVIVALS = 4000
_LONG = float(np.finfo(np.longdouble).eps)


def gaussian_epsilon(mu: mpmath.mpf, delta: float) -> mpmath.mpf:
    """Solve Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu) = delta (Balle & Wang 2018) to 40 digits."""
    with mpmath.workdps(60):
        mu, target = mpmath.mpf(mu), mpmath.mpf(delta)

        def excess(at):
            near, far = mu / 2 - at / mu, -mu / 2 - at / mu
            return mpmath.log((mpmath.ncdf(near) - mpmath.exp(at) * mpmath.ncdf(far)) / target)

        if excess(mpmath.mpf(0)) <= 0:
            return mpmath.mpf(0)
        most = mu * mu / 2 + mu * mpmath.sqrt(-2 * mpmath.log(target)) + 1
        return mpmath.findroot(excess, (mpmath.mpf(0), most), solver="anderson", tol=1e-40, maxsteps=200)


@cache
def _coefficients(times: int) -> list[list[int]]:
    """Return for each j < n the coefficients of (1 + u)^(n - j - 1) (u - 1)^(j - 1), up to u^(n - 1)."""
    binomials = [comb(times - 1, k) for k in range(times)]
    rows = [[-total for total in accumulate(binomials)]]
    row = [comb(times - 2, k) for k in range(times - 1)] + [0]
    for _ in range(1, times):
        rows.append(row)
        product = [below - here for below, here in zip([0, *row], [*row, 0], strict=True)]
        row = []
        for coefficient in product[:-1]:
            row.append(coefficient - (row[-1] if row else 0))
    return rows


def laplace_delta(loss: mpmath.mpf, times: int, at: mpmath.mpf) -> mpmath.mpf:
    """Return the exact delta of several equal Laplace steps, by residues.

    The moment generating function of one loss is (e^(s e) (s + 1) + e^(-(s + 1) e) s) / (2 s + 1). Its power
    is a sum over j of e^(s (n - 2 j) e - j e) times a rational function with the poles 0, -1/2 and -1 only;
    where a = (n - 2 j) e - epsilon is positive the line closes to the left, else there is nothing.
    With u = 2 s + 1 the residue at -1/2 is a coefficient of a power series.
    """
    if times == 1:
        return max(mpmath.mpf(0), -mpmath.expm1((at - loss) / 2))
    total = mpmath.mpf(1 if times * loss > at else 0)
    for j, row in enumerate(_coefficients(times)):
        a = ((times - 2 * j) * loss - at) / 2
        if a <= 0:
            break
        powers = [mpmath.mpf(1)]
        for k in range(1, times):
            powers.append(powers[-1] * a / k)
        series = mpmath.fdot(zip(row, reversed(powers), strict=True))
        total += mpmath.binomial(times, j) * mpmath.exp(-j * loss - a) * series / mpmath.mpf(2) ** (times - 1)
    return total


def mixed_laplace_delta(parts: Sequence[tuple[mpmath.mpf, int]], at: mpmath.mpf) -> mpmath.mpf:
    """Return the exact delta of Laplace steps of several kinds, by the same residues.

    The rational functions depend on the number j of lower atoms only, the exponentials on how many there are
    of each kind. Two steps or more; cancellation takes about one digit for each step.
    """
    times = sum(n for _, n in parts)
    rows = _coefficients(times)
    total = mpmath.mpf(1 if sum(n * loss for loss, n in parts) > at else 0)
    for lower in product(*(range(n + 1) for _, n in parts)):
        a = (sum((n - 2 * j) * loss for (loss, n), j in zip(parts, lower, strict=True)) - at) / 2
        if a <= 0 or sum(lower) == times:
            continue
        powers = [mpmath.mpf(1)]
        for k in range(1, times):
            powers.append(powers[-1] * a / k)
        series = mpmath.fdot(zip(rows[sum(lower)], reversed(powers), strict=True))
        ways = prod(comb(n, j) for (_, n), j in zip(parts, lower, strict=True))
        fall = sum(j * loss for (loss, _), j in zip(parts, lower, strict=True))
        total += ways * mpmath.exp(-fall - a) * series / mpmath.mpf(2) ** (times - 1)
    return total


def laplace_epsilon(loss: str, times: int, delta: float) -> mpmath.mpf:
    """Solve `laplace_delta` = delta to 30 digits, starting from the bounds of the other accountant."""
    near = epsilon([(Laplace(float(loss)), times)], delta)
    with mpmath.workdps(60 + times):
        exact, target = mpmath.mpf(loss), mpmath.mpf(delta)
        if near[1] == 0:
            return mpmath.mpf(0)
        return mpmath.findroot(
            lambda at: laplace_delta(exact, times, at) / target - 1, near, solver="secant", tol=1e-60
        )


def _complex_cumulant(law, s):
    """Return log E exp(s L) in extended precision."""
    wide = np.longdouble
    if isinstance(law, Gaussian):
        return s * (s + 1) / (2 * wide(law.sigma) ** 2)
    if isinstance(law, Laplace):
        loss = wide(law.epsilon)
        return s * loss + np.log(((s + 1) + s * np.exp(-(2 * s + 1) * loss)) / (2 * s + 1))
    if isinstance(law, Lattice):
        masses = np.array(law.masses, wide)
        kept = masses > 0
        losses = wide(law.unit) * (law.first + np.arange(len(masses)))[kept]
        shifted = np.multiply.outer(s, losses - losses.max())
        return s * losses.max() + np.log(np.exp(shifted) @ masses[kept])
    low, high = law.outcomes(float(s[0].real))
    pad = (high - low) / 10
    count = ceil(1.2 * (high - low) / (min(law.sigma, law.sigma**2) / 12))
    x = np.linspace(wide(low - pad), wide(high + pad), count)
    exponent = (2 * x - 1) / (2 * wide(law.sigma) ** 2)
    rate = wide(law.rate)
    losses = np.where(
        exponent > 1,
        np.log(rate) + exponent + np.log1p((1 / rate - 1) * np.exp(-np.maximum(exponent, 1))),
        np.log1p(rate * np.expm1(np.minimum(exponent, 1))),
    )
    plain = -((x / wide(law.sigma)) ** 2) / 2
    weight = np.exp(plain) / np.exp(plain).sum()
    # The plain weights sum to one, so that the small difference from one keeps its digits.
    power = -s if law.adding else s + 1
    return np.array([_log_mean(plain, weight, one * losses) for one in power])


def _log_mean(logs, weights, exponents):
    small = np.abs(exponents) < 1
    far = np.exp(logs[~small] + exponents[~small]) * (weights.max() / np.exp(logs.max())) - weights[~small]
    return np.log1p((weights[small] * np.expm1(exponents[small])).sum() + far.sum())


def _integrand(run: Run, s):
    return sum(n * _complex_cumulant(law, s) for law, n in run) - np.log(s) - np.log(s + 1)


def contour_epsilon(run: Run, delta: float) -> tuple[float, float]:
    """Return epsilon for the losses as given, and an estimate of its relative error (infinite: no answer)."""
    c, target = best_order(run, delta), log(delta)
    bottom, top = window(run, c, _ALIAS)
    middle = (cumulant(run, c * 1.001) - cumulant(run, c * 0.999)) / (0.002 * c)
    period = max((_ALIAS - target) / c, top - middle + 3 / c, middle - bottom)
    step, base = 2 * pi / period, cumulant(run, c)
    most = _MOST_SAMPLED_NODES if any(isinstance(law, SampledGaussian) for law, _ in run) else _MOST_NODES
    logs, nodes, largest = [], 0, -inf
    while nodes < most:
        s = (c + 1j * step * (nodes + np.arange(_CHUNK))).astype(np.clongdouble)
        logs.append(_integrand(run, s) - base)
        nodes += _CHUNK
        largest = max(largest, float(logs[-1].real.max()))
        if float(logs[-1].real.max()) < largest + log(_NEGLIGIBLE):
            break
    else:
        return 0.0, inf
    line, values = np.concatenate(logs), c + 1j * step * np.arange(nodes)
    weights = np.full(nodes, step / pi)
    weights[0] /= 2

    def excess(at: float) -> float:
        terms = weights * np.exp(line - values.astype(np.clongdouble) * np.longdouble(at))
        return log(max(float(terms.sum().real), 1e-300)) + base - target

    missing = _revived(run, c, step * nodes) / max(float(np.exp(line).sum().real * step / pi), 1e-300)
    if excess(0.0) <= 0:
        return 0.0, missing
    high = 1 / c
    while excess(high) > 0:
        high *= 2
    found = float(brentq(excess, 0.0, high, xtol=1e-15 * high, rtol=8.9e-16))
    slope = (excess(found * 0.999) - excess(found * 1.001)) / 0.002
    # The masses of a lattice are floats; all else is rounded less.
    rounding = sum(n * (3e-16 if isinstance(law, Lattice) else 8 * _LONG) for law, n in run)
    return found, (missing + rounding + 1e-15) / slope + 1e-15


def _revived(run: Run, c: float, end: float) -> float:
    """Estimate what lies beyond the last node, where lattices of losses make the integrand return."""
    base, closed = cumulant(run, c), [part for part in run if not isinstance(part[0], SampledGaussian)]
    variance = (cumulant(run, c * 1.01) - 2 * base + cumulant(run, c * 0.99)) / (0.01 * c) ** 2
    total, spread = 0.0, max(variance, 1e-30) ** -0.5
    for law, _ in closed:
        unit = getattr(law, "unit", getattr(law, "epsilon", None))
        if unit is None:
            continue
        first = max(1, ceil(end * unit / pi))
        s = (c + 1j * pi / unit * np.arange(first, first + _REVIVALS)).astype(np.clongdouble)
        heights = np.exp((_integrand(closed, s) - cumulant(closed, c)).real)
        high = np.flatnonzero(heights > 1e-16 * heights.max())
        if len(high):
            heights[high] = np.exp((_integrand(run, s[high]) - base).real)
        total += float(heights.sum() + heights[_REVIVALS // 2 :].sum())
    return 5 * total * spread


def exact_epsilon(run: Run, delta: float) -> tuple[float, float]:
    """Return epsilon by the contour, the worse of removing and adding, and its estimated relative error."""
    turned = [(law.turned(), n) for law, n in run]
    found = [contour_epsilon(one, delta) for one in ([run] if turned == list(run) else [run, turned])]
    return max(value for value, _ in found), max(error for _, error in found)
