"""Columns are read by their expressions, and counted in their order, whatever their names are."""

from __future__ import annotations

import ibis
import ibis.expr.datatypes as dt

from discreet.data.engines.stored_columns import count_columns, read_columns

NAMES = ['a "b"', "n1", "select"]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def stored():
    backend = ibis.duckdb.connect()
    columns = ", ".join(f"{quoted(name)} INTEGER" for name in NAMES)
    backend.raw_sql(f"CREATE TABLE visits ({columns})")
    backend.raw_sql("INSERT INTO visits VALUES (1, NULL, NULL), (2, 5, NULL), (3, NULL, NULL)")
    return backend


def test_each_column_is_read_by_its_expression_and_keeps_its_name():
    written = [(NAMES[2], "42", dt.int64), (NAMES[0], f"{quoted(NAMES[0])} * 10.0", dt.float64)]
    found = read_columns("main.visits", written, quoted, stored())
    assert dict(found.schema()) == {NAMES[2]: dt.int64, NAMES[0]: dt.float64}
    rows = found.to_pyarrow().to_pydict()
    assert rows == {NAMES[2]: [42, 42, 42], NAMES[0]: [10.0, 20.0, 30.0]}


def test_values_that_are_not_null_are_counted_in_the_order_of_columns():
    """A column may have the name that a count has."""
    found = count_columns("main.visits", NAMES, quoted, stored())
    assert found.to_pyarrow().to_pylist() == [{"n0": 3, "n1": 1, "n2": 0}]
    assert set(found.schema().values()) == {dt.int64}
