"""What guarantees mean, against brute force over every set of outcomes and every test."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from discreet.accounting.meaning import (
    advantage,
    hockey_stick,
    hockey_stick_at,
    posterior,
    privacy_loss,
    tradeoff,
    true_positive_rate,
)
from discreet.errors import ParameterError
from discreet.privacy import ApproximateDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP

RATES = [Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)]
ORDERS = np.concatenate([1 + np.geomspace(1e-4, 1, 400), np.geomspace(2, 1e4, 800)])

weights = st.lists(st.integers(0, 9), min_size=5, max_size=5).filter(any)
laws = weights.map(lambda w: {y: Fraction(n, sum(w)) for y, n in enumerate(w)})
full_laws = st.lists(st.integers(1, 9), min_size=5, max_size=5).map(
    lambda w: {y: Fraction(n, sum(w)) for y, n in enumerate(w)}
)
factors = st.fractions(0, 8, max_denominator=12)


def every_set(p, q):
    """The probabilities (P(S), Q(S)) of all sets S of outcomes."""
    outcomes = sorted({*p, *q})
    for size in range(len(outcomes) + 1):
        for chosen in combinations(outcomes, size):
            yield (
                sum((p.get(y, 0) for y in chosen), Fraction(0)),
                sum((q.get(y, 0) for y in chosen), Fraction(0)),
            )


# Finite laws ---------------------------------------------------------------------------------------


@given(laws, laws, factors)
def test_the_hockey_stick_is_the_largest_gap_of_all_sets(p, q, factor):
    assert hockey_stick_at(p, q, factor) == max(a - factor * b for a, b in every_set(p, q))
    assert hockey_stick(p, q, 0) == hockey_stick_at(p, q, 1)


@given(laws, laws, st.fractions(-3, 3, max_denominator=20))
def test_away_from_zero_it_is_rounded_up_and_hardly(p, q, epsilon):
    with mpmath.workdps(60):
        factor = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        gaps = [
            mpmath.mpf(a.numerator) / a.denominator - factor * mpmath.mpf(b.numerator) / b.denominator
            for a, b in every_set(p, q)
        ]
        found = hockey_stick(p, q, epsilon)
        excess = mpmath.mpf(found.numerator) / found.denominator - max(gaps)
        assert -mpmath.mpf("1e-55") <= excess <= mpmath.mpf("1e-36")


@given(laws, laws, st.fractions(-2, 3, max_denominator=20))
def test_a_tail_below_delta_implies_delta_and_the_hockey_stick_is_never_larger(p, q, epsilon):
    loss = privacy_loss(p, q)
    threshold = math.exp(epsilon)
    tail = sum(mass for y, mass in p.items() if mass and (not q.get(y) or mass / q[y] > threshold))
    assert loss.tail(epsilon) == tail or epsilon == 0
    assert loss.delta(epsilon) <= loss.tail(epsilon)
    assert sum(loss.masses) + loss.infinity == 1
    assert list(loss.ratios) == sorted(set(loss.ratios))


@given(laws, laws, st.fractions(0, 1, max_denominator=30))
def test_epsilon_is_the_inverse_of_delta(p, q, delta):
    loss = privacy_loss(p, q)
    epsilon = loss.epsilon(delta)
    if epsilon == math.inf:
        assert loss.infinity > delta
        return
    assert loss.delta(Fraction(epsilon)) <= delta
    if epsilon > 0:
        assert loss.delta_at(Fraction(math.exp(epsilon)) * Fraction(999_999, 10**6)) > delta


@given(full_laws, full_laws)
def test_the_mean_loss_is_the_relative_entropy(p, q):
    exact = mpmath.fsum(
        float(a) * mpmath.log(mpmath.mpf(a.numerator * q[y].denominator) / (a.denominator * q[y].numerator))
        for y, a in p.items()
    )
    assert privacy_loss(p, q).mean == pytest.approx(float(exact), abs=1e-14)
    assert list(privacy_loss(p, q).losses) == pytest.approx(
        sorted({math.log(a / q[y]) for y, a in p.items()})
    )


@given(laws, laws, st.fractions(0, 1, max_denominator=20), factors)
def test_the_tradeoff_is_the_lower_hull_of_all_tests(p, q, rate, factor):
    curve = tradeoff(p, q)
    tests = [(a, 1 - b) for a, b in every_set(p, q)]
    best = min(
        beta + (other - beta) * (rate - alpha) / (right - alpha) if right > alpha else min(beta, other)
        for alpha, beta in tests
        for right, other in tests
        if alpha <= rate <= right
    )
    assert curve(rate) == best
    assert set(curve.vertices) <= set(tests)
    assert curve.advantage == max(1 - alpha - beta for alpha, beta in tests) == hockey_stick(p, q, 0)
    assert curve.delta_at(factor) == hockey_stick_at(q, p, factor)
    assert curve.inverse == tradeoff(q, p)


def test_tradeoffs_of_extreme_laws():
    one, zero = Fraction(1), Fraction(0)
    assert tradeoff({0: 1}, {0: 1}).vertices == ((zero, one), (one, zero))
    assert tradeoff({0: 1}, {1: 1}).vertices == ((zero, zero), (one, zero))
    assert tradeoff({0: 1}, {1: 1}).inverse == tradeoff({1: 1}, {0: 1})
    assert privacy_loss({0: 1}, {1: 1}).epsilon(0.5) == math.inf
    assert hockey_stick({0: 1}, {1: 1}, 10**6) == 1
    assert hockey_stick({0: 1}, {0: 1}, -(10**6)) == 1
    assert hockey_stick({0: 1}, {0: 1}, 10**6) == 0


def test_floats_are_the_decimals_that_were_typed():
    assert hockey_stick({"a": 0.1, "b": 0.9}, {"a": 0.3, "b": 0.7}, 0) == Fraction(1, 5)
    third = 1 / 3
    assert privacy_loss({0: third, 1: third, 2: third}, {0: 1}).infinity == Fraction(2, 3)
    for bad in (
        {0: 0.5},
        {0: 1.5},
        {0: -0.5, 1: 1.5},
        {0: Fraction(1, 3), 1: Fraction(2, 3) - Fraction(1, 10**12)},
        {},
    ):
        with pytest.raises(ParameterError, match=r"^p "):
            privacy_loss(bad, {0: 1})
    with pytest.raises(ParameterError, match=r"^q .*mapping"):
        tradeoff({0: 1}, [1])
    with pytest.raises(ParameterError, match=r"^false_positive_rate "):
        tradeoff({0: 1}, {0: 1})(2)


# Guarantees ----------------------------------------------------------------------------------------


def smallest_guarantees(p, q):
    """Guarantees, of each kind, that two laws just have."""
    both = [privacy_loss(p, q), privacy_loss(q, p)]
    epsilon = Fraction(max(loss.epsilon(0) for loss in both))
    yield PureDP(epsilon=epsilon)
    half = epsilon / 2
    yield ApproximateDP(epsilon=half, delta=max(loss.delta(half) for loss in both))
    curves = [renyi(p, q), renyi(q, p)]
    yield ZeroConcentratedDP(rho=Fraction(max(float(np.max(c / ORDERS)) for c in curves) * (1 + 1e-9)))
    yield RenyiDP(order=Fraction(ORDERS[500]), epsilon=Fraction(max(c[500] for c in curves) * (1 + 1e-9)))
    yield lambda e: float(max(loss.delta(Fraction(e)) for loss in both)) * (1 + 1e-15)


def renyi(p, q):
    a, b = (np.array([float(law[y]) for y in sorted(law)]) for law in (p, q))
    logs = ORDERS[:, None] * np.log(a) + (1 - ORDERS[:, None]) * np.log(b)
    return np.logaddexp.reduce(logs, axis=1) / (ORDERS - 1)


@settings(max_examples=30, deadline=None)
@given(full_laws, full_laws)
def test_no_test_of_two_laws_does_better_than_their_guarantees_allow(p, q):
    if p == q:
        return
    curve = tradeoff(q, p)  # the attacker rejects q, the law without the person
    for guarantee in smallest_guarantees(p, q):
        assert float(curve.advantage) <= advantage(guarantee)
        for rate in RATES:
            assert float(1 - curve(rate)) <= true_positive_rate(guarantee, rate)


@given(
    full_laws,
    full_laws,
    st.sampled_from(RATES),
    st.sampled_from([Fraction(0), Fraction(1, 20), Fraction(1, 3)]),
)
def test_no_answer_moves_an_opinion_further_but_with_the_stated_probability(p, q, prior, failure):
    if p == q:
        return
    after = {y: prior * p[y] / (prior * p[y] + (1 - prior) * q[y]) for y in p}
    for guarantee in smallest_guarantees(p, q):
        bound = posterior(guarantee, prior, failure=failure)
        for law in (p, q):
            assert sum(mass for y, mass in law.items() if after[y] > bound) <= failure


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 1000), Fraction(1, 5)])
@pytest.mark.parametrize("ratio", [Fraction(11, 10), Fraction(3), Fraction(50)])
def test_pure_and_approximate_bounds_are_attained(ratio, delta):
    keep = (1 - delta) / (1 + ratio)
    p = {"sure": delta, "more": keep * ratio, "less": keep, "never": Fraction(0)}
    q = {"sure": Fraction(0), "more": keep, "less": keep * ratio, "never": delta}
    epsilon = privacy_loss(p, q).epsilon(delta)
    guarantee = ApproximateDP(epsilon=epsilon, delta=delta) if delta else PureDP(epsilon=epsilon)
    curve = tradeoff(q, p)
    assert advantage(guarantee) == pytest.approx(float(curve.advantage), rel=1e-9)
    for rate in [0, *RATES, 1]:
        assert true_positive_rate(guarantee, rate) == pytest.approx(float(1 - curve(rate)), rel=1e-9)
    if delta == 0:
        for prior in RATES:
            most = prior * ratio / (prior * ratio + 1 - prior)
            assert posterior(guarantee, prior) == pytest.approx(float(most), rel=1e-9)


@pytest.mark.parametrize("mu", [0.01, 1, 3])
def test_gaussian_bounds_are_those_of_two_normal_laws(mu):
    guarantee = GaussianDP(mu=mu)
    cuts = np.linspace(-12, 12, 200_001)
    assert advantage(guarantee) == pytest.approx(
        np.max(special.ndtr(mu - cuts) - special.ndtr(-cuts)), abs=1e-9
    )
    with mpmath.workdps(30):
        for rate in RATES:
            start = mpmath.mpf(float(special.ndtri(float(rate))))
            cut = mpmath.findroot(
                lambda x, f=rate: mpmath.ncdf(x) - mpmath.mpf(f.numerator) / f.denominator, start
            )
            assert true_positive_rate(guarantee, rate) == pytest.approx(
                float(mpmath.ncdf(cut + mu)), rel=1e-10
            )
    # The normal pair itself, whose loss is N(mu^2 / 2, mu^2), must be within the bound.
    for failure in (0.001, 0.1):
        loss = mu**2 / 2 - mu * special.ndtri(failure)
        assert posterior(guarantee, 0.5, failure=failure) >= special.expit(loss)
        assert (
            posterior(guarantee, 0.5, failure=failure)
            <= special.expit(mu**2 / 2 + 2 * mu * math.sqrt(math.log(1 / failure) / 2) + 1e-9) + 1e-3
        )
    assert posterior(guarantee, 0.5) == 1


@pytest.mark.parametrize("rho", [Fraction(1, 10**6), Fraction(1, 50), Fraction(1), Fraction(4)])
def test_concentrated_bounds_are_attained_by_two_outcomes(rho):
    guarantee = ZeroConcentratedDP(rho=rho)
    wide = advantage(guarantee)
    cases = [((1 + wide) / 2, (1 - wide) / 2)] + [(true_positive_rate(guarantee, f), float(f)) for f in RATES]
    for t, f in cases:
        assert f < t < 1
        slightly_less = f + (t - f) * 0.999
        for high, inside in ((t, False), (slightly_less, True)):
            p, q = {0: high, 1: 1 - high}, {0: f, 1: 1 - f}
            tightest = max(np.max(renyi(p, q) / ORDERS), np.max(renyi(q, p) / ORDERS))
            assert (tightest <= float(rho)) == inside or abs(tightest / float(rho) - 1) < 1e-4
    # Two normal laws with this rho are one example of many.
    normal = GaussianDP(mu=math.sqrt(2 * rho) * (1 - 1e-12))
    assert advantage(normal) <= wide
    assert all(true_positive_rate(normal, f) <= true_positive_rate(guarantee, f) for f in RATES)


def test_a_curve_says_what_its_guarantee_says():
    approximate = ApproximateDP(epsilon=1, delta=0.01)

    def known(epsilon):
        """The whole curve of the worst pair of (1, 0.01)."""
        return 0.01 + 0.99 * max(0.0, (math.e - math.exp(epsilon)) / (math.e + 1)) if epsilon < 1 else 0.01

    def normal(epsilon, mu=1.5):
        return special.ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * special.ndtr(-mu / 2 - epsilon / mu)

    for curve, guarantee in ((known, approximate), (normal, GaussianDP(mu=1.5))):
        assert advantage(curve) == pytest.approx(advantage(guarantee), rel=1e-6)
        for rate in RATES:
            assert true_positive_rate(curve, rate) == pytest.approx(
                true_positive_rate(guarantee, rate), rel=2e-3
            )
            assert true_positive_rate(curve, rate) >= true_positive_rate(guarantee, rate) * (1 - 1e-9)
        assert posterior(curve, 0.1, failure=0.05) == pytest.approx(
            posterior(guarantee, 0.1, failure=0.05), rel=2e-3
        )
    assert posterior(approximate, 0.1, failure=0.01) == 1


def test_the_ends_and_bad_input():
    everything = [
        PureDP(epsilon=10**9),
        ApproximateDP(epsilon=10**400, delta=1),
        ZeroConcentratedDP(rho=10**9),
        GaussianDP(mu=10**9),
        lambda e: 1.0,
    ]
    for guarantee in everything:
        assert (
            advantage(guarantee)
            == true_positive_rate(guarantee, 0.5)
            == posterior(guarantee, 0.5, failure=0.1)
            == 1
        )
    nothing = [
        PureDP(epsilon=0),
        ApproximateDP(epsilon=0, delta=0),
        ZeroConcentratedDP(rho=0),
        RenyiDP(order=2, epsilon=0),
        GaussianDP(mu=0),
        lambda e: 0.0,
    ]
    for guarantee in nothing:
        assert advantage(guarantee) == pytest.approx(0, abs=1e-6)
        assert posterior(guarantee, 0.25) == pytest.approx(0.25)
        assert true_positive_rate(guarantee, 0.25) == pytest.approx(0.25, abs=1e-6)
        assert (
            [true_positive_rate(guarantee, x) for x in (0, 1)]
            == [posterior(guarantee, x) for x in (0, 1)]
            == [0, 1]
        )
    for act, name in (
        (lambda: true_positive_rate(PureDP(epsilon=1), -0.1), "false_positive_rate"),
        (lambda: posterior(PureDP(epsilon=1), 1.1), "prior"),
        (lambda: posterior(PureDP(epsilon=1), 0.1, failure=math.nan), "failure"),
        (lambda: advantage(1.0), "guarantee"),
        (lambda: advantage(lambda e: math.nan), "guarantee"),
        (lambda: advantage(lambda e: -0.1), "guarantee"),
    ):
        with pytest.raises(ParameterError, match=f"^{name} "):
            act()
