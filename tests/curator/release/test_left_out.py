"""What a plan leaves out is said of it: in previews, below answers and in labels, and never by the data."""

# ruff: noqa: S608

from __future__ import annotations

import duckdb
import pyarrow
import pytest

import discreet as dp
from discreet.curator.release.label import NOT_COVERED

VISITS = pyarrow.table(
    {
        "who": [1, 1, 1, 2, 3, 3],
        "ward": ["A", "B", None, "A", "Z", "B"],
        "age": [30, 31, 32, 50, 70, 71],
    }
)
FLOORS = pyarrow.table({"floor": [1, 2, 3, 4]})
NO_GROUP = "rows whose ward is missing or not among its keys are in no group"
MORE = "a person may have more rows here than the 3 that are counted; cut_by_limits says what is lost"


@pytest.fixture
def clinic(tmp_path):
    visits = dp.Table(
        VISITS,
        person="who",
        limits=dp.Limits(rows=3),
        columns={"ward": dp.Keys(["A", "B"]), "age": dp.Bounds(0, 110)},
    )
    whole = dp.Table(
        VISITS, person="who", limits=dp.Limits(rows=3), columns={"ward": dp.Keys(["A", "B", None])}
    )
    tables = {"visits": visits, "whole": whole, "floors": dp.PublicTable(FLOORS)}
    return dp.Curator(tables, budget=dp.Budget(epsilon=10**9), ledger=tmp_path / "l.ledger")


CASES = [
    ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", [NO_GROUP]),
    ("SELECT ward, COUNT(*) AS n FROM whole GROUP BY ward", []),
    ("SELECT COUNT(*) AS n FROM visits", []),
    (
        "SELECT CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS k, COUNT(*) AS n FROM visits GROUP BY k",
        [],
    ),
    ("SELECT COUNT(*) AS n FROM visits CROSS JOIN floors", [MORE]),
    ("SELECT COUNT(*) AS n FROM visits JOIN floors ON age < 20 * floor", [MORE]),
    ("SELECT ward, COUNT(*) AS n FROM visits CROSS JOIN floors GROUP BY ward", [MORE, NO_GROUP]),
]


@pytest.mark.parametrize(("text", "said"), CASES)
def test_what_a_plan_leaves_out_is_said_before_and_after(clinic, text, said):
    preview, answer = clinic.preview(text, epsilon=1000), clinic.ask(text, epsilon=1000)
    assert list(answer.label["not_covered"]) == [*NOT_COVERED, *said]
    for words in (NO_GROUP, MORE):
        assert (words in preview.remark) == (words in str(answer)) == (words in said)


@pytest.mark.parametrize("table", ["visits", "whole"])
def test_what_is_said_explains_why_groups_do_not_add_up(clinic, table):
    groups = clinic.ask(f"SELECT ward, COUNT(*) AS n FROM {table} GROUP BY ward", epsilon=1000)
    connection = duckdb.connect()
    connection.register(table, VISITS)
    exact = dict(connection.sql(f"SELECT ward, COUNT(*) FROM {table} GROUP BY ward").fetchall())
    assert dict(zip(groups["ward"], groups["n"], strict=True)) == {
        key: exact[key] for key in clinic._tables[table].columns["ward"].values
    }
    assert (NO_GROUP in str(groups)) == (None not in groups["ward"])


def test_the_rows_that_multiply_are_lost_as_said(clinic):
    text = "SELECT COUNT(*) AS n FROM visits CROSS JOIN floors"
    connection = duckdb.connect()
    connection.register("visits", VISITS)
    connection.register("floors", FLOORS)
    ((exact,),) = connection.sql(text).fetchall()
    cut = clinic.cut_by_limits(text, epsilon=10_000).to_pandas()
    kept = clinic.ask(text, epsilon=1000)["n"][0]
    assert kept < exact
    assert exact == cut["rows_kept"][0] + cut["rows_cut"][0]
