"""Public tables: what their content says of them."""

from __future__ import annotations

import datetime
import pickle
from decimal import Decimal
from fractions import Fraction

import pandas as pd
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from discreet.data import Bounds, Keys
from discreet.data.language.types import Type
from discreet.data.tables.public_table import LARGEST_PUBLIC, PublicTable
from discreet.errors import ParameterError

DAY = datetime.date(2026, 1, 31)
ARROW = pyarrow.table(
    {
        "name": ["b", "a", None, "a"],
        "number": pyarrow.array([3, -2, 3, None], pyarrow.int16()),
        "flag": [True, False, None, True],
        "day": [DAY, DAY, None, DAY],
        "price": [0.25, -1.5, float("nan"), None],
        "exact": pyarrow.array([Decimal("1.10"), None, None, None], pyarrow.decimal128(9, 2)),
        "at": pyarrow.array([1_500, None, None, None], pyarrow.timestamp("ns", "Asia/Taipei")),
        "kind": pyarrow.array(["x", "y", "x", None]).dictionary_encode(),
        "nothing": pyarrow.nulls(4),
    }
)
TABLE = PublicTable(ARROW)


def test_types_are_few():
    assert dict(TABLE.schema) == {
        "name": Type.TEXT,
        "number": Type.INTEGER,
        "flag": Type.BOOLEAN,
        "day": Type.DATE,
        "price": Type.FLOAT,
        "exact": Type.FLOAT,
        "at": Type.INSTANT,
        "kind": Type.TEXT,
        "nothing": Type.TEXT,
    }


def test_values_are_keys_in_order():
    assert TABLE.facts("name").keys == Keys(["a", "b", None])
    assert TABLE.facts("number").keys == Keys([-2, 3, None])
    assert TABLE.facts("flag").keys == Keys([False, True, None])
    assert TABLE.facts("day").keys == Keys([DAY, None])
    assert TABLE.facts("price").keys is None
    assert TABLE.facts("nothing").keys is None


def test_ranges_are_bounds():
    assert TABLE.facts("number").bounds == Bounds(-2, 3)
    assert TABLE.facts("price").bounds == Bounds(-1.5, 0.25, step=0.01)
    assert TABLE.facts("exact").bounds == Bounds(1.1, 1.2, step=0.1)
    assert TABLE.facts("flag").bounds == Bounds(0, 1)
    assert TABLE.facts("name").bounds is None


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_bounds_hold_every_number(numbers):
    bounds = PublicTable(pyarrow.table({"x": numbers})).facts("x").bounds
    if bounds is None:
        assert max(map(abs, numbers)) > 1e50 or 0 < max(map(abs, numbers)) < 1e-50
        return
    for number in numbers:
        assert bounds.lower <= Fraction(repr(number)) <= bounds.upper


def test_uniqueness_is_that_of_equality():
    assert TABLE.is_unique([("name", False), ("number", False)])
    assert not TABLE.is_unique([("name", False)])
    assert TABLE.is_unique([("nothing", False)])
    doubles = PublicTable(pyarrow.table({"x": [0.0, -0.0], "n": [float("nan")] * 2, "k": [2**53, 2**53 + 1]}))
    assert not doubles.is_unique([("x", True)])
    assert not doubles.is_unique([("n", True)])
    assert doubles.is_unique([("k", False)])
    assert not doubles.is_unique([("k", True)])


def test_the_version_is_the_content():
    def version(**columns):
        return PublicTable(pyarrow.table(columns)).version

    versions = [
        version(x=["a", "b"]),
        version(x=["ab", ""]),
        version(x=["a", None]),
        version(x=["a", "-"]),
        version(y=["a", "b"]),
        version(x=["b", "a"]),
        version(x=[1, 2]),
        version(x=[1.0, 2.0]),
        version(x=[1.0, None]),
        version(x=["a"], y=["b"]),
    ]
    assert len(set(versions)) == len(versions)
    chunks = pyarrow.concat_tables([pyarrow.table({"x": ["a"]}), pyarrow.table({"x": ["b"]})])
    assert PublicTable(chunks).version == versions[0]
    assert PublicTable(chunks.slice(0, 2)).version == versions[0]
    assert PublicTable(pd.DataFrame({"x": ["a", "b"]})).version == versions[0]
    assert TABLE.declaration["sha256"] == TABLE.version


def test_files(tmp_path):
    (tmp_path / "c.csv").write_text(
        "city,people,at\nOslo,3,2026-01-31\nRome,4,2026-02-01\n", encoding="utf-8"
    )
    found = PublicTable(tmp_path / "c.csv")
    assert list(found.schema.values()) == [Type.TEXT, Type.INTEGER, Type.DATE]
    parquet.write_table(found._rows(), tmp_path / "c.parquet")
    assert PublicTable(str(tmp_path / "c.parquet")).version == found.version
    assert pickle.loads(pickle.dumps(found)).version == found.version
    assert repr(found) == "PublicTable(2 rows; city, people, at)"


@pytest.mark.parametrize(
    "source",
    [
        "missing.csv",
        3,
        pyarrow.table({"x": [[1]]}),
        pyarrow.table({"x": pyarrow.array([2**64 - 1], pyarrow.uint64())}),
        pyarrow.table({"x": [1], "X": [2]}),
        pyarrow.table({"x": pyarrow.nulls(LARGEST_PUBLIC + 1)}),
    ],
)
def test_what_is_no_public_table(source):
    with pytest.raises(ParameterError):
        PublicTable(source)
