"""An accountant of another kind: bounds on epsilon from a fast Fourier transform on a lattice of losses.

It shares neither code nor method with the package. A run is a list of (law, times). Each law is put on
a lattice of losses twice, once from above and once from below; the tilted weights are composed
by a power of their Fourier transform; the two answers hold the true epsilon between them, but
for rounding.

*From above*: connect the dots. Mass between two lattice points moves to both so that its P-mass and its
Q-mass are kept (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022). *From below*: cells are merged, a
share of each with its upper and the rest with its lower neighbor, so that the mean likelihood ratio of
each group is exp(lattice point), which is post-processing. Both err by the square of the lattice step.

*Tilting*: weights P(l) exp(c l) have their middle where delta is decided, so that the rounding of the
transform is small against delta however small that is.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, expm1, floor, inf, log, log1p, pi, sqrt

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import brentq

from accounting.loss_laws import (
    SMALLEST_TERM,
    Gaussian,
    Laplace,
    Lattice,
    Law,
    Run,
    SampledGaussian,
    best_order,
    cumulant,
    peak,
    window,
)

_MOST_POINTS = 2**26
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """A tilted law: P has mass weights[i] exp(log_total - order l) at l = start + i step."""

    step: float
    start: float
    weights: np.ndarray
    log_total: float


def _pieces(cuts, most):
    """Return nodes and weights of Gauss-Legendre quadrature on intervals, cut where they are long."""
    counts = np.maximum(1, np.ceil(np.diff(cuts) / most).astype(int))
    halves = np.repeat(np.diff(cuts) / counts, counts) / 2
    inside = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    middles = np.repeat(cuts[:-1], counts) + (2 * inside + 1) * halves
    return (middles[:, None] + halves[:, None] * _NODES).ravel(), (halves[:, None] * _WEIGHTS).ravel()


def _points(
    law: Gaussian | SampledGaussian, order: float, step: float, anchor: float = 0.0, most: float = inf
):
    """Return losses up to `most`, and the logs of their Q-masses times exp((order + 1) loss)."""
    if isinstance(law, Gaussian):
        mu = 1 / law.sigma
        center, reach = mu**2 * (order + 0.5), mu * sqrt(2 * SMALLEST_TERM)
        cuts = step * np.arange(floor((center - reach) / step), ceil((center + reach) / step) + 1)
        losses, widths = _pieces(cuts, mu / 20)
        logs = law.cumulant(order) - ((losses - center) / mu) ** 2 / 2 - log(mu * sqrt(2 * pi))
        return losses, logs + np.log(widths)
    low, high = law.outcomes(order)
    high = min(high, float(law.outcome(most)))
    first, last = ((float(law.loss(np.array(x))) - anchor) / step for x in (low, high))
    if last - first > _MOST_POINTS:
        raise MemoryError
    cuts = law.outcome(anchor + step * np.arange(floor(first) + 1, ceil(last)))
    cuts = np.concatenate([[low], cuts[(cuts > low) & (cuts < high)], [high]])
    x, widths = _pieces(cuts, min(law.sigma, law.sigma**2) / 20)
    losses = law.loss(x)
    return (-losses if law.adding else losses), law.log_integrand(x, order) + np.log(widths)


def _anchor(law: SampledGaussian, order: float, step: float) -> float:
    """Return a loss near log(1 - q) through which a lattice from below loses nothing there.

    Rare samples leave most mass next to log(1 - q), almost an atom. The lattice lies so that at this
    end of the law, too, the lack of what is merged upward equals the excess of what is merged downward.
    """
    count, lowest = 40, log1p(-law.rate)

    def misfit(share_of_step: float) -> float:
        anchor = lowest + share_of_step * step
        losses, logs = _points(law, order, step, anchor, anchor + count * step)
        start = -anchor - count * step if law.adding else anchor - step
        _, excess, lack = _cells(losses, np.exp(logs - logs.max()), order, step, start, least=count + 1)
        lack = lack * exp(order * step)
        if law.adding:
            return float(excess[count] - lack[count - 1] / 2)
        share = 0.5
        for index in range(len(lack) - 2, 0, -1):
            share = min(1.0, (1.0 - share) * excess[index + 1] / max(lack[index], 1e-300))
        return float((1 - share) * excess[1] - lack[0])

    if law.outcomes(order)[0] > float(law.outcome(lowest + 3 * step)) or misfit(1e-6) * misfit(0.999) >= 0:
        return 0.0
    return lowest + step * float(brentq(misfit, 1e-6, 0.999, xtol=1e-9))


def _cells(losses, masses, order, step, start, *, least=0):
    """Return for each cell, relative to its lower border a: mass, excess over a, lack below the upper border.

    They are E 1, E (e^(l - a) - 1) and E (e^step - e^(l - a)) under Q, times e^((order + 1) a).
    """
    index = np.floor((losses - start) / step).astype(np.int64)
    inside = losses - (start + index * step)
    mass = masses * np.exp(-(order + 1) * inside)
    excess, lack = mass * np.expm1(inside), mass * np.exp(inside) * np.expm1(step - inside)
    return [np.bincount(index, part, least) for part in (mass, excess, lack)]


def _dominating(cells, order, step):
    """Connect the dots: both masses of a cell move to its borders."""
    _, excess, lack = cells
    weights = np.append(lack, 0.0) / expm1(step)
    weights[1:] += excess * (exp((order + 1) * step) / expm1(step))
    return weights


def _dominated(cells, order, step):
    """Merge a share of each cell with what lies above its upper border, so that the ratio there is exact.

    At each border the lack of the share below equals the excess of the share above: a
    recursion that forgets its start when it runs toward the mode, from either end. Where shares would leave
    [0, 1], and at the mode, some P-mass is dropped, which is on the safe side.
    """
    mass, excess, lack = cells
    ratios = (excess[1:] / np.maximum(lack[:-1] * exp(order * step), 1e-300)).tolist()
    mode, upward = int(np.argmax(mass)), [0.0] * len(mass)
    for index in range(len(ratios) - 1, mode - 1, -1):
        upward[index] = min(1.0, (1.0 - upward[index + 1]) * ratios[index])
    if mode > 0:
        upward[0] = 1.0
    for index in range(mode - 1):
        upward[index] = min(upward[index], ratios[index])
        upward[index + 1] = 1.0 - upward[index] / max(ratios[index], 1e-300)
    if mode > 0:
        upward[mode - 1] = min(upward[mode - 1], (1.0 - upward[mode]) * ratios[mode - 1])
    shares = np.array(upward)
    weights = np.append((1 - shares) * mass, 0.0)
    weights[1:] += shares * mass * exp((order + 1) * step)
    return weights


def _one_step(law: Law, order: float, step: float, side: str) -> Weights:
    """Put one step on a lattice: exact for lattice laws; for Laplace the step divides its epsilon."""
    if isinstance(law, Lattice):
        places = law.first + np.arange(len(law.masses))
        weights = np.array(law.masses) * np.exp(order * (law.unit * places - law.largest))
        return Weights(law.unit, law.unit * law.first, weights, order * law.largest)
    place = _dominating if side == "upper" else _dominated
    if isinstance(law, Laplace):
        count = round(law.epsilon / step)
        mass = np.exp((order + 0.5) * (step * np.arange(-count, count) - law.epsilon)) / 4
        sizes = (-2 * expm1(-step / 2), 8 * np.sinh(step / 4) ** 2, 2 * expm1(step / 2) ** 2)
        weights = place([mass * size for size in sizes], order, step)
        weights[-1] += 0.5
        weights[0] += 0.5 * exp(-(2 * order + 1) * law.epsilon)
        return Weights(step, -law.epsilon, weights, order * law.epsilon)
    anchor = _anchor(law, order, step) if isinstance(law, SampledGaussian) else 0.0
    losses, logs = _points(law, order, step, anchor)
    anchor = -anchor if isinstance(law, SampledGaussian) and law.adding else anchor
    start = anchor + step * floor((losses.min() - anchor) / step)
    largest = float(logs.max())
    cells = _cells(losses, np.exp(logs - largest), order, step, start)
    return Weights(step, start, place(cells, order, step), largest)


def _composed(law: Law, times: int, order: float, step: float, side: str) -> Weights:
    """Compose all steps of one law by a power of the Fourier transform."""
    one = _one_step(law, order, step, side)
    if times == 1:
        return one
    total, start = float(one.weights.sum()), times * one.start
    bottom, top = window([(law, times)], order)
    full = times * (len(one.weights) - 1) + 1
    low = max(0, floor((bottom - start) / one.step) - 1)
    length = min(full, ceil((top - start) / one.step) + 2) - low
    size = next_fast_len(length, real=True)
    if size > _MOST_POINTS:
        raise MemoryError
    wrapped = np.append(one.weights / total, np.zeros(-len(one.weights) % size)).reshape(-1, size).sum(axis=0)
    transform = rfft(wrapped)
    transform[np.abs(transform) < 1e-200] = 1e-200
    weights = irfft(np.exp(times * np.log(transform)), size)
    weights = np.roll(weights, -(low % size))[:length]
    return Weights(one.step, start + low * one.step, weights, times * (one.log_total + log(total)))


def _regridded(law: Weights, order: float, step: float, side: str) -> Weights:
    """Move a composed law to another lattice: exactly, by connecting the dots, or by rounding losses down."""
    scale = round(law.step / step)
    if abs(law.step - scale * step) < 1e-9 * law.step:
        weights = np.zeros((len(law.weights) - 1) * scale + 1)
        weights[::scale] = law.weights
        return Weights(step, law.start, weights, law.log_total)
    kept = law.weights > 1e-22 * law.weights.max()
    losses = (law.start + law.step * np.arange(len(law.weights)))[kept]
    if side == "upper":
        cells = _cells(losses, law.weights[kept], order, step, losses[0])
        return Weights(step, losses[0], _dominating(cells, order, step), law.log_total)
    index = np.floor((losses - losses[0]) / step * (1 - 1e-14)).astype(np.int64)
    weights = law.weights[kept] * np.exp(order * (losses[0] + index * step - losses))
    return Weights(step, losses[0], np.bincount(index, weights), law.log_total)


def _sum(laws: list[Weights]) -> Weights:
    """Convolve laws on one lattice."""
    if len(laws) == 1:
        return laws[0]
    length = sum(len(law.weights) - 1 for law in laws) + 1
    size, log_total = next_fast_len(length, real=True), 0.0
    if size > _MOST_POINTS:
        raise MemoryError
    product = np.ones(size // 2 + 1, complex)
    for law in laws:
        total = float(law.weights.sum())
        product *= rfft(law.weights / total, size)
        log_total += law.log_total + log(total)
    return Weights(laws[0].step, sum(law.start for law in laws), irfft(product, size)[:length], log_total)


def _excess(law: Weights, order: float, epsilon: float, delta: float) -> float:
    """Return delta at an epsilon near the middle of the tilted law, over the delta that is asked for."""
    first = max(0, floor((epsilon - law.start) / law.step) + 1)
    stop = min(len(law.weights), first + 2 + ceil(SMALLEST_TERM / (order * law.step)))
    gaps = law.start - epsilon + law.step * np.arange(first, stop)
    sums = float((law.weights[first:stop] * np.exp(-order * gaps) * -np.expm1(-gaps)).sum())
    return exp(min(law.log_total - order * epsilon - log(delta), 700.0)) * sums


def _solve(law: Weights, order: float, delta: float) -> float:
    """Return the epsilon at which delta is reached: linear in exp(epsilon) between lattice points."""
    middle = round(float(law.weights @ np.arange(len(law.weights))) / float(law.weights.sum()))
    lowest, reach = floor(-law.start / law.step), 1 + floor(1 / (order * law.step))
    low = high = middle
    while low > lowest and _excess(law, order, law.start + law.step * low, delta) <= 1:
        low, reach = max(low - reach, lowest), 2 * reach
    reach = 1 + floor(1 / (order * law.step))
    while high < len(law.weights) and _excess(law, order, law.start + law.step * high, delta) > 1:
        high, reach = min(high + reach, len(law.weights)), 2 * reach
    if high <= lowest or (low == lowest and _excess(law, order, 0.0, delta) <= 1):
        return 0.0
    while high - low > 1:
        middle = (low + high) // 2
        above = _excess(law, order, law.start + law.step * middle, delta) > 1
        low, high = (middle, high) if above else (low, middle)
    left, right = max(0.0, law.start + law.step * low), law.start + law.step * high
    above, below = (_excess(law, order, at, delta) for at in (left, right))
    return left + log1p((above - 1) / (above - below) * expm1(right - left))


def _steps(run: Run, order: float, guess: float, tolerance: float) -> tuple[list[float], float]:
    """Choose the lattice of each law that has its own, and the one on which all are added up."""
    budget = 12 * tolerance * guess / (order + 1)
    smooth = sum(n if isinstance(law, SampledGaussian) else 1 for law, n in run if not _own(law))
    step, units = sqrt(budget / smooth) if smooth else inf, []
    for law, n in run:
        if isinstance(law, Lattice):
            units.append(law.unit)
        elif isinstance(law, Laplace):
            fine = min(step, sqrt(budget / (n * min(1, law.epsilon))))
            units.append(law.epsilon / ceil(law.epsilon / fine))
    if len(units) > 1:
        step = min(step, tolerance * guess)
    if units:
        step = max(units) / max(1, ceil(max(units) / step))
    return units, step


def _own(law: Law) -> bool:
    return isinstance(law, Laplace | Lattice)


def one_direction(run: Run, delta: float, tolerance: float) -> tuple[float, float]:
    """Return bounds on epsilon for losses as given, about `tolerance` apart."""
    order = best_order(run, delta)
    guess = max((cumulant(run, order) - log(delta) + peak(order)) / order, 0.1 / order)
    units, step = _steps(run, order, guess, tolerance)
    bounds = []
    for side in ("lower", "upper"):
        own = zip([part for part in run if _own(part[0])], units, strict=True)
        laws = [_composed(law, n, order, unit, side) for (law, n), unit in own]
        laws = laws if len(run) == 1 else [_regridded(law, order, step, side) for law in laws]
        for law, n in run:
            if isinstance(law, Gaussian):
                laws.append(_one_step(Gaussian(law.sigma / sqrt(n)), order, step, side))
            elif isinstance(law, SampledGaussian):
                laws.append(_composed(law, n, order, step, side))
        bounds.append(_solve(_sum(laws), order, delta))
    return bounds[0], bounds[1]


def epsilon(run: Run, delta: float, width: float = 1e-6) -> tuple[float, float]:
    """Return bounds on the epsilon of a run, removing a unit or adding one; refined until close."""
    turned = [(law.turned(), n) for law, n in run]
    worst = (0.0, 0.0)
    for one in [run] if turned == list(run) else [run, turned]:
        tolerance, best = 1e-3, (0.0, 1e300)
        while best[1] > worst[0] and best[1] - best[0] > width * best[1]:
            try:
                found = one_direction(one, delta, tolerance)
            except MemoryError:
                break
            best = max(best[0], found[0]), min(best[1], found[1])
            tolerance *= min(0.3, max(0.03, 0.5 * width * best[1] / max(best[1] - best[0], 1e-300)))
        worst = max(worst[0], best[0]), max(worst[1], best[1])
    return worst
