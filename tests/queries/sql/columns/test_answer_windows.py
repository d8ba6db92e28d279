"""Windows over the answer: what DuckDB gives, at a large epsilon, and the same question as without them."""

# ruff: noqa: S608, E501

from __future__ import annotations

import numpy as np
import pytest

from discreet.curator.release.release import finish
from discreet.curator.request.request import Draw
from discreet.queries import Offer, build_request
from discreet.queries.question.answer_windows import AnswerFunction, Frame
from discreet.queries.question.post_processing import shown_groups
from discreet.queries.sql.select import parse
from queries.exact_answers import check_same, curator, table
from queries.sql.columns.test_grouping_sets import LEVELS

MONTH = "EXTRACT(MONTH FROM day)"
WARD = "FROM visits WHERE ward < 4 AND city <> 'Rome' GROUP BY"

WINDOWS = [
    f"SELECT city, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS total, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS share {WARD} city ORDER BY city",
    f"SELECT city, ward, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER (PARTITION BY city) AS share {WARD} city, ward ORDER BY city, ward",
    f"SELECT {MONTH} AS m, SUM(COUNT(*)) OVER (ORDER BY {MONTH} ROWS UNBOUNDED PRECEDING) AS running FROM visits GROUP BY m ORDER BY m",
    f"SELECT {MONTH} AS m, SUM(COUNT(*)) OVER (ORDER BY {MONTH}) AS running FROM visits GROUP BY m ORDER BY m",
    f"SELECT {MONTH} AS m, LAG(SUM(cost)) OVER (ORDER BY {MONTH}) AS before, LEAD(COUNT(*), 2, 0) OVER (ORDER BY {MONTH}) AS later FROM visits GROUP BY m ORDER BY m",
    f"SELECT {MONTH} AS m, SUM(cost) - LAG(SUM(cost)) OVER (ORDER BY {MONTH}) AS change FROM visits GROUP BY m ORDER BY m",
    f"SELECT {MONTH} AS m, AVG(COUNT(*)) OVER (ORDER BY {MONTH} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS moving FROM visits GROUP BY m ORDER BY m",
    f"SELECT {MONTH} AS m, MIN(COUNT(*)) OVER w AS least, MAX(AVG(cost)) OVER w AS most, COUNT(*) OVER w AS k, COUNT(SUM(cost)) OVER w AS l FROM visits GROUP BY m WINDOW w AS (ORDER BY {MONTH} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) ORDER BY m",
    f"SELECT {MONTH} AS m, FIRST_VALUE(COUNT(*)) OVER w AS f, LAST_VALUE(COUNT(*)) OVER w AS l, NTH_VALUE(COUNT(*), 2) OVER w AS s FROM visits GROUP BY m WINDOW w AS (ORDER BY {MONTH}) ORDER BY m",
    f"SELECT city, ward, RANK() OVER (ORDER BY COUNT(*) DESC, city, ward) AS r, ROW_NUMBER() OVER (PARTITION BY city ORDER BY COUNT(*), ward) AS k, DENSE_RANK() OVER (ORDER BY COUNT(*) DESC) AS d {WARD} city, ward ORDER BY city, ward",
    f"SELECT city, ward, COUNT(*) AS n, NTILE(3) OVER w AS t, PERCENT_RANK() OVER w AS p, CUME_DIST() OVER w AS c {WARD} city, ward WINDOW w AS (PARTITION BY ward ORDER BY city) ORDER BY city, ward",
    f"SELECT city, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r {WARD} city QUALIFY r <= 2 ORDER BY r",
    f"SELECT city, COUNT(*) AS n {WARD} city QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) = 1",
    f"SELECT city, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS total {WARD} city HAVING COUNT(*) > 150 ORDER BY city",
    f"SELECT city, SUM(COUNT(*)) OVER () AS total {WARD} city HAVING city <> 'Oslo' ORDER BY city",
    f"SELECT city, COUNT(*) AS n {WARD} city ORDER BY SUM(COUNT(*)) OVER (ORDER BY city) DESC",
    f"SELECT city, LAG(city) OVER (ORDER BY COUNT(*) DESC) AS larger {WARD} city ORDER BY city",
    f"SELECT city, SUM(COUNT(*)) FILTER (WHERE city <> 'Oslo') OVER () AS others, COUNT(*) FILTER (WHERE COUNT(*) > 150) OVER () AS large {WARD} city ORDER BY city",
    f"SELECT ward, AVG(cost) - AVG(AVG(cost)) OVER () AS above, COUNT(*) - MAX(COUNT(*)) OVER () AS short {WARD} ward ORDER BY ward",
    f"SELECT city, ward, SUM(SUM(cost)) OVER (w ORDER BY ward) AS running {WARD} city, ward WINDOW w AS (PARTITION BY city) ORDER BY city, ward",
    f"SELECT ward, CASE WHEN RANK() OVER (ORDER BY COUNT(*) DESC) = 1 THEN 'first' ELSE 'other' END AS place {WARD} ward ORDER BY ward",
]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    return curator(tmp_path_factory.mktemp("windows"))


@pytest.mark.parametrize("sql", WINDOWS)
def test_a_window_over_the_answer_is_what_an_engine_gives(clinic, sql):
    check_same(sql, clinic.ask(sql, epsilon=90))


def test_a_window_is_no_part_of_the_identity():
    tables = {"visits": table()}
    plain = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
    windowed = "SELECT city, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS total, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY city QUALIFY r < 3"
    one, other = (build_request(parse(sql, tables), tables, Offer(epsilon=1)) for sql in (plain, windowed))
    assert one.identity == other.identity
    assert one.event == other.event


def test_what_is_read_of_a_window():
    sql = f"SELECT {MONTH} AS m, SUM(COUNT(*)) OVER (PARTITION BY city ORDER BY {MONTH} DESC NULLS FIRST ROWS 2 PRECEDING) AS x FROM visits GROUP BY m, city"
    (window,) = parse(sql, {"visits": table()}).after.windows
    assert window.function is AnswerFunction.SUM
    assert window.frame == Frame(start=-2, end=0)
    assert window.order[0].descending
    assert window.order[0].missing_first
    assert window.placing == {"m", "city"}
    assert window.taken == {"count"}


def test_one_window_that_is_written_twice_is_one():
    sql = "SELECT COUNT(*) / SUM(COUNT(*)) OVER (), 1 - COUNT(*) / SUM(COUNT(*)) OVER () FROM visits GROUP BY city"
    assert len(parse(sql, {"visits": table()}).after.windows) == 1


def test_names_of_windows_that_have_none():
    sql = "SELECT city, RANK() OVER (ORDER BY COUNT(*)), SUM(COUNT(*)) OVER (), SUM(COUNT(*)) OVER (ORDER BY city) FROM visits GROUP BY city"
    assert parse(sql, {"visits": table()}).shown == ("rank", "sum", "sum_2")


def test_an_error_of_a_window_can_be_wanted(clinic):
    sql = "SELECT city, SUM(COUNT(*)) OVER () AS total FROM visits GROUP BY city"
    offered = clinic.preview(sql, error={"total": 10})
    (expected,) = offered.expectations
    assert 5 < expected.margin <= 10
    ranked = clinic.preview(
        "SELECT city, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY city", epsilon=1
    )
    assert ranked.expectations[0].means == "depends on the values"
    exact = clinic.preview(
        "SELECT city, RANK() OVER (ORDER BY city) AS r, COUNT(*) AS n FROM visits GROUP BY city", epsilon=1
    )
    assert [one.margin > 0 for one in exact.expectations] == [False, True]


def test_explained_and_remeasured(clinic):
    sql = "SELECT city, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS total FROM visits GROUP BY city"
    assert "total" in clinic.explain(sql, epsilon=1)
    release = clinic.ask(sql, epsilon=1)
    again = clinic.remeasure(release, epsilon=1)
    assert [one.name for one in again.outputs] == ["n", "total"]
    assert (again.outputs[1].values == again.outputs[0].values.sum()).all()


@pytest.mark.parametrize("extreme", [0, 1 << 62, -(1 << 62)])
@pytest.mark.parametrize("sql", [*WINDOWS, *LEVELS])
def test_no_draw_makes_an_answer_fail(sql, extreme):
    """What was paid for is answered: every noisy integer is, however far it is off."""
    tables = {"visits": table()}
    query = parse(sql, tables)
    request = build_request(query.showing_all(), tables, Offer(epsilon=1))
    for alternate in (False, True):
        draws = []
        for part, size in zip(request.parts, request.sizes, strict=True):
            steps = np.full(size, extreme)
            if alternate:
                steps[::2] = 1
            draws.append(Draw(part=part, steps=steps))
        release = finish(request, draws, {"private": True})
        columns = {**release.keys, **{one.name: one.values for one in release.outputs}}
        unknown = {one.name: one.unknown for one in release.outputs if one.unknown is not None}
        places = shown_groups(query.after, columns, unknown)
        assert str(release.at(places).showing(query.shown))
        for one in release.outputs:
            if one.lower is not None:
                assert not (one.lower > one.upper).any()
