from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.privacy import events

SOURCE = np.random.default_rng(42)
ORDERS = 1 + np.geomspace(1e-3, 1e3, 400)


def choice_law(scores, epsilon):
    weights = np.exp(epsilon * (scores - scores.max()))
    return weights / weights.sum()


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_an_exponential_choice_has_bounded_range_and_concentrates(epsilon):
    """Scores that move by at most 1 either way: weights exp(epsilon score / 2) keep a range of epsilon."""
    rho = float(events.ExponentialChoice(epsilon=epsilon).concentrated_rho)
    worst = 0.0
    for _ in range(200):
        scores = SOURCE.uniform(-3, 3, 3)
        moved = scores + SOURCE.choice([-1.0, 1.0], 3)
        p, q = choice_law(scores, epsilon / 2), choice_law(moved, epsilon / 2)
        loss = np.log(p / q)
        assert loss.max() - loss.min() <= epsilon * (1 + 1e-12)
        moments = np.logaddexp.reduce(ORDERS[:, None] * loss + np.log(q), axis=1)
        worst = max(worst, (moments / (ORDERS - 1) / ORDERS).max())
    assert worst <= rho * (1 + 1e-9)
    assert worst > 0.5 * rho


def test_bounded_ranges_add_up_along_a_chain():
    epsilon, size = 0.7, 3
    bound = float(events.group(events.ExponentialChoice(epsilon=epsilon), size).epsilon)
    for _ in range(200):
        scores = SOURCE.uniform(-3, 3, 4)
        moved = scores + SOURCE.choice([-1.0, 1.0], (size, 4)).sum(axis=0)
        loss = np.log(choice_law(scores, epsilon / 2) / choice_law(moved, epsilon / 2))
        assert loss.max() - loss.min() <= bound * (1 + 1e-12)


@pytest.mark.parametrize("law", [events.PermuteAndFlip, events.NoisyMax, events.ExponentialChoice])
def test_selections_are_pure(law):
    assert law(epsilon="1/3").pure_epsilon == Fraction(1, 3)
    with pytest.raises(ParameterError, match=r"^epsilon "):
        law(epsilon=-1)


def test_above_threshold():
    event = events.AboveThreshold(epsilon=2, positives=3)
    assert event.pure_epsilon == 2  # of the whole run
    assert event.concentrated_rho == 2
    for bad in (0, -1, 1.5, None):
        with pytest.raises(ParameterError, match=r"^positives "):
            events.AboveThreshold(epsilon=1, positives=bad)
    with pytest.raises(ParameterError, match=r"^epsilon "):
        events.AboveThreshold(epsilon="much", positives=1)


@pytest.mark.parametrize("size", [2, 5])
@pytest.mark.parametrize("choice", [events.ExponentialChoice, events.PermuteAndFlip])
def test_a_group_moves_scores_as_many_times_as_far(choice, size):
    grouped = events.group(choice(epsilon="2/3"), size)
    assert grouped.pure_epsilon == size * choice(epsilon="2/3").pure_epsilon
