"""From Rényi divergences to (epsilon, delta): against every small pair, and the best of them."""

from __future__ import annotations

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.renyi_oracles import (
    finite,
    masses,
)
from discreet.accounting import renyi
from discreet.errors import ParameterError
from discreet.privacy import events
from effort import examples


@settings(deadline=None, max_examples=examples(60))
@given(masses, masses, st.floats(0, 2), st.floats(1.05, 30))
def test_converted_delta_holds_for_every_pair(a, b, epsilon, order):
    size = min(len(a), len(b))
    p, q = (np.array(law[:size]) / sum(law[:size]) for law in (a, b))
    exact = np.maximum(p - math.exp(epsilon) * q, 0).sum()
    bound = float(finite(p, q, order))
    if bound > 1e-9:
        found = renyi.delta_from_renyi([bound * (1 + 1e-9)], [order], epsilon)
        assert exact <= found + 1e-15
        if 1e-9 < found < 1:
            assert renyi.epsilon_from_renyi([bound], [order], found) <= epsilon * (1 + 1e-6) + 1e-6


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("bound", "order", "epsilon"), [(0.5, 3, 0.5), (0.1, 2, 0.3), (1, 10, 2), (0.01, 20, 0.1), (2, 1.5, 3)]
)
def test_the_conversion_is_optimal_at_one_order(bound, order, epsilon):
    # The best two-point pair with D_order(P || Q) = bound, by brute force.
    best = 0.0
    for u in np.geomspace(1e-9, 0.999, 4000):
        low, high = u, 1.0
        for _ in range(60):
            p = (low + high) / 2
            moment = p**order * u ** (1 - order) + (1 - p) ** order * (1 - u) ** (1 - order)
            low, high = (p, high) if math.log(moment) <= bound * (order - 1) else (low, p)
        best = max(best, low - math.exp(epsilon) * u)
    found = renyi.delta_from_renyi([bound], [order], epsilon)
    assert best <= found * (1 + 1e-9)
    assert found <= best * 1.01
    simple = math.exp((order - 1) * (bound - epsilon)) / (order - 1) * (1 - 1 / order) ** order
    assert found <= simple * (1 + 1e-9)


def test_conversions_of_a_gaussian_stay_above_the_exact_ones():
    for sigma, epsilon in product([0.5, 2, 30], [0.01, 0.5, 3]):
        event = events.Gaussian(noise_multiplier=sigma)
        exact = mpmath.ncdf(1 / (2 * sigma) - epsilon * sigma) - mpmath.exp(epsilon) * mpmath.ncdf(
            -1 / (2 * sigma) - epsilon * sigma
        )
        found = renyi.delta(event, epsilon)
        assert exact <= found
        if 1e-12 < found < 0.5:
            assert renyi.epsilon(event, found) == pytest.approx(epsilon, rel=1e-4)


def test_ends_of_the_conversions():
    assert renyi.epsilon_from_renyi([0.0], [2], 0) == 0
    assert renyi.epsilon_from_renyi([1.0], [2], 0) == math.inf
    assert renyi.epsilon_from_renyi([math.inf], [2], 0.1) == math.inf
    assert renyi.delta_from_renyi([math.inf], [2], 1) == 1
    assert renyi.delta_from_renyi([0.0, 1.0], [2, 3], 0) == 0
    assert renyi.epsilon(events.Nothing, 1e-6) == 0
    assert renyi.epsilon(events.Approximate(epsilon=1, delta=0.1), 0.1) == math.inf
    assert renyi.epsilon(events.Approximate(epsilon=1, delta=0.1), 0.2) < 1.01
    for wrong in (
        lambda: renyi.epsilon_from_renyi([1], [2], 1.0),
        lambda: renyi.epsilon_from_renyi([1], [2], math.nan),
    ):
        with pytest.raises(ParameterError, match=r"^delta "):
            wrong()
    for orders in ([1.0], [0.5], [], [math.nan], [math.inf], [[2.0]]):
        with pytest.raises(ParameterError, match=r"^orders "):
            renyi.divergence(events.Pure(epsilon=1), orders)
    for bounds in ([1, 2], [-1], [math.nan]):
        with pytest.raises(ParameterError, match=r"^divergences "):
            renyi.delta_from_renyi(bounds, [2], 1)
    with pytest.raises(ParameterError, match=r"^epsilon "):
        renyi.delta_from_renyi([1], [2], -1)
