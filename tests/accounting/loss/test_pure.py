"""What only has an epsilon, or an (epsilon, delta), is never worse than the pair."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from accounting.loss.profiles import of_masses, upper
from discreet.accounting.loss.pair import pair_of
from discreet.accounting.loss.pure import pure_pair
from discreet.privacy import events


def delta_of_response(epsilon, delta, at):
    """The largest delta at another epsilon: the chord from (0, 1) through (e^epsilon, delta), by cases."""
    gamma, given = exp(at), exp(epsilon)
    if at >= epsilon:
        return delta
    if at <= -epsilon:
        return 1 - gamma * (1 - delta)
    return max(delta, delta + (1 - delta) * (given - gamma) / (given + 1))


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0, 5.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.1])
def test_the_profile_is_the_closed_form(epsilon, delta):
    pair = pure_pair(epsilon, delta)
    for at in np.linspace(-6, 6, 25):
        assert upper(pair, 0, at) == pytest.approx(delta_of_response(epsilon, delta, at), abs=1e-14)


def random_private_pair(generator, epsilon, delta):
    """Random laws that are (epsilon, delta)-close in both directions, many of them at the limit."""
    number = generator.integers(2, 8)
    while True:
        p = generator.dirichlet(np.ones(number))
        q = p * np.exp(generator.choice([-1.0, 1.0, generator.uniform(-1, 1)], size=number) * epsilon)
        q = q / q.sum()
        moved = generator.uniform(0, delta) * generator.dirichlet(np.ones(number))
        q = (1 - moved.sum()) * q + moved
        if max(of_masses(p, q, epsilon), of_masses(q, p, epsilon)) <= delta + 1e-15:
            return p, q


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_no_private_law_exceeds_the_pair(epsilon, delta):
    generator = np.random.default_rng()
    pair = pure_pair(epsilon, delta)
    for _ in range(60):
        p, q = random_private_pair(generator, epsilon, delta)
        for at in np.linspace(-2 * epsilon, 2 * epsilon, 21):
            assert of_masses(p, q, at) <= upper(pair, 0, at) + 1e-12
            assert of_masses(q, p, at) <= upper(pair, 0, at) + 1e-12


def test_small_losses_keep_their_digits():
    assert pair_of(events.Pure(epsilon="1e-12")).law(0, "upper", 3).largest == pytest.approx(1e-12, rel=1e-15)


@pytest.mark.parametrize(
    "event",
    [
        events.NoisyMax(epsilon="0.7"),
        events.AboveThreshold(epsilon="0.7", positives=3),
        events.PermuteAndFlip(epsilon="0.7"),
    ],
    ids=lambda event: type(event).__name__,
)
def test_named_laws_are_charged_as_pure_and_claim_no_more_than_is_known(event):
    pair, worst = pair_of(event), pair_of(events.Pure(epsilon="0.7"))
    for direction in range(pair.directions):
        for at in (0.0, 0.3, 0.6):
            low = pair.law(direction, "lower", 3).delta(at)
            assert low < upper(pair, direction, at) == upper(worst, 0, at)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_two_candidates_attain_the_lower_bound_of_permute_and_flip(epsilon):
    """The law of two candidates by flipping both coins: a gap x is lost with probability e^(-rate x) / 2."""
    pair = pair_of(events.PermuteAndFlip(epsilon=str(epsilon)))
    rate = epsilon / 2  # general scores: each moves by 1, the gap by 2
    level = np.array([0.5, 0.5])
    gap = np.array([1 - exp(-rate * 2) / 2, exp(-rate * 2) / 2])
    for at in (0.0, epsilon / 3, 0.9 * epsilon):
        for direction, (p, q) in enumerate(((level, gap), (gap, level))):
            assert pair.law(direction, "lower", 3).delta(at) == pytest.approx(of_masses(p, q, at), rel=1e-12)
