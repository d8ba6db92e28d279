"""Sparse vector runs by quadrature over the threshold, for all ways in which questions may move."""

from __future__ import annotations

from itertools import product
from math import inf, log

import numpy as np
import pytest

from discreet import accounting
from discreet.accounting import filters, renyi
from discreet.accounting.loss.pair import pair_of
from discreet.errors import BudgetExceeded
from discreet.privacy import events

THRESHOLD = np.linspace(-60, 60, 24_001)


def _noise(sigma, kind):
    """The density of the threshold's noise on the grid, as masses."""
    density = (
        np.exp(-((THRESHOLD / sigma) ** 2) / 2) if kind == "Gaussian" else np.exp(-np.abs(THRESHOLD) / sigma)
    )
    return density / density.sum()


def _run(values, noise, scale):
    """The law of the index of the first question above the threshold, or of none."""
    below_so_far, law = np.ones_like(THRESHOLD), []
    for value in values:
        z = (THRESHOLD - value) / scale
        above = np.where(z >= 0, np.exp(-np.abs(z)) / 2, 1 - np.exp(-np.abs(z)) / 2)
        law.append(float(noise @ (below_so_far * above)))
        below_so_far = below_so_far * (1 - above)
    return np.array([*law, float(noise @ below_so_far)])


@pytest.mark.parametrize(
    ("kind", "sigma", "scale"), [("Gaussian", 2.0, 4.0), ("Gaussian", 0.7, 1.0), ("Laplace", 2.0, 3.0)]
)
def test_no_run_exceeds_the_curve(kind, sigma, scale):
    noise = _noise(sigma, kind)
    inner = (
        events.Gaussian(noise_multiplier=sigma) if kind == "Gaussian" else events.Laplace(epsilon=1 / sigma)
    )
    event = events.SparseVector(inner, query_epsilon=2 / scale)
    orders = [1.5, 2.0, 6.0, 20.0]
    bounds = renyi.divergence(event, orders)
    largest = 0.0
    for values in ((0.0, 0.0, 0.0), (-3.0, -3.0, 4.0), (2.0, -1.0, -5.0), (-2.0, -2.0, -2.0)):
        plain = _run(values, noise, scale)
        for moves in product((-1, 1), repeat=3):
            moved = _run([v + m for v, m in zip(values, moves, strict=True)], noise, scale)
            for order, bound in zip(orders, bounds, strict=True):
                for p, q in ((plain, moved), (moved, plain)):
                    truth = log((p**order * q ** (1 - order)).sum()) / (order - 1)
                    assert truth <= bound + 1e-9
                    largest = max(largest, truth / bound)
    assert largest > 0.15


def test_positives_add_up_and_the_pure_kind_is_the_known_one():
    event = events.SparseVector(events.Laplace(epsilon="1/4"), query_epsilon="1/2", positives=4)
    assert event.pure_epsilon == 3
    assert renyi.divergence(event, [5.0])[0] <= 3
    assert renyi.divergence(event, [5.0])[0] == pytest.approx(
        4 * renyi.divergence(events.SparseVector(event.inner, query_epsilon="1/2"), [5.0])[0]
    )
    same = events.AboveThreshold(epsilon=3, positives=4)
    assert renyi.divergence(event, [2.0])[0] < renyi.divergence(same, [2.0])[0]
    assert pair_of(event) is not None


def test_a_gaussian_threshold_has_a_curve_and_filters_charge_it():
    event = events.SparseVector(events.Gaussian(noise_multiplier=4), query_epsilon=0.1, positives=3)
    cost = renyi.divergence(event, [8.0])[0]
    assert cost == pytest.approx(3 * (8 / 32 + 0.1))
    assert filters.RenyiFilter([8], [2.2]).remaining(event) == 2
    for budget in (filters.PureFilter(1000), filters.ZeroConcentratedFilter(1000)):
        with pytest.raises(BudgetExceeded):
            budget.spend(event)
    found = accounting.epsilon(event, delta=1e-6)
    assert found.lower == 0
    assert not found.certified
    assert found.upper < inf
    leaky = events.SparseVector(events.Approximate(epsilon=1, delta=1e-6), query_epsilon=1, positives=3)
    assert renyi.extra_delta(leaky) == pytest.approx(3e-6)
