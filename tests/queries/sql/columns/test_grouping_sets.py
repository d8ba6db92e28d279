"""ROLLUP, CUBE and GROUPING SETS: what DuckDB gives at a large epsilon; levels that agree; one measurement."""

# ruff: noqa: S608, E501

from __future__ import annotations

import numpy as np
import pytest
from sqlglot import parse_one

from discreet.queries import Offer, build_request
from discreet.queries.sql.columns.grouping_sets import grouped_nodes
from discreet.queries.sql.select import parse
from queries.exact_answers import check_same, curator, table

FROM = "FROM visits WHERE ward < 4 AND city <> 'Rome'"
LEVELS = [
    f"SELECT city, ward, COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS a {FROM} GROUP BY ROLLUP (city, ward) ORDER BY city, ward",
    f"SELECT city, ward, COUNT(*) AS n {FROM} GROUP BY CUBE (city, ward) ORDER BY city NULLS FIRST, ward NULLS FIRST",
    f"SELECT city, ward, COUNT(*) AS n, GROUPING(city) AS g, GROUPING(city, ward) AS h {FROM} GROUP BY GROUPING SETS ((city), (ward), ()) ORDER BY h, city, ward",
    f"SELECT COALESCE(city, 'all') AS c, COUNT(*) AS n {FROM} GROUP BY ROLLUP (city) ORDER BY n DESC",
    f"SELECT CASE WHEN GROUPING(city) = 1 THEN 'all' ELSE UPPER(city) END AS c, COUNT(cost) AS n, STDDEV(cost) AS d {FROM} GROUP BY ROLLUP (city) ORDER BY n DESC",
    f"SELECT city, ward, COUNT(*) AS n {FROM} GROUP BY city, ROLLUP (ward) ORDER BY city, ward",
    f"SELECT city, EXTRACT(MONTH FROM day) AS m, SUM(cost) / COUNT(*) AS each_one {FROM} GROUP BY ROLLUP (city, m) HAVING COUNT(*) > 20 ORDER BY city, m",
    f"SELECT city, ward, COUNT(*) AS n, RANK() OVER (PARTITION BY GROUPING(city) + GROUPING(ward) ORDER BY COUNT(*) DESC, city, ward) AS r {FROM} GROUP BY ROLLUP (city, ward) ORDER BY city, ward",
    f"SELECT city, ward, COUNT(*) AS n {FROM} GROUP BY GROUPING SETS (ROLLUP (city), (ward)) ORDER BY city, ward",
    f"SELECT city, ward, COUNT(*) AS n {FROM} GROUP BY ROLLUP ((city, ward)) ORDER BY city, ward",
    f"SELECT city, ward, COUNT(*) AS n, SUM(COUNT(*)) OVER (PARTITION BY city) AS t {FROM} GROUP BY ROLLUP (city, ward) ORDER BY city, ward",
]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    return curator(tmp_path_factory.mktemp("levels"))


@pytest.mark.parametrize("sql", LEVELS)
def test_levels_are_what_an_engine_gives(clinic, sql):
    check_same(sql, clinic.ask(sql, epsilon=100))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("a, b", ("a b", ())),
        ("ROLLUP (a, b)", ("a b", ("ab", "a", ""))),
        ("CUBE (a, b)", ("a b", ("ab", "a", "b", ""))),
        ("a, CUBE (b, c)", ("a b c", ("abc", "ab", "ac", "a"))),
        ("ROLLUP ((a, b), c)", ("a b c", ("abc", "ab", ""))),
        ("GROUPING SETS ((b), (a, b), ())", ("b a", ("b", "ab", ""))),
        ("GROUPING SETS ((a, b))", ("a b", ())),
        ("ROLLUP (a), ROLLUP (b)", ("a b", ("ab", "a", "b", ""))),
        ("a, b WITH ROLLUP", ("a b", ("ab", "a", ""))),
        ("GROUPING SETS (CUBE (a), (b))", ("a b", ("a", "", "b"))),
    ],
)
def test_sets_are_read(written, expected):
    nodes, levels = grouped_nodes(parse_one(f"SELECT 1 FROM t GROUP BY {written}").args["group"])
    names, sets = expected
    assert [node.name for node in nodes] == names.split()
    found = tuple(
        {node.name for node, grouped in zip(nodes, level, strict=True) if grouped} for level in levels
    )
    assert found == tuple(map(set, sets))


def test_totals_are_the_sums_of_released_counts(clinic):
    release = clinic.ask(
        "SELECT city, ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY CUBE (city, ward)", epsilon=0.3
    )
    rows = list(zip(release.keys["city"], release.keys["ward"], release["n"], release["s"], strict=True))
    finest = [row for row in rows if row[0] is not None and row[1] is not None]
    assert len(rows) == 4 * 5 + 4 + 5 + 1
    for city, ward, n, s in rows:
        below = [row for row in finest if city in (None, row[0]) and ward in (None, row[1])]
        assert n == sum(row[2] for row in below)
        assert s == pytest.approx(sum(row[3] for row in below))


def test_one_measurement_serves_every_level():
    tables = {"visits": table()}
    plain, rolled = (
        build_request(
            parse(f"SELECT city, ward, COUNT(*) AS n FROM visits GROUP BY {by}", tables),
            tables,
            Offer(epsilon=1),
        )
        for by in ("city, ward", "ROLLUP (city, ward)")
    )
    assert plain.identity == rolled.identity
    assert plain.event == rolled.event


def test_totals_of_chosen_keys_are_about_them(clinic):
    release = clinic.ask(
        "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY ROLLUP (clinic)", epsilon=60, delta=1e-4
    )
    counts = dict(zip(release.keys["clinic"], release["n"], strict=True))
    assert set(counts) == {None, "clinic 0", "clinic 1", "clinic 2"}
    assert counts[None] == 600


def test_margins_of_totals_are_those_of_sums_not_of_unions(clinic):
    release = clinic.ask(
        "SELECT city, ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (city, ward)", epsilon=0.05
    )
    (column,) = release.outputs
    half = column.upper - column.values
    city = np.array([one is not None for one in release.keys["city"]])
    ward = np.array([one is not None for one in release.keys["ward"]])
    finest, total = half[city & ward].max(), half[~city & ~ward][0]
    assert finest < total < 0.95 * 20**0.5 * finest
