from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.right import IntegerGaussian, IntegerLaplace
from discreet.audit.divergence import (
    _inverse_power,
    compare_laws,
    least_delta,
    least_renyi_sum,
    tightest,
    worst_ratio,
)
from discreet.audit.enumeration import OutputLaw, output_law
from discreet.privacy.guarantees import ApproximateDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP

TINY = Fraction(1, 10**12)


@pytest.fixture(scope="module")
def laplace():
    mechanism = IntegerLaplace()
    return [output_law(mechanism.release, x) for x in (0, 1)]


@pytest.fixture(scope="module")
def gaussian():
    mechanism = IntegerGaussian()
    return [output_law(mechanism.release, x) for x in (0, 1)]


def law_of(masses, unresolved=Fraction(0)):
    return OutputLaw(masses=dict(masses), unresolved=unresolved, runs=len(masses), decisions=1)


def test_exact_laplace_is_accepted_at_its_epsilon_and_rejected_a_trillionth_below(laplace):
    for p, q in (laplace, laplace[::-1]):
        assert not compare_laws(p, q, PureDP(epsilon=1)).violated
        assert compare_laws(p, q, PureDP(epsilon=1 - TINY)).violated


def test_a_mass_that_is_a_trillionth_too_large_is_rejected(laplace):
    p, q = laplace
    masses = dict(p.masses)
    masses[0] *= 1 + TINY
    masses[1] -= p.masses[0] * TINY
    assert compare_laws(law_of(masses, p.unresolved), q, PureDP(epsilon=1)).violated


def test_an_output_on_one_side_only_is_rejected_unless_unresolved_mass_explains_it():
    p = law_of({0: Fraction(99, 100), 1: Fraction(1, 100)})
    assert compare_laws(p, law_of({0: Fraction(1)}), PureDP(epsilon=50)).violated
    assert compare_laws(p, law_of({0: Fraction(1) - TINY}, TINY), PureDP(epsilon=5)).violated
    assert not compare_laws(p, law_of({0: Fraction(99, 100)}, Fraction(1, 100)), PureDP(epsilon=5)).violated


def test_many_small_excesses_count_together():
    # Each output exceeds by less than the unresolved mass can explain; all together do not.
    count, unresolved = 100, Fraction(1, 1000)
    p = law_of({y: Fraction(2 if y < count // 2 else 1, 150) for y in range(count)})
    q = law_of(dict.fromkeys(range(count), (1 - unresolved) / count), unresolved)
    assert all(p.masses[y] <= 1.28 * (q.masses[y] + unresolved) for y in range(count))
    assert compare_laws(p, q, PureDP(epsilon=Fraction(1, 4))).violated


def test_hockey_stick_of_the_gaussian_is_that_of_its_formula(gaussian):
    with mpmath.workprec(200):
        mass = {y: mpmath.exp(-mpmath.mpf(y * y) / 8) for y in range(-200, 201)}
        total = mpmath.fsum(mass.values())
        for epsilon in (Fraction(0), Fraction(1, 2), Fraction(2)):
            power = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
            exact = mpmath.fsum(
                max(mass[y] - power * mass[y - 1], mpmath.mpf(0)) / total for y in range(-199, 201)
            )
            found = least_delta(gaussian[1], gaussian[0], epsilon)
            assert abs(mpmath.mpf(found.numerator) / found.denominator - exact) < 1e-17
            assert not compare_laws(
                *gaussian, ApproximateDP(epsilon=epsilon, delta=found + Fraction(1, 10**15))
            ).violated
            assert compare_laws(*gaussian, ApproximateDP(epsilon=epsilon, delta=found * (1 - TINY))).violated


@pytest.mark.parametrize("order", [Fraction(9, 8), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(17)])
def test_renyi_divergence_of_the_gaussian_is_that_of_its_formula(gaussian, order):
    found = least_renyi_sum(*gaussian, order)
    with mpmath.workprec(200):
        mass = {y: mpmath.exp(-mpmath.mpf(y * y) / 8) for y in range(-300, 301)}
        total = mpmath.fsum(mass.values())
        alpha = mpmath.mpf(order.numerator) / order.denominator
        exact = mpmath.fsum(mass[y] ** alpha * mass[y - 1] ** (1 - alpha) / total for y in range(-280, 300))
        value = mpmath.mpf(found.numerator) / found.denominator
        assert value <= exact
        # Beyond small orders, outputs too rare to be enumerated carry the divergence.
        assert order > 4 or value > exact * (1 - mpmath.mpf(10) ** -12)


def test_zero_concentrated_claims_are_tight(gaussian):
    for p, q in (gaussian, gaussian[::-1]):
        assert not compare_laws(p, q, ZeroConcentratedDP(rho=Fraction(1, 8))).violated
        assert compare_laws(p, q, ZeroConcentratedDP(rho=Fraction(1, 8) * (1 - Fraction(1, 10**9)))).violated


def test_renyi_claims_round_their_order_down(gaussian):
    for order in (Fraction(2), Fraction(22, 10), Fraction(1001, 10)):
        assert not compare_laws(*gaussian, RenyiDP(order=order, epsilon=order / 8)).violated
    assert compare_laws(*gaussian, RenyiDP(order=2, epsilon=Fraction(1, 4) - Fraction(1, 10**9))).violated
    assert compare_laws(
        *gaussian, RenyiDP(order="2.05", epsilon=Fraction(1, 4) - Fraction(1, 10**9))
    ).violated
    assert "close to 1" in compare_laws(*gaussian, RenyiDP(order="1.01", epsilon=0)).detail


def test_gaussian_claims(gaussian, laplace):
    # Discrete noise of sigma 2 needs a little more than mu = 1/2.
    assert not compare_laws(*gaussian, GaussianDP(mu=Fraction(6, 10))).violated
    assert compare_laws(*gaussian, GaussianDP(mu=Fraction(4, 10))).violated
    assert compare_laws(*laplace, GaussianDP(mu=Fraction(1, 2))).violated


def test_zero_claims():
    p, q = law_of({0: Fraction(1, 2), 1: Fraction(1, 2)}), law_of({0: Fraction(1, 3), 1: Fraction(2, 3)})
    for claim in (
        PureDP(epsilon=0),
        ApproximateDP(epsilon=0, delta=0),
        ZeroConcentratedDP(rho=0),
        GaussianDP(mu=0),
    ):
        assert not compare_laws(p, p, claim).violated
        assert compare_laws(p, q, claim).violated


laws = st.lists(st.integers(1, 50), min_size=4, max_size=4).map(
    lambda weights: law_of({y: Fraction(w, sum(weights)) for y, w in enumerate(weights)})
)


@given(laws, laws, st.fractions(0, 2, max_denominator=10))
def test_hockey_stick_is_the_best_of_all_events(p, q, epsilon):
    with mpmath.workprec(200):
        power = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        events = chain.from_iterable(combinations(range(4), size) for size in range(5))
        best = max(
            sum(
                (mpmath.mpf(p.masses[y].numerator) / p.masses[y].denominator)
                - power * (mpmath.mpf(q.masses[y].numerator) / q.masses[y].denominator)
                for y in event
            )
            for event in events
        )
        found = least_delta(p, q, epsilon)
        value = mpmath.mpf(found.numerator) / found.denominator
        assert value <= best + mpmath.mpf(2) ** -190
        assert abs(value - best) < mpmath.mpf(2) ** -150


@given(laws, laws, st.integers(1, 80))
def test_renyi_sum_is_a_tight_lower_bound(p, q, sixteenths):
    order = 1 + Fraction(sixteenths, 16)
    with mpmath.workprec(300):
        exact = mpmath.fsum(
            mpmath.mpf(p.masses[y].numerator)
            / p.masses[y].denominator
            * (mpmath.mpf((p.masses[y] / q.masses[y]).numerator) / (p.masses[y] / q.masses[y]).denominator)
            ** (mpmath.mpf(sixteenths) / 16)
            for y in range(4)
        )
        found = least_renyi_sum(p, q, order)
        value = mpmath.mpf(found.numerator) / found.denominator
        assert exact * (1 - mpmath.mpf(2) ** -150) <= value <= exact * (1 + mpmath.mpf(2) ** -290)


@given(laws, laws, st.fractions(0, Fraction(1, 10), max_denominator=1000))
def test_less_resolved_laws_never_look_worse(p, q, hidden):
    dimmed = law_of({y: mass * (1 - hidden) for y, mass in q.masses.items()}, hidden)
    assert worst_ratio(p, dimmed) <= worst_ratio(p, q)
    assert least_delta(p, dimmed, Fraction(1, 2)) <= least_delta(p, q, Fraction(1, 2))
    assert least_renyi_sum(p, dimmed, Fraction(2)) <= least_renyi_sum(p, q, Fraction(2))


@given(st.fractions(0, 60, max_denominator=100))
def test_powers_are_rounded_up(epsilon):
    low, bits = _inverse_power(epsilon)
    with mpmath.workprec(1000):
        exact = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        power = mpmath.mpf(1 << bits) / low
        assert exact <= power * (1 + mpmath.mpf(2) ** -900)
        assert power <= exact * (1 + mpmath.mpf(2) ** -200)


def test_orders_off_the_grid_are_an_error(laplace):
    with pytest.raises(ValueError, match="16"):
        least_renyi_sum(*laplace, Fraction(4, 3))


def test_violations_come_before_tightness(laplace):
    right, wrong = (compare_laws(*laplace, PureDP(epsilon=epsilon)) for epsilon in (1, Fraction(1, 2)))
    assert tightest([right, wrong, right]) is wrong
