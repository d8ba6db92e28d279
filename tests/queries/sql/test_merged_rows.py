"""A merged window has the rows that DuckDB gives the statement as it was written, whatever is around it.

The oracle knows nothing of merging: it runs the text, and the SELECT that it was merged to, on the same rows.
"""

# ruff: noqa: S608
from __future__ import annotations

import random
from itertools import product

import duckdb
import pyarrow
import pytest
from sqlglot import exp

from discreet.queries.sql.merged_answers import merged_windows
from discreet.queries.sql.syntax.parser import read_statement


def _rows() -> dict[str, pyarrow.Table]:
    draw = random.Random(5)
    visits = [
        {
            "patient": draw.randrange(9),
            "city": draw.choice(["a", "b", "c", None]),
            "clinic": draw.choice(["x", "y"]),
            "cost": draw.choice([0, 1, 2, 7, None]),
        }
        for _ in range(40)
    ]
    return {
        "visits": pyarrow.Table.from_pylist(visits),
        "people": pyarrow.table({"patient": list(range(9)), "town": list("uvwuvwuvu")}),
    }


ROWS = _rows()
INSIDE = {
    "rows": "SELECT city, clinic AS c, COUNT(*) AS n FROM visits GROUP BY city, clinic",
    "where": "SELECT city, clinic AS c, COUNT(*) AS n FROM visits WHERE cost > 1 GROUP BY city, c",
    "joined": "SELECT city, town AS c, SUM(cost) AS n FROM visits JOIN people USING (patient) GROUP BY 1, 2",
    "comma": (
        "SELECT v.city AS city, p.town AS c, COUNT(cost) AS n FROM visits AS v, people AS p "
        "WHERE v.patient = p.patient AND v.cost < 7 GROUP BY v.city, p.town"
    ),
    "having": (
        "SELECT city, clinic AS c, SUM(cost) AS n FROM visits GROUP BY 1, 2 HAVING COUNT(*) > 3 OR n > 9"
    ),
    "named": "SELECT UPPER(city) AS city, clinic AS c, COUNT(*) AS n FROM visits GROUP BY 1, 2",
    "renamed": "SELECT clinic AS city, city AS c, COUNT(*) AS n FROM visits GROUP BY 1, 2",
    "reversed": "SELECT COUNT(*) AS n, clinic AS c, city FROM visits GROUP BY 3, 2",
    "ranked": (
        "SELECT city, clinic AS c, RANK() OVER (PARTITION BY clinic ORDER BY COUNT(*)) AS n "
        "FROM visits GROUP BY city, clinic"
    ),
    "qualified": (
        "SELECT city, clinic AS c, COUNT(*) AS n FROM visits GROUP BY city, clinic "
        "QUALIFY RANK() OVER (ORDER BY SUM(cost)) < 6"
    ),
    "limited": "SELECT city, clinic AS c, COUNT(*) AS n FROM visits GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 3",
    "distinct": "SELECT DISTINCT city, MIN(cost) AS c, COUNT(*) % 2 AS n FROM visits GROUP BY city, clinic",
    "rolled": "SELECT city, clinic AS c, COUNT(*) AS n FROM visits GROUP BY ROLLUP (city, clinic)",
    "nested": (
        "SELECT city, c, n + 1 AS n FROM (SELECT city, clinic AS c, SUM(cost) AS n FROM visits "
        "GROUP BY city, clinic) AS deeper WHERE n > 1"
    ),
}
AROUND = {
    "total": "SELECT city, c, n, SUM(n) OVER () AS s FROM {} AS t",
    "star": "SELECT *, n - LAG(n) OVER (ORDER BY city, c) AS d FROM {} AS t",
    "where": "SELECT city, c, SUM(n) OVER (PARTITION BY c) AS s FROM {} AS t WHERE n > 2 OR city = 'a'",
    "filter": "SELECT city, c, n FROM {} AS t WHERE n < 3 OR c = 'x'",
    "qualify": "SELECT t.city, n FROM {} AS t QUALIFY SUM(n) OVER (ORDER BY city, c) > 6",
    "shown": "SELECT city, c, RANK() OVER (ORDER BY n) AS k FROM {} AS t QUALIFY k < 4",
    "window": "SELECT city, c, SUM(n) OVER w AS s FROM {} AS t WINDOW w AS (PARTITION BY city ORDER BY c)",
    "cut": (
        "SELECT city, c, n, RANK() OVER (ORDER BY n) AS k FROM {} AS t "
        "ORDER BY k DESC, city, c, n LIMIT 3 OFFSET 1"
    ),
    "swapped": (
        "SELECT c AS city, city AS c, SUM(n) OVER (ORDER BY city, c) AS n "
        "FROM {} AS t ORDER BY 1, 2, 3 LIMIT 4"
    ),
    "ordered": "SELECT city AS k, -n AS c, AVG(n) OVER () AS a FROM {} AS t ORDER BY c, k, a LIMIT 5",
    "distinct": "SELECT DISTINCT c, SUM(n) OVER (PARTITION BY c) AS s FROM {} AS t",
    "grouped": "SELECT c, SUM(n) AS s, RANK() OVER (ORDER BY SUM(n)) AS k FROM {} AS t GROUP BY c",
    "counted": "SELECT COUNT(*) AS n, SUM(n) AS s FROM {} AS t QUALIFY COUNT(*) OVER () = 1",
    "beside": "SELECT t.city, n, SUM(n) OVER () AS s FROM {} AS t JOIN people ON t.c = people.town",
    "compared": "SELECT c, SUM(n) OVER () AS s FROM {} AS t WHERE n > (SELECT MIN(patient) FROM people)",
    "columns": "SELECT a, SUM(z) OVER () AS s FROM {} AS t (a, b, z)",
}
WITH = {
    "query": "WITH {} SELECT city, c, n, SUM(n) OVER (PARTITION BY city) AS s FROM inner_ AS t",
    "columns": "WITH {} SELECT c, SUM(n) OVER () AS s FROM inner_",
}


def answered(connection: duckdb.DuckDBPyConnection, text: str) -> list[str]:
    return sorted(map(repr, connection.execute(text).fetchall()))


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as made:
        for name, rows in ROWS.items():
            made.register(name, rows)
        yield made


def written(select: exp.Select) -> str:
    """The text of a tree, with parentheses wherever the tree has a calculation within another."""

    def bracketed(node: exp.Expression) -> exp.Expression:
        inner = isinstance(node, exp.Binary) and isinstance(node.parent, exp.Binary | exp.Unary)
        return exp.Paren(this=node.copy()) if inner and not isinstance(node.parent, exp.Paren) else node

    return select.transform(bracketed).sql("duckdb")


def check(connection, text: str) -> bool:
    """Compare both texts; return whether there are two."""
    merged = merged_windows(read_statement(text))
    if merged is None:
        return False
    assert answered(connection, written(merged)) == answered(connection, text), written(merged)
    return True


@pytest.mark.parametrize("inside", INSIDE)
def test_rows_are_those_of_the_statement_as_it_was_written(inside, connection):
    found = [check(connection, text.format(f"({INSIDE[inside]})")) for text in AROUND.values()]
    assert any(found) is (inside not in {"renamed", "limited", "distinct", "rolled"})


@pytest.mark.parametrize(
    ("written", "merges"),
    [
        ("inner_ AS ({})", True),
        ("inner_ (a, c, n) AS ({})", False),
        ("RECURSIVE inner_ AS ({})", False),
        ("visits AS (SELECT * FROM main.visits WHERE cost > 0), inner_ AS ({})", True),
        ("people AS (SELECT 1 AS patient, 'u' AS town), inner_ AS ({}), later AS (SELECT 1 AS x)", True),
    ],
)
def test_queries_of_with_mean_what_they_did(written, merges):
    """Those before the merged one still stand for what it names."""
    with duckdb.connect() as connection:
        for name, rows in ROWS.items():
            connection.register("arriving", rows)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM arriving")
        for inside, around in product(("rows", "where", "joined"), WITH.values()):
            with_queries = written.format(INSIDE[inside])
            text = around.format(with_queries)
            if "(a, c, n)" in written and "city" in around.split("SELECT")[-1]:
                continue
            assert check(connection, text) is merges


def test_a_name_within_an_aggregate_is_that_of_a_column(connection):
    """In HAVING, ``MAX(cost)`` is of the rows' costs, though SELECT calls something else by that name."""
    inside = "SELECT city, COUNT(*) AS cost FROM visits GROUP BY city HAVING MAX(cost) > 2 AND cost > 3"
    assert check(connection, f"SELECT city, SUM(cost) OVER () AS s FROM ({inside}) AS t")


def test_what_is_merged_has_one_select():
    text = AROUND["total"].format(f"({INSIDE['nested']})")
    merged = merged_windows(read_statement(text))
    assert merged is not None
    assert len(list(merged.find_all(exp.Select))) == 1
