"""Theorems against exact enumeration, mpmath and brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.accounting import theorems
from discreet.accounting.theorems import Cost, Step
from discreet.errors import ParameterError


def enumerated_delta(steps, epsilon):
    """The hockey-stick divergence of composed randomized responses with failures, outcome by outcome."""
    singles = []
    with mpmath.workdps(40):
        for step in steps:
            e, d = mpmath.mpf(repr(step.epsilon)), mpmath.mpf(repr(step.delta))
            p, q = (1 - d) * mpmath.exp(e) / (1 + mpmath.exp(e)), (1 - d) / (1 + mpmath.exp(e))
            singles += [[(d, 0), (p, q), (q, p), (0, d)]] * step.times
        total = mpmath.mpf(0)
        for outcome in product(*singles):
            first, second = mpmath.fprod(a for a, _ in outcome), mpmath.fprod(b for _, b in outcome)
            total += max(0, first - mpmath.exp(epsilon) * second)
        return float(total)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "steps",
    [
        [Step(0.5, 0.0, 5)],
        [Step(1.2, 0.01, 6)],
        [Step(0.1, 0.0, 2), Step(0.3, 0.001, 3)],
        [Step(0.1), Step(0.25), Step(1.0, 0.1), Step(0.45)],
        [Step(math.sqrt(2) / 3, 0.0, 3), Step(math.pi / 10, 0.02, 3)],
        [Step(0.0, 0.1, 2), Step(0.3, 0.0, 2)],
        [Step(0.0, 0.0, 3)],
        [],
    ],
)
def test_optimal_composition_is_the_enumeration(steps):
    exactly = all(Fraction(repr(s.epsilon)).denominator <= 20 for s in steps) or len(steps) == 1
    for epsilon in (0.0, 0.13, 0.5, 1.0, 2.9):
        exact = enumerated_delta(steps, epsilon)
        found = theorems.optimal_delta(steps, epsilon)
        assert exact <= found * (1 + 1e-11) + 1e-16
        assert found <= exact * (1 + (1e-9 if exactly else 1e-3)) + (1e-15 if exactly else 1e-7)


def test_equal_steps_in_two_entries_are_the_same_steps():
    for epsilon in (0.1, 3.0):
        whole = theorems.optimal_delta([Step(0.1, 1e-6, 200)], epsilon)
        parted = theorems.optimal_delta([Step(0.1, 1e-6, 50), Step(0.1, 1e-6, 150)], epsilon)
        assert parted == pytest.approx(whole, rel=1e-10)


def test_many_steps_against_a_binomial_in_high_precision():
    epsilon, times = mpmath.mpf("0.02"), 5000
    with mpmath.workdps(50):
        p = mpmath.exp(epsilon) / (1 + mpmath.exp(epsilon))
        for target in (1, 6):
            exact = mpmath.fsum(
                mpmath.binomial(times, k)
                * p**k
                * (1 - p) ** (times - k)
                * (1 - mpmath.exp(target - (2 * k - times) * epsilon))
                for k in range(times + 1)
                if (2 * k - times) * epsilon > target
            )
            found = theorems.optimal_delta([Step(0.02, 0.0, times)], target)
            assert exact <= found <= exact * (1 + 1e-9)


def test_optimal_epsilon_inverts_and_is_never_worse_than_the_others():
    for steps, delta in [
        ([Step(0.1, 0.0, 100)], 1e-6),
        ([Step(0.5, 1e-4, 20)], 0.01),
        ([Step(0.1, 0, 7), Step(math.pi / 9, 0, 9)], 1e-4),
    ]:
        found = theorems.optimal_epsilon(steps, delta)
        assert theorems.optimal_delta(steps, found) <= delta
        assert theorems.optimal_delta(steps, found * (1 - 1e-6)) > delta
        assert found <= theorems.basic(steps).epsilon * (1 + 1e-9)
        if len(steps) == 1:
            slack = delta - steps[0].times * steps[0].delta
            assert found <= theorems.advanced(steps[0], slack).epsilon
    assert theorems.optimal_epsilon([Step(0.1, 0.1, 3)], 0.1) == math.inf
    assert theorems.optimal_epsilon([Step(0.1, 0.0, 1)], 0.9) == 0
    assert theorems.optimal_epsilon([], 0.0) == 0
    assert math.isfinite(theorems.optimal_epsilon([Step(1e-4, 0.0, 10**9)], 1e-6))


def test_basic_adds_up():
    assert theorems.basic([Step(0.1, 1e-6, 10), Step(0.5, 0.0, 2)]) == Cost(2.0, 1e-5)
    assert theorems.basic([Step(1.0, 0.5, 4)]).delta == 1


def test_advanced_has_the_constants_of_the_textbook():
    found = theorems.advanced(Step(0.1, 1e-6, 50), 1e-5)
    assert found.epsilon == pytest.approx(
        0.1 * math.sqrt(2 * 50 * math.log(1e5)) + 50 * 0.1 * (math.exp(0.1) - 1)
    )
    assert found.delta == pytest.approx(6e-5)
    taught = theorems.strong_as_taught(Step(0.1, 1e-6, 50), 1e-5)
    assert taught.epsilon == pytest.approx(0.1 * math.sqrt(100 * math.log(1e5)))


def test_what_is_taught_is_no_guarantee_at_large_epsilon():
    # Randomized response at epsilon 1.2, 400 times: the optimum is far above the leading term.
    step = Step(1.2, 0.0, 400)
    assert theorems.optimal_epsilon([step], 0.01) > 2 * theorems.strong_as_taught(step, 0.01).epsilon


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 30), st.floats(0, 1))
def test_amplification_holds_for_two_outcomes(a, b, c, rate):
    p, q = np.array([a, c]) / (a + c), np.array([b, c]) / (b + c)
    epsilon = float(np.max(np.abs(np.log(p / q))))
    found = theorems.amplified(Cost(epsilon, 0), rate).epsilon
    mixture = (1 - rate) * q + rate * p
    assert np.max(np.abs(np.log(mixture / q))) <= found + 1e-12
    if epsilon <= 1.2:
        assert found <= theorems.amplified_as_taught(Cost(epsilon, 0), rate).epsilon + 1e-15


def test_amplification_is_attained_and_scales_delta():
    e = math.e
    p, q = e / (1 + e), 1 / (1 + e)
    assert math.log((0.9 * q + 0.1 * p) / q) == pytest.approx(theorems.amplified(Cost(1, 0), 0.1).epsilon)
    assert theorems.amplified(Cost(1, 0.5), 0.1).delta == pytest.approx(0.05)
    assert theorems.amplified(Cost(1e6, 0), 0.1).epsilon == 1e6
    # An (epsilon, delta) pair: with probability delta all is told.
    for epsilon, delta, rate in [(0.5, 0.1, 0.3), (2, 0.01, 0.05)]:
        e = math.exp(epsilon)
        p = np.array([delta, (1 - delta) * e / (1 + e), (1 - delta) / (1 + e), 0])
        mixture = (1 - rate) * p[::-1] + rate * p
        found = theorems.amplified(Cost(epsilon, delta), rate)
        for first, second in ((mixture, p[::-1]), (p[::-1], mixture)):
            assert np.maximum(first - math.exp(found.epsilon) * second, 0).sum() <= found.delta + 1e-15


def test_the_linear_rule_knows_its_range():
    assert math.expm1(theorems.LINEAR) <= 2 * theorems.LINEAR
    assert math.expm1(theorems.LINEAR + 1e-4) > 2 * (theorems.LINEAR + 1e-4)
    with pytest.raises(ParameterError, match=r"^epsilon "):
        theorems.amplified_as_taught(Cost(1.26, 0), 0.1)


def test_the_classical_rule_is_confirmed_or_refused():
    found = theorems.classical_gaussian(4, 1e-5)
    assert found == pytest.approx(1.2112, abs=1e-4)
    with mpmath.workdps(30):
        exact = mpmath.ncdf(1 / 8 - found * 4) - mpmath.exp(found) * mpmath.ncdf(-1 / 8 - found * 4)
    assert exact <= 1e-5
    with pytest.raises(ParameterError, match="too small"):
        theorems.classical_gaussian(0.05, 0.3)


@pytest.mark.parametrize(
    ("sigma", "rate", "order"),
    [(4, 0.01, 2), (4, 0.01, 2.5), (1, 0.25, 1.3), (1, 0.26, 1.3), (2, 0.7, 9.5), (0.5, 0.01, 30)],
)
def test_sampled_gaussian_is_the_integral(sigma, rate, order):
    with mpmath.workdps(30):
        s, q = mpmath.mpf(sigma), mpmath.mpf(repr(rate))

        def integrand(z):
            r = 1 - q + q * mpmath.exp((2 * z - 1) / (2 * s**2))
            return mpmath.npdf(z, 0, s) * (r**order - 1 - order * (r - 1))

        cuts = sorted(
            {
                -14 * s,
                mpmath.mpf(0),
                mpmath.mpf(order) / 2,
                mpmath.mpf(order),
                order + 5 * s,
                order + 14 * s,
                s**2 * mpmath.log(1 / q),
            }
        )
        exact = mpmath.log1p(mpmath.quad(integrand, cuts))
    found = theorems.sampled_gaussian(sigma, rate, order)
    assert exact <= found * (1 + 1e-13)
    assert found <= exact * (1 + 1e-6)


def test_binomial_cumulant_on_two_points():
    p, q, rate = np.array([0.7, 0.3]), np.array([0.2, 0.8]), 0.3
    orders = np.arange(2, 12)
    cumulants = np.array([math.log(np.sum(p**n * q ** (1.0 - n))) for n in orders])
    for n in (2, 5, 11):
        exact = math.log(np.sum(q * (1 - rate + rate * p / q) ** n))
        assert theorems.binomial_cumulant(n, rate, cumulants) == pytest.approx(exact, rel=1e-12)


def test_moments_accountant_has_the_papers_number():
    # Abadi et al. 2016 state 1.26 for this run; the lecture writes 1.25.
    assert theorems.moments_epsilon(4, 0.01, 10_000, 1e-5) == pytest.approx(1.2586, abs=1e-4)
    by_hand = min(
        (10_000 * theorems.sampled_gaussian(4, 0.01, n + 1) + math.log(1e5)) / n for n in range(1, 33)
    )
    assert theorems.moments_epsilon(4, 0.01, 10_000, 1e-5) == by_hand


def test_excess_keeps_its_digits():
    with mpmath.workdps(60):
        for x, power in product(
            [-0.9, -0.3, -1e-9, 1e-12, 0.01, 0.29, 0.31, 5.0], [1.0001, 1.5, 7.3, 60.0, -0.01, -3.5]
        ):
            exact = (1 + mpmath.mpf(x)) ** mpmath.mpf(power) - 1 - mpmath.mpf(power) * mpmath.mpf(x)
            assert float(theorems.excess(x, power)) == pytest.approx(float(exact), rel=1e-9)


def shuffled_responses(truth, people, ones):
    others = np.array([1.0])
    for person in range(people - 1):
        chance = truth if person < ones else 1 - truth
        others = np.convolve(others, [1 - chance, chance])
    return np.convolve(others, [1 - truth, truth]), np.convolve(others, [truth, 1 - truth])


@pytest.mark.parametrize("people", [1, 2, 3, 10, 60])
@pytest.mark.parametrize("local", [0.2, 1.0, 3.0])
def test_shuffled_delta_covers_every_count_of_ones(local, people):
    truth = math.exp(local) / (1 + math.exp(local))
    for epsilon in (0.0, 0.3 * local, 0.8 * local):
        found = theorems.shuffled_delta(local, people, epsilon)
        for ones in range(people):
            p, q = shuffled_responses(truth, people, ones)
            for first, second in ((p, q), (q, p)):
                assert np.maximum(first - math.exp(epsilon) * second, 0).sum() <= found + 1e-12


def clones_enumerated(local, people, epsilon):
    """The pair of the clones theorem, outcome by outcome: C, A and the own report."""
    keep, w = math.exp(-local), 1 / (1 + math.exp(-local))
    total = 0.0
    for c in range(people):
        weight = math.comb(people - 1, c) * keep**c * (1 - keep) ** (people - 1 - c)
        law = [math.comb(c, a) / 2**c for a in range(c + 1)]
        p = np.convolve(law, [1 - w, w])
        total += weight * np.maximum(p - math.exp(epsilon) * p[::-1], 0).sum()
    return total


@pytest.mark.parametrize(("local", "people"), [(0.5, 5), (1.0, 40), (2.0, 200), (4.0, 30), (0.05, 300)])
def test_clones_are_the_enumeration(local, people):
    for epsilon in (0.0, 0.1 * local, 0.4 * local):
        exact = clones_enumerated(local, people, epsilon)
        found = theorems.shuffled_delta(local, people, epsilon)
        assert exact <= found * (1 + 1e-9) + 1e-299
        assert found <= exact * 1.2 + 1e-12


@pytest.mark.parametrize(("local", "people"), [(0.3, 3000), (1.0, 4000), (3.0, 20_000)])
def test_clones_of_many_people_are_the_enumeration(local, people):
    # Large enough that numbers of clones are put into blocks, and outcomes into cells.
    w, c = 1 / (1 + math.exp(-local)), np.arange(people)
    weights = stats.binom.pmf(c, people - 1, math.exp(-local))
    for z in (0.5, 3.0):
        epsilon = z * math.tanh(local / 2) * 2 / math.sqrt(people * math.exp(-local))
        exact = 0.0
        for clones in c[weights > 1e-18]:
            law = np.zeros(clones + 2)
            law[:-1] = stats.binom.pmf(np.arange(clones + 1), clones, 0.5)
            p = (1 - w) * law + w * np.roll(law, 1)
            exact += weights[clones] * np.maximum(p - math.exp(epsilon) * p[::-1], 0).sum()
        found = theorems.shuffled_delta(local, people, epsilon)
        assert exact * (1 - 1e-9) <= found <= exact * 1.1


@pytest.mark.parametrize(
    ("local", "people"),
    [
        (0.0, 10),
        (0.5, 10**4),
        (2.0, 10**5),
        (2.0, 10**8),
        (8.0, 10**6),
        (30.0, 10**6),
        (40.0, 50),
        (600.0, 3),
    ],
)
def test_atoms_of_clones_keep_both_masses(local, people):
    weights, ratios = theorems.clone_ratios(local, people)
    assert weights.sum() == pytest.approx(1, rel=2e-5)
    assert weights.sum() >= 1 - 1e-12
    assert weights @ (1 + ratios) == pytest.approx(1, rel=2e-5)
    assert ratios.max() <= math.expm1(local) * (1 + 1e-12)
    assert ratios.min() >= math.expm1(-local) * (1 + 1e-12)


def test_shuffling_helps_with_many_people_and_never_hurts():
    found = [theorems.shuffled_epsilon(1.0, people, 1e-6) for people in (1, 100, 10_000, 1_000_000)]
    assert found[0] == pytest.approx(1.0, rel=1e-5)
    assert all(b < a for a, b in pairwise(found[1:]))
    # The closed form of the paper is looser (Feldman, McMillan & Talwar 2021).
    n, e = 1_000_000, math.e
    closed = math.log1p((e - 1) / (e + 1) * (8 * math.sqrt(e * math.log(4e6) / n) + 8 * e / n))
    assert found[3] < closed
    assert theorems.shuffled_epsilon(1.0, 1000, 0.0) == 1.0
    assert theorems.shuffled_epsilon(0.0, 1000, 1e-6) == 0
    assert theorems.shuffled_epsilon(900.0, 1000, 1e-6) == 900
    assert theorems.shuffled_delta(900.0, 1000, 10) == 1


def test_bad_numbers_are_refused():
    for call, name in [
        (lambda: theorems.basic([Step(-1.0)]), "steps"),
        (lambda: theorems.optimal_delta([Step(1.0, 1.5)], 1), "steps"),
        (lambda: theorems.optimal_delta([Step(math.nan)], 1), "steps"),
        (lambda: theorems.advanced(Step(1.0), 0.0), "slack"),
        (lambda: theorems.strong_as_taught(Step(1.0), 1.0), "slack"),
        (lambda: theorems.amplified(Cost(1, 0), 1.5), "rate"),
        (lambda: theorems.amplified_as_taught(Cost(1, 0), -0.1), "rate"),
        (lambda: theorems.classical_gaussian(0, 1e-5), "delta or noise_multiplier"),
    ]:
        with pytest.raises(ParameterError, match=f"^{name} "):
            call()
