"""Keys alone and DISTINCT: what DuckDB lists at a large epsilon; keys without rows are rarely listed."""

# ruff: noqa: S608

from __future__ import annotations

import pytest

from discreet.queries import Offer, build_request
from discreet.queries.sql.select import parse
from queries.exact_answers import check_same, curator, table

LISTED = [
    "SELECT DISTINCT city FROM visits ORDER BY city",
    "SELECT city FROM visits GROUP BY city ORDER BY city",
    "SELECT DISTINCT city, ward FROM visits ORDER BY 1 DESC, 2 LIMIT 5 OFFSET 1",
    "SELECT DISTINCT UPPER(city) AS u FROM visits ORDER BY u",
    "SELECT UPPER(city) AS u, ward, 1 AS one FROM visits GROUP BY city, ward ORDER BY u, ward",
    "SELECT DISTINCT EXTRACT(MONTH FROM day) AS m FROM visits WHERE city = 'Oslo' ORDER BY m",
    "SELECT DISTINCT city, COUNT(*) AS n FROM visits WHERE city <> 'Rome' GROUP BY city ORDER BY n",
    "SELECT DISTINCT COUNT(*) AS n FROM visits",
    "SELECT ward FROM visits GROUP BY ROLLUP (ward) ORDER BY ward",
    "SELECT DISTINCT city, 'x' AS x FROM visits ORDER BY LENGTH(city), city",
]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    return curator(tmp_path_factory.mktemp("keys"))


@pytest.mark.parametrize("sql", LISTED)
def test_keys_that_have_rows_are_listed(clinic, sql):
    check_same(sql, clinic.ask(sql, epsilon=90))


def test_keys_that_nobody_declared_are_chosen(clinic):
    release = clinic.ask("SELECT DISTINCT clinic FROM visits", epsilon=60, delta=1e-4)
    assert sorted(release.keys["clinic"]) == ["clinic 0", "clinic 1", "clinic 2"]
    assert release.outputs == ()
    pairs = clinic.ask("SELECT DISTINCT clinic, city FROM visits", epsilon=90, delta=1e-4)
    assert len(pairs.keys["city"]) == 9
    assert "Rome" not in pairs.keys["city"]


def test_listing_keys_is_counting_their_rows():
    tables = {"visits": table()}
    counted, listed, distinct = (
        build_request(parse(sql, tables), tables, Offer(epsilon=1))
        for sql in (
            "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
            "SELECT city FROM visits GROUP BY city",
            "SELECT DISTINCT city FROM visits",
        )
    )
    assert counted.identity == listed.identity == distinct.identity


@pytest.mark.slow
def test_a_key_without_rows_is_rarely_listed(clinic):
    """At a confidence of 80% Rome is listed in at most a tenth of the releases: the noise is symmetric."""
    listed, releases = 0, 100
    for number in range(releases):
        sql = f"SELECT DISTINCT city FROM visits WHERE ward < 4 OR cost = {1000 + number}"
        listed += "Rome" in clinic.ask(sql, epsilon=0.2, confidence=0.8).keys["city"]
    assert listed <= 25


def test_a_condition_on_released_values_is_what_it_was(clinic):
    sql = "SELECT city FROM visits GROUP BY city HAVING COUNT(*) > 150 ORDER BY city"
    check_same(sql, clinic.ask(sql, epsilon=90))
    assert parse(sql, {"visits": table()}).after.present is None
