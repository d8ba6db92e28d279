from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas
import pytest
import torch

from discreet.errors import ParameterError
from discreet.learning.teachers.shards import check_shards, shard_numbers

PERSONS = [f"p{number % 40}" for number in range(200)]


def test_rows_of_a_person_are_in_one_shard():
    found = shard_numbers(PERSONS, teachers=7)
    for person in set(PERSONS):
        assert len({int(shard) for who, shard in zip(PERSONS, found, strict=True) if who == person}) == 1
    assert set(found.tolist()) <= set(range(7))
    assert len(set(found.tolist())) > 1


def test_other_people_have_no_influence():
    whole = shard_numbers(PERSONS, teachers=7, key=b"secret")
    assert (shard_numbers(PERSONS[:50], teachers=7, key=b"secret") == whole[:50]).all()
    assert (shard_numbers(PERSONS[::-1], teachers=7, key=b"secret") == whole[::-1]).all()
    assert (shard_numbers(PERSONS, teachers=7, key=b"another") != whole).any()


def test_shards_are_about_equally_large():
    sizes = np.bincount(shard_numbers(range(20_000), teachers=10, key=b"x"), minlength=10)
    assert sizes.min() > 1700
    assert sizes.max() < 2300


def test_a_number_is_one_person_in_all_types():
    mixed = [1, 1.0, np.int64(1), np.float32(1.0), True, Decimal("1.0"), Fraction(1), 1 + 0j]
    assert len(set(shard_numbers(mixed, teachers=1000, key=b"x").tolist())) == 1
    others = [1, "1", None, float("nan"), "\udcff", 1.5, float("inf")]
    assert len(set(shard_numbers(others, teachers=2**20, key=b"x").tolist())) == 7


def test_a_tensor_is_the_number_that_it_holds():
    torch = pytest.importorskip("torch")
    for number in range(20):
        persons = [number, torch.tensor(number), np.array(number), np.int16(number)]
        assert len(set(shard_numbers(persons, teachers=1000).tolist())) == 1


def test_a_pair_is_one_person_however_it_is_spelled_and_whoever_else_is_there():
    pairs = [(1, "a"), (1.0, "a"), (Decimal(1), np.str_("a")), [True, "a"]]
    for persons in (pairs, [*pairs, ("b",)], [*pairs, "c"]):
        assert len(set(shard_numbers(persons, teachers=1000, key=b"x")[:4].tolist())) == 1
    with pytest.raises(ParameterError, match="share a person"):
        check_shards(pairs, [0, 0, 1, 0], teachers=2)


class EqualByValue:
    """Equal by value, and spelled by its place in memory."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return isinstance(other, EqualByValue) and self.number == other.number

    def __hash__(self):
        return hash(self.number)


def test_objects_that_are_made_anew_for_every_row_are_one_persons():
    one_person = (
        [torch.tensor(7), 7, torch.tensor(7.0)],
        [EqualByValue(7), EqualByValue(7)],
        [datetime.datetime(2020, 1, 2), pandas.Timestamp("2020-01-02")],
        [object(), object(), torch.tensor([7, 8])],
        [b"a", np.bytes_(b"a")],
    )
    for persons in one_person:
        assert len(set(shard_numbers(persons, teachers=2**20, key=b"x").tolist())) == 1


def test_numbers_that_are_none_are_one_person():
    """Rows without an owner might all be one person's."""
    nothing = [float("nan"), np.float32("nan"), Decimal("nan"), Decimal("snan"), complex("nan")]
    assert len(set(shard_numbers(nothing, teachers=1000).tolist())) == 1


def test_shards_that_share_a_person_are_refused():
    good = shard_numbers(PERSONS, teachers=7)
    check_shards(PERSONS, good, teachers=7)
    overlapping = good.copy()
    overlapping[0] = (overlapping[0] + 1) % 7
    with pytest.raises(ParameterError, match="share a person") as refused:
        check_shards(PERSONS, overlapping, teachers=7)
    assert "p0" not in str(refused.value)
    for bad in (good[:-1], good + 0.5, good - 1, good + 7):
        with pytest.raises(ParameterError, match="shards"):
            check_shards(PERSONS, bad, teachers=7)
    with pytest.raises(ParameterError, match="teachers"):
        shard_numbers(PERSONS, teachers=1)
