"""Shuffled reports by enumeration of how many of each kind there are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from accounting.loss.profiles import of_masses, upper
from discreet.accounting import theorems
from discreet.accounting.loss.pair import NO_LOSS, pair_of
from discreet.accounting.loss.shuffled import ClonesPair
from discreet.privacy import events
from discreet.privacy.neighbors import REPLACE_PERSON


@pytest.mark.parametrize("people", [1, 5, 40])
@pytest.mark.parametrize("truth", [0.6, 0.9])
def test_shuffled_randomized_responses_stay_below(people, truth):
    """Two answers: the number of ones, with any number of ones among the others' true answers."""
    report = events.RandomizedResponse(truth=str(truth))
    pair = pair_of(
        events.Shuffled(events.Pure(epsilon=report.pure_epsilon, neighbors=REPLACE_PERSON), people=people)
    )
    for ones in range(people):
        others = np.convolve(
            stats.binom.pmf(np.arange(ones + 1), ones, truth),
            stats.binom.pmf(np.arange(people - ones), people - 1 - ones, 1 - truth),
        )
        p, q = (np.convolve(others, [1 - tell, tell]) for tell in (truth, 1 - truth))
        for at in np.linspace(-1, 2, 13):
            assert of_masses(p, q, at) <= upper(pair, 0, at) + 1e-12
            assert of_masses(q, p, at) <= upper(pair, 0, at) + 1e-12


@pytest.mark.parametrize(("epsilon", "people"), [(1.0, 1000), (4.0, 10**5), (0.1, 10**4)])
def test_cells_of_clones_bound_their_atoms(epsilon, people):
    pair = ClonesPair(epsilon, people)
    for count, at in product((50, 1000, 10**6), (0.0, 0.003, 0.03)):
        exact = theorems.shuffled_delta(epsilon, people, at)
        assert pair.law(0, "upper", count).delta(at) >= exact * (1 - 1e-9)
        if count >= 1000:
            assert pair.law(0, "upper", count).delta(at) <= exact * (1 + 2e-3) + 1e-12


def test_nothing_is_claimed_from_below():
    pair = pair_of(events.Shuffled(events.RandomizedResponse(truth="3/4", categories=3), people=10))
    assert pair.law(0, "lower", 10).delta(0.0) == 0


def test_one_person_hides_behind_nobody():
    pair = pair_of(events.Shuffled(events.Pure(epsilon=1, neighbors=REPLACE_PERSON), people=1))
    alone = pair_of(events.Pure(epsilon=1))
    for at in (0.0, 0.5, 0.9):
        assert upper(pair, 0, at) == pytest.approx(upper(alone, 0, at), rel=1e-9)


def test_reports_without_content_are_nothing():
    blind = events.Shuffled(events.Pure(epsilon=0, neighbors=REPLACE_PERSON), people=3)
    assert pair_of(blind) is NO_LOSS
