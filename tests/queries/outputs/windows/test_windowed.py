"""Every kind of window and of total covers at least as often as it says: ten thousand releases of each.

The exact integers come once from the engine, noise and intervals are those that ship. The true values are
DuckDB's; where released values decide which groups are taken together, they are worked out here.
"""

# ruff: noqa: S608, E501

from __future__ import annotations

from fractions import Fraction
from functools import cache

import duckdb
import numpy as np
import pyarrow
import pytest

from discreet.curator.request.request import Draw
from discreet.data import EACH_ROW, Bounds, Keys, Table, compute, fresh_salt
from discreet.queries import Offer, build_request, parse
from effort import releases
from queries.spread_data import allowed_misses

pytestmark = pytest.mark.statistical

LEVEL = Fraction(9, 10)
FEW, MANY = 150, releases(10_000)
OFFERS = {
    "pure": Offer(epsilon=0.2),
    "approximate": Offer(epsilon=0.2, delta=1e-3),
    "zCDP": Offer(rho=0.01),
    "loud": Offer(epsilon=0.03),
}
USUAL = [name for name in OFFERS if name != "loud"]
WARDS, KINDS = 6, 2


@cache
def frame():
    """Counts that noise confuses, no two of which are the same."""
    draw = np.random.default_rng(2)
    sizes = 20 + 3 * draw.permutation(WARDS * KINDS)
    ward = np.repeat(np.arange(WARDS * KINDS) // KINDS, sizes)
    kind = np.repeat(np.arange(WARDS * KINDS) % KINDS, sizes)
    copy = np.zeros(ward.size, np.int64)
    return pyarrow.table({"copy": copy, "ward": ward, "kind": kind, "cost": draw.integers(0, 8, ward.size)})


@cache
def tables(copies):
    columns = {
        "copy": Keys(range(copies)),
        "ward": Keys(range(WARDS)),
        "kind": Keys(range(KINDS)),
        "cost": Bounds(0, 7),
    }
    return {"visits": Table(frame(), person=EACH_ROW, columns=columns)}


BY_WARD = "PARTITION BY copy ORDER BY ward, kind"
ROLLUP = "copy, ROLLUP (ward, kind)"
CASES = {
    "total": "SUM(COUNT(*)) OVER (PARTITION BY copy)",
    "share": "100.0 * COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY copy, kind)",
    "running sum": f"SUM(COUNT(*)) OVER ({BY_WARD})",
    "running sum of sums": f"SUM(SUM(cost)) OVER ({BY_WARD} ROWS UNBOUNDED PRECEDING)",
    "moving average": f"AVG(SUM(cost)) OVER ({BY_WARD} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
    "change": f"SUM(cost) - LAG(SUM(cost), 1, 0) OVER ({BY_WARD})",
    "first": f"FIRST_VALUE(COUNT(*)) OVER ({BY_WARD})",
    "largest": "MAX(COUNT(*)) OVER (PARTITION BY copy, kind)",
    "least mean": "MIN(AVG(cost)) OVER (PARTITION BY copy)",
    "mean of means": "AVG(AVG(cost)) OVER (PARTITION BY copy)",
    "sum of ratios": "SUM(SUM(cost) / COUNT(*)) OVER (PARTITION BY copy, ward)",
    "rank": "RANK() OVER (PARTITION BY copy ORDER BY COUNT(*) DESC)",
    "rank of sums": "RANK() OVER (PARTITION BY copy, kind ORDER BY SUM(cost))",
    "dense rank": "DENSE_RANK() OVER (PARTITION BY copy ORDER BY COUNT(*))",
    "row number": "ROW_NUMBER() OVER (PARTITION BY copy, kind ORDER BY COUNT(*), ward)",
    "percent rank": "PERCENT_RANK() OVER (PARTITION BY copy ORDER BY COUNT(*))",
    "cumulated share": "CUME_DIST() OVER (PARTITION BY copy ORDER BY COUNT(*))",
    "parts": "NTILE(4) OVER (PARTITION BY copy ORDER BY COUNT(*) DESC)",
    "rank after keys": "RANK() OVER (PARTITION BY copy ORDER BY kind, COUNT(*) DESC)",
    "large ones": "COUNT(*) FILTER (WHERE COUNT(*) > 35) OVER (PARTITION BY copy)",
    "total of some wards": "SUM(COUNT(*)) OVER (PARTITION BY copy)",
    "totals": "COUNT(*)",
    "sums of totals": "SUM(cost)",
    "means of totals": "AVG(cost)",
    "deviations of totals": "STDDEV(cost)",
    "share of a level": "100.0 * COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY copy, GROUPING(kind))",
}


def question(name):
    keys = ROLLUP if "totals" in name or "level" in name else "copy, ward, kind"
    having = "HAVING ward < 4" if "some" in name else ""
    return f"SELECT copy, ward, kind, {CASES[name]} AS x FROM visits GROUP BY {keys} {having}"


def truths(name):
    connection = duckdb.connect()
    connection.register("visits", frame())
    rows = connection.sql(question(name)).fetchall()
    return {(ward, kind): float(true) for _, ward, kind, true in rows}


def released(sql, offer, copies):
    """The request and the columns of an answer in which every copy is a release of the same rows."""
    known = tables(copies)
    request = build_request(parse(sql, known), known, OFFERS[offer], confidence=LEVEL)
    exact = compute(request.plan, known, salt=fresh_salt())
    draws = {}
    for part in request.parts:
        integers = np.asarray(exact[part.measure]).reshape(copies, -1)[:1]
        copied = np.tile(integers, (copies, 1)).reshape(-1)
        draws[part.measure] = Draw(part=part, steps=np.asarray(part.mechanism.release(copied)))
    columns = [one.finish([draws[measure] for measure in one.measures], LEVEL) for one in request.columns]
    return request, columns


def worst(name, offer, copies, *, shrunk=0.0):
    """How often the interval of a group misses, for the group in which it does so most often."""
    true = truths(name)
    request, (column,) = released(question(name), offer, copies)
    keys = request.answer_keys
    misses = []
    for ward, kind in true:
        at = np.array(
            [(one, other) == (ward, kind) for one, other in zip(keys["ward"], keys["kind"], strict=True)]
        )
        assert at.sum() == copies
        reach = shrunk * (column.upper[at] - column.lower[at]) / 2 if shrunk else 0.0  # an end may be endless
        slack = 1e-9 * max(1.0, abs(true[ward, kind]))
        low, high = column.lower[at] + reach - slack, column.upper[at] - reach + slack
        misses.append(int(((low > true[ward, kind]) | (true[ward, kind] > high)).sum()))
    print(name, offer, f"{1 - max(misses) / copies:.2%}")
    return max(misses)


@pytest.mark.few(8)
@pytest.mark.parametrize("name", CASES)
def test_windows_and_totals_cover(name):
    for offer in USUAL:
        assert worst(name, offer, FEW) <= allowed_misses(FEW, float(1 - LEVEL)), offer


@pytest.mark.few(0, slow=2)
@pytest.mark.parametrize("name", CASES)
def test_windows_and_totals_cover_in_many_releases(name):
    for offer in USUAL:
        assert worst(name, offer, MANY) <= allowed_misses(MANY, float(1 - LEVEL)), offer


@pytest.mark.slow
@pytest.mark.parametrize("name", ["total", "running sum", "totals", "sums of totals"])
def test_sums_a_tenth_narrower_are_noticed(name):
    """The control: intervals of sums are not much wider than they must be."""
    found = max(worst(name, offer, 10_000, shrunk=0.1) for offer in USUAL)
    assert found > allowed_misses(10_000, float(1 - LEVEL))


@cache
def requested(sql, offer):
    return build_request(parse(sql, tables(1)), tables(1), OFFERS[offer], confidence=LEVEL)


def releases(sql, offer, count):
    """Columns of as many answers, one after the other."""
    request = requested(sql, offer)
    exact = compute(request.plan, tables(1), salt=fresh_salt())
    for _ in range(count):
        draws = {}
        for part in request.parts:
            steps = part.mechanism.release(np.asarray(exact[part.measure]))
            draws[part.measure] = Draw(part=part, steps=np.asarray(steps))
        yield [one.finish([draws[measure] for measure in one.measures], LEVEL) for one in request.columns]


def left_of(released, exact):
    """The sum of exact counts over the groups whose released count is above 35."""
    kept = released > 35
    return np.full(len(exact), exact[kept].sum()), kept


def before(released, exact):
    """The sum of exact counts over the groups that come first by released counts, up to each."""
    order = np.argsort(-released, kind="stable")
    true = np.empty(len(exact))
    true[order] = np.cumsum(exact[order])
    return true, np.ones(len(exact), bool)


SETTLED = {
    "groups that are left": ("SUM(COUNT(*)) OVER () AS x", "HAVING COUNT(*) > 35", left_of),
    "groups in released order": (
        "SUM(COUNT(*)) OVER (ORDER BY COUNT(*) DESC ROWS UNBOUNDED PRECEDING) AS x",
        "",
        before,
    ),
}


def check_settled(name, count):
    item, having, truth = SETTLED[name]
    sql = f"SELECT ward, kind, COUNT(*) AS n, {item} FROM visits GROUP BY ward, kind {having}"
    exact = np.array(
        [
            row[0]
            for row in duckdb.from_arrow(frame())
            .query("t", "SELECT COUNT(*) FROM t GROUP BY ward, kind ORDER BY ward, kind")
            .fetchall()
        ]
    )
    for offer in USUAL:
        missed = np.zeros(len(exact))
        for columns in releases(sql, offer, count):
            by_name = {column.name: column for column in columns}
            column = by_name["x"]
            true, kept = truth(np.asarray(by_name["n"].values), exact)
            missed += kept & ((column.lower > true) | (true > column.upper))
        assert missed.max() <= allowed_misses(count, float(1 - LEVEL)), (name, offer)


@pytest.mark.parametrize("name", SETTLED)
def test_what_released_values_settle_is_covered(name):
    check_settled(name, FEW)


@pytest.mark.few(0, slow=2)
@pytest.mark.parametrize("name", SETTLED)
def test_what_released_values_settle_is_covered_in_many_releases(name):
    check_settled(name, MANY)


def test_a_law_of_sums_for_chosen_groups_would_not_cover():
    """The control: of groups that are left because their noise is large, the sum of noises is not centered."""
    sql = "SELECT ward, kind, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS x FROM visits GROUP BY ward, kind"
    exact = np.array(
        [
            row[0]
            for row in duckdb.from_arrow(frame())
            .query("t", "SELECT COUNT(*) FROM t GROUP BY ward, kind ORDER BY ward, kind")
            .fetchall()
        ]
    )
    missed = 0
    for counts, total in releases(sql, "loud", 300):
        kept = np.asarray(counts.values) > np.median(exact)
        margin = float(total.upper[0] - total.values[0])
        missed += abs(np.asarray(counts.values)[kept].sum() - exact[kept].sum()) > margin * (
            kept.mean() ** 0.5
        )
    assert missed > allowed_misses(300, float(1 - LEVEL))
