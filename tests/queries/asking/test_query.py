"""Calculations with answers, asked of a curator: against the exact answer, one charge, and what is shown."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow
import pytest

from curator.release.test_label import valid
from discreet.curator import Budget
from discreet.data import Bounds, Keys, Limits, Table, col, count
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.front import Curator

DRAW = np.random.default_rng(8)
SIZE = 600
PLACE = DRAW.integers(0, 3, SIZE)
FRAME = pyarrow.table(
    {
        "who": np.arange(SIZE),
        "city": np.array(["Oslo", "Rome", "Bonn"])[PLACE],
        "ward": DRAW.integers(1, 3, SIZE),
        "town": DRAW.choice(["here", "there"], SIZE),
        "age": DRAW.integers(0, 60, SIZE) + 10 * PLACE,
        "cost": DRAW.integers(0, 200, SIZE) / 4 + 15 * PLACE,
    }
)
TABLE = Table(
    FRAME,
    person="who",
    limits=Limits(rows=1),
    columns={
        "city": Keys(["Bonn", "Oslo", "Rome"]),
        "ward": Keys([1, 2]),
        "age": Bounds(0, 100),
        "cost": Bounds(0, 100, step=0.25),
    },
)
LITTLE_NOISE = {"epsilon": 60, "confidence": 1 - Fraction(1, 10**9)}


def clinic(place):
    return Curator(
        {"visits": TABLE}, budget=Budget(epsilon=10**9, delta=1e-4), ledger=place / "clinic.ledger"
    )


QUERIES = [
    "SELECT ROUND(AVG(age), 1) AS x, SUM(cost) / COUNT(*) AS y, MAX(age) - MIN(age) AS z FROM visits",
    "SELECT city, 100.0 * SUM(CASE WHEN age < 40 THEN 1 ELSE 0 END) / COUNT(*) AS x FROM visits "
    "GROUP BY city ORDER BY city",
    "SELECT city, SUM(cost) / NULLIF(COUNT(*), 0) AS x, CASE WHEN COUNT(*) > 500 THEN 'a' ELSE 'b' END AS y "
    "FROM visits GROUP BY city ORDER BY AVG(age) DESC",
    "SELECT city, COALESCE(SUM(age), 0) - 2 * COUNT(*) AS x, 'visits' AS y, 1 AS z FROM visits GROUP BY city "
    "HAVING ROUND(AVG(cost)) > 10 AND SUM(age) > 100 ORDER BY SUM(cost) / COUNT(*) LIMIT 2",
    "SELECT ward, ward * 10 AS x, GREATEST(AVG(age), AVG(cost)) AS y, ABS(AVG(age) - AVG(cost)) AS z FROM "
    "visits GROUP BY ward ORDER BY ward",
    "SELECT ward, COUNT(*) > 100 AS x, SQRT(SUM(age)) AS y, LEAST(COUNT(*), 50) AS z FROM visits "
    "GROUP BY ward ORDER BY y",
    "SELECT city, CASE city WHEN 'Oslo' THEN SUM(age) WHEN 'Rome' THEN 0 END AS x, FLOOR(AVG(cost)) AS y, "
    "CEILING(AVG(cost)) AS z FROM visits GROUP BY city ORDER BY city",
    "SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING SUM(cost) / COUNT(*) > 50 ORDER BY n",
    "SELECT city FROM visits GROUP BY city HAVING COUNT(*) > 5 ORDER BY AVG(age) DESC LIMIT 2",
    "SELECT city, COUNT(*) FILTER (WHERE age < 20) / COUNT(*) AS x FROM visits GROUP BY city ORDER BY x",
]


@pytest.mark.parametrize("sql", QUERIES)
def test_answers_are_those_of_sql(place, sql):
    """With next to no noise an answer is the one that DuckDB gives, and within its interval."""
    release = clinic(place).ask(sql, **LITTLE_NOISE)
    visits = FRAME  # noqa: F841  (DuckDB finds it by name)
    exact = duckdb.sql(sql).to_arrow_table().to_pydict()
    found = release.columns()
    shown = [name for name in found if not name.endswith(("_lower", "_upper"))]
    assert shown == list(exact)
    for name, values in exact.items():
        for place_, value in enumerate(values):
            value = float(value) if isinstance(value, Decimal) else value  # noqa: PLW2901
            if not isinstance(value, int | float) or isinstance(value, bool):
                assert found[name][place_] == value or np.isnan(found[name][place_])
                continue
            assert found[name][place_] == pytest.approx(value, rel=0.02, abs=8 if "MAX" in sql else 2)
            if f"{name}_lower" in found:
                slack = 1e-9 * (1 + abs(value))
                assert found[f"{name}_lower"][place_] - slack <= value
                assert value <= found[f"{name}_upper"][place_] + slack


RATIO = (
    "SELECT city, SUM(cost) / COUNT(*) AS r FROM visits GROUP BY city HAVING COUNT(*) > 5 ORDER BY AVG(age)"
)


def test_one_charge_serves_everything_that_is_calculated_from_it(place):
    curator = clinic(place)
    first = curator.ask("SELECT city, SUM(cost) AS s, COUNT(*) AS n FROM visits GROUP BY city", epsilon=3)
    again = curator.ask("SELECT city, SUM(cost) / COUNT(*) AS r FROM visits GROUP BY city", epsilon=3)
    assert again.stored
    assert curator.spent.requests == 1
    assert again["r"].tolist() == pytest.approx((first["s"] / first["n"]).tolist())
    query = curator.table("visits").group_by("city").agg(s=col("cost").sum(), n=count())
    derived = query.derive(r=col("s") / col("n")).sort_by("r").select("r")
    assert curator.ask(derived, epsilon=3)["r"].tolist() == sorted(again["r"].tolist())
    assert curator.spent.requests == 1


def test_hidden_columns_are_nowhere_in_the_answer(place):
    curator = clinic(place)
    release = curator.ask(RATIO, epsilon=3)
    assert list(release.columns()) == ["city", "r", "r_lower", "r_upper"]
    assert release.label["outputs"] == ["r"]
    assert [one.name for one in curator.preview(RATIO, epsilon=3).expectations] == ["r"]
    assert curator.preview(RATIO, epsilon=3).answered
    valid(release.label)
    told = curator.explain(RATIO, epsilon=3)
    assert "r = sum_cost / count" in told
    better = curator.remeasure(release, epsilon=9)
    assert list(better.columns()) == ["city", "r", "r_lower", "r_upper"]
    assert ((better.outputs[0].upper - better.outputs[0].lower).max()) < (
        release.outputs[0].upper - release.outputs[0].lower
    ).min()


def test_a_wanted_error_names_what_is_shown(place):
    curator = clinic(place)
    sql = "SELECT 100.0 * COUNT(age) / COUNT(*) AS share FROM visits"
    release = curator.ask(sql, error={"share": 5}, rows=SIZE)
    assert release.outputs[0].upper[0] - release.outputs[0].lower[0] < 12
    with pytest.raises(ParameterError, match="share"):
        curator.ask(sql, error={"count": 5})


def test_keys_that_nobody_declared_can_be_calculated_by(place):
    curator = clinic(place)
    sql = "SELECT town, SUM(cost) / COUNT(*) AS r FROM visits GROUP BY town HAVING COUNT(*) > 10 ORDER BY r"
    release = curator.ask(sql, epsilon=30, delta=1e-6)
    assert sorted(release.keys["town"]) == ["here", "there"]
    assert list(release.columns()) == ["town", "r", "r_lower", "r_upper"]
    few = "SELECT who, SUM(cost) / COUNT(*) AS r FROM (SELECT age AS who, cost FROM visits) AS v GROUP BY who"
    nothing = curator.ask(f"{few} HAVING COUNT(*) > 1", epsilon=0.01, delta=1e-9)
    assert list(nothing.columns()) == ["who", "r", "r_lower", "r_upper"]


@pytest.mark.parametrize(
    "item",
    [
        "1e400",
        "123456789012345678901234567890",
        "COUNT(*) > 1e400",
        "COUNT(*) IN (1e400, 2)",
        "COUNT(*) * 1e19 * 1e19",
        "COUNT(*) / 0",
        "COUNT(*) / (COUNT(*) - COUNT(*))",
        "SQRT(0 - COUNT(*))",
        "ROUND(SUM(cost), 15)",
        "ROUND(SUM(cost), -15)",
        "CAST(SUM(cost) * 1e18 AS INTEGER)",
        "SUM(cost) * SUM(cost) * SUM(cost) * SUM(cost) * SUM(cost) * SUM(cost)",
        "VARIANCE(cost) / STDDEV(cost)",
        "(COUNT(*) > 3) = (SUM(cost) > 4)",
        "CASE WHEN COUNT(*) > 3 THEN DATE '2024-01-01' END",
        "COALESCE(COUNT(*) > 3, TRUE)",
        "NULL",
        "DATE '2024-01-01'",
        "ward + 1152921504606846976",
        "CASE WHEN city IS NULL THEN 'x' ELSE city END",
    ],
)
def test_no_calculation_fails_once_it_is_charged(place, item):
    """What cannot be calculated is refused before; after the charge everything can be shown."""
    curator = clinic(place)
    sql = f"SELECT city, ward, {item} AS x, COUNT(*) FROM visits GROUP BY city, ward"  # noqa: S608
    try:
        release = curator.ask(sql, epsilon=0.1)
    except UnsupportedQuery:
        assert curator.spent.requests == 0
        return
    assert "x" in str(release)
    assert release.to_arrow().num_rows == 6
    assert len(release.to_pandas()) == 6
    assert release.nonnegative()._repr_html_()
    assert curator.preview(sql, epsilon=1).expectations[0].name == "x"
