"""Rényi curves against mpmath, exact enumeration and brute force over small pairs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.renyi_oracles import (
    ORDERS,
    both,
    bounded_range,
    discrete_gaussian_law,
    finite,
    geometric_law,
    holds,
    masses,
    mixed,
)
from discreet.accounting import renyi
from discreet.errors import ParameterError
from discreet.privacy import REPLACE_PERSON, REPLACE_ROW, events
from discreet.privacy.events.event import Event
from effort import examples


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


@pytest.mark.parametrize(("shift", "scale"), [(1, 1), (2, 3), (3, "1/2"), (7, 10)])
def test_discrete_laplace_is_the_sum(shift, scale):
    event = events.DiscreteLaplace(sensitivity=shift, scale=scale)
    with mpmath.workdps(40):
        rate = 1 / (mpmath.mpf(event.scale.numerator) / event.scale.denominator)
        reach = int(80 / rate) + 2 * shift
        p, q = geometric_law(rate, shift, reach), geometric_law(rate, 0, reach)
        for order, bound in zip(ORDERS, renyi.divergence(event, ORDERS), strict=True):
            holds(bound, finite(p, q, order))


@pytest.mark.slow
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


@pytest.mark.few(1)
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


@settings(deadline=None, max_examples=examples(60))
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
