"""Finite laws are charged by their definition, and profiles by the worst law that has them."""

from __future__ import annotations

from itertools import product
from math import exp, log

import numpy as np
import pytest

from accounting.loss.profiles import of_masses, upper
from discreet import accounting
from discreet.accounting.loss.finite import broken_line, either_way, worst_outcomes
from discreet.accounting.loss.pair import pair_of
from discreet.privacy import events
from discreet.privacy.neighbors import REPLACE_ROW

P, Q = [0.5, 0.3, 0.15, 0.05], [0.25, 0.3, 0.2, 0.25]
PLAIN = events.FiniteLaws(outcomes=list(zip(P, Q, strict=True)))
EPSILONS = (0.0, 0.2, 0.7, 1.3, 2.5)


def _random_law(generator, size):
    return generator.dirichlet(np.full(size, 0.7))


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_compositions_are_their_enumeration_in_the_worse_order(steps):
    for epsilon in EPSILONS:
        p = [np.prod(row) for row in product(P, repeat=steps)]
        q = [np.prod(row) for row in product(Q, repeat=steps)]
        truth = max(of_masses(p, q, epsilon), of_masses(q, p, epsilon))
        found = accounting.delta(PLAIN * steps, epsilon=epsilon)
        assert found.certified
        assert found.lower <= truth + 1e-14
        assert found.upper >= truth - 1e-14
        assert found.upper - found.lower <= 1e-10


def test_a_pair_of_its_own_for_the_other_order_is_used_there_only():
    added = [(0.6, 0.5), (0.4, 0.5)]
    pair = pair_of(events.FiniteLaws(outcomes=list(zip(P, Q, strict=True)), added=added))
    for epsilon in EPSILONS:
        assert upper(pair, 0, epsilon) == pytest.approx(of_masses(P, Q, epsilon), abs=1e-14)
        assert upper(pair, 1, epsilon) == pytest.approx(of_masses([0.6, 0.4], [0.5, 0.5], epsilon), abs=1e-14)


@pytest.mark.parametrize("rate", [0.1, 0.7])
def test_both_pairs_are_sampled_by_the_definition(rate):
    added = [(0.6, 0.5), (0.4, 0.4), (0, 0.1)]
    event = events.FiniteLaws(outcomes=list(zip(P, Q, strict=True)), added=added)
    pair = pair_of(events.PoissonSampled(event, rate=rate))
    mixed = (1 - rate) * np.array(Q) + rate * np.array(P)
    first, second = np.array(added).T
    for epsilon in EPSILONS:
        assert upper(pair, 0, epsilon) == pytest.approx(of_masses(mixed, Q, epsilon), abs=1e-14)
        back = of_masses(first, (1 - rate) * first + rate * second, epsilon)
        assert upper(pair, 1, epsilon) == pytest.approx(back, abs=1e-14)


def test_where_neighbors_have_no_order_steps_may_be_told_apart_either_way():
    """An adversary who turns every other step round exceeds both orders alone, and not the charge."""
    event = events.FiniteLaws(outcomes=[(0.5, 0.1), (0.5, 0.9)], neighbors=REPLACE_ROW)
    p, q = np.array([0.5, 0.5]), np.array([0.1, 0.9])
    mixed = np.outer(p, q).ravel(), np.outer(q, p).ravel()
    alone = np.outer(p, p).ravel(), np.outer(q, q).ravel()
    exceeded = False
    for epsilon in np.linspace(0, 3, 31):
        charged = accounting.delta(event * 2, epsilon=epsilon)
        truth = of_masses(*mixed, epsilon)
        one_way = max(of_masses(*alone, epsilon), of_masses(*alone[::-1], epsilon))
        assert charged.upper >= max(truth, one_way) - 1e-13
        assert charged.lower <= max(truth, one_way) + 1e-13
        exceeded |= truth > one_way + 1e-3
    assert exceeded


def test_the_larger_profile_of_both_orders_dominates_both():
    generator = np.random.default_rng()
    for _ in range(20):
        p, q = _random_law(generator, 5), _random_law(generator, 5)
        event = events.FiniteLaws(
            outcomes=[(float(a) * 0.999, float(b) * 0.999) for a, b in zip(p, q, strict=True)]
        )
        found = np.array([[float(x) for x in pair] for pair in either_way(event.outcomes)]).T
        assert found.sum(axis=1) == pytest.approx([1, 1], abs=1e-12)
        inner = np.array([[float(x) for x in pair] for pair in event.outcomes]).T
        for epsilon in np.linspace(-4, 4, 41):
            truth = max(of_masses(*inner, epsilon), of_masses(*inner[::-1], epsilon))
            assert of_masses(*found, epsilon) >= truth - 1e-12
            assert of_masses(*found, epsilon) == pytest.approx(of_masses(*found[::-1], epsilon), abs=1e-12)


def test_one_point_is_the_worst_law_of_an_epsilon_and_delta():
    one, other = events.PrivacyProfile(points=[(1, 1e-3)]), events.Approximate(epsilon=1, delta=1e-3)
    for epsilon in (0, 0.5, 2):
        found, known = (accounting.delta(event * 3, epsilon=epsilon) for event in (one, other))
        assert found.upper == pytest.approx(known.upper, rel=1e-9)


def test_no_law_of_a_profile_exceeds_its_worst_law_and_the_worst_law_has_the_profile():
    generator = np.random.default_rng()
    for _ in range(30):
        p, q = _random_law(generator, 6), _random_law(generator, 6)
        points = []
        for epsilon in (0.0, 0.4, 1.1, 2.0):
            delta = max(of_masses(p, q, epsilon), of_masses(q, p, epsilon))
            points.append((epsilon, min(1.0, delta * (1 + 1e-12))))
        event = events.PrivacyProfile(points=points)
        worst = np.array([[float(x) for x in pair] for pair in worst_outcomes(event)]).T
        assert worst.sum(axis=1) == pytest.approx([1, 1], abs=1e-12)
        for epsilon in np.linspace(-3, 3, 25):
            assert of_masses(p, q, epsilon) <= of_masses(*worst, epsilon) + 1e-12
        for epsilon, delta in points:
            assert of_masses(*worst, epsilon) <= delta + 1e-12
            assert of_masses(*worst[::-1], epsilon) <= delta + 1e-12


def test_more_points_never_cost_more():
    few = events.PrivacyProfile(points=[(2, 1e-9)])
    more = events.PrivacyProfile(points=[(0.5, 1e-3), (1, 1e-6), (2, 1e-9)])
    assert accounting.epsilon(more * 3, delta=1e-5).upper < accounting.epsilon(few * 3, delta=1e-5).lower / 2


def test_a_broken_line_through_the_corners_of_a_profile_is_its_law():
    q = {0.5: 0.3, 1.0: 0.2, 2.0: 0.2}
    corners = [(g, sum(w * max(r - g, 0) for r, w in q.items()) + 0.25) for g in q]
    exact = worst = broken_line([(_fraction(g), _fraction(h)) for g, h in corners])
    assert {round(float(p / w), 9): round(float(w), 9) for p, w in exact if p and w} == q
    assert float(worst[0][0]) == pytest.approx(0.25)


def _fraction(x):
    from fractions import Fraction

    return Fraction(x).limit_denominator(10**12)


def test_laws_with_nothing_in_common_promise_nothing():
    for event in (
        events.FiniteLaws(outcomes=[(1, 0), (0, 1)]),
        events.PrivacyProfile(points=[(1, 1)]),
        events.PrivacyProfile(points=[(700, 0.5)]),
    ):
        assert pair_of(event) is None
        assert accounting.epsilon(event, delta=0.25).upper == np.inf
        assert accounting.delta(event, epsilon=1).upper == 1


def test_the_largest_loss_is_finite_only_without_missing_mass():
    event = events.FiniteLaws(outcomes=[("1/2", "1/4"), ("1/2", "3/4")])
    assert accounting.epsilon(event * 3, delta=0).upper == pytest.approx(3 * log(2))
    assert accounting.epsilon(PLAIN, delta=0).lower == pytest.approx(log(5), rel=1e-9)
    missing = events.FiniteLaws(outcomes=[("1/2", "1/4"), ("1/4", "3/4")])
    assert accounting.epsilon(missing, delta=0).lower == np.inf
    assert accounting.delta(missing, epsilon=50).lower == pytest.approx(0.25)
    assert exp(float(event.pure_epsilon)) >= 2
