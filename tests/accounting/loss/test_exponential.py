"""Losses of bounded range: the two-point laws by brute force, random laws, and real choices, stay below."""

from __future__ import annotations

from math import exp, expm1, sqrt

import mpmath
import numpy as np
import pytest

from accounting.loss.profiles import of_masses, upper
from discreet.accounting.loss.exponential import BoundedRangeLoss, BoundedRangePair
from discreet.accounting.loss.pair import NO_LOSS, pair_of
from discreet.privacy import events

RANGES = [0.01, 0.3, 1.0, 4.0]


def two_points(width, t):
    """The laws whose losses are t and t - width: masses follow from E exp(-loss) = 1."""
    p = (exp(width) - exp(t)) / expm1(width)
    return np.array([p, 1 - p]), np.array([p * exp(-t), (1 - p) * exp(width - t)])


def largest_delta(width, epsilon):
    """The worst two-point law, by search over its place."""
    places = np.append(np.linspace(0, width, 20_001), min(max((width + epsilon) / 2, 0), width))
    p = (exp(width) - np.exp(places)) / expm1(width)
    high = p * np.maximum(0, -np.expm1(epsilon - places))
    low = (1 - p) * np.maximum(0, -np.expm1(epsilon - places + width))
    return float((high + low).max())


@pytest.mark.parametrize("width", RANGES)
def test_the_profile_is_the_worst_of_all_two_point_laws(width):
    law = BoundedRangeLoss(width)
    for epsilon in width * np.linspace(-1.5, 1.2, 28):
        assert law.delta(epsilon) == pytest.approx(largest_delta(width, epsilon), rel=1e-9, abs=1e-16)


@pytest.mark.parametrize("width", RANGES)
def test_the_loss_has_that_profile(width):
    """The density, integrated: total mass 1 under both laws, and the same delta."""
    with mpmath.workdps(25):
        scale = 2 * (mpmath.exp(width) - 1)

        def p(loss):
            return mpmath.exp((width + loss) / 2) / scale

        assert mpmath.quad(p, [-width, width]) == pytest.approx(1)
        assert mpmath.quad(lambda x: p(x) * mpmath.exp(-x), [-width, width]) == pytest.approx(1)
        for epsilon in (-0.5 * width, 0.0, 0.4 * width, 0.9 * width):
            gain = mpmath.quad(lambda x, e=epsilon: p(x) * (1 - mpmath.exp(e - x)), [epsilon, width])
            assert BoundedRangeLoss(width).delta(epsilon) == pytest.approx(float(gain), rel=1e-12)
            # Exchanging the two laws gives the same: delta(e) = 1 - exp(e) + exp(e) delta(-e).
            other = 1 - exp(epsilon) + exp(epsilon) * BoundedRangeLoss(width).delta(-epsilon)
            assert BoundedRangeLoss(width).delta(epsilon) == pytest.approx(other, rel=1e-9)


@pytest.mark.parametrize("width", [1e-9, *RANGES, 50.0])
def test_cumulants_and_characteristic_functions_are_integrals(width):
    law = BoundedRangeLoss(width)
    for order in (0.01, 1.0, 30.0):
        with mpmath.workdps(40):
            w, s = mpmath.mpf(width), mpmath.mpf(order)
            moment = mpmath.sinh((s + 0.5) * w) / ((2 * s + 1) * mpmath.sinh(w / 2))
            assert law.cumulants_at(np.array([order]))[0] == pytest.approx(
                float(mpmath.log(moment)), rel=1e-11
            )
        tilted = law.tilted(order)
        step, count = 3.3 / width / 8, 40
        found = tilted.line(step, count)
        slope = mpmath.mpf(order + 0.5)
        with mpmath.workdps(40):
            whole = mpmath.sinh(slope * w) / slope
            mean = w * mpmath.coth(slope * w) - 1 / slope
            variance = 1 / slope**2 - (w / mpmath.sinh(slope * w)) ** 2
            assert tilted.variance == pytest.approx(float(variance), rel=1e-9)
            assert abs(tilted.mean - mean) <= 1e-14 * width
            for k in (0, 1, 7, 39):
                y = mpmath.mpf(step * k)
                z = slope + 1j * y
                exact = mpmath.sinh(z * w) / z / whole * mpmath.exp(-1j * y * tilted.mean)
                assert abs(found[k] - complex(exact)) <= tilted.rounding(step, count)[k]


@pytest.mark.parametrize("width", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("order", [0.1, 3.0, 200.0])
def test_blocks_bound_the_characteristic_function(width, order):
    tilted = BoundedRangeLoss(width).tilted(order)
    generator = np.random.default_rng()
    low = np.concatenate([generator.uniform(0, 10, 50), generator.uniform(0, 100, 50)]) / width
    high = low + np.concatenate([generator.uniform(0, 0.5, 50), generator.uniform(0, 10, 50)]) / width
    bound, ceiling = tilted.bound(low, high), tilted.ceiling(low)
    assert (bound <= ceiling + 1e-12).all()
    slope = order + 0.5
    for share in np.linspace(0, 1, 7):
        y = low + share * (high - low)
        turn = np.exp(-2 * slope * width - 2j * y * width)
        modulus = np.abs((1 - turn) / (1 + 1j * y / slope)) / -np.expm1(-2 * slope * width)
        assert (modulus <= bound + 1e-12).all()


@pytest.mark.parametrize("width", RANGES)
def test_its_cells_bound_it(width):
    pair = BoundedRangePair(width)
    exact = pair.law(0, "upper", 3)
    for count in (5, 50, 1000):
        cells = pair.outcomes(count)
        assert cells.p.sum() == pytest.approx(1, abs=1e-13)
        assert cells.q.sum() == pytest.approx(1, abs=1e-13)
        for epsilon in width * np.linspace(0, 1, 9):
            assert cells.law("lower").delta(epsilon) <= exact.delta(epsilon) + 1e-14
            assert cells.law("upper").delta(epsilon) >= exact.delta(epsilon) - 1e-14


@pytest.mark.parametrize("width", [0.3, 2.0])
def test_no_law_of_that_range_exceeds_it(width):
    generator = np.random.default_rng()
    pair = BoundedRangePair(width)
    for _ in range(200):
        p = generator.dirichlet(np.full(generator.integers(2, 7), 0.7))
        losses = generator.choice([0.0, width, generator.uniform(0, width)], size=len(p))
        q = p * np.exp(-losses)
        q /= q.sum()  # which moves all losses by the same
        for epsilon in width * np.linspace(-1.1, 1.1, 23):
            assert of_masses(p, q, epsilon) <= upper(pair, 0, epsilon) + 1e-13
            assert of_masses(q, p, epsilon) <= upper(pair, 0, epsilon) + 1e-13


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("epsilon", [0.2, 1.5])
def test_exponential_choices_stay_below(epsilon, monotone):
    """Random scores and neighbors of theirs, in both directions."""
    generator = np.random.default_rng()
    pair = pair_of(events.ExponentialChoice(epsilon=str(epsilon)))
    rate = epsilon / (1 if monotone else 2)
    closest = 0.0
    for _ in range(300):
        number = generator.integers(2, 9)
        scores = generator.uniform(-4, 4, number) / rate
        change = generator.choice([0.0, 1.0], number) if monotone else generator.choice([-1.0, 1.0], number)
        laws = [np.exp(rate * (s - s.max())) for s in (scores, scores + change)]
        p, q = (law / law.sum() for law in laws)
        for at in epsilon * np.linspace(-1, 1, 11):
            for first, second in ((p, q), (q, p)):
                found, limit = of_masses(first, second, at), upper(pair, 0, at)
                assert found <= limit + 1e-13
                closest = max(closest, found / limit if at >= 0 and limit > 1e-12 else 0.0)
    assert closest > 0.9


@pytest.mark.parametrize("epsilon", [0.2, 1.5])
def test_two_candidates_attain_the_lower_bound(epsilon):
    pair = pair_of(events.ExponentialChoice(epsilon=str(epsilon)))
    rate = epsilon / 2
    laws = [np.exp(rate * np.array(scores)) for scores in ((0.5, -0.5), (-0.5, 0.5))]
    p, q = (law / law.sum() for law in laws)
    for at in (0.0, epsilon / 5, epsilon / 3):
        assert pair.law(0, "lower", 3).delta(at) == pytest.approx(of_masses(p, q, at), rel=1e-12)
        assert pair.law(0, "lower", 3).delta(at) <= upper(pair, 0, at) + 1e-15


def test_it_is_less_than_any_pure_law_and_no_less_than_half_of_it():
    choice, pure, half = (
        pair_of(event)
        for event in (
            events.ExponentialChoice(epsilon=1),
            events.Pure(epsilon=1),
            events.Pure(epsilon="1/2"),
        )
    )
    for at in (0.0, 0.3, 0.8):
        assert upper(half, 0, at) <= upper(choice, 0, at) + 1e-15 < upper(pure, 0, at)
    variances = [pair.law(0, "upper", 3).tilted(0.0).variance for pair in (half, choice, pure)]
    assert variances == sorted(variances)


def test_no_range_is_nothing_and_a_tiny_one_is_almost_nothing():
    assert pair_of(events.ExponentialChoice(epsilon=0)) is NO_LOSS
    law = pair_of(events.ExponentialChoice(epsilon="1e-9")).law(0, "upper", 3)
    assert law.tilted(1.0).variance == pytest.approx(1e-18 / 3, rel=1e-8)
    assert sqrt(law.delta(0.0)) > 0
