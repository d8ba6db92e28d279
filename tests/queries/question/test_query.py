"""The record that both front ends build."""

from __future__ import annotations

import pytest

from discreet.data import Filter, Source, col, count
from discreet.errors import UnsupportedQuery
from discreet.queries import Query
from discreet.queries.question.query import filtered, key_of

VISITS = Source(table="visits")


def test_filters_become_one():
    one, two, three = ((col("age") > number).expression for number in range(3))
    stacked = filtered(filtered(filtered(VISITS, one), two), three)
    joined = filtered(VISITS, ((col("age") > 0) & (col("age") > 1) & (col("age") > 2)).expression)
    assert stacked == joined
    assert isinstance(stacked, Filter)
    assert stacked.source == VISITS


def test_a_query_knows_its_table_and_names():
    query = Query(
        relation=filtered(VISITS, (col("age") > 1).expression),
        outputs=(("n", count()), ("k", col("x").count())),
    )
    assert query.table == "visits"
    assert query.names == ("n", "k")
    assert repr(query) == "Query(source visits; where age > ?; n: count; k: count of x)"


@pytest.mark.parametrize(
    ("keys", "outputs", "words"),
    [
        ((), (), "no aggregate"),
        (("a", "a"), (("n", count()),), "twice"),
        (("n",), (("N", count()),), "the same name"),
        ((), (("n", count()), ("n", count())), "the same name"),
        ((), (("", count()),), "missing or too long"),
        ((), ((3, count()),), "missing or too long"),
        ((), (("x" * 201, count()),), "missing or too long"),
        ((), (("a\0", count()),), "NUL"),
        ((), (("\ud800", count()),), "an incomplete character"),
    ],
)
def test_what_is_no_query_is_refused(keys, outputs, words):
    with pytest.raises(UnsupportedQuery, match=words) as caught:
        Query(relation=VISITS, keys=tuple(key_of(key) for key in keys), outputs=outputs)
    assert ";" in str(caught.value)
    assert caught.value.__context__ is None
