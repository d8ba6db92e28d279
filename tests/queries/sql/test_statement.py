"""Statements of several answers: which questions they measure, and what is refused with what to write."""

# ruff: noqa: E501, S608

from __future__ import annotations

import pytest

from discreet.data.facts.question_tables import QuestionTables
from discreet.errors import UndeclaredColumn, UnsupportedQuery
from discreet.queries.question.query import Query
from discreet.queries.question.statement import MOST_PARTS, Statement
from discreet.queries.sql.answers.answer_joins import AnswerJoins
from discreet.queries.sql.answers.answer_scope import AnswerScope, StatementTables, placeholder
from discreet.queries.sql.answers.answer_types import schema_of_answer
from discreet.queries.sql.answers.over_answers import is_aggregated, select_over_answers
from discreet.queries.sql.rows.public_scalars import with_constants
from discreet.queries.sql.select import parse
from discreet.queries.sql.statement import read
from discreet.queries.sql.statement_parts import items_of_from, named_query
from discreet.queries.sql.syntax.parser import read_select, read_statement
from queries.answers.statements import COUNTS, EXACT, tables

KNOWN = (AnswerJoins, AnswerScope, StatementTables, placeholder, schema_of_answer, select_over_answers)
"""What `read` is made of."""


@pytest.mark.parametrize(
    ("text", "outputs"),
    [
        (f"SELECT AVG(n) AS a FROM {COUNTS}", [1]),
        ("SELECT city, COUNT(*) / (SELECT COUNT(*) FROM visits) AS p FROM visits GROUP BY city", [1, 1]),
        (EXACT["above the mean"], [1]),
        # The same rows by the same keys are one question, with all its aggregates, each once.
        (
            "SELECT (SELECT COUNT(*) FROM visits) / (SELECT AVG(cost) FROM visits) + (SELECT COUNT(*) FROM visits) AS x",
            [2],
        ),
        # What nothing reads is not measured.
        (
            "SELECT MAX(n) AS m FROM (SELECT city, COUNT(*) AS n, AVG(cost) AS c FROM visits GROUP BY city) AS t",
            [1],
        ),
        (
            "WITH unused AS (SELECT AVG(cost) AS c FROM visits), t AS (SELECT COUNT(*) AS n FROM visits) SELECT n + 1 AS x FROM t",
            [1],
        ),
    ],
)
def test_what_is_measured(text, outputs):
    found = read(text, tables())
    assert isinstance(found, Statement)
    assert [len(part.outputs) for part in found.parts] == outputs


@pytest.mark.parametrize(
    "text",
    [
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
        "SELECT AVG(n) AS a FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) AS t",
        "SELECT COUNT(*) AS n FROM visits WHERE city IN (SELECT city FROM places)",
        "WITH v AS (SELECT * FROM visits) SELECT COUNT(*) AS n FROM v JOIN places USING (city)",
    ],
)
def test_questions_about_rows_stay_what_they_are(text):
    found = read(text, tables())
    assert isinstance(found, Query)
    assert found == parse(text, tables())


def test_public_scalars_are_constants():
    constant = read("SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT MAX(beds) FROM places)", tables())
    assert constant == read("SELECT COUNT(*) AS n FROM visits WHERE cost > 70", tables())
    for inner, written in (
        ("SELECT MIN(city) FROM places", "'Accra'"),
        ("SELECT 0 - MAX(beds) FROM places", "(-70)"),
        ("SELECT MAX(beds) FROM places WHERE beds > 100", "NULL"),
        ("SELECT AVG(beds) FROM places", "40"),
    ):
        tree = read_statement(f"SELECT COUNT(*), ({inner}) AS x FROM visits")
        assert with_constants(tree, tables()).expressions[1].this.sql() == written
    with pytest.raises(UnsupportedQuery, match="several rows or columns"):
        read("SELECT COUNT(*) AS n, (SELECT beds FROM places) AS b FROM visits", tables())


REFUSED = [
    (
        "SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
        "in WHERE",
        "ask for the number first",
    ),
    (
        "SELECT SUM(CASE WHEN cost > (SELECT AVG(cost) FROM visits) THEN 1 ELSE 0 END) AS n FROM visits",
        "an aggregate",
        "ask for the number first",
    ),
    (
        f"SELECT t.city FROM {COUNTS} JOIN visits v ON v.city = t.city",
        "with private rows",
        "what was released",
    ),
    (
        f"SELECT a.n FROM (SELECT city, n FROM {COUNTS}) a JOIN (SELECT city AS c, n FROM {COUNTS}) b USING (n)",
        "by released numbers",
        "by their keys",
    ),
    (
        f"SELECT n FROM {COUNTS} INTERSECT SELECT n FROM {COUNTS}",
        "INTERSECT of released numbers",
        "keys alone",
    ),
    (f"SELECT n FROM {COUNTS} EXCEPT ALL SELECT n FROM {COUNTS}", "EXCEPT ALL", "write EXCEPT"),
    (f"SELECT city, n FROM {COUNTS} UNION ALL SELECT city FROM places", "different width", "as many columns"),
    (f"SELECT city FROM {COUNTS} UNION ALL SELECT n FROM {COUNTS}", "different types", "CAST"),
    (
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city UNION ALL SELECT city, cost FROM visits",
        "private rows",
        "aggregate the rows",
    ),
    (f"SELECT (SELECT n FROM {COUNTS}) AS x", "several rows or columns", "LIMIT 1"),
    (f"SELECT (SELECT MAX(n), MIN(n) FROM {COUNTS}) AS x", "several rows or columns", "one aggregate"),
    (f"SELECT APPROX_TOP_K(n, 3) AS x FROM {COUNTS}", "top of an answer", "MEDIAN"),
    (f"SELECT SUM(city) AS x FROM {COUNTS}", "sum of text", "of a number"),
    (f"SELECT p.city FROM places p LEFT JOIN {COUNTS} ON p.city = t.city AND n > 3", "outer JOIN", "WHERE"),
    (f"SELECT n FROM {COUNTS} ORDER BY n LIMIT n", "LIMIT and OFFSET", "LIMIT 10"),
    (f"SELECT city, n AS city FROM {COUNTS}", "same name", "AS"),
    (f"SELECT UPPER(n) AS x FROM {COUNTS}", "UPPER", "write UPPER(name)"),
    (f"SELECT city FROM {COUNTS} WHERE city > 3", "compare", "text"),
    (f"WITH RECURSIVE r AS (SELECT * FROM {COUNTS}) SELECT * FROM r", "WITH RECURSIVE", "without RECURSIVE"),
]


@pytest.mark.parametrize(("text", "construct", "rewrite"), REFUSED)
def test_what_is_refused_says_what_to_write(text, construct, rewrite):
    with pytest.raises(UnsupportedQuery) as caught:
        read(text, tables())
    assert type(caught.value) is UnsupportedQuery
    assert construct in str(caught.value)
    assert rewrite in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


def test_names_that_do_not_exist_are_told():
    with pytest.raises(UndeclaredColumn, match="known columns"):
        read(f"SELECT m FROM {COUNTS}", tables())
    with pytest.raises(UndeclaredColumn):
        read("SELECT n FROM (SELECT town, COUNT(*) AS n FROM visits GROUP BY town) AS t", tables())


def test_a_statement_measures_at_most_so_many_questions():
    scalars = " + ".join(
        f"(SELECT COUNT(*) FROM visits WHERE cost > {place})" for place in range(MOST_PARTS + 1)
    )
    with pytest.raises(UnsupportedQuery, match="ask in parts"):
        read(f"SELECT {scalars} AS x", tables())


def test_parts_of_a_statement():
    select = read_select("SELECT a.x FROM a JOIN (b CROSS JOIN c) ON a.x = b.x, (SELECT 1) AS d")
    assert [node.alias_or_name for node in items_of_from(select)] == ["a", "d", "b", "c"]
    assert named_query(items_of_from(select)[0], {}) is None
    assert is_aggregated(read_select("SELECT x FROM t ORDER BY COUNT(*)"))
    assert not is_aggregated(read_select("SELECT x, (SELECT COUNT(*) FROM u) AS n FROM t"))


def test_names_of_columns_without_one():
    found = read(f"SELECT SUM(n), AVG(n), MAX(n) - 1 FROM {COUNTS}", QuestionTables(dict(tables())))
    assert found.names == ("sum_n", "avg_n", "calculated")
