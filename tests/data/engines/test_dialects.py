"""What is written for an engine where Ibis by itself would mean something else."""

from __future__ import annotations

import re
from importlib import import_module

import ibis
import ibis.expr.operations as ops
import ibis.expr.schema as sch
import pytest

from discreet.data.engines.base import bounded_total, lot
from discreet.data.engines.dialects import statement

COLUMNS = {"x": "float64", "d": "decimal(30, 2)", "i": "int64", "s": "string", "b": "boolean"}
BACKENDS = ["duckdb", "postgres", "pyspark"]


def table(name):
    backend = import_module(f"ibis.backends.{name}").Backend()
    return ops.DatabaseTable("rows", sch.Schema(COLUMNS), backend, ops.Namespace()).to_expr(), backend


def written(name, make):
    rows, backend = table(name)
    return statement(make(rows), backend)


@pytest.mark.parametrize("name", BACKENDS)
def test_conditions_within_conditions_have_parentheses(name):
    text = written(name, lambda rows: rows.select(c=rows["s"].isin(["a"]) == ibis.literal(False)))
    assert "(" in text.split(" IN ")[0].split("SELECT")[1]
    text = written(name, lambda rows: rows.select(c=(rows["s"].isin(["a"])).isnull()))
    assert ") IS NULL" in text


CONDITIONS = {
    "in": lambda rows: rows["s"].isin(["a"]),
    "like": lambda rows: rows["s"].like("%a%b"),
    "contains": lambda rows: rows["s"].contains("a"),
    "starts with": lambda rows: rows["s"].startswith("a"),
    "null": lambda rows: rows["s"].isnull(),
    "at most": lambda rows: rows["i"] <= 3,
    "between": lambda rows: rows["i"].between(1, 3),
    "and": lambda rows: (rows["i"] > 1) & rows["b"],
    "not": lambda rows: ~rows["b"],
    "infinite": lambda rows: rows["x"].isinf(),
}


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_a_condition_is_compared_as_a_whole(name, condition):
    """What stands to the left of ``= FALSE`` is a call, or has parentheses around it."""
    whole = condition(table(name)[0])
    text = written(name, lambda rows: rows.select(c=whole == ibis.literal(False)))
    left = text.partition("SELECT ")[2].rpartition(" = FALSE")[0].strip()
    assert re.fullmatch(r"\w*\(.*\)", left), text


def test_nan_is_not_null_on_spark():
    assert "ISNAN" not in written("pyspark", lambda rows: rows.select(c=rows["x"].isnull())).upper()
    assert "IN (" in written("pyspark", lambda rows: rows.select(c=rows["x"].isinf()))


def test_sums_have_room():
    assert "DECIMAL(38, 0)" in written("pyspark", lambda rows: rows.agg(c=rows["i"].sum()))
    for name in BACKENDS:
        assert "AS BIGINT)" in written(name, lambda rows: rows.agg(c=bounded_total(rows["i"])))


def test_long_decimals_become_the_nearest_double():
    assert "AS TEXT) AS DOUBLE" in written("duckdb", lambda rows: rows.select(c=rows["d"].cast("float64")))
    assert "CASE WHEN" in written("postgres", lambda rows: rows.select(c=rows["d"].cast("float64")))


def test_text_made_on_postgres_compares_by_code_point():
    assert 'COLLATE "C"' in written("postgres", lambda rows: rows.select(c=rows["i"].cast("string")))
    assert "AS INT) AS BIGINT" in written("postgres", lambda rows: rows.select(c=rows["b"].cast("int64")))


@pytest.mark.parametrize("name", BACKENDS)
def test_lots_are_written_for_every_engine(name):
    text = written(name, lambda rows: rows.select(c=lot(rows["s"]))).upper()
    assert "MD5(" in text
    assert "LOT(" not in text


def test_what_is_used_twice_is_computed_once():
    def twice(rows):
        sizes = rows.group_by("s").agg(n=rows.count())
        return sizes.union(sizes.filter(sizes["n"] > 3))

    assert "MATERIALIZED" in written("duckdb", twice)
    assert "MATERIALIZED" not in written("postgres", twice)
