"""Rows of several embedded databases in one: copied once, whoever asks first."""

from __future__ import annotations

import gc
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor

import ibis
import pyarrow

from discreet.data import Bounds, CountRows, Group, Keys, Limits, Table, compute, engine_sql, fresh_salt
from discreet.data.engines import base
from discreet.data.language.formulas.formula import col
from discreet.data.language.relations import Filter, JoinPersons, Source


def table(**columns):
    return Table(pyarrow.table(columns), person="who", limits=Limits(rows=9))


def count(tables, condition=None):
    right = Source(table="b")
    if condition is not None:
        right = Filter(source=right, condition=condition.expression)
    joined = JoinPersons(left=Source(table="a"), right=right, columns=())
    plan = Group(source=joined, measures=(CountRows(),))
    return int(compute(plan, tables, salt=fresh_salt()).values[0][0])


def test_threads_share_one_copy(monkeypatch):
    copied = []
    fetch = base.fetch

    def counted(rows, backend):
        copied.append(rows.columns)
        return fetch(rows, backend)

    monkeypatch.setattr(base, "fetch", counted)
    tables = {"a": table(who=[1, 2, 2]), "b": table(who=[2, 2, 3, None])}
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: count(tables), range(16))) == {4}
    assert copied.count(("who",)) == 1


def test_to_write_a_statement_copies_nothing(monkeypatch):
    """What explains a join reads neither table."""
    tables = {"a": table(who=[1, 2, 2]), "b": table(who=[2, 2, 3, None])}
    joined = JoinPersons(left=Source(table="a"), right=Source(table="b"), columns=())
    plan = Group(source=joined, measures=(CountRows(),))
    with monkeypatch.context() as patched:
        for name in ("fetch", "keep"):
            patched.setattr(base, name, None)
        statement = engine_sql(plan, tables)
    assert "JOIN" in statement
    for one in tables.values():
        assert one._backend.con.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("rows",)]
    assert count(tables) == 4


def test_values_that_requests_do_not_know_are_copied_as_there_or_not():
    many = pyarrow.array([[1], None, []], pyarrow.list_(pyarrow.int64()))
    tables = {"a": table(who=[1, 2]), "b": table(who=[1, 1, 2], tags=many)}
    assert count(tables, col("tags").is_null()) == 1
    assert count(tables, ~col("tags").is_null()) == 2


def test_tables_of_one_place_with_other_declarations_have_copies_of_their_own():
    """Else the rows of one would come in the types of the other, and values that both hold would be NULL."""
    connection = ibis.duckdb.connect()
    connection.raw_sql("CREATE TABLE t AS SELECT 1 AS who, 18446744073709551615::UBIGINT AS x")
    with warnings.catch_warnings():  # Ibis uses a method that newer DuckDBs deprecate
        warnings.filterwarnings("ignore", "fetch_arrow_table", DeprecationWarning)
        stored = connection.table("t")
    one, other, third = (
        Table(stored, person="who", limits=Limits(rows=9), columns=columns)
        for columns in ({"x": Keys([1])}, {}, {"x": Bounds(0, 9)})
    )
    home = table(who=[1])
    assert [count({"a": home, "b": right}, col("x") > 2**62) for right in (one, other, third)] == [0, 1, 1]


def test_copies_go_with_their_tables():
    tables = {"a": table(who=[1]), "b": table(who=[1])}
    assert count(tables) == 1
    backends = [weakref.ref(one._backend) for one in tables.values()]
    del tables
    gc.collect()
    assert [backend() for backend in backends] == [None, None]
