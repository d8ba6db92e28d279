"""What is said to dominate, does: at every epsilon, in both directions, against the pairs themselves."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from discreet.accounting.loss import pair_of
from discreet.accounting.runs.domination import dominates, dominates_all, leaves_of
from discreet.privacy import events

STEPS = [
    events.Gaussian(noise_multiplier=1),
    events.Gaussian(noise_multiplier=3),
    events.Laplace(epsilon=1),
    events.Laplace(epsilon="0.3"),
    events.DiscreteLaplace(sensitivity=1, scale=2, size=1),
    events.DiscreteLaplace(sensitivity=2, scale=2, size=1),
    events.Pure(epsilon=1),
    events.Pure(epsilon="0.2"),
    events.Approximate(epsilon=1, delta="0.01"),
    events.Approximate(epsilon="0.2", delta="0.001"),
    events.ExponentialChoice(epsilon=1),
    events.ExponentialChoice(epsilon="0.2"),
    *(
        events.PoissonSampled(step, rate=rate)
        for rate in ("0.1", "0.5")
        for step in (
            events.Gaussian(noise_multiplier=1),
            events.Pure(epsilon=1),
            events.Laplace(epsilon="0.3"),
        )
    ),
]


def deltas(event, direction, side):
    pair = pair_of(event)
    law = pair.law(direction if pair.directions == 2 else 0, side, 4000)
    return np.array([law.delta(at) + law.infinity for at in np.linspace(0, 3, 31)])


def test_claims_hold_for_the_pairs():
    claimed = [
        (one, other) for one, other in product(STEPS, repeat=2) if one != other and dominates(one, other)
    ]
    assert len(claimed) > 20
    for one, other in claimed:
        for direction in (0, 1):
            above, below = deltas(one, direction, "upper"), deltas(other, direction, "lower")
            assert (above >= below * (1 - 1e-9) - 1e-12).all(), (one, other)


def test_compositions_are_matched_step_by_step():
    one, two = events.Laplace(epsilon=1), events.Laplace(epsilon=2)
    assert dominates_all(leaves_of(two * 3), leaves_of(one * 2 + two))
    assert not dominates_all(leaves_of(two + one), leaves_of(two * 2))
    assert not dominates_all(leaves_of(two), leaves_of(one * 2))


@pytest.mark.parametrize(("one", "other"), [(STEPS[1], STEPS[0]), (STEPS[2], STEPS[0]), (STEPS[4], STEPS[6])])
def test_nothing_is_claimed_that_is_not_known(one, other):
    assert not dominates(one, other)
