"""Other spellings of conditions and functions: the same question, and the rows of DuckDB."""

from __future__ import annotations

import pytest

from discreet.data import to_json
from discreet.queries import parse
from queries.phrases import by_duckdb, counted, declared, frames
from queries.related import RELATED

COUNT = "SELECT COUNT(*) AS n FROM visits WHERE "
SAME = [
    ("(ward, age) = (1, 30)", "ward = 1 AND age = 30"),
    ("(ward, age) <> (1, 30)", "NOT (ward = 1 AND age = 30)"),
    (
        "(city, ward) IN (('Oslo', 1), ('Rome', 2))",
        "(city = 'Oslo' AND ward = 1) OR (city = 'Rome' AND ward = 2)",
    ),
    ("(city, ward) NOT IN (('Oslo', 1))", "NOT (city = 'Oslo' AND ward = 1)"),
    ("ward = ANY (ARRAY[1, 2])", "ward IN (1, 2)"),
    ("ward = ANY ([1, 2])", "ward IN (1, 2)"),
    ("ward IN UNNEST([1, 2])", "ward IN (1, 2)"),
    ("ward <> ALL (ARRAY[1, 2])", "NOT ward IN (1, 2)"),
    ("city LIKE ANY ('O%', 'R%')", "city LIKE 'O%' OR city LIKE 'R%'"),
    ("city LIKE ALL ('O%', '%o')", "city LIKE 'O%' AND city LIKE '%o'"),
    ("NOT city ILIKE ANY (ARRAY['o%', 'r%'])", "NOT (city ILIKE 'o%' OR city ILIKE 'r%')"),
    ("age BETWEEN SYMMETRIC 40 AND 20", "age BETWEEN 40 AND 20 OR age BETWEEN 20 AND 40"),
    ("city SIMILAR TO '(O|R)%'", "REGEXP_LIKE(city, '^((O|R).*)$')"),
    ("city ~ 'Os'", "REGEXP_LIKE(city, 'Os')"),
    ("city !~ '^Os'", "NOT REGEXP_LIKE(city, '^Os')"),
    ("NOT city ~ 'Os' AND ward = 1", "NOT (city RLIKE 'Os') AND ward = 1"),
    ("city !~* 'OS' OR ward = 1", "(NOT city ~* 'OS') OR ward = 1"),
    ("city LIKE 'O%' ESCAPE '!'", "city LIKE 'O%'"),
    (
        "DECODE(ward, 1, 'a', 2, 'b', 'c') = 'a'",
        "CASE WHEN ward = 1 THEN 'a' WHEN ward = 2 THEN 'b' ELSE 'c' END = 'a'",
    ),
    ("DECODE(ward, NULL, 1) = 1", "CASE WHEN ward IS NULL THEN 1 END = 1"),
    ("NVL2(ward, 1, 0) = 1", "CASE WHEN ward IS NOT NULL THEN 1 ELSE 0 END = 1"),
    ("ZEROIFNULL(ward) = 0", "COALESCE(ward, 0) = 0"),
    ("NULLIFZERO(ward) = 1", "NULLIF(ward, 0) = 1"),
    ("ISNULL(ward, 7) = 7", "COALESCE(ward, 7) = 7"),
    ("SAFE_DIVIDE(age, ward) > 3", "age / ward > 3"),
    ("DECODE(ISNULL(ward, 7), 7, 1, 0) = 1", "CASE WHEN COALESCE(ward, 7) = 7 THEN 1 ELSE 0 END = 1"),
]


@pytest.mark.parametrize(("written", "plain"), SAME)
def test_a_spelling_is_the_same_question(written, plain):
    one, other = parse(COUNT + written, RELATED), parse(COUNT + plain, RELATED)
    assert to_json(one.relation) == to_json(other.relation)


@pytest.mark.parametrize(
    ("condition", "plain"),
    [
        ("(city, ward) IN (('Oslo', 1), ('Rome', 2))", SAME[2][1]),
        # DuckDB takes NULL for equal to itself inside rows, unlike the standard.
        ("(city, ward) NOT IN (('Oslo', 1), ('Rome', 2))", f"NOT ({SAME[2][1]})"),
        ("(city, ward) <> ('Oslo', 1)", "city <> 'Oslo' OR ward <> 1"),
        ("ward <> ALL (ARRAY[1, 2])", "ward <> 1 AND ward <> 2"),
        ("ward = ANY (ARRAY[1, 2]) OR city IS NULL", "ward = ANY (ARRAY[1, 2]) OR city IS NULL"),
    ],
)
def test_null_is_that_of_duckdb(condition, plain):
    found = frames(7)
    assert counted(COUNT + condition, declared(found)) == by_duckdb(COUNT + plain, found)[0][0]


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("SELECT city, urgent, COUNT(*) AS n FROM visits GROUP BY ALL", "GROUP BY city, urgent"),
        ("SELECT UPPER(city) AS c, AVG(age) AS n, 5 AS k FROM visits GROUP BY ALL", "GROUP BY c"),
        ("SELECT COUNT(*) AS n FROM visits GROUP BY ALL", ""),
        ("SELECT city, urgent, COUNT(*) AS n FROM visits GROUP BY (city, urgent)", "GROUP BY city, urgent"),
        ("SELECT city, TRIMMED_MEAN(age, 0.1) AS n FROM visits GROUP BY ALL", "GROUP BY city"),
    ],
)
def test_groups_by_position(written, plain):
    other = f"{written.partition(' GROUP BY ')[0]} {plain}"
    assert parse(written, RELATED) == parse(other, RELATED)


def test_orders_by_position():
    grouped = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY "
    assert parse(grouped + "ALL DESC", RELATED) == parse(grouped + "1 DESC, 2 DESC", RELATED)
    quoted = 'SELECT city AS "ALL", COUNT(*) AS n FROM visits GROUP BY city ORDER BY "ALL"'
    assert [one.column for one in parse(quoted, RELATED).after.order] == ["ALL"]
