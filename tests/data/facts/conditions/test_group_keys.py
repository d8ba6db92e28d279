"""Conditions narrow the keys of a group: exactly the groups that no row can be in are left out."""

from __future__ import annotations

import datetime
from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data import Bounds, Dates, Filter, Keys, Limits, Source, Table, col, compute, count, fresh_salt
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.expressions import Column
from discreet.data.language.relations import Named, Order, Project, Window, WindowFunction
from discreet.data.tables.public_table import PublicTable
from discreet.errors import UndeclaredColumn, UnsupportedQuery
from discreet.queries import Offer, Query, TableRequest, build_request, parse
from discreet.queries.binding.bind import bind
from discreet.queries.noise.unknown_keys import unknown_keys
from discreet.queries.question.query import key_facts, key_of
from effort import examples

MONTHS = [datetime.date(2024, month, 1) for month in range(1, 13)]


def _table():
    draw = np.random.default_rng(3)
    size = 3000
    days = [datetime.date(2023, 11, 1) + datetime.timedelta(days=int(n)) for n in draw.integers(0, 500, size)]
    return pyarrow.table(
        {
            "patient": draw.integers(0, 900, size),
            "year": pyarrow.array(
                [None if n == 2031 else int(n) for n in draw.integers(1998, 2032, size)], pyarrow.int64()
            ),
            "age": draw.integers(-5, 130, size),
            "city": draw.choice(["Taipei", "Hamilton", "Oslo", "Rome"], size),
            "flag": pyarrow.array([[True, False, None][n] for n in draw.integers(0, 3, size)]),
            "day": days,
            "seen": pyarrow.array([datetime.datetime(d.year, d.month, d.day, 13) for d in days]),
            "cost": draw.normal(300, 400, size),
            "other": draw.integers(0, 50, size),
            "name": draw.choice(["1300", "31", "29-1", "a", "A"], size),
            "born": days,
        }
    )


TABLES = {
    "visits": Table(
        _table(),
        person="patient",
        limits=Limits(rows=50),
        columns={
            "year": Keys([*range(2000, 2031), None]),
            "age": Bounds(0, 110),
            "city": Keys(["Taipei", "Hamilton", "Oslo"]),
            "day": Dates(datetime.date(2024, 1, 1), datetime.date(2024, 12, 31)),
            "seen": Dates(datetime.date(2024, 1, 1), datetime.date(2024, 12, 31)),
            "cost": Bounds(0, 1000, step=0.01),
        },
    ),
    "flags": PublicTable(pyarrow.table({"flag": [True, None], "word": ["yes", "none"]})),
    "places": PublicTable(pyarrow.table({"other": [4, 5, 60], "name": ["a", "b", "c"]})),
    "people": Table(
        pyarrow.table({"patient": [1, 2], "town": pyarrow.array([True, None])}),
        person="patient",
        limits=Limits(rows=1),
        columns={},
    ),
}
ALL_YEARS = (*range(2000, 2031), None)


def keys(sql):
    (key,) = bind(parse(sql, TABLES), TABLES).plan.keys
    return key.values.values


def asked(key, where, source="visits"):
    return f"SELECT {key} AS k, COUNT(*) AS n FROM {source} WHERE {where} GROUP BY k"  # noqa: S608


NARROWED = {
    ("year", "year = 2015"): (2015,),
    ("year", "year IN (2015, 2001, 1990)"): (2001, 2015),
    ("year", "year BETWEEN 2010 AND 2012"): (2010, 2011, 2012),
    ("year", "2010 < year AND year < 2012.5 AND cost > 3"): (2011, 2012),
    ("year", "year IS NOT NULL"): tuple(range(2000, 2031)),
    ("year", "year = 2015 OR year > 2029"): (2015, 2030),
    ("year", "NOT (year > 2001)"): (2000, 2001),
    ("year", "(year > 2028) IS TRUE"): (2029, 2030),
    ("year", "year NOT IN (2000, 2001)"): tuple(range(2002, 2031)),
    ("year", "year = 2015 OR cost > 3"): ALL_YEARS,
    ("year", "age > 3"): ALL_YEARS,
    ("year", "year IS NULL"): ALL_YEARS,
    ("year", "year = other"): ALL_YEARS,
    ("year", "year + 1 = 2016"): ALL_YEARS,
    ("city", "city < 'P'"): ("Hamilton", "Oslo"),
    ("city", "city <> 'Oslo'"): ("Taipei", "Hamilton"),
    ("flag", "flag"): (True,),
    ("flag", "NOT flag"): (False,),
    ("flag", "flag IS NOT NULL"): (False, True),
    ("flag", "flag IS FALSE"): (False,),
    ("day", "day = DATE '2024-02-03'"): (datetime.date(2024, 2, 3),),
    ("DATE_TRUNC('month', day)", "day >= DATE '2024-03-02' AND day < DATE '2024-05-01'"): tuple(MONTHS[2:4]),
    ("DATE_TRUNC('month', day)", "day > DATE '2024-10-31'"): tuple(MONTHS[10:]),
    ("DATE_TRUNC('month', seen)", "seen < TIMESTAMP '2024-02-01 00:00:00'"): tuple(MONTHS[:1]),
    ("DATE_TRUNC('month', seen)", "seen < TIMESTAMP '2024-02-01 00:00:01'"): tuple(MONTHS[:2]),
    ("DATE_TRUNC('quarter', day)", "DATE_TRUNC('quarter', day) <= DATE '2024-05-01'"): (MONTHS[0], MONTHS[3]),
    ("EXTRACT(YEAR FROM day)", "day >= DATE '2024-03-02'"): (2024,),
    ("EXTRACT(MONTH FROM day)", "EXTRACT(MONTH FROM day) IN (3, 4)"): (3, 4),
    ("EXTRACT(MONTH FROM day)", "day >= DATE '2024-03-02' AND day < DATE '2024-05-01'"): (3, 4),
    ("EXTRACT(MONTH FROM day)", "day >= DATE '2024-12-15' AND day < DATE '2025-02-01'"): (1, 12),
    ("EXTRACT(MONTH FROM day)", "day >= DATE '2024-03-02'"): tuple(range(1, 13)),
    ("EXTRACT(ISODOW FROM day)", "day BETWEEN DATE '2024-03-04' AND DATE '2024-03-06'"): (1, 2, 3),
    ("FLOOR(age / 20) * 20", "age BETWEEN 40 AND 79"): (40, 60),
    ("WIDTH_BUCKET(cost, 0, 1000, 5)", "cost > 700"): (4, 5, 6),
    ("WIDTH_BUCKET(cost, 0, 1000, 5)", "cost < 200"): (0, 1),
    ("WIDTH_BUCKET(cost, 0, 1000, 5)", "cost >= 200 AND cost <= 600"): (2, 3, 4),
    ("100 - FLOOR(age / 20) * 20", "age > 79"): (-20, 0, 20),
    ("UPPER(city)", "city IN ('Oslo', 'Rome')"): ("OSLO",),
    ("CASE WHEN cost < 9 THEN 'a' ELSE 'b' END", "cost < 3"): ("a", "b"),
    ("ABS(age)", "age < 3"): tuple(range(111)),
}


@pytest.mark.parametrize(("key", "where"), NARROWED)
def test_conditions_narrow_keys(key, where):
    assert keys(asked(key, where)) == NARROWED[key, where]


@pytest.mark.parametrize(
    ("key", "where", "expected"),
    [
        ("other", "other = 7", (7,)),
        ("other", "other IN (9, 7, 7.5, 99999999999999999999)", (7, 9)),
        ("other", "other IN (9223372036854775807, 9223372036854775808)", (2**63 - 1,)),
        ("other", "other IN (-9223372036854775808, -9223372036854775809)", (-(2**63),)),
        ("other", "other BETWEEN 3 AND 5 AND other <> 4", (3, 5)),
        ("other", "other IN (1, 2) AND other IN (2, 3)", (2,)),
        ("other % 2", "other IN (4, 7)", (0, 1)),
        ("other * 2", "other * 2 IN (4, 8, 4)", (4, 8)),
        ("SUBSTRING(name, 1, 2)", "SUBSTRING(name, 1, 2) IN ('13', '31', '13')", ("13", "31")),
        ("SUBSTRING(name, 1, 2)", "SUBSTRING(name, 1, 2) IN ('13', '31') AND cost > 3", ("13", "31")),
        ("UPPER(name)", "UPPER(name) = 'A'", ("A",)),
        ("EXTRACT(ISODOW FROM born)", "born BETWEEN '2024-03-04' AND '2024-03-05'", (1, 2)),
    ],
)
def test_conditions_list_keys_that_nobody_declared(key, where, expected):
    assert sorted(keys(asked(key, where))) == sorted(expected)
    assert unknown_keys(parse(asked(key, where), TABLES), TABLES) == ()


@pytest.mark.parametrize("where", ["other > 7", "other <> 3", "other = 3 OR cost > 1", "cost = 3"])
def test_other_conditions_list_none(where):
    assert unknown_keys(parse(asked("other", where), TABLES), TABLES) == ("k",)


def test_conditions_below_a_subquery_narrow_as_well():
    inner = "(SELECT patient, year AS y, cost FROM visits WHERE year IN (2003, 2004)) AS v"
    assert keys(asked("y", "cost > 1 AND y <> 2003", inner)) == (2004,)
    each = "(SELECT patient, year, COUNT(*) AS n FROM visits WHERE year < 2003 GROUP BY patient, year) AS v"
    assert keys(asked("year", "n > 0", each)) == (2000, 2001, 2002)
    assert keys(asked("n", "n BETWEEN 2 AND 4", each)) == (2, 3, 4)
    both = "(SELECT year FROM visits WHERE year = 2003 UNION ALL SELECT year FROM visits) AS v"
    assert keys(asked("year", "year < 2005", both)) == (2000, 2001, 2002, 2003, 2004)


def test_conditions_below_a_window_narrow_its_other_columns_alone():
    """A number that a window gives may have the name of a column below, and is still another."""
    rank = "ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day)"
    inner = f"(SELECT patient, year, {rank} AS r FROM visits WHERE year < 2003) AS v"  # noqa: S608
    assert keys(asked("year", "r = 1", inner)) == (2000, 2001, 2002)
    assert keys(asked("r", "r <= 3 AND year = 2001", inner)) == (1, 2, 3)
    above = Filter(source=Source(table="visits"), condition=(col("other") == 7).expression)
    plain = Project(source=above, columns=(Named(name="patient", expression=Column(name="patient")),))
    window = Window(
        source=plain,
        name="other",
        function=WindowFunction.ROW_NUMBER,
        order=(Order(column="patient"),),
    )
    query = Query(
        relation=window,
        keys=(Named(name="other", expression=Column(name="other")),),
        outputs=(("n", count()),),
    )
    assert getattr(key_facts(query, TABLES)["other"].keys, "values", None) != (7,)


def test_an_inner_join_equates_what_is_not_null():
    inner = "SELECT flag, COUNT(*) AS n FROM visits JOIN flags USING (flag) GROUP BY flag"
    assert keys(inner) == (True,)
    assert keys(inner.replace("JOIN", "LEFT JOIN")) == (False, True, None)
    word = "SELECT f.flag AS g, COUNT(*) AS n FROM visits v LEFT JOIN flags f ON v.flag = f.flag GROUP BY g"
    assert None in keys(word)
    places = "SELECT other, COUNT(*) AS n FROM visits JOIN places USING (other) GROUP BY other"
    assert keys(places) == (4, 5, 60)
    assert unknown_keys(parse(places.replace("JOIN", "LEFT JOIN"), TABLES), TABLES) == ("other",)
    town = "SELECT town, COUNT(*) AS n FROM visits JOIN people USING (patient) WHERE town GROUP BY town"
    assert keys(town) == (True,)
    assert None in keys(town.replace("WHERE town ", "").replace("JOIN", "LEFT JOIN"))


def test_the_other_side_of_a_join_is_narrowed_as_well():
    flags = "SELECT f.flag AS k, COUNT(*) AS n FROM visits v JOIN flags f ON v.flag = f.flag GROUP BY k"
    assert keys(flags) == (True,)
    assert keys(flags.replace("JOIN", "LEFT JOIN")) == (True, None)
    inner = "(SELECT patient, year FROM visits WHERE year IN (2003, 2005)) AS w"
    years = (
        f"SELECT w.year AS k, COUNT(*) AS n FROM visits v JOIN {inner} ON v.patient = w.patient GROUP BY k"  # noqa: S608
    )
    assert keys(years) == (2003, 2005)
    assert keys(years.replace("JOIN", "LEFT JOIN")) == ALL_YEARS


def test_dataframes_are_narrowed_to_the_same_bytes():
    sql = parse("SELECT year, COUNT(*) AS n FROM visits WHERE year = 2015 GROUP BY year", TABLES)
    frame = TableRequest(table="visits").filter(col("year") == 2015).group_by("year").agg(n=count())
    one, other = (build_request(query, TABLES, Offer(epsilon=1)) for query in (sql, frame))
    assert one.plan.cells == 1
    assert one.identity == other.identity


def test_no_key_left_is_refused_before_anything_is_charged():
    with pytest.raises(UnsupportedQuery, match="leave none of the keys of 'k'"):
        keys(asked("year", "year = 1900"))
    with pytest.raises(UnsupportedQuery, match="leave none"):
        keys(asked("year", "year > 2010 AND year < 2010"))


def test_persons_are_no_keys_even_if_listed():
    with pytest.raises(UndeclaredColumn, match="is the person column"):
        keys("SELECT patient, COUNT(*) AS n FROM visits WHERE patient IN (1, 2) GROUP BY patient")


def test_listed_keys_stay_as_they_are():
    query = TableRequest(table="visits").filter(col("year") == 2015).group_by("year").agg(n=count())
    plan = bind(query.with_keys(year=[2014, 2015]), TABLES).plan
    assert plan.keys[0].values.values == (2014, 2015)


def counted(query, values):
    """The exact counts of every listed key, whatever conditions say."""
    plan = bind(query.with_keys(k=values), TABLES).plan
    exact = compute(plan, TABLES, salt=fresh_salt())
    return dict(zip(values.values, map(int, exact[plan.measures[0]]), strict=True))


def check_nothing_is_lost(query):
    grouped = Project(source=query.relation, columns=query.keys)
    before = columns_of_relation(grouped, TABLES)["k"].keys
    after = key_facts(query, TABLES)["k"].keys
    counts = counted(query, before)
    assert set(after.values) <= set(before.values)
    assert list(after.values) == [value for value in before.values if value in set(after.values)]
    assert all(counts[value] == 0 for value in before.values if value not in set(after.values))


@pytest.mark.parametrize(("key", "where"), NARROWED)
def test_no_row_is_in_a_group_that_is_left_out(key, where):
    """The oracle: the engine's own counts over all keys, of rows that do and do not keep to declarations."""
    check_nothing_is_lost(parse(asked(key, where), TABLES))


YEARS = st.one_of(st.integers(1997, 2033), st.sampled_from([2010.5, 2020]))
COMPARED = st.one_of(
    st.builds(
        lambda word, value: getattr(col("year"), word)(value),
        st.sampled_from(["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]),
        YEARS,
    ),
    st.lists(YEARS, min_size=1, max_size=4).map(lambda values: col("year").isin(values)),
    st.sampled_from([col("year").is_null(), col("cost") > 100, col("flag"), col("age") < col("other")]),
)
CONDITIONS = st.recursive(
    COMPARED,
    lambda below: st.one_of(
        st.tuples(below, below).map(lambda pair: pair[0] & pair[1]),
        st.tuples(below, below).map(lambda pair: pair[0] | pair[1]),
        below.map(lambda one: ~one),
    ),
    max_leaves=5,
)


@settings(max_examples=examples(60), deadline=None)
@given(CONDITIONS)
def test_no_row_is_lost_under_any_condition(condition):
    relation = Filter(source=Source(table="visits"), condition=condition.expression)
    key = Named(name="k", expression=Column(name="year"))
    query = Query(relation=relation, keys=(key,), outputs=(("n", count()),))
    try:
        check_nothing_is_lost(query)
    except UnsupportedQuery:
        plain = columns_of_relation(Source(table="visits"), TABLES)["year"].keys
        assert not any(counted(query, plain).values())


def test_what_is_left_depends_on_each_key_alone():
    sql = (
        "SELECT year, city, COUNT(*) AS n FROM visits WHERE year < 2002 AND city = 'Oslo' GROUP BY year, city"
    )
    plan = bind(parse(sql, TABLES), TABLES).plan
    found = list(product(*(key.values.values for key in plan.keys)))
    assert found == [(2000, "Oslo"), (2001, "Oslo")]


def test_a_query_without_keys_has_no_facts_of_them():
    query = parse("SELECT COUNT(*) AS n FROM visits", TABLES)
    assert key_facts(query, TABLES) == {}
    assert key_facts(replace(query, keys=(key_of("city"),)), TABLES)["city"].keys == Keys(
        ["Taipei", "Hamilton", "Oslo"]
    )
