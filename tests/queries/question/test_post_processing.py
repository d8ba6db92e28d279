"""What is done with an answer: by released values, as SQL does it."""

# ruff: noqa: S608
from __future__ import annotations

import math

import duckdb
import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data import col, count
from discreet.data.language.relations import Order
from discreet.errors import UnsupportedQuery
from discreet.queries import TableRequest, bind, parse
from discreet.queries.question.post_processing import (
    NO_POST_PROCESSING,
    PostProcessing,
    is_plain,
    post_processed,
    shown_groups,
)
from queries.clinic import TABLES

VISITS = TableRequest(table="visits").group_by("city").agg(n=count(), m=col("age").mean())

ANSWERS = st.lists(
    st.tuples(
        st.sampled_from([None, "a", "b", "Z", "é"]),
        st.integers(-3, 3),
        st.sampled_from([None, 0.5, -1.5, 2.0, math.inf]),
    ),
    max_size=12,
)
CONDITIONS = [
    (None, None),
    ("n > 0", col("n") > 0),
    ("n + m >= 1 AND NOT city = 'a'", (col("n") + col("m") >= 1) & ~(col("city") == "a")),
    ("city IS NULL OR n IN (1, 2)", col("city").is_null() | col("n").isin([1, 2])),
    ("m / NULLIF(n, 0) < 1", col("m") / col("n") < 1),
    ("NOT (m * n - 1 <> 0)", ~(col("m") * col("n") - 1 != 0)),
    ("city > 'Z'", col("city") > "Z"),
]


@given(
    ANSWERS,
    st.sampled_from(CONDITIONS),
    st.lists(
        st.tuples(st.sampled_from(["city", "n", "m"]), st.booleans()),
        max_size=2,
        unique_by=lambda part: part[0],
    ),
    st.one_of(st.none(), st.integers(0, 5)),
    st.integers(0, 3),
)
def test_it_is_what_duckdb_does(rows, condition, order, limit, offset):
    names = ("place", "city", "n", "m")
    columns = dict(
        zip(names, map(list, zip(*[(p, *row) for p, row in enumerate(rows)], strict=True)), strict=False)
    )
    columns = columns or {name: [] for name in names}
    text, formula = condition
    after = PostProcessing(
        having=None if formula is None else formula.expression,
        order=tuple(Order(column=name, descending=down) for name, down in order),
        limit=limit,
        offset=offset,
    )
    by = "".join(f"{name} {'DESC' if down else 'ASC'} NULLS LAST, " for name, down in order)
    query = f"SELECT place FROM answer WHERE {text or 'TRUE'} ORDER BY {by}place OFFSET {offset}"
    query += "" if limit is None else f" LIMIT {limit}"
    types = {"place": pyarrow.int64(), "city": pyarrow.string(), "n": pyarrow.int64(), "m": pyarrow.float64()}
    answer = pyarrow.table({name: pyarrow.array(columns[name], types[name]) for name in names})
    with duckdb.connect() as connection:
        connection.register("answer", answer)
        expected = [place for (place,) in connection.execute(query).fetchall()]
    assert shown_groups(after, columns) == expected
    assert post_processed(after, columns)["place"] == expected


def test_missing_values_are_last_and_ties_keep_their_order():
    columns = {"x": np.array([math.nan, 2, 1, 2, math.nan]), "y": ["a", "b", "c", "d", "e"]}
    for descending, expected in ((False, "cbdae"), (True, "bdcae")):
        after = PostProcessing(order=(Order(column="x", descending=descending),))
        found = post_processed(after, columns)
        assert "".join(found["y"]) == expected
        assert isinstance(found["x"], np.ndarray)
    assert post_processed(NO_POST_PROCESSING, columns)["y"] == columns["y"]
    assert not NO_POST_PROCESSING
    assert PostProcessing(limit=0)


def test_what_has_no_result_drops_a_group():
    columns = {"x": ["a", None], "n": [0, 1]}
    for condition in (col("x") > 3, col("x") + 1 > 0, 1 / col("n") > 5):
        assert shown_groups(PostProcessing(having=condition.expression), columns) == []


def test_words_of_dataframes():
    query = VISITS.having(col("n") > 3).having(col("m") < 9).sort_by("n", "city", descending=[True, False])
    assert query.having() == query
    cut = query.head(5, offset=2)
    assert cut.after == PostProcessing(
        having=((col("n") > 3) & (col("m") < 9)).expression,
        order=(Order(column="n", descending=True), Order(column="city")),
        limit=5,
        offset=2,
    )
    assert VISITS.after == NO_POST_PROCESSING


@pytest.mark.parametrize(
    "build",
    [
        lambda: VISITS.having(True),
        lambda: VISITS.having(col("age") > 3),
        lambda: VISITS.sort_by("age"),
        VISITS.sort_by,
        lambda: VISITS.sort_by("n", descending=[True, False]),
        lambda: VISITS.head(-1),
        lambda: VISITS.head(2.5),
        lambda: VISITS.head(True),
        lambda: VISITS.head(3).head(2),
        lambda: VISITS.head(3).having(col("n") > 3),
        lambda: VISITS.head(3).sort_by("n"),
    ],
)
def test_what_cannot_be_done(build):
    with pytest.raises(UnsupportedQuery, match=";"):
        build()


def test_numbers_are_hidden():
    assert "5908273141" not in repr(
        PostProcessing(having=(col("n") > 5908273141).expression, limit=5908273141, offset=5908273141)
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING n > 'x'",
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING city > 3",
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING n",
        "SELECT MODE(city) AS c FROM visits HAVING c > 3",
        "SELECT APPROX_TOP_K(city, 2) AS c FROM visits HAVING c = 'a'",
        "SELECT urgent, APPROX_TOP_K(city, 2) AS c FROM visits GROUP BY urgent ORDER BY c",
    ],
)
def test_the_types_of_the_answer_are_kept_to(sql):
    with pytest.raises(UnsupportedQuery, match=";"):
        bind(parse(sql, TABLES), TABLES)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT city, AVG(cost) AS m FROM visits GROUP BY city HAVING m > 3",
        "SELECT urgent, MODE(city) AS c FROM visits GROUP BY urgent HAVING c = 'Oslo' AND urgent ORDER BY c",
        "SELECT APPROX_TOP_K(city, 2) AS c FROM visits HAVING c IS NOT NULL",
    ],
)
def test_what_has_these_types_is_taken(sql):
    assert bind(parse(sql, TABLES), TABLES).outputs


def test_values_of_which_nothing_is_known_come_last():
    columns = {"k": ["a", "b", "c", "d"], "m": np.array([9.0, 1.0, 5.0, np.nan])}
    unknown = {"m": np.array([True, False, False, False])}
    for descending, order in ((True, [2, 1]), (False, [1, 2])):
        after = PostProcessing(order=(Order(column="m", descending=descending),))
        assert shown_groups(after, columns, unknown) == [*order, 0, 3]
    assert shown_groups(PostProcessing(order=(Order(column="k", descending=True),)), columns, unknown) == [
        3,
        2,
        1,
        0,
    ]


def test_calculations_of_dataframes():
    query = VISITS.derive(r=col("n") / col("m"), s=col("n") - 1)
    assert query.shown == ("n", "m", "r", "s")
    assert query.select("s", "n").shown == ("s", "n")
    assert query.select("s").showing_all() == query
    assert query.sort_by("r").after.chooses_groups
    assert not query.after.chooses_groups
    assert is_plain((col("r") > 1).expression)
    assert not is_plain((col("r").round() > 1).expression)


@pytest.mark.parametrize(
    "build",
    [
        lambda: VISITS.derive(r=3),
        lambda: VISITS.derive(r=col("age") + 1),
        lambda: VISITS.derive(r=col("n") + 1).derive(s=col("r") + 1),
        lambda: VISITS.derive(n=col("m") + 1),
        lambda: VISITS.derive(city=col("m") + 1),
        VISITS.select,
        lambda: VISITS.select("age"),
        lambda: VISITS.select("n", "n"),
    ],
)
def test_calculations_of_what_is_not_there_are_refused(build):
    with pytest.raises(UnsupportedQuery):
        build()
