"""Public values in statements are those of Ibis, without what it loads and walks through."""

from __future__ import annotations

import datetime
import importlib
import subprocess
import sys

import ibis
import ibis.expr.operations as ops
import ibis.expr.schema as sch
import pyarrow
import pytest

from discreet.data.engines.dialects import statement
from discreet.data.engines.listed import is_among, listed_table

VALUES = pyarrow.table(
    {
        "text": pyarrow.array(["a", None, "é"]),
        "number": pyarrow.array([1, -(2**63), None], pyarrow.int64()),
        "flag": pyarrow.array([True, None, False]),
        "day": pyarrow.array([datetime.date(2026, 1, 1), None, datetime.date(1, 1, 1)], pyarrow.date32()),
    }
)


def test_it_is_a_table_as_ibis_makes_one():
    ours, usual = listed_table(VALUES), ibis.memtable(VALUES)
    assert ours.schema() == usual.schema()
    connection = ibis.duckdb.connect()
    assert connection.to_pyarrow(ours).equals(connection.to_pyarrow(usual))


def test_two_lists_have_two_names():
    assert listed_table(VALUES).op().name != listed_table(VALUES).op().name


def test_nothing_more_is_loaded():
    script = (
        "import sys, numpy as np, pyarrow\n"
        "from discreet.data.engines.listed import listed_table\n"
        "from discreet.data.reading.arrow_numbers import integers\n"
        "listed_table(pyarrow.table({'n': integers(np.arange(3))}))\n"
        "print('pandas' in sys.modules, 'pyarrow.dataset' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


LISTS = {
    "text": ["a", "it's", "\\", "${env:HOME}", "é", ""],
    "number": [0, 1, -(2**63), 2**63 - 1],
    "flag": [True, False],
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("engine", ["duckdb", "postgres", "pyspark"])
def test_values_within_a_statement_are_written_as_ibis_writes_them(engine, name):
    backend = importlib.import_module(f"ibis.backends.{engine}").Backend()
    columns = sch.Schema({"text": "string", "number": "int64", "flag": "boolean"})
    rows = ops.DatabaseTable("rows", columns, backend, ops.Namespace()).to_expr()
    literals = [ibis.literal(value, type=rows[name].type()) for value in LISTS[name]]
    ours, usual = rows.filter(is_among(rows[name], LISTS[name])), rows.filter(rows[name].isin(literals))
    assert statement(ours, backend) == statement(usual, backend)
    compared = is_among(rows["number"] > 1, [True]) == ibis.literal(False)
    assert ") IN (TRUE)) = FALSE" in statement(rows.select(c=compared), backend).replace("True", "TRUE")


def test_values_within_a_statement_are_found():
    connection, rows = ibis.duckdb.connect(), listed_table(VALUES)
    connection.con.register(rows.op().name, VALUES)
    text = statement(rows.select(c=is_among(rows["text"], ["é", "b"])), connection)
    found = connection.con.sql(text).to_arrow_table()
    assert found["c"].to_pylist() == [False, None, True]


def test_values_within_a_statement_are_one_node():
    rows = ibis.table({"text": "string"}, name="rows")
    few, many = (is_among(rows["text"], [str(one) for one in range(size)]) for size in (1, 200))
    assert len(few.op().find(ops.Node)) == len(many.op().find(ops.Node))
    assert few.op() != many.op()
    assert is_among(rows["text"], ["a"]).equals(is_among(rows["text"], ["a"]))
