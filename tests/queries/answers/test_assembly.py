"""Intervals of statements cover what the same statement gives for the exact statistics."""

# ruff: noqa: E501, S608

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discreet.queries.answers import evaluate, grouping
from effort import releases
from queries.answers.statements import COUNTS, WARD_SUMS, asked, exact, released, truth
from queries.spread_data import allowed_misses

pytestmark = pytest.mark.statistical

LEVEL = 0.95
FEW, MANY = 150, releases(10_000)
KINDS = {
    "sums": f"SELECT SUM(n) AS a, AVG(n) AS b, SUM(total) AS c, AVG(total) AS d FROM {WARD_SUMS}",
    "extremes": f"SELECT MIN(n) AS a, MAX(n) AS b, QUANTILE_DISC(n, 0.5) AS c, STDDEV(n) AS d, VAR_POP(n) AS e FROM {COUNTS}",
    "filtered": f"SELECT COUNT(*) AS a, SUM(n) AS b, AVG(n) AS c, MAX(n) AS d, MIN(n) AS e FROM {COUNTS} "
    "WHERE n > 280",
    "classes": f"SELECT SUM(CASE WHEN n > 280 THEN 1 ELSE 0 END) AS a, SUM(n * 2) AS b, "
    f"COUNT(DISTINCT n) AS c FROM {COUNTS}",
    "joined": f"SELECT SUM(n * beds) AS a, SUM(n) AS b FROM {COUNTS} JOIN places USING (city) "
    "WHERE region = 'south'",
    "twice": f"SELECT SUM(n) AS a FROM {COUNTS} JOIN (SELECT 1 AS k UNION ALL SELECT 2) AS u ON 1 = 1",
    "answers": "SELECT SUM(a.n) / SUM(b.n) AS a, MAX(a.n - b.n) AS b FROM (SELECT city, COUNT(*) AS n FROM visits "
    "GROUP BY city) a JOIN (SELECT city, COUNT(*) AS n FROM visits WHERE cost > 30 GROUP BY city) b "
    "ON a.city = b.city",
    "scalars": "SELECT (SELECT SUM(cost) FROM visits) / (SELECT COUNT(*) FROM visits WHERE cost > 10) AS a",
    "left": "SELECT COUNT(t.n) AS a, SUM(beds) AS b FROM places p LEFT JOIN (SELECT city, COUNT(*) AS n "
    "FROM visits GROUP BY city HAVING COUNT(*) > 280) AS t ON p.city = t.city WHERE t.n IS NULL",
    "largest": f"SELECT 2 * (SELECT n FROM {COUNTS} ORDER BY n DESC LIMIT 1) AS a",
    "sets": "SELECT COUNT(*) AS a FROM (SELECT city FROM visits GROUP BY city HAVING COUNT(*) > 180 EXCEPT "
    "SELECT city FROM visits GROUP BY city HAVING COUNT(*) > 280) AS t",
}
OFFERS = {"pure": {"epsilon": 0.5}, "both": {"epsilon": 0.5, "delta": 1e-3}, "rho": {"rho": 0.01}}


def misses(text, releases, *, offer):
    """How often each interval misses what DuckDB says of the rows."""
    request = asked(text, confidence=LEVEL, **offer).request()
    integers, (wanted,) = exact(request), truth(text)
    counted = dict.fromkeys(request.names, 0)
    for _ in range(releases):
        for column, true in zip(released(request, integers, noisy=True).outputs, wanted, strict=True):
            if true is None or column.lower is None:
                continue
            counted[column.name] += not column.lower[0] - 1e-9 <= true <= column.upper[0] + 1e-9
    return counted


@pytest.mark.parametrize("name", KINDS)
def test_intervals_of_statements_cover(name):
    found = misses(KINDS[name], FEW, offer=OFFERS["pure"])
    assert max(found.values()) <= allowed_misses(FEW, 1 - LEVEL)


@pytest.mark.parametrize("offer", ["both", "rho"])
def test_sums_of_other_noises_cover(offer):
    found = misses(KINDS["sums"], FEW, offer=OFFERS[offer])
    assert max(found.values()) <= allowed_misses(FEW, 1 - LEVEL)


@pytest.mark.few(0, slow=2)
@pytest.mark.parametrize("name", KINDS)
def test_intervals_of_statements_cover_in_many_releases(name):
    found = misses(KINDS[name], MANY, offer=OFFERS["pure"])
    assert max(found.values()) <= allowed_misses(MANY, 1 - LEVEL)


def test_a_quarter_of_the_width_of_a_sum_is_noticed(monkeypatch):
    whole = grouping.half_width
    monkeypatch.setattr(grouping, "half_width", lambda *terms: whole(*terms) / 4)
    found = misses(KINDS["sums"], FEW, offer=OFFERS["pure"])
    assert min(found[name] for name in "abc") > allowed_misses(FEW, 1 - LEVEL)


def test_rows_of_which_it_is_open_are_needed(monkeypatch):
    """Where only released rows count, the number of groups above a threshold is missed far too often."""

    def decided(table, condition):
        found = kept(table, condition)
        return replace(found, certain=found.released.copy()).at(np.flatnonzero(found.released))

    kept = evaluate._kept
    monkeypatch.setattr(evaluate, "_kept", decided)
    ((third,),) = truth(f"SELECT n FROM {COUNTS} ORDER BY n DESC LIMIT 1 OFFSET 2")
    found = misses(f"SELECT COUNT(*) AS a FROM {COUNTS} WHERE n >= {third}", FEW, offer=OFFERS["pure"])
    assert found["a"] > allowed_misses(FEW, 1 - LEVEL)


def test_a_sum_over_groups_has_the_error_of_its_noises_together():
    """Of 18 noises, their sum is far less than 18 times the worst of them."""
    sums = "SELECT SUM(n) AS a, SUM(n * 1) AS b FROM " + WARD_SUMS
    found = asked(sums, epsilon=1).request().expectations(100)
    assert found[0].margin < found[1].margin / 5


def test_how_many_noises_enter_is_counted_from_keys_alone():
    request = asked(
        f"SELECT city, n, n / (SELECT SUM(n) FROM {COUNTS}) AS p FROM {COUNTS}", epsilon=1
    ).request()
    assert request.assembly.noises == (1, 2)
    request = asked(f"SELECT SUM(n) AS a, MAX(n) AS b FROM {COUNTS} WHERE n > 3", epsilon=1).request()
    assert request.assembly.noises == (12, 12)  # each of six counts decides about its row, and enters
    top = f"(SELECT * FROM {COUNTS} ORDER BY n LIMIT 2) AS u"
    request = asked(f"SELECT SUM(n) AS a FROM {top}", epsilon=1).request()
    assert request.assembly.noises == (6,)  # the two were chosen among six
    largest = f"(SELECT n FROM {COUNTS} ORDER BY n DESC LIMIT 1)"
    request = asked(f"SELECT city, n / {largest} AS p FROM {COUNTS}", epsilon=1).request()
    assert request.assembly.noises == (7,)


def test_values_without_noise_are_exact():
    request = asked(
        f"SELECT COUNT(*) AS k, MAX(city) AS last, SUM(beds) AS b FROM {COUNTS} JOIN places USING (city)",
        epsilon=1,
    ).request()
    release = released(request)
    assert [column.lower for column in release.outputs] == [None, None, None]
    assert release.to_pandas().iloc[0].tolist() == [6, "Fargo", 210]
    assert [one.margin for one in request.expectations(10)] == [0, 0, 0]
