"""The truncated geometric selection: its inequalities, exactly, and recursions that would break them."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.mechanisms import LaplaceThreshold, TruncatedGeometric
from effort import examples
from mechanisms.key_selection_oracle import geometric_chance, laplace_chance, real, worst_gap

OFFERS = [
    (Fraction(1), Fraction(1, 20), 1),
    (Fraction(1), Fraction(1, 20), 2),
    (Fraction(1), Fraction(1, 20), 3),
    (Fraction(3), Fraction(1, 1000), 3),
    (Fraction(1, 4), Fraction(1, 5), 2),
    (Fraction(2), Fraction(1, 10**9), 1),
]


def exact(mechanism):
    """p_0, p_1, …, as the fractions that are drawn with."""
    levels = mechanism.error.levels
    return [Fraction(0), *(Fraction(numerator, 1 << levels.bits) for numerator in levels.numerators)]


def drawn(mechanism, shift=0):
    """n -> p_(n + shift), and 0 for n = 0."""
    chances = exact(mechanism)
    return lambda n: real(chances[min(n + shift, len(chances) - 1)]) if n else mpmath.mpf(0)


def keeps(chances, epsilon, delta):
    """Whether neighbors n and n + 1 keep both inequalities that bind, to 400 digits."""
    with mpmath.workdps(400):
        e = mpmath.exp(real(epsilon))
        return all(
            real(q) <= e * real(p) + real(delta) and 1 - real(p) <= e * (1 - real(q)) + real(delta) and p <= q
            for p, q in zip(chances, [*chances[1:], chances[-1]], strict=True)
        )


@pytest.mark.parametrize(("epsilon", "delta", "keys"), OFFERS)
def test_epsilon_and_delta_hold_on_all_small_counts(epsilon, delta, keys):
    mechanism = TruncatedGeometric(epsilon=epsilon, delta=delta, keys=keys)
    half = mechanism.size_for(Fraction(1, 2))
    counts = {0, 1, 2, half - 1, half, mechanism.size_for(1) - 1}
    assert worst_gap(drawn(mechanism), counts, keys, epsilon) <= real(delta)


@given(
    epsilon=st.fractions(1, 20, max_denominator=1000),
    exponent=st.integers(1, 100),
    keys=st.integers(1, 3),
)
@settings(deadline=None, max_examples=examples(25))
def test_the_rounded_recursion_keeps_its_inequalities_exactly(epsilon, exponent, keys):
    delta = Fraction(3, 7 * 10 ** (exponent - 1)) if exponent < 100 else Fraction(1, 10**100)
    mechanism = TruncatedGeometric(epsilon=epsilon, delta=delta, keys=keys)
    chances = exact(mechanism)
    assert keeps(chances, epsilon / keys, delta / keys)
    assert chances[-1] == 1
    assert chances[-2] < 1
    ideal = geometric_chance(epsilon / keys, delta / keys, len(chances) - 1)
    for p, best in zip(chances, ideal, strict=True):
        assert best * (1 - mpmath.mpf(10) ** -25) <= real(p) <= best * (1 + mpmath.mpf(10) ** -50)


@pytest.mark.parametrize(("epsilon", "delta", "keys"), OFFERS)
def test_a_delta_that_is_not_divided_is_caught(epsilon, delta, keys):
    undivided = TruncatedGeometric(epsilon=epsilon, delta=keys * delta, keys=keys)
    broken = worst_gap(drawn(undivided), {0, 1}, keys, epsilon) > real(delta)
    assert broken == (keys > 1)


@pytest.mark.parametrize(("epsilon", "delta", "keys"), OFFERS[:4])
def test_an_epsilon_that_is_not_divided_is_caught(epsilon, delta, keys):
    undivided = TruncatedGeometric(epsilon=keys * epsilon, delta=delta, keys=keys)
    half = undivided.size_for(Fraction(1, 2))
    broken = worst_gap(drawn(undivided), {0, 1, half - 1, half}, keys, epsilon) > real(delta)
    assert broken == (keys > 1)


@pytest.mark.parametrize(("epsilon", "delta", "keys"), OFFERS)
def test_a_recursion_off_by_one_is_caught(epsilon, delta, keys):
    mechanism = TruncatedGeometric(epsilon=epsilon, delta=delta, keys=keys)
    assert worst_gap(drawn(mechanism, shift=1), {0}, keys, epsilon) > real(delta)
    chances = exact(mechanism)
    assert not keeps([chances[0], *chances[2:]], epsilon / keys, delta / keys)


def test_for_one_key_the_bounds_are_attained():
    epsilon, delta = Fraction(1), Fraction(1, 1000)
    chances = exact(TruncatedGeometric(epsilon=epsilon, delta=delta))
    e = mpmath.e
    for p, q in pairwise(chances):
        slack = min(e * real(p) + real(delta) - real(q), e * (1 - real(q)) + real(delta) - (1 - real(p)))
        assert slack < 1e-30 or q == 1


@pytest.mark.parametrize(("epsilon", "delta", "keys"), [offer for offer in OFFERS if offer[2] == 1])
def test_for_one_key_no_threshold_shows_more(epsilon, delta, keys):
    best = TruncatedGeometric(epsilon=epsilon, delta=delta, keys=keys)
    other = LaplaceThreshold(epsilon=epsilon, delta=delta, keys=keys)
    chance = laplace_chance(other.scale, other.threshold)
    for n in range(1, best.size_for(1) + 3):
        assert real(best.error.enclosed(n)[0]) >= chance(n) - mpmath.mpf(10) ** -30


def test_large_keys_are_shown_for_certain():
    mechanism = TruncatedGeometric(epsilon=1, delta=1e-6)
    last = mechanism.size_for(1)
    assert mechanism.missed(last) == 0.0
    assert mechanism.missed(last - 1) > 0.0
    assert mechanism.release([last, 10**18] * 100).all()


def test_the_event_is_composed_of_keys():
    mechanism = TruncatedGeometric(rho=Fraction(1, 2), delta=1e-6, keys=4)
    ((share, times),) = mechanism.event.parts
    assert (share.epsilon, share.delta, times) == (Fraction(1, 2), Fraction(1, 4 * 10**6), 4)


def test_tables_without_end_are_refused():
    with pytest.raises(ParameterError, match="epsilon"):
        TruncatedGeometric(epsilon=1e-9, delta=1e-9)
