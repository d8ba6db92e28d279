"""Rényi curves of samples and shuffled reports, against quadrature and exact enumeration."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from itertools import combinations, product

import mpmath
import numpy as np
import pytest

from accounting.renyi_oracles import (
    ORDERS,
    both,
    bounded_range,
    discrete_gaussian_law,
    finite,
    geometric_law,
    holds,
    mixed,
)
from discreet.accounting import renyi, theorems
from discreet.errors import ParameterError
from discreet.privacy import REPLACE_ROW, events


def gaussian_directions(sigma, rate, order):
    with mpmath.workdps(30):
        s, q, a = mpmath.mpf(sigma), mpmath.mpf(rate), mpmath.mpf(order)

        def ratio(z):
            return 1 - q + q * mpmath.exp((2 * z - 1) / (2 * s**2))

        def density(z):
            return mpmath.npdf(z, 0, s)

        cuts = sorted(
            {
                -14 * s,
                -4 * s,
                mpmath.mpf(0),
                mpmath.mpf(1),
                a / 2,
                a,
                a + 4 * s,
                a + 14 * s,
                s**2 * mpmath.log(1 / q) + 0.5,
            }
        )
        add = mpmath.quad(lambda z: density(z) * (ratio(z) ** a - 1 - a * (ratio(z) - 1)), cuts)
        remove = mpmath.quad(
            lambda z: density(z) * (ratio(z) ** (1 - a) - 1 + (a - 1) * (ratio(z) - 1)), cuts
        )
        return mpmath.log1p(add) / (a - 1), mpmath.log1p(remove) / (a - 1)


@pytest.mark.slow
@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("sigma", "rate"), [(4, 0.01), (0.7, 0.001), (1, 0.2), (2, 0.3), (1.5, 0.5), (1, 0.8), (30, 0.02)]
)
def test_sampled_gaussian_is_the_worse_integral_of_both_directions(sigma, rate):
    orders = np.array([1.05, 1.5, 2, 2.5, 3, 6.4, 17, 30.5])
    event = events.PoissonSampled(events.Gaussian(noise_multiplier=sigma), rate=rate)
    for order, bound in zip(orders, renyi.divergence(event, orders), strict=True):
        exact = gaussian_directions(repr(sigma), repr(rate), order)
        holds(bound, max(exact), 1e-7)


def test_high_fractional_orders_are_joined_between_whole_ones():
    event = events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01)
    below, between, above = renyi.divergence(event, [300, 300.5, 301])
    assert below <= between <= above
    assert between >= gaussian_directions(4, "0.01", 300.5)[0]


@pytest.mark.few(1)
@pytest.mark.parametrize("rate", [0.02, 0.3, 0.9])
def test_sampled_discrete_laws_hold_in_both_directions(rate):
    cases = [
        (
            events.DiscreteLaplace(sensitivity=1, scale=1),
            [geometric_law(mpmath.mpf(1), c, 120) for c in (1, 0)],
        ),
        (
            events.DiscreteLaplace(sensitivity=3, scale=2),
            [geometric_law(mpmath.mpf(1) / 2, c, 200) for c in (3, 0)],
        ),
        (
            events.DiscreteGaussian(squared_sensitivity=4, variance=3),
            [discrete_gaussian_law(3, c, 200) for c in (2, 0)],
        ),
        (
            events.Pure(epsilon=1),
            [
                [mpmath.e / (1 + mpmath.e), 1 / (1 + mpmath.e)],
                [1 / (1 + mpmath.e), mpmath.e / (1 + mpmath.e)],
            ],
        ),
    ]
    orders = [1.2, 1.5, 2, 2.5, 5, 12]
    for event, (p, q) in cases:
        for order, bound in zip(
            orders, renyi.divergence(events.PoissonSampled(event, rate=rate), orders), strict=True
        ):
            exact = max(finite(*pair, order) for pair in mixed(p, q, mpmath.mpf(repr(rate))))
            assert bound >= exact - mpmath.mpf("1e-15")
            assert bound <= exact * (1.7 if order < 2 else 1 + 1e-9 if order == int(order) else 1.25)


def test_sampled_laplace_holds_in_both_directions():
    with mpmath.workdps(30):
        e, q = mpmath.mpf(2), mpmath.mpf("0.1")
        for order in (1.5, 2, 3, 7.5):

            def mean(power, e=e, q=q):
                def value(x):
                    return (
                        e
                        / 2
                        * mpmath.exp(-e * abs(x))
                        * (1 - q + q * mpmath.exp(e * (abs(x) - abs(x - 1)))) ** power
                    )

                return mpmath.quad(value, [0, 0.5, 1]) + value(mpmath.mpf(0)) / e + value(mpmath.mpf(1)) / e

            exact = max(mpmath.log(mean(order)), mpmath.log(mean(1 - order))) / (order - 1)
            bound = renyi.divergence(events.PoissonSampled(events.Laplace(epsilon=2), rate=0.1), [order])[0]
            assert exact <= bound <= exact * (1 + 1e-9 if order in (2, 3) else 1.15)


def test_sampled_choice_holds_in_both_directions_and_both_orders():
    orders = [1.2, 2, 3, 9, 40]
    for epsilon, rate in product([0.5, 3.0], [0.05, 0.6]):
        bounds = renyi.divergence(
            events.PoissonSampled(events.ExponentialChoice(epsilon=epsilon), rate=rate), orders
        )
        for order, bound in zip(orders, bounds, strict=True):
            for k in range(1, 40):
                p, q = bounded_range(epsilon, epsilon * k / 40)
                worst = max(
                    finite(*pair, order)
                    for first, second in ((p, q), (q, p))
                    for pair in mixed(first, second, mpmath.mpf(rate))
                )
                assert worst <= bound


@pytest.mark.parametrize(
    "inner", [events.Renyi(curve=[(2, 0.5), (3, 0.55), (4, 0.6)]), events.ExponentialChoice(epsilon=0.3)]
)
@pytest.mark.parametrize("rate", [0.3, 0.05])
def test_events_that_are_not_symmetric_are_charged_for_the_worse_direction(inner, rate):
    # No pair is known on which removing costs more than the bound for adding; without a proof both count.
    two, three, four = (renyi.divergence(inner, [n])[0] * (n - 1) for n in (2, 3, 4))
    terms = {2: two, 3: three, 4: four}
    added = sum(math.comb(4, k) * rate**k * (1 - rate) ** (4 - k) * math.expm1(terms[k]) for k in terms)
    removed = [
        (1 - rate) ** -3 - 1,
        rate * math.expm1(four),
        ((1 - rate) ** -3 - 1 - 3 * rate) * math.expm1(two),
    ]
    if inner.pure_epsilon is not None:
        pure = {n: renyi.divergence(events.Pure(epsilon=0.3), [n])[0] * (n - 1) for n in terms}
        removed.append(
            sum(math.comb(4, k) * rate**k * (1 - rate) ** (4 - k) * math.expm1(pure[k]) for k in pure)
        )
    expected = min(math.log1p(max(added, min(removed))), four)
    assert min(removed) > added
    assert renyi.divergence(events.PoissonSampled(inner, rate=rate), [4])[0] * 3 == pytest.approx(expected)


def test_rates_at_the_ends():
    inner = events.Gaussian(noise_multiplier=2)
    assert np.all(renyi.divergence(events.PoissonSampled(inner, rate=0), ORDERS) == 0)
    assert renyi.divergence(events.PoissonSampled(inner, rate=1), ORDERS) == pytest.approx(ORDERS / 8)
    tiny = renyi.divergence(events.PoissonSampled(inner, rate=1e-9), ORDERS)
    assert tiny[3] == pytest.approx(1e-18 * math.expm1(0.25), rel=1e-9)


def test_very_high_orders_fall_back_on_sound_bounds():
    for inner in (events.Gaussian(noise_multiplier=2), events.Pure(epsilon=1), events.Renyi(curve=[(2, 1)])):
        bounds = renyi.divergence(events.PoissonSampled(inner, rate=0.1), [1e5, 1e9])
        assert np.all(bounds <= renyi.divergence(inner, [1e5, 1e9]))
    pure = renyi.divergence(events.PoissonSampled(events.Pure(epsilon=1), rate=0.1), [1e9])[0]
    assert pure == pytest.approx(math.log1p(0.1 * math.expm1(1)), rel=1e-6)


# A small mechanism for exact enumeration: how many ones are in the sample, with discrete Laplace noise.
@cache
def noisy_count(count, rate):
    return np.array([float(x) for x in geometric_law(mpmath.mpf(rate), count, 60)])


def sampled_law(data, samples, rate):
    total = sum(samples.values())
    return sum(
        times / total * noisy_count(sum(data[i] for i in sample), rate) for sample, times in samples.items()
    )


@pytest.mark.parametrize("rate", [0.5, 2.0])
@pytest.mark.parametrize(("batch", "population"), [(1, 3), (2, 4), (2, 6), (3, 4)])
def test_samples_without_replacement_stay_below(rate, batch, population):
    samples = Counter(combinations(range(population), batch))
    inner = events.DiscreteLaplace(sensitivity=1, scale=1 / rate, neighbors=REPLACE_ROW)
    check_sampled(
        samples, population, rate, events.SampledWithoutReplacement(inner, batch=batch, population=population)
    )


@pytest.mark.parametrize("rate", [0.5, 2.0])
@pytest.mark.parametrize(("draws", "population"), [(1, 3), (2, 4), (3, 2), (4, 5)])
def test_samples_with_replacement_stay_below(rate, draws, population):
    samples = Counter(product(range(population), repeat=draws))
    inner = events.DiscreteLaplace(sensitivity=1, scale=1 / rate, neighbors=REPLACE_ROW)
    check_sampled(
        samples, population, rate, events.SampledWithReplacement(inner, draws=draws, population=population)
    )


@pytest.mark.parametrize(("draws", "population"), [(3, 10), (30_000, 100_000)])
@pytest.mark.parametrize("noise", [10**3, 10**5, 10**7])
def test_samples_with_replacement_keep_the_digits_of_a_tiny_loss(draws, population, noise):
    # Normal noise on how often one unit was drawn: E_Q (P/Q)^2 is the mean of e^(JK / noise^2) for two
    # independent counts J and K.
    inner = events.Gaussian(noise_multiplier=noise, neighbors=REPLACE_ROW)
    bound = renyi.divergence(events.SampledWithReplacement(inner, draws=draws, population=population), [2])[0]
    with mpmath.workdps(40):
        chance, most = mpmath.mpf(1) / population, min(draws, 40)
        weights = [
            mpmath.binomial(draws, j) * chance**j * (1 - chance) ** (draws - j) for j in range(most + 1)
        ]
        excess = mpmath.fsum(
            weights[j] * weights[k] * mpmath.expm1(mpmath.mpf(j * k) / noise**2)
            for j, k in product(range(most + 1), repeat=2)
        )
        exact = mpmath.log1p(excess)
    assert exact <= bound <= 12 * exact


def test_samples_of_fixed_size_with_a_huge_loss_stay_above_it():
    # Of normal noise on a sum, E_Q (P/Q)^2 is at least q^2 e^(1 / noise^2) where the unit is in the sample
    # with probability q, and at least (1 / n)^(2 m) e^(m^2 / noise^2) where all of m draws took it.
    for noise in ("0.1", "0.03", "0.01"):
        inner, loss = events.Gaussian(noise_multiplier=noise, neighbors=REPLACE_ROW), 1 / float(noise) ** 2
        fixed = events.SampledWithoutReplacement(inner, batch=1, population=100)
        assert renyi.divergence(fixed, [2])[0] >= loss - 2 * math.log(100)
        drawn = events.SampledWithReplacement(inner, draws=5, population=100)
        assert renyi.divergence(drawn, [2])[0] >= 25 * loss - 10 * math.log(100)


def test_a_tiny_loss_is_never_none():
    inner = events.Pure(epsilon=1e-9, neighbors=REPLACE_ROW)
    for event in (
        events.PoissonSampled(events.Pure(epsilon=1e-9), rate=1e-3),
        events.PoissonSampled(events.Laplace(epsilon=1e-9), rate=1e-3),
        events.SampledWithoutReplacement(inner, batch=1, population=10**6),
        events.SampledWithReplacement(inner, draws=10, population=10**6),
        events.SampledWithReplacement(inner, draws=10**4, population=10**6),
        events.Shuffled(inner, people=1000),
    ):
        assert np.all(renyi.divergence(event, ORDERS) > 0)
    for nothing in (
        events.SampledWithReplacement(inner, draws=0, population=5),
        events.SampledWithReplacement(
            events.Gaussian(noise_multiplier=1, neighbors=REPLACE_ROW), draws=0, population=5
        ),
        events.SampledWithoutReplacement(inner, batch=0, population=5),
    ):
        assert np.all(renyi.divergence(nothing, ORDERS) == 0)


def check_sampled(samples, population, rate, event):
    orders = [1.3, 2, 2.5, 3, 6, 20]
    bounds = renyi.divergence(event, orders)
    epsilon = float(event.pure_epsilon)
    for rest in range(population):
        data = [1] * rest + [0] * (population - 1 - rest)
        laws = [sampled_law([*data, value], samples, rate) for value in (0, 1)]
        assert max(np.max(np.abs(np.log(laws[0] / laws[1]))), 0) <= epsilon * (1 + 1e-9)
        for order, bound in zip(orders, bounds, strict=True):
            for p, q in (laws, laws[::-1]):
                assert math.log(np.sum(p * (p / q) ** (order - 1))) / (order - 1) <= bound + 1e-13


def test_the_general_moments_of_fixed_samples_hold_without_their_pure_part():
    # A Rényi curve alone: no pure epsilon helps the bound.
    orders = np.arange(2, 9)
    inner = events.DiscreteLaplace(sensitivity=1, scale=1, neighbors=REPLACE_ROW)
    curve = zip(orders.tolist(), renyi.divergence(inner, orders).tolist(), strict=True)
    event = events.SampledWithoutReplacement(
        events.Renyi(curve=curve, neighbors=REPLACE_ROW), batch=1, population=4
    )
    laws = [sampled_law([1, 0, 0, value], Counter(combinations(range(4), 1)), 1.0) for value in (0, 1)]
    for order, bound in zip(orders, renyi.divergence(event, orders), strict=True):
        exact = max(math.log(np.sum(p * (p / q) ** (order - 1))) / (order - 1) for p, q in (laws, laws[::-1]))
        assert exact <= bound
    second = renyi.divergence(inner, [2])[0]
    whole = 1 + 6 * 0.25**2 * min(4 * math.expm1(second), 2 * math.exp(second))
    whole += sum(
        math.comb(4, k) * 0.25**k * 2 * math.exp((k - 1) * renyi.divergence(inner, [k])[0]) for k in (3, 4)
    )
    assert renyi.divergence(event, [4])[0] == pytest.approx(
        min(math.log(whole) / 3, renyi.divergence(inner, [4])[0])
    )


def test_sampling_a_part_with_delta():
    inner = events.Approximate(epsilon=1, delta=1e-3)
    event = events.PoissonSampled(inner, rate=0.1)
    assert renyi.extra_delta(event) == pytest.approx(1e-4)
    pure = events.Pure(epsilon=math.log1p(0.1 * math.expm1(1)))
    assert renyi.divergence(event, ORDERS) == pytest.approx(renyi.divergence(pure, ORDERS))
    both_steps = events.PoissonSampled(inner + events.Gaussian(noise_multiplier=2), rate=0.1)
    assert renyi.extra_delta(both_steps) == pytest.approx(1e-3)
    local = events.Approximate(epsilon=1, delta=1e-3, neighbors=REPLACE_ROW)
    fixed = events.SampledWithoutReplacement(local * 2, batch=1, population=5)
    with pytest.raises(ParameterError, match="delta"):
        renyi.divergence(fixed, [2])
    drawn = events.SampledWithReplacement(local, draws=1, population=5)
    for ask in (lambda: renyi.divergence(drawn, [2]), lambda: renyi.extra_delta(drawn + local)):
        with pytest.raises(ParameterError, match="replacement"):
            ask()


def test_shuffled_reports_stay_below_at_every_order():
    # The law of the number of ones among randomized responses, for every number of others with a one.
    truth = 0.75
    for people in (1, 2, 5, 12):
        event = events.Shuffled(events.RandomizedResponse(truth=truth), people=people)
        bounds = renyi.divergence(event, [1.5, 2, 8])
        for ones in range(people):
            others = np.array([1.0])
            for person in range(people - 1):
                chance = truth if person < ones else 1 - truth
                others = np.convolve(others, [1 - chance, chance])
            p, q = np.convolve(others, [0.25, 0.75]), np.convolve(others, [0.75, 0.25])
            for order, bound in zip([1.5, 2, 8], bounds, strict=True):
                assert both(p, q, order) <= bound + 1e-14


def test_theorems_and_curves_agree_on_sampled_gaussians():
    event = events.PoissonSampled(events.Gaussian(noise_multiplier=2), rate=0.05)
    for order in (2, 2.5, 9):
        assert renyi.divergence(event, [order])[0] * (order - 1) == pytest.approx(
            theorems.sampled_gaussian(2, 0.05, order)
        )
