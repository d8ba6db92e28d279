"""Discrete Gaussian noise against sums over the integers, and all admissible shifts against the worst."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from accounting.loss.profiles import assert_between, of_masses, upper
from discreet.accounting.loss.discrete_gaussian import DiscreteGaussianPair
from discreet.accounting.loss.gaussian import GaussianPair
from discreet.accounting.loss.pair import NO_LOSS, pair_of
from discreet.privacy import events


def noise(variance, center, reach):
    y = np.arange(-reach, reach + 1.0)
    law = np.exp(-((y - center) ** 2) / (2 * variance))
    return law / np.exp(-(np.arange(-reach - 50, reach + 51.0) ** 2) / (2 * variance)).sum()


def exact(variance, shift, values=1):
    reach = shift + int(30 * variance**0.5) + 3

    def delta(direction, epsilon):
        p, q = noise(variance, shift, reach), noise(variance, 0, reach)
        first, second = p, q
        for _ in range(1, values):
            first, second = np.convolve(first, p), np.convolve(second, q)
        return of_masses(first, second, epsilon) if direction == 0 else of_masses(second, first, epsilon)

    return delta


@pytest.mark.parametrize(
    ("variance", "shift"), [("1/10", 1), ("1/2", 1), (4, 1), (4, 5), (100, 3), (2500, 40)]
)
def test_the_profile_is_the_definition(variance, shift):
    event = events.DiscreteGaussian(squared_sensitivity=shift**2, variance=variance, size=1)
    pair = pair_of(event)
    v = float(Fraction(variance))
    mu = shift / v**0.5
    assert_between(pair, exact(v, shift), (-mu, 0.0, mu / 3, mu * mu / 2, mu * mu / 2 + 2 * mu), width=1e-9)


def test_both_directions_are_alike():
    for epsilon in (-0.5, 0.0, 0.4, 1.1):
        assert exact(3.0, 2)(0, epsilon) == pytest.approx(exact(3.0, 2)(1, epsilon), rel=1e-12)


@pytest.mark.parametrize("sigma", [150, 2000, 3000])
def test_many_integers_are_bounded_by_cells(sigma):
    pair = DiscreteGaussianPair(float(sigma**2), sigma // 2)
    assert_between(pair, exact(float(sigma**2), sigma // 2), (0.0, 0.2, 0.6, 1.5), width=2e-3)
    assert len(pair.law(0, "upper", 300).masses) <= max(300, 2000)


@pytest.mark.parametrize("sigma", [5500, 10**6, 10**9])
def test_beyond_the_summed_range_masses_are_those_of_the_sums(sigma):
    """Euler and Maclaurin's masses against sums of exact terms, over a few cells of few integers."""
    pair = DiscreteGaussianPair(float(sigma) ** 2, sigma)
    for center in (0.0, 1.0, 5.0, 12.0):
        breaks = np.round(center * sigma) + np.array([0.0, 1.0, 3.0, 10.0, 200.0])
        found = pair._integrals(breaks)
        y = np.arange(breaks[0], breaks[-1])
        terms = np.exp(-((y / sigma) ** 2) / 2) / (np.sqrt(2 * np.pi) * sigma)
        summed = np.add.reduceat(terms, (breaks[:-1] - breaks[0]).astype(int))
        # Differences of distribution functions lose digits in cells so narrow; real ones are wide.
        assert np.allclose(found, summed, rtol=1e-15 * sigma * max(1, center) + 1e-12, atol=0)


@pytest.mark.parametrize("steps", [2**12, 2**20, 2**30])
def test_fine_grids_come_near_the_continuous_law(steps):
    event = events.DiscreteGaussian(squared_sensitivity=1, variance=4, grid=Fraction(1, steps), size=1)
    pair, smooth = pair_of(event), GaussianPair(0.5).law(0, "upper", 3)
    for epsilon in (0.0, 0.3, 1.0):
        lower, high = (pair.law(0, side, 4000).delta(epsilon) for side in ("lower", "upper"))
        assert lower <= smooth.delta(epsilon) * (1 + 1 / steps)
        assert high >= smooth.delta(epsilon) * (1 - 1 / steps)
        assert high - lower <= 1e-4 * high


@pytest.mark.parametrize("variance", [0.3, 2.0, 9.0])
def test_the_largest_shift_is_the_worst(variance):
    pair = DiscreteGaussianPair(variance, 4)
    for shift, epsilon in product(range(4), np.linspace(-2, 4, 13)):
        for direction in (0, 1):
            assert exact(variance, shift)(direction, epsilon) <= upper(pair, 0, epsilon) + 1e-13


@pytest.mark.parametrize(
    ("squared", "size", "values"), [(2, None, 2), (3, None, 3), (3, 2, 2), (2, 5, 2), (1, 9, 1)]
)
def test_vectors_of_single_steps_are_products(squared, size, values):
    event = events.DiscreteGaussian(squared_sensitivity=squared, variance=5, size=size)
    pair = pair_of(event)
    assert pair == DiscreteGaussianPair(5.0, 1, values)
    assert_between(pair, exact(5.0, 1, values), (-0.3, 0.0, 0.2, 0.9), width=1e-9)
    for fewer in range(1, values):
        for epsilon in (0.0, 0.2, 0.9):
            assert exact(5.0, 1, fewer)(0, epsilon) <= upper(pair, 0, epsilon) + 1e-13


def test_other_vectors_have_no_pair():
    assert pair_of(events.DiscreteGaussian(squared_sensitivity=4, variance=5)) is None
    assert pair_of(events.DiscreteGaussian(squared_sensitivity=4, variance=5, size=2)) is None


def test_there_is_no_one_worst_shift_of_those_vectors():
    """Two values of shift 1 each twice, or one of shift 2: which is worse depends on epsilon."""
    four_ones, one_two = exact(2.0, 1, 4), exact(2.0, 2)
    signs = {np.sign(four_ones(0, at) - one_two(0, at)) for at in np.linspace(0.0, 6.0, 61)}
    assert signs >= {-1.0, 1.0}


def test_less_than_a_step_is_nothing():
    assert pair_of(events.DiscreteGaussian(squared_sensitivity="1/2", variance=1)) is NO_LOSS


def test_what_is_cut_off_is_charged():
    law = DiscreteGaussianPair(4.0, 1).law(0, "upper", 3)
    beyond = 2 * noise(4.0, 0, 60)[: 60 - 28].sum()  # more than 14 deviations away
    assert beyond <= law.infinity <= 1e-42
    assert DiscreteGaussianPair(4.0, 1).law(0, "lower", 3).infinity == 0
    assert DiscreteGaussianPair(1e-2, 1).law(0, "upper", 3).infinity > 0


@pytest.mark.parametrize("values", [2, 3])
def test_wide_vectors_of_single_steps_have_no_cliff(values):
    """Just below and just above where sums are written out, and against the convolution itself."""
    limit = Fraction(20_000, values)
    for variance in (limit - 1, limit + 1):
        pair = pair_of(events.DiscreteGaussian(squared_sensitivity=values, variance=variance, size=values))
        law = DiscreteGaussianPair(float(variance), 1, values).law(0, "upper", 4000)
        found = pair.law(0, "upper", 4000)
        for epsilon in (0.0, 0.003, 0.03, 0.06):
            assert found.delta(epsilon) == pytest.approx(law.delta(epsilon), rel=1e-5)
    assert pair_of(events.DiscreteGaussian(squared_sensitivity=2, variance=10**12, size=2)) is not None
