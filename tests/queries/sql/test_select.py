"""SQL and dataframes ask the same questions: the same query, the same plan, the same identity."""

# ruff: noqa: S608
from __future__ import annotations

import datetime

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data import Bounds, Keys, Limits, col, compute, count, fresh_salt, to_json
from discreet.errors import ParameterError, UndeclaredColumn, UnsupportedQuery
from discreet.queries import Offer, Query, TableRequest, bind, build_request, parse
from effort import examples
from queries.clinic import CITIES, TABLES, arrow, row, visits

VISITS = TableRequest(table="visits")

PAIRS = [
    ("SELECT COUNT(*) AS n FROM visits", VISITS.agg(n=count())),
    (
        "SELECT city, COUNT(*) AS n, AVG(cost) AS m FROM visits WHERE age < 40 GROUP BY city",
        VISITS.filter(col("age") < 40).group_by("city").agg(n=count(), m=col("cost").mean()),
    ),
    (
        "SELECT SUM(balance) AS s, COUNT(note) AS k FROM visits "
        "WHERE age >= 18 AND city = 'it''s' AND NOT urgent",
        VISITS.filter(col("age") >= 18)
        .filter((col("city") == "it's") & ~col("urgent"))
        .agg(s=col("balance").sum(), k=col("note").count()),
    ),
    (
        "SELECT ward, city, AVG(age) a FROM visits WHERE day BETWEEN DATE '2026-01-01' AND DATE '2026-01-31' "
        "OR seen > TIMESTAMP '2026-01-31 12:30:00.5' GROUP BY ward, city",
        VISITS.filter(
            col("day").between(datetime.date(2026, 1, 1), datetime.date(2026, 1, 31))
            | (col("seen") > datetime.datetime(2026, 1, 31, 12, 30, 0, 500000))
        )
        .group_by("ward", col("city"))
        .agg(a=col("age").mean()),
    ),
    (
        "SELECT COUNT(*) AS n FROM visits "
        "WHERE moment < TIMESTAMPTZ '2026-01-31 12:00:00+01:00' AND cost / 3 > -age + 0.1",
        VISITS.filter(
            col("moment") < datetime.datetime(2026, 1, 31, 11, tzinfo=datetime.UTC),
            col("cost") / 3 > -col("age") + 0.1,
        ).agg(n=count()),
    ),
    (
        'SELECT COUNT("Mixed Case") AS n FROM visits WHERE "Mixed Case" IN (3, 1, 2) AND note IS NOT NULL',
        VISITS.filter(col("Mixed Case").isin([1, 2, 3]), ~col("note").is_null()).agg(
            n=col("Mixed Case").count()
        ),
    ),
]


@pytest.mark.parametrize(("text", "built"), PAIRS)
def test_both_front_ends_build_one_query(text, built):
    parsed = parse(text, TABLES)
    assert parsed == built
    one, other = (build_request(query, TABLES, Offer(epsilon=1)) for query in (parsed, built))
    assert to_json(one.plan) == to_json(other.plan)
    assert one.identity == other.identity


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("select COUNT(*) n from VISITS", "SELECT COUNT(*) AS n FROM visits"),
        ("SELECT COUNT(*) AS n FROM visits;", "SELECT COUNT(*) AS n FROM visits"),
        ("SELECT COUNT(*) AS n -- rows\nFROM visits /* all */", "SELECT COUNT(*) AS n FROM visits"),
        ("SELECT /*+ PARALLEL(4) */ COUNT(*) AS n FROM visits", "SELECT COUNT(*) AS n FROM visits"),
        ("SELECT ALL COUNT(*) AS n FROM visits", "SELECT COUNT(*) AS n FROM visits"),
        ("SELECT COUNT(1) AS n FROM visits", "SELECT COUNT(*) AS n FROM visits"),
        ("SELECT COUNT('x') AS n FROM visits", "SELECT COUNT(*) AS n FROM visits"),
        ("SELECT (COUNT((age))) AS n FROM (visits)", "SELECT COUNT(age) AS n FROM visits"),
        ("SELECT (COUNT((age))) AS n FROM visits", "SELECT COUNT(age) AS n FROM visits"),
        ('SELECT COUNT(*) AS "n" FROM "visits"', "SELECT COUNT(*) AS n FROM visits"),
        (
            "SELECT COUNT(v.AGE) AS n FROM visits v WHERE V.age > 1",
            "SELECT COUNT(age) AS n FROM visits WHERE age > 1",
        ),
        ("SELECT COUNT(Visits.age) AS n FROM visits", "SELECT COUNT(age) AS n FROM visits"),
        ("SELECT COUNT(*) AS n FROM clinic.visits", "SELECT COUNT(*) AS n FROM visits"),
        ("SELECT COUNT(v.age) AS n FROM a.clinic.visits AS v", "SELECT COUNT(age) AS n FROM visits"),
        (
            "SELECT COUNT(clinic.visits.age) AS n FROM Clinic.visits WHERE visits.age > 1",
            "SELECT COUNT(age) AS n FROM visits WHERE age > 1",
        ),
        ("SELECT COUNT(*) AS n FROM clinic.nothing", None),
        ("WITH visit AS (SELECT age FROM visits) SELECT COUNT(*) AS n FROM clinic.visit", None),
        ("SELECT COUNT(*) AS n FROM a.visits v JOIN b.visits w USING (patient)", None),
        ("SELECT COUNT(*) AS n FROM a.b.visits v JOIN c.b.visits w USING (patient)", None),
        (
            "SELECT COUNT(*) AS n FROM a.b.visits v JOIN b.visits w USING (patient)",
            "SELECT COUNT(*) AS n FROM visits v JOIN visits w USING (patient)",
        ),
        ('SELECT COUNT("mixed case") FROM visits', None),
        ('SELECT COUNT(v.age) FROM visits AS "V"', "SELECT COUNT(age) FROM visits"),
        ('SELECT COUNT("v".age) FROM visits AS "V"', None),
        ("SELECT COUNT(visits.age) FROM visits AS v", None),
        (
            "SELECT COUNT(*) AS n, city FROM visits GROUP BY City",
            "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
        ),
        (
            "SELECT COUNT(*) AS n FROM visits GROUP BY city",
            "SELECT city, COUNT(*) AS n FROM visits GROUP BY (city)",
        ),
        (
            "SELECT city AS city, COUNT(*) AS n FROM visits GROUP BY city",
            "SELECT city, COUNT(*) n FROM visits GROUP BY city",
        ),
        (
            "SELECT COUNT(*), COUNT(age), SUM(age), AVG(age) FROM visits",
            "SELECT COUNT(*) AS count, COUNT(age) AS count_age, SUM(age) AS sum_age, AVG(age) AS avg_age "
            "FROM visits",
        ),
    ],
)
def test_spellings_of_one_query(text, same):
    if same is None:
        with pytest.raises((UnsupportedQuery, UndeclaredColumn)):
            parse(text, TABLES)
    else:
        assert parse(text, TABLES) == parse(same, TABLES)


def test_the_order_of_keys_and_outputs_is_part_of_a_query():
    one, other = (
        parse(f"SELECT COUNT(*) FROM visits GROUP BY {by}", TABLES) for by in ("city, ward", "ward, city")
    )
    assert one != other
    assert [bind(query, TABLES).plan.shape for query in (one, other)] == [(3, 4), (4, 3)]
    assert parse("SELECT SUM(age), AVG(age) FROM visits", TABLES).names == ("sum_age", "avg_age")


def test_names_that_differ_in_case_alone_need_quotes():
    tables = {"t": TABLES["visits"], "T": TABLES["staff"]}
    assert parse('SELECT COUNT(*) FROM "T"', tables).table == "T"
    assert parse("SELECT COUNT(*) FROM t", tables).table == "t"
    with pytest.raises(UnsupportedQuery, match="double quotes"):
        parse("SELECT COUNT(*) FROM Tt", {"tT": TABLES["visits"], "TT": TABLES["staff"]})


def test_names_may_be_hard():
    hard = "q\"uo'te; DROP TABLE visits --"
    table = visits([], columns={})
    tables, quoted = {hard: table}, hard.replace('"', '""')
    query = parse(
        f'SELECT COUNT(*) AS "{quoted}" FROM "{quoted}"',
        tables,
    )
    assert query.table == hard
    assert query.names == (hard,)


@pytest.mark.parametrize("text", [None, 3, b"SELECT COUNT(*) FROM visits", ["SELECT"]])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(ParameterError, match="SQL as text"):
        parse(text, TABLES)


def test_a_query_hides_its_literals():
    query = parse("SELECT COUNT(*) AS n FROM visits WHERE note = 'canary' AND age IN (5908273141)", TABLES)
    assert "canary" not in repr(query)
    assert "5908273141" not in repr(query)
    assert isinstance(query, Query)


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "city": st.sampled_from([None, *CITIES, "elsewhere"]),
            "ward": st.sampled_from([None, 1, 2, 3, 4]),
            "age": st.one_of(st.none(), st.integers(0, 110)),
            "cost": st.one_of(st.none(), st.integers(0, 500_000).map(lambda cents: cents / 100)),
            "balance": st.one_of(st.none(), st.integers(-500, 500)),
        }
    ).map(lambda values: row(**values)),
    max_size=30,
)
CONDITIONS = st.sampled_from(
    [
        "TRUE",
        "age < 40",
        "city IN ('Oslo', 'Taipei') OR ward IS NULL",
        "NOT balance = 0",
        "age + balance >= 2 * ward",
        "cost BETWEEN 10 AND 2500.5",
    ]
)


@settings(max_examples=examples(40))
@given(ROWS, CONDITIONS, st.sampled_from([(), ("city",), ("ward", "city")]))
def test_exact_answers_are_those_of_duckdb(rows, condition, keys):
    """Within bounds and limits, what is measured is what DuckDB answers to the same text."""
    by = f" GROUP BY {', '.join(keys)}" if keys else ""
    text = (
        f"SELECT {''.join(f'{key}, ' for key in keys)}COUNT(*) AS n, COUNT(cost) AS k, SUM(age) AS a, "
        f"SUM(balance) AS b, AVG(cost) AS m FROM visits WHERE {condition}{by}"
    )
    tables = {"visits": visits(rows)}
    bound = bind(parse(text, tables), tables)
    exact = compute(bound.plan, tables, salt=fresh_salt())
    with duckdb.connect() as connection:
        connection.register("visits", arrow(rows))
        answers = {answer[: len(keys)]: answer[len(keys) :] for answer in connection.execute(text).fetchall()}
    for place, group in enumerate(exact.statistics.groups()):
        n, k, a, b, m = answers.get(group, (0, 0, None, None, None))
        values = {
            output.name: [int(exact[measure][place]) for measure in output.measures]
            for output in bound.outputs
        }
        assert values["n"] == [n]
        assert values["k"] == [k]
        assert values["a"] == [a or 0]
        assert values["b"] == [b or 0]
        total, counted = values["m"]
        assert counted == k
        if k:
            assert np.isclose(2500 + 0.01 * total / counted, m, rtol=1e-12, atol=1e-9)


def test_a_table_that_is_a_person_per_row_or_has_limits_parses_alike():
    limited = {
        "visits": visits([], limits=Limits(rows=2), columns={"city": Keys(["a"]), "age": Bounds(0, 9)})
    }
    text = "SELECT city, AVG(age) FROM visits GROUP BY city"
    assert parse(text, limited) == parse(text, TABLES)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (
            "SELECT UPPER(city), COUNT(*) AS n FROM visits GROUP BY UPPER(city)",
            "SELECT UPPER(city) AS upper_city, COUNT(*) AS n FROM visits GROUP BY upper_city",
        ),
        (
            "SELECT COUNT(*) AS n FROM visits GROUP BY FLOOR(age / 10)",
            "SELECT FLOOR(age / 10) AS floor_age, COUNT(*) AS n FROM visits GROUP BY 1",
        ),
        (
            "SELECT age > 40, COUNT(*) AS n FROM visits GROUP BY 1",
            "SELECT age > 40 AS condition_age, COUNT(*) AS n FROM visits GROUP BY 1",
        ),
        (
            "SELECT age - ward, COUNT(*) AS n FROM visits GROUP BY age - ward",
            "SELECT age - ward AS calculated_age_ward, COUNT(*) AS n FROM visits GROUP BY 1",
        ),
        (
            "SELECT CASE WHEN urgent THEN 'a' ELSE 'b' END, COUNT(*) AS n FROM visits GROUP BY 1",
            "SELECT CASE WHEN urgent THEN 'a' ELSE 'b' END AS case_urgent, COUNT(*) AS n FROM visits "
            "GROUP BY case_urgent",
        ),
        (
            "SELECT EXTRACT(YEAR FROM v.day) AS y, COUNT(*) AS n FROM visits v GROUP BY YEAR(day)",
            "SELECT YEAR(day) AS y, COUNT(*) AS n FROM visits GROUP BY y",
        ),
        (  # grouped by the column, SELECT would have no value
            "SELECT YEAR(day) AS ward, COUNT(*) AS n FROM visits GROUP BY ward",
            "SELECT YEAR(day) AS ward, COUNT(*) AS n FROM visits GROUP BY 1",
        ),
        (
            "SELECT AVG(n) AS m FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY 1) v",
            "SELECT AVG(n) AS m FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) v",
        ),
        (
            "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY patient, YEAR(day)) v",
            "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits GROUP BY 1, EXTRACT(YEAR FROM day)) v",
        ),
    ],
)
def test_calculated_keys_need_no_name(text, same):
    assert parse(text, TABLES) == parse(same, TABLES)


def test_the_name_of_a_key_holds_no_literal():
    query = parse("SELECT COUNT(*) AS n FROM visits GROUP BY note || 'canary'", TABLES)
    assert [key.name for key in query.keys] == ["concat_note"]


def test_a_key_that_is_listed_twice_is_shown_twice():
    query = parse("SELECT city AS town, city, COUNT(*) AS n FROM visits GROUP BY city", TABLES)
    assert [key.name for key in query.keys] == ["city"]
    assert query.shown == ("town", "n")
    alone = parse("SELECT city AS town, COUNT(*) AS n FROM visits GROUP BY city", TABLES)
    assert [key.name for key in alone.keys] == ["town"]
