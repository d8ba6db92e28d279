"""Any text is read or refused: no other exception, no logging, no runaway depth, length or time."""

# ruff: noqa: S608
from __future__ import annotations

import datetime
import logging
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from discreet.errors import UndeclaredColumn, UnsupportedQuery
from discreet.queries import Query, bind, parse
from discreet.queries.sql.syntax import parser
from discreet.queries.sql.syntax.parser import LARGEST_TEXT, LARGEST_TOKENS, MOST_OPEN, read_select
from effort import examples
from queries import grammar
from queries.clinic import TABLES

WHERE = "SELECT COUNT(*) FROM visits WHERE "


def answered_or_refused(text):
    try:
        query = parse(text, TABLES)
        bind(query, TABLES)
    except (UnsupportedQuery, UndeclaredColumn) as error:
        context = error.__context__
    else:
        context = None
        assert isinstance(query, Query)
    assert context is None


WORDS = """
SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT AND OR NOT IN IS NULL BETWEEN LIKE AS DISTINCT ALL ANY EXISTS
CASE WHEN THEN ELSE END JOIN ON USING UNION WITH OVER PARTITION FILTER CAST DATE TIMESTAMP INTERVAL TRUE FALSE
COUNT SUM AVG MIN COALESCE VALUES LATERAL UNNEST PIVOT QUALIFY WINDOW TABLE INTO SET SHOW DROP ESCAPE COLLATE
ARRAY STRUCT MAP IF visits staff city age cost note v x
( ) , * + - / = < > <> . ; 'a' "age" 1 2.5 :: [ ] { } || ? : @ $1 ! % -> -- /* */ ' " ` # \\ 1e 0x
"""
words = st.sampled_from([*WORDS.split(), "\n"])


@settings(max_examples=examples(400))
@given(st.text(max_size=80))
def test_any_text(text):
    answered_or_refused(text)


@settings(max_examples=examples(600))
@given(st.lists(words, max_size=40))
def test_any_words(listed):
    answered_or_refused(" ".join(listed))


@settings(max_examples=examples(600))
@given(
    st.lists(words, max_size=25),
    st.sampled_from([WHERE, "SELECT ", "SELECT COUNT(*) FROM ", WHERE + "age = 1 "]),
)
def test_any_words_after_a_good_start(listed, start):
    answered_or_refused(start + " ".join(listed))


@settings(max_examples=examples(400))
@given(grammar.conditions(), st.data())
def test_good_queries_with_a_piece_changed(tree, data):
    text = f"SELECT city, COUNT(*) AS n, AVG(cost) FROM visits WHERE {grammar.written(tree)} GROUP BY city"
    place = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 6))
    piece = data.draw(st.one_of(words, st.text(max_size=3)))
    answered_or_refused(text[:place] + piece + text[place + length :])


DEEP = {
    "parentheses": lambda n: WHERE + "(" * n + "age = 1" + ")" * n,
    "parentheses in a value": lambda n: WHERE + "(" * n + "age" + ")" * n + " = 1",
    "NOT": lambda n: WHERE + "NOT " * n + "urgent",
    "NOT in parentheses": lambda n: WHERE + "NOT (" * n + "urgent" + ")" * n,
    "minus": lambda n: WHERE + "- " * n + "age = 1",
    "functions": lambda n: WHERE + "ABS(" * n + "age" + ")" * n + " = 1",
    "CASE": lambda n: WHERE + "CASE WHEN " * n + "urgent" + " THEN TRUE END" * n,
    "brackets": lambda n: WHERE + "[" * n + "age" + "]" * n + " = 1",
    "braces": lambda n: WHERE + "{" * n + "age" + "}" * n + " = 1",
    "IN": lambda n: WHERE + "age IN (" * n + "1" + ")" * n,
    "subqueries": lambda n: "SELECT COUNT(*) FROM " + "(SELECT * FROM " * n + "visits" + ")" * n,
    "tables": lambda n: "SELECT COUNT(*) FROM " + "(" * n + "visits" + ")" * n,
    "types": lambda n: WHERE + "age::" + "ARRAY<" * n + "INT" + ">" * n + " = 1",
    "intervals": lambda n: WHERE + "INTERVAL " * n + "'1' DAY > day",
    "ANY": lambda n: WHERE + "age = " + "ANY " * n + "(1)",
    "plus": lambda n: WHERE + "age + " * n + "age > 1",
    "equals": lambda n: WHERE + "age = " * n + "1",
    "dots": lambda n: WHERE + "a." * n + "a = 1",
    "casts": lambda n: WHERE + "age" + "::INT" * n + " = 1",
    "aliases": lambda n: "SELECT COUNT(*) FROM visits " + "AS a " * n,
    "unclosed": lambda n: WHERE + "(" * n,
    "closed only": lambda n: WHERE + ")" * n,
    "joins": lambda n: "SELECT COUNT(*) FROM visits " + "JOIN (staff " * n + ")" * n,
    "mixed": lambda n: WHERE + "NOT (- (" * n + "age" + "))" * n,
}  # fmt: skip


@pytest.mark.parametrize("construct", DEEP)
@pytest.mark.parametrize("levels", [20, 60, 400, 6000])
def test_deep_nesting_is_refused_not_crashed_on(construct, levels):
    with pytest.raises((UnsupportedQuery, UndeclaredColumn)):
        bind(parse(DEEP[construct](levels), TABLES), TABLES)


def test_nesting_within_the_limit_is_read_even_from_deep_down():
    def down(calls, age):
        text = WHERE + "(" * MOST_OPEN + f"age = {age}" + ")" * MOST_OPEN
        return down(calls - 1, age) if calls else parse(text, TABLES)

    assert down(300, 1) == parse(WHERE + "age = 1", TABLES)
    used = len(list(_frames()))
    with pytest.raises(UnsupportedQuery, match="nested too deep"):
        down(sys.getrecursionlimit() - used - 60, 2)  # another text: the tree of the first is kept


def test_what_was_read_before_is_read_again_and_nobody_changes_it():
    text = WHERE + "age = 1"
    first, expected = read_select(text), read_select(text).sql()
    first.set("where", None)
    for literal in first.find_all(exp.Star):
        literal.replace(exp.Literal.number(7))
    again = read_select(text)
    assert again is not first
    assert again.sql() == expected


def test_current_days_are_not_mixed_up():
    text = WHERE + "day = CURRENT_DATE"
    days = [datetime.date(2026, 1, day) for day in (1, 2, 1)]
    found = [read_select(text, day).sql() for day in days]
    assert found[0] == found[2] != found[1]


def test_only_few_and_short_texts_are_kept():
    for number in range(100):
        read_select(WHERE + f"age = {number}")
    assert parser._kept.cache_info().currsize == parser._kept.cache_info().maxsize == 32
    before = parser._kept.cache_info()
    read_select(WHERE + f"city = '{'x' * 5000}'")
    assert parser._kept.cache_info() == before


def test_a_refusal_is_repeated():
    for _ in range(2):
        with pytest.raises(UnsupportedQuery, match="UNION around aggregates"):
            read_select("SELECT 1 UNION SELECT 2")


def _frames():
    frame = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


def test_many_conditions_side_by_side_are_not_nested():
    text = " AND ".join("NOT (age = 1)" for _ in range(200))
    assert len(parse(WHERE + text, TABLES).relation.condition.operands) == 200
    assert (
        len(parse(WHERE + f"age IN ({', '.join(map(str, range(9000)))})", TABLES).relation.condition.values)
        == 9000
    )


LONG = {
    "text": WHERE + "note = '" + "x" * 2_000_000 + "'",
    "a megabyte of conditions": WHERE + " OR ".join(["age = 1"] * 100_000),
    "parentheses": "(" * 1_000_000,
    "quotes": "'" * 1_000_001,
    "commas": "SELECT " + "," * 1_000_000,
    "spaces": " " * 1_000_000,
    "names": "SELECT " + "a" * 1_000_000,
    "comments": "/*" * 500_000,
    "just within": WHERE + "age = 1 OR " * 9000,
    "tokens": "SELECT " + "," * (LARGEST_TEXT - 10),
}


@pytest.mark.parametrize("kind", LONG)
def test_long_text_is_refused_before_it_is_parsed(kind):
    with pytest.raises(UnsupportedQuery, match=r"longer than|more than|empty"):
        parse(LONG[kind], TABLES)


def test_the_limits_are_where_they_say():
    listed = "SELECT COUNT(*) FROM visits WHERE age IN ("
    fits = listed + ",".join("1" for _ in range((LARGEST_TOKENS - 12) // 2)) + ")"
    assert parse(fits, TABLES).table == "visits"
    text = WHERE + "note = '" + "x" * (LARGEST_TEXT - len(WHERE) - 9) + "'"
    assert len(text) == LARGEST_TEXT
    assert parse(text, TABLES).table == "visits"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM (SHOW 'canary')",
        "SELECT COUNT(*) FROM (WITH x AS (TRUNCATE canary) )",
        "SELECT COUNT(*) FROM (WITH x AS (CALL canary) TABLE x)",
        "SELECT COUNT(*) FROM (WITH x AS (SET canary canary) )",
        "SELECT COUNT(*) FROM (ALTER TABLE x ADD canary)",
        "SELECT COUNT(*) FROM visits WHERE age IN (SET canary = 1)",
        "SELECT COUNT(*) FROM visits PIVOT canary",
        "SELECT 'canary' FROM visits WHERE CALL canary()",
    ],
)
def test_nothing_is_logged(text, caplog):
    with caplog.at_level(logging.DEBUG), pytest.raises((UnsupportedQuery, UndeclaredColumn)):
        parse(text, TABLES)
    assert not caplog.records


def test_a_select_is_read_as_one():
    assert read_select("SELECT COUNT(*) FROM visits").key == "select"


@pytest.mark.parametrize("name", ["Alter", "create", "drop", "grant", "insert"])
def test_words_that_begin_other_statements_are_names(name):
    """Alter is the German word for age."""
    tree = read_select(f"SELECT AVG({name}) AS n FROM t WHERE {name} > 18")
    assert [column.name for column in tree.find_all(exp.Column)] == [name, name]
