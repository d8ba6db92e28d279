"""Rows of one embedded database in another: copied once, by the first statement that reads them."""

from __future__ import annotations

import pyarrow

from discreet.data import Limits, Table
from discreet.data.engines.base import fetch, keep
from discreet.data.tables.copies import copied_into, engine_place, is_copied


def opened(*numbers):
    rows = pyarrow.table({"who": list(numbers)})
    return Table(rows, person="who", limits=Limits(rows=1))


def test_rows_are_copied_between_embedded_databases_alone():
    one, other = opened(1), opened(2)
    assert engine_place(one._backend) == engine_place(other._backend)
    assert is_copied(one._backend, other._backend)
    assert not is_copied(one._backend, one._backend)
    assert copied_into(one._stored, one._backend, one._backend) is one._stored


def test_a_copy_is_one_and_is_made_when_it_is_read():
    source, home = opened(1, 2, 3), opened()
    first, again = (copied_into(source._stored, source._backend, home._backend) for _ in range(2))
    assert first.op().name == again.op().name
    names = "SELECT table_name FROM duckdb_tables()"
    assert (first.op().name,) not in home._backend.con.execute(names).fetchall()
    assert fetch(first, home._backend).num_rows == 3
    assert (first.op().name,) in home._backend.con.execute(names).fetchall()
    other = copied_into(source._stored.filter(source._stored.who > 1), source._backend, home._backend)
    assert fetch(other, home._backend).num_rows == 2


def test_a_copy_is_made_for_a_table_that_is_kept():
    source, home = opened(1, 2), opened()
    copy = copied_into(source._stored, source._backend, home._backend)
    keep("kept", copy, home._backend)
    assert home._backend.con.execute("SELECT COUNT(*) FROM kept").fetchall() == [(2,)]
