"""A replaced unit of a Poisson sample: the pair, its cells and its cumulant against quadrature."""

from __future__ import annotations

from math import inf

import mpmath
import numpy as np
import pytest

from accounting.loss.profiles import assert_between, normal, of_densities, upper
from discreet import accounting
from discreet.accounting import filters, renyi
from discreet.accounting.loss.pair import NO_LOSS, pair_of
from discreet.accounting.loss.replaced_poisson import facing_cumulant
from discreet.errors import BudgetExceeded, ParameterError
from discreet.privacy import events
from discreet.privacy.neighbors import ADD_REMOVE_ROW, REPLACE_ROW


def _mixture(rate, center):
    zero, moved = normal(0.0), normal(center)
    return lambda x: (1 - rate) * zero(x) + rate * moved(x)


@pytest.mark.parametrize(("sigma", "rate"), [(1, 0.3), (2, 0.01), (0.4, 0.6), (5, 0.999)])
def test_the_pair_is_its_definition(sigma, rate):
    pair = pair_of(events.ReplacedPoissonGaussian(noise_multiplier=sigma, rate=rate))
    p, q = _mixture(rate, 1 / sigma), _mixture(rate, -1 / sigma)
    reach = 9 + 1 / sigma
    assert_between(
        pair,
        lambda _, epsilon: of_densities(p, q, epsilon, -reach, reach, kinks=[0.0]),
        (0.0, 0.05, 0.7, 2.0),
        width=5e-3,
    )


def test_no_vectors_exceed_the_pair():
    """Two vectors of norm at most 1, at any angle, on a plane: H by a fine grid of outcomes."""
    generator = np.random.default_rng()
    axis = np.linspace(-8, 8, 321)
    x, y = np.meshgrid(axis, axis)
    weight = np.exp(-(x**2 + y**2) / 2) / (2 * np.pi) * (axis[1] - axis[0]) ** 2
    rate, sigma = 0.3, 0.8
    pair = pair_of(events.ReplacedPoissonGaussian(noise_multiplier=sigma, rate=rate))
    for _ in range(12):
        angles, norms = generator.uniform(0, 2 * np.pi, 2), generator.uniform(0, 1 / sigma, 2)
        one, other = (
            1 - rate + rate * np.exp(n * (np.cos(a) * x + np.sin(a) * y) - n**2 / 2)
            for a, n in zip(angles, norms, strict=True)
        )
        for epsilon in (0.0, 0.3, 1.0):
            truth = float((weight * np.maximum(one - np.exp(epsilon) * other, 0)).sum())
            assert truth <= upper(pair, 0, epsilon) + 1e-4


def test_it_costs_more_than_a_unit_that_comes_and_less_than_two():
    step = events.PoissonSampled(events.Gaussian(noise_multiplier=1), rate=0.05)
    one, two = (events.Gaussian(noise_multiplier=s, neighbors=ADD_REMOVE_ROW) for s in (1, "1/2"))
    replaced = events.ReplacedPoissonGaussian(noise_multiplier=1, rate=0.05)
    for steps in (1, 400):
        found = accounting.epsilon(replaced * steps, delta=1e-5)
        assert found.certified
        assert found.upper - found.lower <= 1e-3 * found.upper
        assert found.lower > accounting.epsilon(step * steps, delta=1e-5).upper
        most = accounting.epsilon(events.PoissonSampled(two, rate=0.05) * steps, delta=1e-5).upper
        assert found.upper < most
    assert one.neighbors == two.neighbors


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("shift", "rate", "order"), [(1, 0.01, 2), (1, 0.3, 7.5), (0.3, 0.001, 40), (2, 0.1, 3.3), (1, 1e-6, 4)]
)
def test_the_cumulant_is_the_integral_from_above(shift, rate, order):
    with mpmath.workdps(30):
        q = mpmath.mpf(rate)

        def mixture(x, sign):
            return (1 - q) * mpmath.npdf(x, 0, 1) + q * mpmath.npdf(x, sign * shift, 1)

        marks = [-15 - shift, *np.linspace(-6, order * shift + 8, 30).tolist(), 2 * order * shift + 20]
        moment = mpmath.quad(lambda x: mixture(x, 1) ** order * mixture(x, -1) ** (1 - order), marks)
        truth = float(mpmath.log(moment))
    assert truth <= facing_cumulant(shift, rate, order) <= truth * (1 + 1e-9)


def test_the_ends_are_nothing_and_a_gaussian_of_twice_the_shift():
    assert pair_of(events.ReplacedPoissonGaussian(noise_multiplier=1, rate=0)) is NO_LOSS
    sure = events.ReplacedPoissonGaussian(noise_multiplier=4, rate=1)
    assert pair_of(sure).mu == 0.5
    assert facing_cumulant(0.25, 1.0, 3.0) == pytest.approx(2 * 0.25**2 * 6)
    assert facing_cumulant(0.25, 0.0, 3.0) == 0
    assert facing_cumulant(10.0, 0.1, 50.0) == inf
    assert pair_of(events.ReplacedPoissonGaussian(noise_multiplier=0.01, rate=0.5)) is None


def test_filters_charge_its_curve():
    event = events.ReplacedPoissonGaussian(noise_multiplier=1, rate=0.01, neighbors=REPLACE_ROW)
    budget = filters.RenyiFilter([4], [1], neighbors=REPLACE_ROW)
    steps = int(1 / renyi.divergence(event, [4.0])[0])
    budget.spend(event * steps)
    with pytest.raises(BudgetExceeded):
        budget.spend(event * (steps + 1))
    assert filters.ZeroConcentratedFilter(2, neighbors=REPLACE_ROW).remaining(event) == 1
    with pytest.raises(BudgetExceeded):
        filters.GaussianFilter(100, neighbors=REPLACE_ROW).spend(event)


@pytest.mark.parametrize("relation", [ADD_REMOVE_ROW, REPLACE_ROW.group(2)])
def test_other_relations_are_refused(relation):
    with pytest.raises(ParameterError, match="replaces one unit"):
        events.ReplacedPoissonGaussian(noise_multiplier=1, rate=0.1, neighbors=relation)
