"""Parquet files: no value makes a statement fail, and nothing follows from what a file says of itself."""

# ruff: noqa: S608

from __future__ import annotations

import datetime
import math
import uuid

import duckdb
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from discreet.data import EACH_ROW, Bounds, Table, Type, compute
from discreet.data.engines.base import fetch
from discreet.data.salt import Salt
from discreet.queries.binding.bind import bind
from discreet.queries.sql.select import parse

DAY = datetime.datetime(2026, 1, 31)


def texts(*contents: bytes) -> pyarrow.Array:
    """Bytes that are called text."""
    ends = np.cumsum([0, *map(len, contents)]).astype(np.int32)
    return pyarrow.StringArray.from_buffers(
        len(contents), pyarrow.py_buffer(ends.tobytes()), pyarrow.py_buffer(b"".join(contents))
    )


def counts(*numbers: int, kind: pyarrow.DataType) -> pyarrow.Array:
    return pyarrow.array(numbers, pyarrow.int64()).cast(kind)


MILLISECONDS = 1769817600000
HOSTILE = {
    "text": (texts(b"a", b"\xff\xfe", b"\xc3\xa4"), ["a", None, "ä"]),
    "dictionary": (texts(b"a", b"\xff\xfe", b"a").dictionary_encode(), ["a", None, "a"]),
    "time": (
        counts(MILLISECONDS, 1 << 62, -(1 << 62), kind=pyarrow.timestamp("ms")),
        [DAY, None, None],
    ),
    "instant": (
        counts(MILLISECONDS, 1 << 62, -(1 << 62), kind=pyarrow.timestamp("ms", "UTC")),
        [DAY.replace(tzinfo=datetime.UTC), None, None],
    ),
    "microseconds": (
        counts(MILLISECONDS * 1000, 1 << 62, -(1 << 62), kind=pyarrow.timestamp("us")),
        [DAY, None, None],
    ),
    "day": (
        pyarrow.array([20484, 2**31 - 1, -(2**31)], pyarrow.int32()).cast(pyarrow.date32()),
        [DAY.date(), None, None],
    ),
    "time of day": (counts(0, 1 << 62, 5, kind=pyarrow.time64("us")), [b"", b"", b""]),
    "list": (pyarrow.array([[1], [], None]), [b"", b"", None]),
    "wide": (pyarrow.array([1, 2, None]).cast(pyarrow.decimal256(60, 0)), [1.0, 2.0, None]),
}
TOGETHER = {
    name: column for name, (column, _) in HOSTILE.items() if not pyarrow.types.is_dictionary(column.type)
}


def opened(path, **columns):
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return Table(path, person=EACH_ROW)


@pytest.mark.parametrize("name", HOSTILE)
def test_every_value_is_read_or_null(tmp_path, name):
    column, expected = HOSTILE[name]
    table = opened(tmp_path / "v.parquet", x=column, row=[0, 1, 2])
    rows = sorted(table._rows().to_pylist(), key=lambda row: row["row"])
    assert [row["x"] for row in rows] == expected


def test_one_bad_value_leaves_everything_else_as_it_was(tmp_path):
    """The rows are the same whether the file is read where it lies or copied."""
    kinds = {
        "i": pyarrow.array([1, 2, 3], pyarrow.uint16()),
        "f": [1.5, math.nan, math.inf],
        "b": [True, None, False],
        "t": ["a", "", None],
        "d": pyarrow.array([DAY.date(), None, DAY.date()]),
        "s": pyarrow.array([DAY, DAY, None], pyarrow.timestamp("ms")),
        "n": pyarrow.array([DAY, DAY, None], pyarrow.timestamp("ns")),
        "z": pyarrow.array([DAY, DAY, None], pyarrow.timestamp("us", "UTC")),
        "e": pyarrow.array([1, 2, 3]).cast(pyarrow.decimal128(38, 4)),
        "u": pyarrow.array([uuid.UUID(int=one).bytes for one in (1, 2, 3)], pyarrow.uuid()),
        "o": [{"a": 1}, None, {"a": 2}],
    }
    good = opened(tmp_path / "good.parquet", x=["a", "b", "c"], **kinds)
    bad = opened(tmp_path / "bad.parquet", x=texts(b"a", b"\xff", b"c"), **kinds)
    assert good.schema == bad.schema
    assert good._relation.schema() == bad._relation.schema()
    rows, others = good._rows().drop(["x"]).to_pylist(), bad._rows().drop(["x"]).to_pylist()
    assert str(rows) == str(others)  # NaN is itself only in words
    assert bad._rows()["x"].to_pylist() == ["a", None, "c"]


def test_values_are_read_once_and_no_sooner_than_asked_for(tmp_path):
    table = opened(tmp_path / "v.parquet", x=texts(b"\xff"))
    path = tmp_path / "v.parquet"
    assert table.schema == {"x": Type.TEXT}
    assert table._rows().num_rows == table._rows().num_rows == 1
    path.unlink()
    assert table._rows().num_rows == 1  # it was copied


CONDITIONS = [
    "x > 100",
    "x >= 2.5",
    "NOT x <= 150",
    "x <> x",
    "x > 100 OR x < 0",
    "ROUND(x) IS NULL",
    "x * 2 > 300",
]


@pytest.mark.few(3)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_what_a_file_says_of_its_numbers_decides_nothing(tmp_path, condition):
    """Its least and largest number leave NaN out: rows would be skipped or not by what others have."""
    found = []
    for name, more in (("a", []), ("b", [200.0])):
        path = tmp_path / f"{name}.parquet"
        pyarrow.parquet.write_table(
            pyarrow.table({"x": [1.0, math.nan, math.nan, math.nan, 2.0, *more]}), path
        )
        table = Table(path, person=EACH_ROW, columns={"x": Bounds(0, 9, step=0.5, nan=3)})
        tables = {"v": table}
        bound = bind(parse(f"SELECT COUNT(*) AS n, SUM(x) AS s FROM v WHERE {condition}", tables), tables)
        found.append(compute(bound.plan, tables, salt=Salt(value="salt")).values)
    for statistic, one, other in zip(bound.statistics.statistics, *found, strict=True):
        assert np.abs(one - other).sum() <= statistic.sensitivity.l1


def test_the_engine_really_skips_rows_by_what_a_file_says(tmp_path):
    """The control: read without the normal form, one number more brings others' rows to light."""
    found = []
    for name, more in (("a", []), ("b", [200.0])):
        path = tmp_path / f"{name}.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"x": [1.0, math.nan, math.nan, 2.0, *more]}), path)
        found.append(duckdb.connect().execute(f"SELECT count(*) FROM '{path}' WHERE x > 100").fetchone()[0])
    assert found[1] - found[0] > 1


def test_a_file_that_is_broken_says_nothing(tmp_path):
    from discreet.errors import EngineFailed

    table = opened(tmp_path / "v.parquet", x=["a"] * 1000)
    content = bytearray((tmp_path / "v.parquet").read_bytes())
    content[4:60] = b"\xff" * 56
    (tmp_path / "v.parquet").write_bytes(content)
    with pytest.raises(EngineFailed):
        fetch(table._relation, table._backend)
