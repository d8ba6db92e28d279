"""People take part independently, with the stated probability, and weigh 1 with all their examples."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.errors import ParameterError
from discreet.learning.deep.sampling import PeopleSampler
from significance import FALSE_ALARM


@pytest.mark.statistical
def test_each_takes_part_with_the_rate_and_pairs_with_its_square():
    sampler = PeopleSampler(4, None, 1)
    draws = np.zeros((4000, 4), bool)
    for row in draws:
        row[sampler.draw(Fraction(1, 3))[0]] = True
    for person in range(4):
        assert stats.binomtest(int(draws[:, person].sum()), 4000, 1 / 3).pvalue > FALSE_ALARM
    both = int((draws[:, 0] & draws[:, 3]).sum())
    assert stats.binomtest(both, 4000, 1 / 9).pvalue > FALSE_ALARM
    assert stats.binomtest(both, 4000, 1 / 6).pvalue < FALSE_ALARM


@pytest.mark.statistical
def test_the_number_of_people_varies_as_poisson_samples_do():
    """A loader of batches of fixed size would always draw 30."""
    sampler = PeopleSampler(100, None, 1)
    counts = np.array([len(sampler.draw(Fraction(3, 10))[0]) for _ in range(600)])
    statistic = counts.var() * 600 / 21
    assert FALSE_ALARM / 2 < stats.chi2(599).cdf(statistic) < 1 - FALSE_ALARM / 2


def test_all_examples_of_a_person_come_together_and_weigh_one():
    people = np.array(["b", "a", "b", "c", "b", "a"])
    sampler = PeopleSampler(6, people, 2)
    assert sampler.people == 3
    seen = set()
    for _ in range(60):
        places, weights = sampler.draw(Fraction(1, 2))
        assert (np.diff(places) > 0).all()
        for person in set(people[places]):
            own = people[places] == person
            assert weights[own].sum() == 1
            assert own.sum() == min(2, (people == person).sum())
            seen |= set(places[own])
    assert seen == set(range(6))


def test_a_sample_may_be_empty_or_whole():
    sampler = PeopleSampler(5, np.zeros(5), 3)
    assert [len(part) for part in sampler.draw(Fraction(0))] == [0, 0]
    assert len(sampler.draw(Fraction(1))[0]) == 3
    assert len(PeopleSampler(5, None, 1).draw(Fraction(0))[0]) == 0


def test_people_must_be_as_many_as_examples():
    with pytest.raises(ParameterError, match="people"):
        PeopleSampler(5, [1, 2], 1)
