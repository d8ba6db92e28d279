"""Certified tails hold the sums over the laws, and thresholds round to the safe side."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian
from discreet.mechanisms.tails import (
    COARSE_BITS,
    TAIL_BITS,
    any_passes_more_often,
    deviations,
    gaussian_tail,
    laplace_tail,
    least_that_holds,
    normal_tail_bounds,
    passes_at_most,
    rounded_tail,
    smallest_threshold,
)
from mechanisms.key_selection_oracle import gaussian_chance, laplace_chance, real, rounded_chance

ONE = 1 << TAIL_BITS


@pytest.mark.parametrize(
    ("tail", "oracle", "parameters"),
    [
        (laplace_tail, laplace_chance, [Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(77, 5)]),
        (gaussian_tail, gaussian_chance, [Fraction(1, 10**4), Fraction(1, 9), Fraction(2), Fraction(300)]),
        (rounded_tail, rounded_chance, [Fraction(1, 10**4), Fraction(1, 9), Fraction(2), Fraction(300)]),
    ],
)
def test_tails_enclose_the_sums(tail, oracle, parameters):
    for parameter in parameters:
        chance = oracle(parameter, 1000)
        for least in (-40, -3, -1, 0, 1, 2, 5, 40, 120):
            low, high = tail(parameter, least)
            assert low <= high
            assert high - low < 1 << (TAIL_BITS // 4)
            with mpmath.workdps(60):
                assert abs(mpmath.mpf(low) / ONE - chance(1000 - least)) < mpmath.mpf(10) ** -55


@pytest.mark.parametrize(
    ("tail", "parameter"), [(laplace_tail, Fraction(77, 5)), (rounded_tail, Fraction(300))]
)
@pytest.mark.parametrize("least", [-120, -1, 0, 1, 5, 120, 10**6])
def test_a_tail_at_few_bits_holds_that_at_many(tail, parameter, least):
    low, high = tail(parameter, least)
    coarse = tail(parameter, least, COARSE_BITS)
    assert coarse[0] <= low <= high <= coarse[1]
    assert coarse[1] - coarse[0] < 1 << (TAIL_BITS - COARSE_BITS + 10)


def test_tails_far_out_stay_bounds():
    for tail, parameter in ((laplace_tail, Fraction(1)), (gaussian_tail, Fraction(4))):
        low, high = tail(parameter, 10**9)
        assert low == 0
        assert 0 < high <= 4
        low, high = tail(parameter, -(10**9))
        assert ONE - 4 <= low <= high <= ONE


@given(
    chance=st.fractions(0, 1, max_denominator=10**6),
    keys=st.integers(1, 40),
    delta=st.fractions(Fraction(1, 10**6), Fraction(99, 100), max_denominator=10**6),
)
def test_the_chance_of_any_key_is_compared_exactly(chance, keys, delta):
    scaled = chance * ONE
    enclosure = scaled.__floor__(), scaled.__ceil__()
    exact = 1 - (1 - chance) ** keys
    if passes_at_most(enclosure, keys, delta):
        assert exact <= delta
    else:
        assert exact > delta - Fraction(1, 1 << (TAIL_BITS - 64))


def test_many_keys_are_compared_in_bounded_work():
    delta = Fraction(1, 10**6)
    share = real(delta / 2**20)
    assert passes_at_most((0, int(share * ONE)), 2**20, delta)
    assert not passes_at_most((0, int(share * (1 + mpmath.mpf(10) ** -5) * ONE)), 2**20, delta)


@given(decay=st.integers(1, 60), delta=st.fractions(Fraction(1, 10**9), Fraction(9, 10)))
def test_the_threshold_is_the_smallest_that_suffices(decay, delta):
    def tail(least, bits=TAIL_BITS):
        chance = (Fraction(decay, decay + 1) ** least if least > 0 else Fraction(1)) * (1 << bits)
        return chance.__floor__() << (TAIL_BITS - bits), chance.__ceil__() << (TAIL_BITS - bits)

    threshold = smallest_threshold(tail, 3, delta)
    assert passes_at_most(tail(threshold - 1), 3, delta)
    assert threshold == 1 or not passes_at_most(tail(threshold - 2), 3, delta)


@pytest.mark.parametrize(
    "delta", [Fraction(1, 3), Fraction(1, 10**6), Fraction(1, 10**60), Fraction(1, 10**100)]
)
@pytest.mark.parametrize("keys", [1, 7, 2**20])
def test_few_bits_find_the_threshold_that_many_find(delta, keys):
    for tail, parameter in ((laplace_tail, Fraction(7, 3)), (rounded_tail, Fraction(50))):
        asked = []

        def either(least, bits, tail=tail, parameter=parameter, asked=asked):
            asked.append(bits)
            return tail(parameter, least, bits)

        threshold = smallest_threshold(either, keys, delta)
        assert passes_at_most(tail(parameter, threshold - 1), keys, delta)
        assert threshold == 1 or not passes_at_most(tail(parameter, threshold - 2), keys, delta)
        assert asked.count(TAIL_BITS) == 0 or delta < Fraction(1, 10**30)


@given(
    chance=st.fractions(0, 1, max_denominator=10**6),
    bits=st.integers(4, 64),
    keys=st.integers(1, 40),
    delta=st.fractions(Fraction(1, 10**6), Fraction(99, 100), max_denominator=10**6),
)
def test_what_passes_more_often_for_certain_does(chance, bits, keys, delta):
    scaled = chance * (1 << bits)
    enclosure = scaled.__floor__() << (TAIL_BITS - bits), scaled.__ceil__() << (TAIL_BITS - bits)
    exact = 1 - (1 - chance) ** keys
    holds = passes_at_most(enclosure, keys, delta)
    fails = any_passes_more_often([(enclosure, keys)], delta)
    assert not (holds and fails)
    assert not fails or exact > delta
    assert not holds or exact <= delta
    if exact > delta + Fraction(keys, 1 << bits) + Fraction(1, 1 << 400):
        assert fails


def test_the_gaussian_tail_lemma_holds_on_both_sides_and_is_tight_far_out():
    for t in [*np.geomspace(1e-6, 37, 400), 0.797, 0.798, 0.799]:
        low, high = normal_tail_bounds(t)
        exact = float(mpmath.erfc(mpmath.mpf(float(t)) / mpmath.sqrt(2)) / 2)
        assert low * (1 - 1e-12) <= exact <= high * (1 + 1e-12)
    low, high = normal_tail_bounds(30)
    assert high / low < 1.002
    assert normal_tail_bounds(1e200) == (0, 0)


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf")])
def test_the_lemma_is_for_positive_thresholds(wrong):
    with pytest.raises(ParameterError):
        normal_tail_bounds(wrong)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1])
@pytest.mark.parametrize("delta", [1e-3, 1e-9])
def test_the_lemma_gives_the_classical_calibration(epsilon, delta):
    """The loss is normal with mean m and variance 2 m, m = 1 / (2 sigma^2): it exceeds epsilon rarely."""
    variance = float(Gaussian.classical(sensitivity=1, epsilon=epsilon, delta=delta).event.variance)
    mean = 1 / (2 * variance)
    assert normal_tail_bounds((epsilon - mean) / np.sqrt(2 * mean))[1] <= delta


SCORES = {
    "a line": lambda n: n / 3 - 7,
    "a curve": lambda n: n**0.5,
    "steep": lambda n: float(min(n, 300) ** 3),
    "level": lambda n: 1.0,
    "falling": lambda n: -float(n),
    "jagged": lambda n: float(n % 7),
}


@pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)
@given(least=st.integers(1, 10**6), wanted=st.floats(-1e9, 1e9))
def test_the_least_number_is_found_whatever_the_scores_say(score, least, wanted):
    tried = []

    def test(number):
        tried.append(number)
        return number >= least, score(number)

    assert least_that_holds(test, wanted) == least
    assert max(tried) <= max(128 * least, 2)
    assert len(tried) <= 16 * least.bit_length() + 2
    assert min(tried) >= 1


@given(st.integers(1, 10**6), st.floats(0.01, 100))
def test_scores_on_a_line_need_few_tests(least, slope):
    tried = []

    def test(number):
        tried.append(number)
        return number >= least, slope * number

    assert least_that_holds(test, slope * least) == least
    assert len(tried) <= 8 + least.bit_length() // 4


@pytest.mark.parametrize("chance", ["0.5", "0.3", "1e-9", "1e-120", "1e-290"])
def test_deviations_are_those_of_the_normal_law(chance):
    exact = Fraction(chance)
    with mpmath.workdps(400):
        expected = mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(chance) - 1)
    found = deviations(exact.numerator, exact.denominator)
    assert found == pytest.approx(float(expected), rel=1e-2, abs=1e-9)
    assert deviations(exact.denominator - exact.numerator, exact.denominator) == -found


def test_deviations_of_anything_are_finite_and_in_order():
    numerators = [0, 1, 2, 1 << 60, 1 << 511, (1 << 512) - 1, 1 << 512, 1 << 600]
    found = [deviations(numerator, 1 << 512) for numerator in numerators]
    assert found == sorted(found)
    assert all(abs(one) < 100 for one in found)
