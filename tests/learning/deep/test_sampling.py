"""People take part independently, weigh 1 with all their examples, and stand in places of a uniform law."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import chain, permutations, product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from scipy import stats

from discreet.errors import ParameterError
from discreet.learning.deep.sampling import PeopleSampler, SecretPlaces, SlotSampler
from discreet.noise import Source, using
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


def owners(people):
    """Who owns which places, by drawing everybody."""
    sampler = PeopleSampler(len(people), people, len(people))
    places, weights = sampler.draw(Fraction(1))
    return sampler.people, places.tolist(), weights.tolist()


@pytest.mark.parametrize("other", [0.5, "x", None, float("nan"), b"y", (1, 2)])
@pytest.mark.parametrize("ids", [[2**53, 2**53 + 1], ["a", "a\0"], [1, 2**70], [True, "True"]])
def test_no_id_decides_how_another_is_read(ids, other):
    """An array of one type would take two of these for one person, or fail, once the other came."""
    count, places, weights = owners([*ids, other])
    assert owners(ids) == (2, [0, 1], [1.0, 1.0])
    assert places[:2] == [0, 1]
    assert weights == [1.0] * count


@pytest.mark.parametrize(
    "missing",
    [None, float("nan"), np.float32("nan"), Decimal("NaN"), Decimal("sNaN"), pd.NaT, pd.NA, [1], (1, None)],
)
def test_examples_without_an_owner_are_never_drawn(missing):
    assert owners([7, missing, 7, missing, 8]) == (2, [0, 2, 4], [0.5, 0.5, 1.0])
    sampler = PeopleSampler(2, [missing, missing], 1)
    assert sampler.people == 0
    assert len(sampler.draw(Fraction(1, 2))[0]) == 0


def test_ids_of_every_kind_of_array_are_read():
    days = np.array(["2020-01-01", "NaT", "2020-01-02", "2020-01-01"], "datetime64[ns]")
    for people in (days, pd.Series(days)):
        assert owners(people) == (2, [0, 2, 3], [0.5, 1.0, 0.5])
    for people in (
        torch.tensor([3, 4, 3]),
        np.array(["u", "v", "u"]),
        pd.Series([1, 2, 1]),
        pa.array([5, 6, 5]),
    ):
        assert owners(people) == (2, [0, 1, 2], [0.5, 1.0, 0.5])
    for people in (np.zeros((5, 1)), 7, "abcde" * 2):
        with pytest.raises(ParameterError, match="people"):
            PeopleSampler(5, people, 1)


@pytest.mark.parametrize("wrap", [torch.tensor, np.array, np.int16, pa.scalar, str])
def test_ids_that_are_made_anew_for_every_example_are_one_persons(wrap):
    """Tensors are equal by value, and have the hash of their place in memory."""
    assert owners([wrap(number) for number in (3, 4, 3)]) == (2, [0, 1, 2], [0.5, 1.0, 0.5])
    assert owners([wrap(3), torch.tensor([3]), object(), wrap(3)]) == (1, [0, 3], [0.5, 0.5])


def test_everybody_has_one_step_of_every_epoch():
    slots = SlotSampler(PeopleSampler(50, None, 1), 7)
    first, second = ([slots.draw(start + step)[0].tolist() for step in range(7)] for start in (0, 7))
    assert first == second
    assert sorted(chain(*first)) == list(range(50))


@pytest.mark.statistical
def test_slots_are_uniform_and_independent():
    pairs = np.array([SlotSampler(PeopleSampler(2, None, 1), 3)._slots for _ in range(3000)])
    counts = np.bincount(3 * pairs[:, 0] + pairs[:, 1], minlength=9)
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


def test_people_with_several_examples_have_one_slot():
    slots = SlotSampler(PeopleSampler(6, [1, 1, 1, 2, 2, 3], 2), 4)
    drawn = [slots.draw(step) for step in range(4)]
    assert sum(weights.sum() for _, weights in drawn) == pytest.approx(3)
    for places, _ in drawn:
        assert sum(place < 3 for place in places) in (0, 2)


def test_times_with_a_zone_are_ids_and_mappings_are_not():
    times = pd.Series(pd.to_datetime(["2026-01-05", "2026-01-06", "2026-01-05"]))
    for people in (times, times.dt.tz_localize("UTC")):
        assert owners(people) == (2, [0, 1, 2], [0.5, 1.0, 0.5])
    for people in ({0: "a", 1: "b", 2: "a"}, {"a", "b", "c"}):
        with pytest.raises(ParameterError, match="mapping or a set"):
            PeopleSampler(3, people, 2)


class Scripted(Source):
    """Gives out stated words, and fails when there are no more."""

    def __init__(self, *drawn):
        self._drawn = iter(drawn)

    def words(self, size):
        found = np.array(next(self._drawn), np.uint64)
        assert len(found) == size
        return found


def every_way(examples, places):
    """Where examples are under every list of different words: how often each way of putting them occurs."""
    found = {}
    for words in product(range(places), repeat=places):
        if len(set(words)) == places:
            with using(Scripted(words)):
                filled, _ = SecretPlaces(places, places).put(np.array(examples), np.ones(len(examples)))
            way = tuple(filled.tolist().index(one) for one in examples)
            found[way] = found.get(way, 0) + 1
    return found


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_every_way_of_putting_examples_into_places_is_equally_likely(count):
    found = every_way(range(10, 10 + count), 4)
    assert set(found) == set(permutations(range(4), count))
    assert len(set(found.values())) == 1


@pytest.mark.parametrize("person", [0, 1, 2])
def test_places_of_the_others_have_the_same_law_with_and_without_a_person(person):
    """A uniform injection restricted to some is one. In the order of the data it would not be."""
    everybody = [10, 11, 12]
    others = [one for place, one in enumerate(everybody) if place != person]
    restricted = {}
    for way, often in every_way(everybody, 4).items():
        kept = tuple(place for rank, place in enumerate(way) if rank != person)
        restricted[kept] = restricted.get(kept, 0) + often
    assert restricted == every_way(others, 4)


def test_words_that_are_equal_are_drawn_anew():
    with using(Scripted([7, 3, 7], [5, 9, 5], [2, 0, 1])):
        filled, weights = SecretPlaces(3, 3).put(np.array([4, 6]), np.array([1.0, 0.5]))
    assert filled.tolist() == [-1, 4, 6]
    assert weights.tolist() == [0, 1, 0.5]


@pytest.mark.statistical
def test_places_are_uniform():
    counts, places = np.zeros((3, 3)), SecretPlaces(3, 3)
    for _ in range(3000):
        filled, _ = places.put(np.array([0, 1]), np.ones(2))
        counts[filled.tolist().index(0), filled.tolist().index(1)] += 1
    assert np.trace(counts) == 0
    assert stats.chisquare(counts[~np.eye(3, dtype=bool)]).pvalue > FALSE_ALARM


@pytest.mark.parametrize(("places", "size", "expected"), [(9, 4, 12), (8, 4, 8), (1, 4, 4), (0, 4, 4)])
def test_a_step_has_as_many_places_whoever_was_drawn(places, size, expected):
    secret = SecretPlaces(places, size)
    for count in range(expected + 1):
        examples, weights = np.arange(count) + 50, np.arange(count) + 1.0
        filled, weight = secret.put(examples, weights)
        assert len(filled) == len(weight) == expected
        assert sorted(filled[filled >= 0].tolist()) == examples.tolist()
        assert (weight == np.where(filled >= 0, filled - 49, 0)).all()


@pytest.mark.parametrize("count", [9, 12, 13])
def test_nobody_is_left_out_when_there_are_more_examples_than_places(count):
    filled, weights = SecretPlaces(8, 4).put(np.arange(count), np.ones(count))
    assert len(filled) == -(-count // 4) * 4
    assert sorted(filled[weights > 0].tolist()) == list(range(count))
