"""Rényi curves against mpmath, exact enumeration and brute force over small pairs."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import renyi, theorems
from discreet.errors import ParameterError
from discreet.privacy import REPLACE_PERSON, REPLACE_ROW, events
from discreet.privacy.events.event import Event

ORDERS = np.array([1.001, 1.3, 1.5, 2, 2.5, 3, 5, 7.7, 20, 33.5])


def finite(p, q, order):
    """D_order(P || Q) of two lists of masses, in high precision."""
    with mpmath.workdps(40):
        total = mpmath.fsum(
            mpmath.mpf(a) ** order * mpmath.mpf(b) ** (1 - order) for a, b in zip(p, q, strict=True)
        )
        return mpmath.log(total) / (order - 1)


def both(p, q, order):
    return max(finite(p, q, order), finite(q, p, order))


def mixed(p, q, rate):
    """The two directions of a sample, as pairs."""
    mixture = [(1 - rate) * b + rate * a for a, b in zip(p, q, strict=True)]
    return (mixture, q), (q, mixture)


def holds(bound, exact, slack=1e-9):
    """A bound that is never below, and close."""
    assert np.isfinite(bound)
    assert bound >= exact
    assert bound <= exact * (1 + slack)


def laplace_divergence(epsilon, order):
    """By quadrature over the three pieces on which the density is smooth."""
    with mpmath.workdps(40):
        e, a = mpmath.mpf(epsilon), mpmath.mpf(order)

        def integrand(x):
            return e / 2 * mpmath.exp(-e * (a * abs(x - 1) + (1 - a) * abs(x)))

        middle = mpmath.quad(integrand, [0, 1])
        return mpmath.log(middle + integrand(mpmath.mpf(0)) / e + integrand(mpmath.mpf(1)) / e) / (a - 1)


def test_laplace_is_the_integral():
    for epsilon, order in product([0.01, 0.5, 2, 20], [1.01, 1.5, 2, 7.5, 40]):
        bound = renyi.divergence(events.Laplace(epsilon=epsilon), [order])[0]
        holds(
            bound,
            laplace_divergence(
                Fraction(str(epsilon)).numerator / mpmath.mpf(Fraction(str(epsilon)).denominator), order
            ),
        )


def geometric_law(rate, center, reach):
    t = mpmath.exp(-rate)
    return [(1 - t) / (1 + t) * t ** abs(y - center) for y in range(-reach, reach + 1)]


@pytest.mark.parametrize(("shift", "scale"), [(1, 1), (2, 3), (3, "1/2"), (7, 10)])
def test_discrete_laplace_is_the_sum(shift, scale):
    event = events.DiscreteLaplace(sensitivity=shift, scale=scale)
    with mpmath.workdps(40):
        rate = 1 / (mpmath.mpf(event.scale.numerator) / event.scale.denominator)
        reach = int(80 / rate) + 2 * shift
        p, q = geometric_law(rate, shift, reach), geometric_law(rate, 0, reach)
        for order, bound in zip(ORDERS, renyi.divergence(event, ORDERS), strict=True):
            holds(bound, finite(p, q, order))


def test_the_worst_discrete_laplace_vector_moves_in_one_coordinate():
    event = events.DiscreteLaplace(sensitivity=4, scale=2)
    reach = 90
    laws = {
        s: (geometric_law(mpmath.mpf(1) / 2, s, reach), geometric_law(mpmath.mpf(1) / 2, 0, reach))
        for s in range(5)
    }
    for order, bound in zip(ORDERS, renyi.divergence(event, ORDERS), strict=True):
        split = {
            shifts: sum(finite(*laws[s], order) for s in shifts)
            for shifts in product(range(5), repeat=3)
            if sum(shifts) == 4
        }
        assert max(split.values()) <= bound
        assert max(split, key=split.get) in [(4, 0, 0), (0, 4, 0), (0, 0, 4)]


def discrete_gaussian_law(variance, center, reach):
    masses = [mpmath.exp(-mpmath.mpf((y - center) ** 2) / (2 * variance)) for y in range(-reach, reach + 1)]
    whole = mpmath.fsum(mpmath.exp(-mpmath.mpf(y * y) / (2 * variance)) for y in range(-200, 201))
    return [mass / whole for mass in masses]


def test_discrete_gaussian_holds_and_is_exact_at_whole_orders():
    event = events.DiscreteGaussian(squared_sensitivity=1, variance="1/2")
    with mpmath.workdps(40):
        p, q = (discrete_gaussian_law(mpmath.mpf(1) / 2, center, 60) for center in (1, 0))
        for order, bound in zip(ORDERS, renyi.divergence(event, ORDERS), strict=True):
            exact = finite(p, q, order)
            assert bound >= exact
            if order == int(order):
                holds(bound, exact)


def test_gaussian_and_concentrated_are_lines():
    for event, rho in [
        (events.Gaussian(noise_multiplier=3), 1 / 18),
        (events.ZeroConcentrated(rho=0.25), 0.25),
        (events.Gaussian(noise_multiplier=3) * 18, 1),
    ]:
        assert renyi.divergence(event, ORDERS) == pytest.approx(rho * ORDERS)
        assert renyi.rho(event) == pytest.approx(rho)
    with pytest.raises(ParameterError, match="rho"):
        renyi.rho(events.Renyi(curve=[(2, 1)]))


@pytest.mark.parametrize("epsilon", [1e-12, 1e-6, 0.01, 1, 5, 60, 900])
def test_pure_is_randomized_response_and_loses_no_digits(epsilon):
    with mpmath.workdps(60):
        e = mpmath.mpf(repr(epsilon))
        p = [mpmath.exp(e) / (1 + mpmath.exp(e)), 1 / (1 + mpmath.exp(e))]
        for event in (
            events.Pure(epsilon=epsilon),
            events.NoisyMax(epsilon=epsilon),
            events.PermuteAndFlip(epsilon=epsilon),
        ):
            for order, bound in zip(ORDERS, renyi.divergence(event, ORDERS), strict=True):
                total = p[0] ** order * p[1] ** (1 - order) + p[1] ** order * p[0] ** (1 - order)
                holds(bound, mpmath.log(total) / (order - 1))


def test_local_reports_are_enumerated():
    for truth, categories in [("3/4", 2), ("0.5000001", 2), ("9/10", 5)]:
        event = events.RandomizedResponse(truth=truth, categories=categories)
        other = (1 - event.truth) / (categories - 1)
        p = [event.truth, *[other] * (categories - 1)]
        q = [other, event.truth, *[other] * (categories - 2)]
        with mpmath.workdps(40):
            exact = [[mpmath.mpf(x.numerator) / x.denominator for x in law] for law in (p, q)]
        for order, bound in zip(ORDERS, renyi.divergence(event, ORDERS), strict=True):
            holds(bound, finite(*exact, order), 1e-8)
    event = events.UnaryEncoding(keep=0.5, flip=0.25, size=3)
    laws = []
    for value in range(2):
        chance = [float(event.keep if place == value else event.flip) for place in range(3)]
        laws.append(
            [
                math.prod(c if bit else 1 - c for bit, c in zip(bits, chance, strict=True))
                for bits in product((0, 1), repeat=3)
            ]
        )
    for order, bound in zip(ORDERS, renyi.divergence(event, ORDERS), strict=True):
        holds(bound, both(*laws, order))


def bounded_range(epsilon, top):
    """The pair with the two losses top and top - epsilon."""
    e, t = mpmath.mpf(epsilon), mpmath.mpf(top)
    p = (mpmath.exp(e) - mpmath.exp(t)) / mpmath.expm1(e)
    return [p, 1 - p], [p * mpmath.exp(-t), (1 - p) * mpmath.exp(e - t)]


@pytest.mark.parametrize("epsilon", [1e-5, 0.1, 1.0, 8.0])
def test_exponential_choice_is_the_worst_of_bounded_range(epsilon):
    event = events.ExponentialChoice(epsilon=epsilon)
    for order, bound in zip(ORDERS, renyi.divergence(event, ORDERS), strict=True):
        with mpmath.workdps(40):
            worst = max(finite(*bounded_range(epsilon, epsilon * k / 200), order) for k in range(1, 200))
        assert worst <= bound <= order * epsilon**2 / 8 * (1 + 1e-11)
        assert bound <= worst * (1 + 1e-3)


def test_exponential_mechanisms_stay_below():
    for scores in product(range(3), repeat=3):
        for move in product((-1, 0, 1), repeat=3):
            laws = []
            for values in (scores, [a + b for a, b in zip(scores, move, strict=True)]):
                weights = [math.exp(0.4 * v) for v in values]
                laws.append([w / sum(weights) for w in weights])
            for order, bound in zip(
                [1.5, 3, 12],
                renyi.divergence(events.ExponentialChoice(epsilon=0.8), [1.5, 3, 12]),
                strict=True,
            ):
                assert finite(*laws, order) <= bound + 1e-15


masses = st.lists(st.integers(1, 100), min_size=3, max_size=4)


@settings(deadline=None, max_examples=60)
@given(masses, masses, st.floats(0.01, 0.9))
def test_a_curve_is_joined_soundly_and_sampled_soundly(a, b, rate):
    # In high precision: rounded to floats the masses would not sum to one, and equal laws would differ.
    with mpmath.workdps(40):
        size = min(len(a), len(b))
        p, q = ([mpmath.mpf(x) / sum(law[:size]) for x in law[:size]] for law in (a, b))
        known = [1.5, 2, 3, 4, 8]
        event = events.Renyi(
            curve=[(order, max(0.0, float(both(p, q, order))) * (1 + 1e-12)) for order in known]
        )
        sampled = events.PoissonSampled(event, rate=rate)
        orders = [1.2, 1.7, 2, 2.5, 5, 8]
        pairs = [pair for law in ((p, q), (q, p)) for pair in mixed(*law, mpmath.mpf(repr(rate)))]
        for order, bound, less in zip(
            orders, renyi.divergence(event, orders), renyi.divergence(sampled, orders), strict=True
        ):
            assert bound >= both(p, q, order) - mpmath.mpf("1e-35")
            assert less >= max(finite(*pair, order) for pair in pairs) - mpmath.mpf("1e-35")


def test_a_curve_follows_the_lower_hull_and_ends_at_its_last_order():
    event = events.Renyi(curve=[(2, 1), (3, 5), (4, 1)])
    bounds = renyi.divergence(event, [1.5, 2, 3, 4, 4.001])
    assert bounds[:4] == pytest.approx([1, 1, 1, 1])
    assert bounds[4] == math.inf
    assert renyi.divergence(events.Renyi(curve=[(2, 1), (4, 3)]), [3])[0] == pytest.approx((1 + 9) / 2 / 2)


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
    with pytest.raises(ParameterError, match="replacement"):
        renyi.divergence(events.SampledWithReplacement(local, draws=1, population=5), [2])


def test_compositions_add_and_deltas_add():
    a, b = events.Laplace(epsilon=0.3), events.Approximate(epsilon=0.1, delta=0.01)
    total = 3 * renyi.divergence(a, ORDERS) + 2 * renyi.divergence(b, ORDERS)
    assert renyi.divergence(a * 3 + b * 2, ORDERS) == pytest.approx(total)
    assert renyi.extra_delta(a * 3 + b * 2) == pytest.approx(0.02)
    assert renyi.extra_delta(b * 1000) == 1
    assert np.all(renyi.divergence(events.Nothing, ORDERS) == 0)


def test_parallel_parts_pay_for_those_that_are_touched():
    a, b = events.Laplace(epsilon=0.3), events.Gaussian(noise_multiplier=3)
    largest = np.maximum(renyi.divergence(a, ORDERS), renyi.divergence(b, ORDERS))
    assert renyi.divergence(events.Parallel(a, b, b), ORDERS) == pytest.approx(largest)
    c = events.Gaussian(noise_multiplier=1, neighbors=REPLACE_PERSON)
    d = events.Gaussian(noise_multiplier=2, neighbors=REPLACE_PERSON)
    assert renyi.divergence(events.Parallel(c, d, d), ORDERS) == pytest.approx(ORDERS * (1 / 2 + 1 / 8))
    e, f = (events.Approximate(epsilon=1, delta=x, neighbors=REPLACE_PERSON) for x in (0.1, 0.01))
    assert renyi.extra_delta(events.Parallel(e, f, f)) == pytest.approx(0.11)


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


@settings(deadline=None, max_examples=60)
@given(masses, masses, st.floats(0, 2), st.floats(1.05, 30))
def test_converted_delta_holds_for_every_pair(a, b, epsilon, order):
    size = min(len(a), len(b))
    p, q = (np.array(law[:size]) / sum(law[:size]) for law in (a, b))
    exact = np.maximum(p - math.exp(epsilon) * q, 0).sum()
    bound = float(finite(p, q, order))
    if bound > 1e-9:
        found = renyi.delta_from_renyi([bound * (1 + 1e-9)], [order], epsilon)
        assert exact <= found + 1e-15
        if 1e-9 < found < 1:
            assert renyi.epsilon_from_renyi([bound], [order], found) <= epsilon * (1 + 1e-6) + 1e-6


@pytest.mark.parametrize(
    ("bound", "order", "epsilon"), [(0.5, 3, 0.5), (0.1, 2, 0.3), (1, 10, 2), (0.01, 20, 0.1), (2, 1.5, 3)]
)
def test_the_conversion_is_optimal_at_one_order(bound, order, epsilon):
    # The best two-point pair with D_order(P || Q) = bound, by brute force.
    best = 0.0
    for u in np.geomspace(1e-9, 0.999, 4000):
        low, high = u, 1.0
        for _ in range(60):
            p = (low + high) / 2
            moment = p**order * u ** (1 - order) + (1 - p) ** order * (1 - u) ** (1 - order)
            low, high = (p, high) if math.log(moment) <= bound * (order - 1) else (low, p)
        best = max(best, low - math.exp(epsilon) * u)
    found = renyi.delta_from_renyi([bound], [order], epsilon)
    assert best <= found * (1 + 1e-9)
    assert found <= best * 1.01
    simple = math.exp((order - 1) * (bound - epsilon)) / (order - 1) * (1 - 1 / order) ** order
    assert found <= simple * (1 + 1e-9)


def test_conversions_of_a_gaussian_stay_above_the_exact_ones():
    for sigma, epsilon in product([0.5, 2, 30], [0.01, 0.5, 3]):
        event = events.Gaussian(noise_multiplier=sigma)
        exact = mpmath.ncdf(1 / (2 * sigma) - epsilon * sigma) - mpmath.exp(epsilon) * mpmath.ncdf(
            -1 / (2 * sigma) - epsilon * sigma
        )
        found = renyi.delta(event, epsilon)
        assert exact <= found
        if 1e-12 < found < 0.5:
            assert renyi.epsilon(event, found) == pytest.approx(epsilon, rel=1e-4)


def test_ends_of_the_conversions():
    assert renyi.epsilon_from_renyi([0.0], [2], 0) == 0
    assert renyi.epsilon_from_renyi([1.0], [2], 0) == math.inf
    assert renyi.epsilon_from_renyi([math.inf], [2], 0.1) == math.inf
    assert renyi.delta_from_renyi([math.inf], [2], 1) == 1
    assert renyi.delta_from_renyi([0.0, 1.0], [2, 3], 0) == 0
    assert renyi.epsilon(events.Nothing, 1e-6) == 0
    assert renyi.epsilon(events.Approximate(epsilon=1, delta=0.1), 0.1) == math.inf
    assert renyi.epsilon(events.Approximate(epsilon=1, delta=0.1), 0.2) < 1.01
    for wrong in (
        lambda: renyi.epsilon_from_renyi([1], [2], 1.0),
        lambda: renyi.epsilon_from_renyi([1], [2], math.nan),
    ):
        with pytest.raises(ParameterError, match=r"^delta "):
            wrong()
    for orders in ([1.0], [0.5], [], [math.nan], [math.inf], [[2.0]]):
        with pytest.raises(ParameterError, match=r"^orders "):
            renyi.divergence(events.Pure(epsilon=1), orders)
    for bounds in ([1, 2], [-1], [math.nan]):
        with pytest.raises(ParameterError, match=r"^divergences "):
            renyi.delta_from_renyi(bounds, [2], 1)
    with pytest.raises(ParameterError, match=r"^epsilon "):
        renyi.delta_from_renyi([1], [2], -1)


def test_the_lectures_run():
    run = events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01) * 10_000
    assert 0.9468 < renyi.epsilon(run, 1e-5) == pytest.approx(1.0355, abs=1e-4)


def test_an_unknown_event_is_named():
    class Mystery(events.Gaussian):
        pass

    class Riddle(Event):
        neighbors = events.Gaussian(noise_multiplier=1).neighbors

        def _group(self, size):
            return self

    assert renyi.divergence(Mystery(noise_multiplier=1), [2])[0] == pytest.approx(1)
    with pytest.raises(ParameterError, match="Riddle"):
        renyi.divergence(Riddle(), [2])


def test_extreme_parameters_give_numbers():
    for event in (
        events.Laplace(epsilon=1e-300),
        events.Laplace(epsilon=1e6),
        events.DiscreteLaplace(sensitivity=1, scale=1e-9),
        events.DiscreteLaplace(sensitivity=1, scale=3, grid=Fraction(1, 2**45)),
        events.ExponentialChoice(epsilon=0),
        events.ExponentialChoice(epsilon=5000),
        events.RandomizedResponse(truth="0.999999999999"),
        events.PoissonSampled(events.Gaussian(noise_multiplier=1e-3), rate=0.5),
        events.PoissonSampled(events.Gaussian(noise_multiplier=1e6), rate=1e-12),
        events.Pure(epsilon=0) * 10**18,
        events.Shuffled(events.Pure(epsilon=40, neighbors=REPLACE_ROW), people=100),
        events.Shuffled(events.Pure(epsilon=900, neighbors=REPLACE_ROW), people=100),
        events.Laplace(epsilon=1e-3) * 10**9,
    ):
        bounds = renyi.divergence(event, renyi.ORDERS)
        assert np.all(bounds >= 0)
        assert np.all(np.diff(bounds) >= -1e-9 * bounds[:-1])
        assert not np.any(np.isnan(bounds))


def test_theorems_and_curves_agree_on_sampled_gaussians():
    event = events.PoissonSampled(events.Gaussian(noise_multiplier=2), rate=0.05)
    for order in (2, 2.5, 9):
        assert renyi.divergence(event, [order])[0] * (order - 1) == pytest.approx(
            theorems.sampled_gaussian(2, 0.05, order)
        )
