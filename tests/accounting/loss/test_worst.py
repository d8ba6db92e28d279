"""The largest of several profiles, as one law."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.accounting.loss import pair_of
from discreet.accounting.loss.gridded import summed
from discreet.accounting.loss.law import AtomicLoss
from discreet.accounting.loss.worst import largest_profile, worst_pair
from discreet.privacy import events


def random_law(rng, count):
    """Random masses under two laws, with a little of infinite loss."""
    q = rng.dirichlet(np.ones(count))
    p = rng.dirichlet(np.ones(count)) * 0.99
    return AtomicLoss(p, np.log(p / q), 0.01)


def delta(law, at):
    return law.delta(at) + law.infinity


@pytest.mark.parametrize("seed", range(20))
def test_it_is_at_least_every_profile_and_no_more_at_its_losses(seed):
    rng = np.random.default_rng(seed)
    laws = [random_law(rng, count) for count in (3, 5, 9)]
    worst = largest_profile(laws)
    for at in np.concatenate([np.linspace(-6, 6, 400), *(law.losses for law in laws)]):
        largest = max(delta(law, at) for law in laws)
        assert delta(worst, at) >= largest * (1 - 1e-13)
    top = max(law.losses.max() for law in laws)
    assert delta(worst, top) == pytest.approx(0.01, rel=1e-9)
    assert worst.masses.sum() + worst.infinity == pytest.approx(1, abs=1e-9)


def test_cut_laws_come_near_the_largest_profile():
    normal, laplace = (
        pair_of(e) for e in (events.Gaussian(noise_multiplier=2), events.Laplace(epsilon="1.475"))
    )
    law = worst_pair([((normal, 1),), ((laplace, 1),)]).law(0, "upper", 8000)
    for at in np.linspace(-1.4, 3, 60):
        largest = max(pair.law(0, "upper", 3).delta(at) for pair in (normal, laplace))
        assert largest <= delta(law, at) <= largest * (1 + 1e-4)


def test_beyond_floats_there_is_none():
    far = pair_of(events.Gaussian(noise_multiplier="0.01"))
    assert worst_pair([((far, 1),), ((pair_of(events.Pure(epsilon=1)), 1),)]) is None


@pytest.mark.parametrize("times", [2, 7, 50])
def test_sums_on_a_grid_dominate_and_come_near(times):
    law = pair_of(events.Pure(epsilon="0.1")).law(0, "upper", 3)
    moved = summed([(law, times)], count=101)
    from discreet.accounting import delta as exact

    for at in (0, 0.05, 0.3, 0.7):
        truth = exact(events.Pure(epsilon="0.1") * times, epsilon=at)
        assert truth.lower <= delta(moved, at) <= truth.upper * 1.05 + 1e-3
