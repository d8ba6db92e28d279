"""Ids with the same value are one person's, whatever objects they are; others are nobody's."""

from __future__ import annotations

import datetime
import enum
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch

from discreet.learning.design.person_ids import person_of


class ByIdentity:
    """Equal only to itself, as objects are."""


class EqualByValue:
    """Equal by value, with the hash of its place in memory."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return isinstance(other, EqualByValue) and self.number == other.number

    __hash__ = object.__hash__


class FailsWhenAsked:
    """Cannot tell anything."""

    @property
    def ndim(self):
        raise RuntimeError


@dataclass(frozen=True)
class Named:
    """Equal and hashed by what it holds."""

    held: object


class Ward(enum.Enum):
    """A public list of names."""

    EAST = "east"


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.tensor(1000),
        lambda: torch.tensor(1000.0, requires_grad=True),
        lambda: np.int32(1000),
        lambda: np.array(1000),
        lambda: pa.scalar(1000),
        lambda: Decimal(1000),
    ],
)
def test_numbers_are_one_person_in_every_wrapping(make):
    assert person_of(make()) == 1000
    assert hash(person_of(make())) == hash(1000)
    assert {person_of((make(), "a")), person_of((1000, "a"))} == {(1000, "a")}


def test_parts_of_sets_are_read_one_by_one():
    assert person_of(frozenset({torch.tensor(7), np.int8(8)})) == frozenset({7, 8})


@pytest.mark.parametrize(
    "make",
    [
        lambda: "name" + str(7),
        lambda: np.str_("u"),
        lambda: UUID(int=5),
        lambda: datetime.datetime(2020, 1, 2),
        lambda: pd.Timestamp("2020-01-02"),
        lambda: np.datetime64("2020-01-02"),
        lambda: Fraction(1, 3),
        lambda: Named("x"),
        lambda: Named((1, b"y")),
        lambda: Ward.EAST,
        lambda: np.longdouble(0.5),
    ],
)
def test_two_objects_with_one_value_are_one_key(make):
    assert {person_of(make()): 1} == {person_of(make()): 1}
    assert person_of(make()) is not None


@pytest.mark.parametrize(
    "nobody",
    [
        None,
        float("nan"),
        torch.tensor(torch.nan),
        pa.scalar(None, pa.int64()),
        np.datetime64("NaT"),
        ByIdentity(),
        EqualByValue(3),
        FailsWhenAsked(),
        torch.tensor([3]),
        np.array([3]),
        [3],
        (1, torch.tensor([3])),
        frozenset({float("nan")}),
        Named(torch.tensor(3)),
        Named(float("nan")),
        (1, EqualByValue(3)),
    ],
)
def test_what_no_value_tells_from_others_is_nobodys(nobody):
    assert person_of(nobody) is None
