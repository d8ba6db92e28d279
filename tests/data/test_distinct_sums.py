"""Sums of distinct values: those of the oracle and of DuckDB, within the declared sensitivity."""

from __future__ import annotations

import pyarrow
import pytest

from data import oracle
from discreet.curator import Budget
from discreet.data import Bounds, Keys, Limits, Table, compute, fresh_salt, from_json, sensitivity, to_json
from discreet.data.language.measures import SumDistinct
from discreet.data.language.plan import Group, GroupKey
from discreet.data.language.relations import Source
from discreet.errors import UnsupportedQuery
from discreet.front import Curator
from discreet.queries import bind, parse
from queries.phrases import by_duckdb, declared, frames, measured

BOUNDS = Bounds(-3, 4)


def table(rows, limit=3):
    frame = pyarrow.table(
        {
            "person": pyarrow.array([row[0] for row in rows], pyarrow.int64()),
            "city": pyarrow.array([row[1] for row in rows], pyarrow.string()),
            "x": pyarrow.array([row[2] for row in rows], pyarrow.int64()),
        }
    )
    columns = {"city": Keys(["a", "b", None]), "x": BOUNDS}
    return {"t": Table(frame, person="person", limits=Limits(rows=limit), columns=columns)}


def plan(power, *keys):
    measure = SumDistinct(column="x", bounds=BOUNDS, power=power)
    return Group(source=Source(table="t"), keys=keys, measures=(measure,))


ROWS = [
    (1, "a", 4),
    (1, "a", 4),
    (1, "b", -9),
    (2, "a", 4),
    (2, "a", None),
    (3, None, 2),
    (3, "a", -1),
    (4, "a", 9),
]


@pytest.mark.parametrize("power", [0, 1, 2])
def test_sums_of_distinct_values_are_those_of_the_oracle(power):
    keys = (GroupKey(column="city", values=Keys(["a", "b", None])),)
    found = compute(plan(power, *keys), table(ROWS), salt=fresh_salt()).values[0].tolist()
    measure = plan(power).measures[0]
    expected = []
    for city in ("a", "b", None):
        brought = [(row[0], oracle.steps(row[2], BOUNDS)) for row in ROWS if row[1] == city]
        expected += oracle.summed(measure, brought)
    assert found == expected


@pytest.mark.parametrize("power", [0, 1, 2])
def test_a_person_moves_a_sum_of_distinct_values_as_far_as_declared(power):
    """Three rows of the farthest values that nobody else has; the same rows beside others move nothing."""
    bound = sensitivity(plan(power), table([])).statistics[0].sensitivity
    assert bound.l1 == 3 * 4**power
    others = [(1, "a", 1)]
    before, after = (
        int(compute(plan(power), table(rows), salt=fresh_salt()).values[0][0])
        for rows in (others, [*others, (2, "a", 4), (2, "b", 3), (2, "b", 2)])
    )
    assert after - before == 4**power + 3**power + 2**power <= bound.l1
    again = int(compute(plan(power), table([*others, *[(2, "b", 1)] * 3]), salt=fresh_salt()).values[0][0])
    assert again == before


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("SELECT SUM(DISTINCT ward) AS s FROM visits", "SELECT SUM(DISTINCT ward) FROM visits"),
        (
            "SELECT SUM(DISTINCT ward) AS s FROM visits WHERE city = 'Oslo'",
            "SELECT SUM(DISTINCT ward) FROM visits WHERE city = 'Oslo'",
        ),
        (
            "SELECT SUM(DISTINCT cost) AS s FROM visits",
            "SELECT CAST(4 * SUM(DISTINCT cost) AS INTEGER) FROM visits",
        ),
    ],
)
def test_sums_are_those_of_duckdb(text, plain):
    found = frames(9)
    assert measured(text, declared(found)) == [[by_duckdb(plain, found)[0][0]]]


def test_plans_are_written_and_read():
    assert from_json(to_json(plan(2))) == plan(2)
    for wrong in ({"power": 3}, {"bounds": None}, {"column": 5}):
        with pytest.raises(UnsupportedQuery):
            SumDistinct(**{"column": "x", "bounds": BOUNDS, **wrong})


def test_parts_of_a_variance():
    tables = declared(frames(9))
    query = parse("SELECT VARIANCE(DISTINCT ward) AS v, AVG(DISTINCT ward) AS a FROM visits", tables)
    bound = bind(query, tables)
    kinds = sorted(type(measure).__name__ for measure in bound.plan.measures)
    assert kinds == ["SumDistinct", "SumDistinct", "SumDistinct"]
    assert sorted(measure.power for measure in bound.plan.measures) == [0, 1, 2]


def test_means_and_variances_are_those_of_the_values_that_are_added_up(tmp_path):
    """Of 300 values 11 are left on the grid: a mean is over these, not their sum over 300."""
    frame = pyarrow.table({"person": range(300), "x": [place / 30 for place in range(300)]})
    tables = {"t": Table(frame, person="person", limits=Limits(rows=1), columns={"x": Bounds(0, 10, step=1)})}
    curator = Curator(tables, budget=Budget(epsilon=10**8), ledger=tmp_path / "ledger")
    text = "SELECT AVG(DISTINCT x) AS a, VAR_POP(DISTINCT x) AS v, COUNT(DISTINCT x) AS n FROM t"
    mean, variance, number = curator.ask(text, epsilon=10**7).outputs
    assert mean.lower[0] <= 5 <= mean.upper[0] < mean.lower[0] + 0.01
    assert variance.lower[0] <= 10 <= variance.upper[0] < variance.lower[0] + 0.01
    assert number.values[0] == 300
