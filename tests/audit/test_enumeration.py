from __future__ import annotations

import os
import random
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from audit.right import AboveThreshold, Exponential, IntegerLaplace, NoisyMax, RandomizedResponse
from discreet.audit import NotEnumerable, output_law
from discreet.audit.outputs import output_key
from discreet.noise import (
    bernoulli,
    bernoulli_exponential,
    current,
    sample_gaussian,
    sample_laplace,
    uniform_below,
)


def assert_masses(law, expected, slack=Fraction(1, 10**15)):
    """Each mass is a lower bound of the exact one, and misses it by at most what is unresolved."""
    assert sum(law.masses.values()) + law.unresolved == 1
    assert law.unresolved <= slack
    for key, mass in law.masses.items():
        assert mass <= expected[key] <= mass + law.unresolved, key


def test_two_coins_make_a_binomial_law():
    law = output_law(lambda x: x + int(bernoulli(Fraction(1, 3), 2, current()).sum()), 10)
    assert_masses(law, {10: Fraction(4, 9), 11: Fraction(4, 9), 12: Fraction(1, 9)})
    assert law.runs == 4


def test_randomized_response():
    law = output_law(RandomizedResponse().release, 1)
    assert_masses(law, {0: Fraction(1, 5), 1: Fraction(3, 5), 2: Fraction(1, 5)})


def test_a_loop_of_rejection_is_followed_down_to_the_cutoff():
    def release(x):
        while True:
            drawn = int(uniform_below(4, 1, current())[0])
            if drawn < 3:
                return drawn

    law = output_law(release, None, cutoff=2.0**-40)
    assert law.masses.keys() == {0, 1, 2}
    assert_masses(law, dict.fromkeys(range(3), Fraction(1, 3)), slack=Fraction(1, 1 << 35))


def test_lanes_are_independent_and_coins_differ_by_lane():
    exponents = np.array([0, 1, 2])

    def release(x):
        return tuple(bernoulli_exponential(exponents, Fraction(1), current()).tolist())

    law = output_law(release, None)
    with mpmath.workprec(200):
        for _, key in enumerate(law.masses):
            exact = mpmath.mpf(1)
            for exponent, head in zip((0, 1, 2), key[1], strict=True):
                p = mpmath.exp(-exponent)
                exact *= p if head else 1 - p
            found = mpmath.mpf(law.masses[key].numerator) / law.masses[key].denominator
            assert found <= exact <= found + mpmath.mpf(2) ** -70
    assert len(law.masses) == 4


def test_noisy_max_equals_the_sum_over_all_noises():
    value = np.array([1, 2, 0])
    law = output_law(NoisyMax().release, value)
    with mpmath.workprec(200):
        ratio = mpmath.exp(-2)
        reach = range(-30, 31)
        mass = {y: (1 - ratio) / (1 + ratio) * ratio ** abs(y) for y in reach}
        exact = dict.fromkeys(range(3), mpmath.mpf(0))
        for noise in product(reach, repeat=2):
            # The third noise is summed by its distribution function.
            first = max(range(2), key=lambda i: (value[i] + noise[i], -i))
            top = int(value[first] + noise[first])
            below = mpmath.fsum(mass[y] for y in reach if y + value[2] <= top)
            weight = mass[noise[0]] * mass[noise[1]]
            exact[first] += weight * below
            exact[2] += weight * (1 - below)
        for key in range(3):
            found = mpmath.mpf(law.masses[key].numerator) / law.masses[key].denominator
            assert abs(found - exact[key]) < 1e-15
    assert law.unresolved < Fraction(1, 10**15)


def test_lattice_noise_in_two_entries_keeps_arrays_apart():
    law = output_law(IntegerLaplace().release, np.array([1, 5]), cutoff=1e-9)
    best = max(law.masses, key=law.masses.get)
    assert best == output_key(np.array([1, 5]))


@pytest.mark.slow
def test_gaussian_beyond_one_table_is_bounded_by_its_formula():
    variance = Fraction(65 * 65)
    law = output_law(lambda x: x + int(sample_gaussian(variance, 1, current())[0]), 0, most_runs=3000)
    assert law.unresolved < Fraction(1, 50)
    with mpmath.workprec(200):
        half = mpmath.mpf(1) / (2 * 65 * 65)
        total = mpmath.nsum(lambda y: mpmath.exp(-half * y * y), [-mpmath.inf, mpmath.inf])
        for y in range(-100, 101):
            found = mpmath.mpf(law.masses[y].numerator) / law.masses[y].denominator
            exact = mpmath.exp(-half * y * y) / total
            # The first round of trials ends with the same probability at every outcome.
            assert found <= exact <= found * mpmath.mpf(1.02)


def test_none_text_and_exceptions_are_outputs():
    def release(x):
        face = int(uniform_below(4, 1, current())[0])
        if face == 3:
            raise KeyError("three")
        return (None, "text", 7)[face]

    law = output_law(release, None)
    outputs = (None, "text", 7, ("raised", "KeyError", "'three'"))
    assert_masses(law, dict.fromkeys(outputs, Fraction(1, 4)))
    assert output_law(AboveThreshold().release, (0, 1), cutoff=1e-6).masses.keys() == {None, 0, 1}


def test_a_release_without_decisions_is_certain():
    law = output_law(lambda x: x, 3)
    assert (dict(law.masses), law.unresolved, law.decisions) == ({3: 1}, 0, 0)


@pytest.mark.parametrize(
    ("release", "reason"),
    [
        (lambda x: x + random.random(), "elsewhere"),
        (lambda x: x + int(bernoulli(Fraction(1, 2), 1, current())[0]) + random.random(), "elsewhere"),
        (lambda x: os.urandom(8), "elsewhere"),
        (lambda x: int(current().words(1)[0] >> 63), "outside the decisions"),
        (lambda x: current().bits(64) & 1, "outside the decisions"),
        (lambda x: bernoulli(Fraction(1, 2), 65, current()), "more than 64"),
        (lambda x: uniform_below(1 << 40, 1, current()), "outcomes"),
    ],
)
def test_what_cannot_be_enumerated_is_refused_with_a_reason(release, reason):
    with pytest.raises(NotEnumerable, match=reason):
        output_law(release, 0)


def test_a_state_that_changes_between_releases_is_noticed():
    states = []

    def release(x):
        states.append(None)
        return int(uniform_below(2, 1, current())[0]) + len(states)

    with pytest.raises(NotEnumerable, match="repeat"):
        output_law(release, 0)


def test_a_goal_out_of_reach_is_given_up_early():
    with pytest.raises(NotEnumerable, match="unresolved"):
        output_law(lambda x: int(sample_laplace(Fraction(10**5), 1, current())[0]), 0, goal=1e-4)


def test_a_run_limit_leaves_the_rest_unresolved():
    law = output_law(IntegerLaplace().release, 0, most_runs=3)
    assert law.runs == 3
    assert len(law.masses) == 3
    assert 0 < law.unresolved == 1 - sum(law.masses.values())


def test_a_mechanism_cannot_change_the_input_it_is_given():
    def release(x):
        x += bernoulli(Fraction(1, 2), len(x), current())
        return int(x.sum())

    value = np.zeros(2, np.int64)
    law = output_law(release, value)
    assert value.sum() == 0
    assert_masses(law, {0: Fraction(1, 4), 1: Fraction(1, 2), 2: Fraction(1, 4)})


def test_exponential_mechanism():
    law = output_law(Exponential().release, (0, 2, 1))
    with mpmath.workprec(200):
        weights = [mpmath.exp(mpmath.mpf(score) / 2) for score in (0, 2, 1)]
        for index, weight in enumerate(weights):
            found = mpmath.mpf(law.masses[index].numerator) / law.masses[index].denominator
            assert abs(found - weight / mpmath.fsum(weights)) < mpmath.mpf(2) ** -70
