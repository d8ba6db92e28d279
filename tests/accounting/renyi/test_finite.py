"""Rényi curves of finite laws, and what filters charge for them."""

from __future__ import annotations

from itertools import product
from math import inf, log

import numpy as np
import pytest

from accounting.loss.profiles import of_masses
from discreet.accounting import filters, renyi
from discreet.errors import BudgetExceeded
from discreet.privacy import events

P, Q = np.array([0.5, 0.3, 0.15, 0.05]), np.array([0.25, 0.3, 0.2, 0.25])
PLAIN = events.FiniteLaws(outcomes=list(zip(P.tolist(), Q.tolist(), strict=True)))
LEAKY = events.FiniteLaws(outcomes=[(0.5, 0.25), (0.3, 0.3), (0.15, 0.44)])
PROFILE = events.PrivacyProfile(points=[(0, 0.2), (0.5, 0.05), (1, 1e-4)])


@pytest.mark.parametrize("order", [1.5, 2.0, 7.3, 40.0])
def test_the_divergence_is_the_sum_in_the_worse_order(order):
    truth = max(log((a**order * b ** (1 - order)).sum()) / (order - 1) for a, b in ((P, Q), (Q, P)))
    found = renyi.divergence(PLAIN, [order])[0]
    assert truth <= found <= truth * (1 + 1e-9)


@pytest.mark.parametrize("event", [PLAIN, LEAKY, PROFILE], ids=["plain", "leaky", "profile"])
@pytest.mark.parametrize("steps", [1, 3])
def test_what_the_curve_promises_holds_by_enumeration(event, steps):
    from discreet.accounting.loss.pair import pair_of

    pair = pair_of(event)
    p = [np.prod(row) for row in product(pair.p, repeat=steps)]
    q = [np.prod(row) for row in product(pair.q, repeat=steps)]
    for epsilon in (0.1, 0.7, 1.5):
        truth = max(of_masses(p, q, epsilon), of_masses(q, p, epsilon))
        assert renyi.delta(event * steps, epsilon) >= truth - 1e-12


def test_the_share_of_infinite_loss_is_charged_as_a_delta():
    assert renyi.extra_delta(LEAKY) == pytest.approx(0.05)
    assert renyi.extra_delta(PROFILE) == pytest.approx(1e-4)
    assert renyi.extra_delta(PLAIN) == 0
    budget = filters.RenyiFilter([4], [10], delta=0.001).spend(PROFILE * 9)
    with pytest.raises(BudgetExceeded):
        budget.spend(PROFILE * 2)
    with pytest.raises(BudgetExceeded):
        filters.RenyiFilter([4], [10]).spend(PROFILE)


def test_filters_without_a_place_for_them_refuse():
    for budget in (filters.PureFilter(100, delta=0.9), filters.GaussianFilter(100)):
        with pytest.raises(BudgetExceeded):
            budget.spend(PROFILE)
    filters.PureFilter(2).spend(PLAIN)


def test_nothing_in_common_is_never_admitted():
    nothing = events.FiniteLaws(outcomes=[(1, 0), (0, 1)])
    assert renyi.divergence(nothing, [2.0])[0] == inf
    with pytest.raises(BudgetExceeded):
        filters.RenyiFilter([2], [1e9], delta=0.999).spend(nothing)
