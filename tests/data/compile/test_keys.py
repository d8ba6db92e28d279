"""The place of a value among declared keys, on every engine."""

from __future__ import annotations

import datetime
import random

import pyarrow
import pytest

from data.test_behavior_values import numbered
from data.three_engines import TEXTS, embedded
from discreet.data import Keys
from discreet.data.compile.keys import place

DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(days=number) for number in range(100)]
WRITTEN = [f"key '{number}'" for number in range(60)]
KEYS = {
    "few texts": (pyarrow.string(), TEXTS[:5], TEXTS),
    "texts": (pyarrow.string(), [*TEXTS, *WRITTEN], [*TEXTS, "KEY '1'", "key '1' ", "A ", *WRITTEN]),
    "integers": (pyarrow.int64(), [2**63 - 1, -(2**63), *range(-30, 30)], [2**62, 31, -31, 0, 29, -30]),
    "small integers": (pyarrow.int8(), [*range(-200, 200, 3)], [*range(-128, 128)]),
    "unsigned integers": (pyarrow.uint32(), [*range(-40, 40)], [0, 1, 39, 40, 2**32 - 1]),
    "no unsigned integers": (pyarrow.uint32(), [-1, -2], [0, 1, 2**32 - 1]),
    "dates": (pyarrow.date32(), DAYS[::2], [*DAYS, datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
    "truth values": (pyarrow.bool_(), [True, False], [False, True]),
    "one truth value": (pyarrow.bool_(), [False], [False, True]),
}


@pytest.mark.few(20)
@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize("case", KEYS)
def test_places_are_those_of_the_list(engine, case, null):
    kind, listed, values = KEYS[case]
    keys = [*listed, None] if null else list(listed)
    random.Random(7).shuffle(keys)
    held = [*values, *(value for value in listed if value in values), None]
    table = engine.table(numbered(pyarrow.table({"value": pyarrow.array(held, kind)})))
    found = engine.values(table, place=lambda rows: place(rows["value"], Keys(keys)))["place"]
    assert found == [keys.index(value) if value in keys else None for value in held]


def test_thousands_of_keys_are_found(engine):
    """A flat list of comparisons would be minutes of work on some engines."""
    keys = Keys([*(f"key {number}" for number in range(2000)), None])
    held = [*(f"key {number}" for number in range(0, 2100, 7)), None, "key"]
    table = engine.table(numbered(pyarrow.table({"value": held})))
    found = engine.values(table, place=lambda rows: place(rows["value"], keys))["place"]
    assert found == [*(number if number < 2000 else None for number in range(0, 2100, 7)), 2000, None]


def test_integers_beyond_63_bits_are_no_keys():
    """Only the embedded engine has a type for them."""
    held, keys = [0, 1, 2**63 - 1, 2**63, 2**64 - 1], Keys([-1, 2**63 - 1, 0])
    arrow = pyarrow.table({"value": pyarrow.array(held, pyarrow.uint64())})
    engine = embedded()
    found = engine.values(engine.table(numbered(arrow)), place=lambda rows: place(rows["value"], keys))
    assert found["place"] == [2, None, 1, None, None]
