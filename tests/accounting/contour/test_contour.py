"""The lemmas behind the certificate, each against brute force."""

from __future__ import annotations

from dataclasses import replace
from math import comb, exp, log

import numpy as np
import pytest
from scipy import stats

from discreet.accounting.contour.contour import (
    _MOST_SMOOTHING,
    BUMP_HEIGHT,
    BUMP_WIDTH,
    Contour,
    LossComposition,
    choose_line,
)
from discreet.accounting.loss.laplace import LaplaceLoss
from discreet.accounting.loss.law import AtomicLoss
from discreet.accounting.loss.poisson_sampled import SampledGaussianPair


@pytest.mark.parametrize("size", [1e-6, 1e-3, 0.01, 0.1, 0.5, 1.0])
def test_the_bump_covers_the_smoothing(size):
    """e(x) = E f(x + g) - f(x), by its closed form, lies under the bump everywhere."""
    x = size * np.linspace(-9, 9, 20_001)
    inner = stats.norm.cdf(x / size + size / 2)
    smoothed = inner - np.exp(-x) * stats.norm.cdf(x / size - size / 2)
    excess = smoothed - np.maximum(0, -np.expm1(-x))
    bump = BUMP_HEIGHT * size * np.exp(-((x / (BUMP_WIDTH * size)) ** 2) / 2)
    assert (excess <= bump + 1e-15).all()


def test_the_rate_of_the_smoothing_stays_below_the_bump():
    """The proof's two-variable inequality: a grid finer than the margin over the slope, up to u = 3."""
    assert _MOST_SMOOTHING == 1
    spacing = 1e-3
    u, tau = np.meshgrid(np.arange(0, 3 + spacing, spacing), np.arange(0, 1 + spacing, 10 * spacing))
    a = u + tau / 2
    rate = np.exp(u * tau) * (stats.norm.pdf(a) - u * stats.norm.cdf(-a))
    bump = BUMP_HEIGHT * np.exp(-((u / BUMP_WIDTH) ** 2) / 2)
    margin = bump - rate
    slope = max(
        np.abs(np.diff(margin, axis=axis)).max() / gap for axis, gap in ((0, 10 * spacing), (1, spacing))
    )
    assert slope < 1
    assert margin.min() > 10 * spacing * slope / 2


def test_a_narrower_bump_would_not_cover():
    """The constants are not idle: at 0.39 the peak sticks out."""
    size = 1e-3
    peak = 2 * stats.norm.cdf(size / 2) - 1
    assert 0.39 * size < peak < BUMP_HEIGHT * size


def exact_binomial(loss, times, epsilon):
    """The delta of a loss of +-loss, run several times, summed."""
    truth = 1 / (1 + exp(-loss))
    masses = [comb(times, k) * truth**k * (1 - truth) ** (times - k) for k in range(times + 1)]
    gains = [max(0.0, 1 - exp(epsilon - (2 * k - times) * loss)) for k in range(times + 1)]
    return sum(mass * gain for mass, gain in zip(masses, gains, strict=True))


@pytest.mark.parametrize("trial", range(30))
def test_any_line_gives_true_bounds(trial):
    """Order, period, smoothing and second order are free choices: bounds hold for all of them."""
    generator = np.random.default_rng()
    loss, times = float(generator.uniform(0.02, 0.6)), int(generator.integers(2, 60))
    epsilon = float(generator.uniform(0.05, 0.9)) * loss * times
    exact = exact_binomial(loss, times, epsilon)
    truth = 1 / (1 + exp(-loss))
    steps = LossComposition([AtomicLoss(np.array([1 - truth, truth]), np.array([-loss, loss]), 0.0)], [times])
    line = choose_line(steps, log(exact), 1e-5, epsilon)
    order = line.order * generator.uniform(0.5, 2)
    bent = replace(
        line,
        order=order,
        second=order * generator.uniform(1.1, 10),
        period=line.period * generator.uniform(0.5, 3),
        smoothing=line.smoothing * generator.uniform(0.5, 10),
    )
    for chosen in (line, bent):
        contour = Contour(steps, chosen)
        assert contour.lower(epsilon)[0] <= exact * (1 + 1e-12)
        assert contour.upper(epsilon)[0] >= exact * (1 - 1e-12)
    straight = Contour(steps, line)
    assert straight.upper(epsilon)[0] - straight.lower(epsilon)[0] <= 0.1 * exact


@pytest.mark.parametrize("dropped", ["images", "bump"])
def test_without_a_correction_the_lower_bound_would_be_wrong(dropped, monkeypatch):
    """The audit of the audit: each correction is needed by some line."""
    loss, times, epsilon = 0.2, 20, 1.0
    exact = exact_binomial(loss, times, epsilon)
    truth = 1 / (1 + exp(-loss))
    steps = LossComposition([AtomicLoss(np.array([1 - truth, truth]), np.array([-loss, loss]), 0.0)], [times])
    line = choose_line(steps, log(exact), 1e-5, epsilon)
    if dropped == "images":
        contour = Contour(steps, replace(line, period=line.period / 10))
        monkeypatch.setattr(Contour, "_images", lambda self, epsilon: 0.0)
    else:
        contour = Contour(steps, replace(line, smoothing=0.05))
        contour._bumped = 0 * contour._bumped
    assert contour.lower(epsilon)[0] > exact


def test_what_is_left_out_is_needed():
    """With few nodes the sum alone is below the truth; the bound on the tail covers the difference."""
    loss = LaplaceLoss(1.0)
    steps = LossComposition([loss], [3])
    line = choose_line(steps, log(1e-3), 1e-6)
    contour = Contour(steps, line)
    reference = contour.upper(line.guess)[0]
    few = Contour(steps, line)
    few._cut(40 * few._step, 40 * few._step, 0.0, 0.0)
    few._fill_nodes()
    assert few.nodes < contour.nodes
    assert abs(few.upper(line.guess)[0] - reference) > 1e-6 * reference


@pytest.mark.few(3)
@pytest.mark.parametrize(("sigma", "rate"), [(0.7, 0.01), (1.0, 0.3), (4.0, 0.01), (20.0, 0.001)])
@pytest.mark.parametrize("direction", [0, 1])
def test_cells_bound_the_sampled_gaussian_from_both_sides(sigma, rate, direction):
    """One step, against quadrature of the hockey-stick divergence by definition."""
    pair = SampledGaussianPair(sigma, rate)
    x = np.linspace(-14 * sigma, 1 + 14 * sigma, 2_000_001)
    plain = stats.norm.pdf(x, 0, sigma)
    mixed = (1 - rate) * plain + rate * stats.norm.pdf(x, 1, sigma)
    p, q = (mixed, plain) if direction == 0 else (plain, mixed)
    for epsilon in (0.0, rate / 2, rate, 3 * rate):
        exact = np.maximum(0, p - np.exp(epsilon) * q).sum() * (x[1] - x[0])
        lower, upper = (pair.law(direction, side, 300) for side in ("lower", "upper"))
        assert lower.delta(epsilon) <= exact * (1 + 1e-6) + 1e-12
        assert upper.delta(epsilon) + upper.infinity >= exact * (1 - 1e-6) - 1e-12


@pytest.mark.parametrize("mass", [0.0, 1e-12, 1e-4, 0.05])
def test_a_cap_moves_no_more_than_it_may(mass):
    pair = SampledGaussianPair(1.0, 0.1)
    for side in ("lower", "upper"):
        law = pair.law(0, side, 500)
        capped = law.capped(mass, above=side == "upper")
        for epsilon in (0.0, 0.5, 2.0):
            whole = law.delta(epsilon) + law.infinity
            cut = capped.delta(epsilon) + capped.infinity
            assert (cut - whole if side == "upper" else whole - cut) >= -1e-12 * whole
            assert abs(whole - cut) <= mass + 1e-15
