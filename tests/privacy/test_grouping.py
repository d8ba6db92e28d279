"""Group privacy and chains, against exact enumeration of the worst chains and of random ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.privacy import GaussianDP, PureDP, ZeroConcentratedDP
from discreet.privacy.grouping import chain, group_delta, group_renyi

SOURCE = np.random.default_rng(20240229)
ORDERS = np.concatenate([1 + np.geomspace(1e-6, 1, 300), np.geomspace(2, 1e4, 700)])


def mp(x):
    return mpmath.mpf(x.numerator) / x.denominator


def geometric_response(value, ratio, top):
    """Law, on 0..top, of the value plus two-sided geometric noise of this ratio, clamped."""
    inner = [Fraction(ratio - 1, ratio + 1) * Fraction(1, ratio) ** abs(y - value) for y in range(top + 1)]
    tail = Fraction(1, ratio + 1)
    inner[0] += tail * Fraction(1, ratio) ** value
    inner[top] += tail * Fraction(1, ratio) ** (top - value)
    assert sum(inner) == 1
    return inner


def hockey_stick(p, q, factor):
    return sum(max(a - factor * b, 0) for a, b in zip(p, q, strict=True))


def renyi(p, q, order):
    """D_order(p || q) of two positive laws, for an array of orders above 1."""
    logs = order[:, None] * np.log(p) + (1 - order[:, None]) * np.log(q)
    top = logs.max(axis=1)
    return (top + np.log(np.exp(logs - top[:, None]).sum(axis=1))) / (order - 1)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("ratio", [2, 3])
def test_pure_group_is_attained_by_a_randomized_response_chain(ratio, size):
    laws = [geometric_response(value, ratio, size) for value in range(size + 1)]
    one = max(max(a / b, b / a) for p, q in pairwise(laws) for a, b in zip(p, q, strict=True))
    ends = max(a / b for a, b in zip(laws[0], laws[-1], strict=True))
    assert one == ratio
    epsilon = PureDP(epsilon=1).group(size).epsilon  # in units of log(ratio)
    assert ends == ratio**epsilon


@pytest.mark.parametrize("size", [2, 3, 7])
@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 2), Fraction(2)])
def test_approximate_group_is_attained_by_the_worst_chain(epsilon, size):
    delta = Fraction(1, 10**8)
    with mpmath.workdps(60):
        factor, small = mpmath.exp(mp(epsilon)), mp(delta)
        # From the far end: each law gives the event all that its neighbor permits.
        inside = [mpmath.mpf(0)]
        for _ in range(size):
            inside.append(factor * inside[-1] + small)
        laws = [(p, 1 - p) for p in reversed(inside)]
        for p, q in pairwise(laws):
            assert hockey_stick(p, q, factor) <= small * (1 + mpmath.mpf(10) ** -40)
            assert hockey_stick(q, p, factor) <= small * (1 + mpmath.mpf(10) ** -40)
        attained = hockey_stick(laws[0], laws[-1], factor**size)
        bound = mp(group_delta(epsilon, delta, size))
        assert attained <= bound <= attained * (1 + mpmath.mpf(2) ** -51)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_approximate_group_holds_on_random_chains(size):
    for _ in range(300):
        laws = SOURCE.dirichlet(np.full(3, 0.7), size + 1)
        epsilon = Fraction(int(SOURCE.integers(0, 200)), 100)
        factor = np.exp(float(epsilon))
        delta = max(max(hockey_stick(p, q, factor), hockey_stick(q, p, factor)) for p, q in pairwise(laws))
        if 0 < delta < 1:
            bound = float(group_delta(epsilon, Fraction(delta), size))
            for p, q in ((laws[0], laws[-1]), (laws[-1], laws[0])):
                assert hockey_stick(p, q, factor**size) <= bound * (1 + 1e-9) + 1e-14


@settings(deadline=None, max_examples=200)
@given(
    st.fractions(Fraction(1, 10**9), 60),
    st.integers(-60, 0),
    st.integers(1, 60),
    st.integers(1, 10**6),
)
def test_group_delta_is_rounded_up_and_tight(epsilon, shrink, denominator, size):
    epsilon, delta = epsilon * Fraction(10) ** shrink, Fraction(1, 10**denominator)
    with mpmath.workdps(400):
        exact = mp(delta) * mpmath.expm1(size * mp(epsilon)) / mpmath.expm1(mp(epsilon))
        bound = group_delta(epsilon, delta, size)
        if exact >= 1:
            assert bound == 1
        else:
            assert exact * (1 - mpmath.mpf(10) ** -300) <= mp(bound)
            assert mp(bound) <= min(1, exact * (1 + mpmath.mpf(2) ** -51))


@pytest.mark.parametrize(
    ("epsilon", "delta", "size", "expected"),
    [
        (Fraction(0), Fraction(1, 10), 3, Fraction(3, 10)),
        (Fraction(0), Fraction(1, 10), 30, Fraction(1)),
        (Fraction(5), Fraction(0), 10**6, Fraction(0)),
        (Fraction(5), Fraction(1, 7), 1, Fraction(1, 7)),
        (Fraction(10**6), Fraction(1, 2**4095), 10**9, Fraction(1)),
        (Fraction(1, 10), Fraction(1), 2, Fraction(1)),
    ],
)
def test_group_delta_at_its_edges(epsilon, delta, size, expected):
    assert group_delta(epsilon, delta, size) == expected


def test_group_delta_tends_to_k_delta():
    tiny = group_delta(Fraction(1, 2**4000), Fraction(1, 1024), 3)
    assert 0 < tiny - Fraction(3, 1024) < Fraction(1, 2**60)


@given(st.integers(0, 50), st.integers(1, 50), st.integers(0, 50), st.integers(1, 50))
def test_chain_is_tight_for_gaussians(a, b, c, d):
    first, second = Fraction(a, b), Fraction(c, d)
    # D_alpha(N(0, 1) || N(m, 1)) = alpha m^2 / 2, and shifts along one line add up.
    assert chain(first**2 / 2, second**2 / 2) == (first + second) ** 2 / 2


@given(st.fractions(0, 100), st.fractions(0, 100))
def test_chain_is_rounded_up(a, b):
    with mpmath.workdps(60):
        exact = (mpmath.sqrt(mp(a)) + mpmath.sqrt(mp(b))) ** 2
        bound = mp(chain(a, b))
        assert exact * (1 - mpmath.mpf(10) ** -50) <= bound <= exact * (1 + mpmath.mpf(2) ** -51)


def test_chain_holds_on_random_laws_and_a_sum_would_not():
    beyond_the_sum = 0
    for _ in range(150):
        start, step = SOURCE.dirichlet(np.full(4, 2.0)), SOURCE.normal(size=4) * 0.3
        p, q, r = (start * np.exp(step * k) for k in (0, 1, 2 + SOURCE.normal() * 0.3))
        p, q, r = (law / law.sum() for law in (p, q, r))
        a = (renyi(p, q, ORDERS) / ORDERS).max() * (1 + 1e-6)
        b = (renyi(q, r, ORDERS) / ORDERS).max() * (1 + 1e-6)
        measured = (renyi(p, r, ORDERS) / ORDERS).max()
        assert measured <= float(chain(a, b))
        beyond_the_sum += measured > a + b
    assert beyond_the_sum > 50


@pytest.mark.parametrize("size", [2, 3, 10])
def test_concentrated_group_is_the_chain_repeated(size):
    rho = Fraction(1, 8)
    total = rho
    for _ in range(size - 1):
        total = chain(total, rho)
    assert ZeroConcentratedDP(rho=rho).group(size).rho == total == size**2 * rho
    # and k mu is the same statement for normal laws: rho = mu^2 / 2
    assert GaussianDP(mu=Fraction(1, 2)).group(size).mu ** 2 / 2 == total


def test_renyi_group_holds_on_random_chains():
    for doublings, order in ((1, 4.0), (1, 7.0), (2, 8.0), (2, 20.0)):
        for _ in range(100):
            spread = SOURCE.uniform(0.01, 1.5)
            laws = np.exp(np.cumsum(SOURCE.normal(size=(2**doublings + 1, 4)) * spread, axis=0))
            laws /= laws.sum(axis=1, keepdims=True)
            epsilon = max(
                max(renyi(p, q, np.array([order]))[0], renyi(q, p, np.array([order]))[0])
                for p, q in pairwise(laws)
            )
            grouped, bound = group_renyi(Fraction(order), Fraction(epsilon), 2**doublings)
            assert float(grouped) == order / 2**doublings
            assert renyi(laws[0], laws[-1], np.array([float(grouped)]))[0] <= float(bound) + 1e-12


def test_renyi_group_takes_the_next_power_of_two_and_refuses_low_orders():
    assert group_renyi(Fraction(8), Fraction(1), 1) == (8, 1)
    assert group_renyi(Fraction(8), Fraction(1), 2) == (4, 3)
    assert group_renyi(Fraction(8), Fraction(1), 3) == group_renyi(Fraction(8), Fraction(1), 4) == (2, 9)
    with pytest.raises(ParameterError, match=r"^order .*2\^4 for a group of 5"):
        group_renyi(Fraction(8), Fraction(1), 5)


@pytest.mark.parametrize("bad", [(-1, 1), (1, -1), (float("nan"), 1), ("x", 1)])
def test_chain_refuses_bad_numbers(bad):
    with pytest.raises(ParameterError):
        chain(*bad)


@pytest.mark.parametrize(("epsilon", "size"), [(2000, 2), (1300, 3), (4000, 2)])
def test_a_delta_that_a_large_epsilon_leaves_below_one_is_not_given_up(epsilon, size):
    """delta (1 + e^epsilon + …) by mpmath, near where the result is said to be 1 without being computed."""
    delta = Fraction(1, 2**4096)
    with mpmath.workdps(60):
        exact = mp(delta) * sum(mpmath.exp(step * epsilon) for step in range(size))
        found = mp(group_delta(Fraction(epsilon), delta, size))
        assert found == 1 if exact >= 1 else exact <= found < 1


def test_a_group_of_one_keeps_any_order():
    assert group_renyi(Fraction(3, 2), Fraction(1, 7), 1) == (Fraction(3, 2), Fraction(1, 7))
