"""Conditions mean what SQL says: as evaluated in plain Python, and by DuckDB from the same text."""

# ruff: noqa: S608
from __future__ import annotations

import duckdb
import numpy as np
import pyarrow
import pytest
from hypothesis import assume, given, settings

from discreet.data import EACH_ROW, Keys, Table, col, compute, fresh_salt, literal
from discreet.data.language.expressions import And, Arithmetic, Column, Compare, Not, Or
from discreet.errors import RequestRefused, UnsupportedQuery
from discreet.queries import bind, parse
from queries import grammar

SCHEMA = pyarrow.schema(
    [
        ("id", pyarrow.int64()),
        ("age", pyarrow.int64()),
        ("ward", pyarrow.int64()),
        ("cost", pyarrow.float64()),
        ("city", pyarrow.string()),
        ("urgent", pyarrow.bool_()),
        ("day", pyarrow.date32()),
    ]
)
ARROW = pyarrow.Table.from_pylist(grammar.ROWS, schema=SCHEMA)


@pytest.fixture(scope="module")
def tables():
    return {"t": Table(ARROW, person=EACH_ROW, columns={"id": Keys(range(len(grammar.ROWS)))})}


@pytest.fixture(scope="module")
def engine():
    with duckdb.connect() as connection:
        connection.register("rows", ARROW)
        connection.execute("CREATE TABLE t AS SELECT * FROM rows")
        yield connection


def condition(text, tables):
    return parse(f"SELECT COUNT(*) FROM t WHERE {text}", tables).relation.condition


def passing(text, tables):
    """Which rows pass, through the parser, the plan and the engine."""
    query = parse(f"SELECT id, COUNT(*) AS n FROM t WHERE {text} GROUP BY id", tables)
    exact = compute(bind(query, tables).plan, tables, salt=fresh_salt())
    return np.flatnonzero(exact.values[0]).tolist()


def admitted(text, tables):
    try:
        bind(parse(f"SELECT COUNT(*) FROM t WHERE {text}", tables), tables)
    except RequestRefused as error:
        refusal = str(error)
    else:
        return True
    # the only refusals that random conditions of the grammar may meet
    assert any(words in refusal for words in ("could overflow", "divided by 0", "constant", "digits"))
    return False


@settings(max_examples=100)
@given(grammar.conditions())
def test_conditions_mean_what_python_says(tables, tree):
    text = grammar.written(tree)
    assume(admitted(text, tables))
    expected = [row["id"] for row in grammar.ROWS if grammar.truth(tree, row) is True]
    assert passing(text, tables) == expected


@settings(max_examples=100)
@given(grammar.conditions(grammar.EXACT_NUMBERS, divisors=["2", "4", "0.5", "8."]))
def test_conditions_mean_what_duckdb_says(tables, engine, tree):
    text = grammar.written(tree)
    assume(admitted(text, tables))
    # In arithmetic NaN and infinity have no result here, and 1e300 is out of range; DuckDB calculates on.
    found = engine.execute(f"SELECT id FROM t WHERE ({text}) AND id NOT IN (6, 7, 11) ORDER BY id").fetchall()
    assert [number for number in passing(text, tables) if number not in {6, 7, 11}] == [
        number for (number,) in found
    ]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("NOT a = b", "NOT (a = b)"),
        ("NOT a = 1 AND b = 2", "(NOT a = 1) AND b = 2"),
        ("a = 1 OR b = 2 AND c = 3", "a = 1 OR (b = 2 AND c = 3)"),
        ("a + b * c = 1", "a + (b * c) = 1"),
        ("a - b - c = 1", "(a - b) - c = 1"),
        ("a / b / c = 1", "(a / b) / c = 1"),
        ("a / b * c = 1", "(a / b) * c = 1"),
        ("-a * b = 1", "(-a) * b = 1"),
        ("a - -1 = 2", "a - (-1) = 2"),
        ("a BETWEEN 1 AND 2 AND b = 3", "(a >= 1 AND a <= 2) AND b = 3"),
        ("a NOT BETWEEN 1 AND 2 + 3", "NOT (a >= 1 AND a <= 5)"),
        ("a NOT IN (1, 2)", "NOT (a IN (2, 1, 1))"),
        ("a + 1 IN (1, 2)", "(a + 1) IN (1, 2)"),
        ("a + 1 IS NOT NULL", "NOT ((a + 1) IS NULL)"),
        ("NOT a IS NULL", "NOT (a IS NULL)"),
        ("NOT NOT a = 1", "NOT (NOT (a = 1))"),
        ("a == 1", "a = 1"),
        ("a != 1", "a <> 1"),
        ("1 < a", "a > 1"),
        ("a = +1", "a = 1"),
        ("a = 1.0", "a = 1"),
        ("a = 2 * 3 - 1", "a = 5"),
        ("a = 1 / 3 * 3", "a = 1"),
        ("a = 0.1 + 0.2", "a = 0.3"),
        ("a = -(-5)", "a = 5"),
        ("a IN (-1, 1 + 1)", "a IN (2, -1)"),
        ("a = 1 AND (b = 2 AND c = 3)", "a = 1 AND b = 2 AND c = 3"),
        ("(((a))) = ((1))", "a = 1"),
        ("a ISNULL", "a IS NULL"),
        ("a NOTNULL", "a IS NOT NULL"),
    ],
)
def test_spellings_of_one_condition(text, same):
    tables = {"t": Table(pyarrow.table({name: [1] for name in "abc"}), person=EACH_ROW)}
    assert condition(text, tables) == condition(same, tables)


def test_the_tree_is_the_one_that_dataframes_build(tables):
    found = condition(
        "age < 40 AND (city IN ('Oslo', 'it''s') OR NOT urgent = TRUE) AND cost BETWEEN 1 AND 2.5", tables
    )
    built = (
        (col("age") < 40)
        & (col("city").isin(["it's", "Oslo"]) | ~(col("urgent") == True))  # noqa: E712
        & col("cost").between(1, 2.5)
    )
    assert found == built.expression
    assert (
        condition("-age / 2 > ward * cost", tables)
        == ((-col("age")) / 2 > col("ward") * col("cost")).expression
    )


def test_division_is_double_and_never_that_of_integers(tables):
    assert passing("ward / 2 = 1.5", tables) == [3]
    assert passing("7 / 2 = ward", tables) == []


def test_a_long_chain_is_flat(tables):
    chain = condition(" OR ".join(f"age = {number}" for number in range(3000)), tables)
    assert isinstance(chain, Or)
    assert len(chain.operands) == 3000
    assert isinstance(condition(" AND ".join(["age = 1"] * 50), tables), And)


def test_deep_arithmetic_is_refused(tables):
    for text in ("+".join(["age"] * 500) + " = 1", "age - (" * 12 + "age" + ")" * 12 + "+ age" * 80 + " > 1"):
        with pytest.raises(UnsupportedQuery, match="nested"):
            condition(text, tables)


def test_nodes_are_records_of_the_plan(tables):
    one = condition("NOT age + 1 > 2", tables)
    left = Arithmetic(operator="+", left=Column(name="age"), right=literal(1))
    assert one == Not(operand=Compare(operator=">", left=left, right=literal(2)))
