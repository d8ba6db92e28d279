"""Everything outside the language is refused before any charge: by name, with a rewrite, without a literal.

The corpus is in `refusals.txt`, `refusals_relations.txt` and `undeclared.txt`.
"""

# ruff: noqa: S608
from __future__ import annotations

import logging
import traceback
from pathlib import Path

import pytest

from discreet.errors import RequestRefused, UndeclaredColumn, UnsupportedQuery
from discreet.queries import bind, parse
from queries.clinic import TABLES
from queries.related import RELATED

WHERE = "SELECT COUNT(*) AS n FROM visits WHERE "


def corpus(name):
    """Yield (query, what the line above it says)."""
    said = ""
    for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines():
        if line.startswith("> "):
            said = line.removeprefix("> ")
        elif line and not line.startswith("#"):
            yield line, said


CASES = [(query, *said.split(" | ")) for query, said in corpus("refusals.txt")] + [
    (f"SELECT COUNT(*) AS {'x' * 201} FROM visits", "the name of an output", "1 to 200"),
    (WHERE + f"age = {'9' * 2000}", "a number has too many digits", "like 40"),
    (WHERE + "note = 'canary\0'", "a text literal contains a NUL", "well-formed"),
    (WHERE + "note = 'canary\ud800'", "a text literal contains a NUL", "well-formed"),
    ("", "empty", "SELECT COUNT(*)"),
    ("   \n", "empty", "SELECT COUNT(*)"),
]
RELATIONS = [(query, *said.split(" | ")) for query, said in corpus("refusals_relations.txt")]
UNDECLARED = list(corpus("undeclared.txt"))


def refusal(query, tables=TABLES):
    with pytest.raises(RequestRefused) as caught:
        bind(parse(query, tables), tables)
    return caught.value


def check_names(error, construct, rewrite):
    assert isinstance(error, UnsupportedQuery)
    asked, _, instead = str(error).partition("; ")
    assert construct in asked
    assert rewrite in instead


def check_silent(error, logged):
    assert error.__cause__ is None
    assert error.__context__ is None
    told = f"{error}{error!r}{logged}{''.join(traceback.format_exception_only(error))}".lower()
    assert "canary" not in told
    assert "5908273141" not in told


def test_the_corpus_is_large():
    assert len({query for query, *_ in (*CASES, *RELATIONS, *UNDECLARED)}) >= 350


@pytest.mark.parametrize(("query", "construct", "rewrite"), CASES)
def test_a_refusal_names_the_construct_and_a_rewrite(query, construct, rewrite):
    check_names(refusal(query), construct, rewrite)


@pytest.mark.parametrize(("query", "construct", "rewrite"), RELATIONS)
def test_what_would_let_people_decide_about_others_is_refused(query, construct, rewrite, caplog):
    with caplog.at_level(logging.DEBUG):
        error = refusal(query, RELATED)
    check_names(error, construct, rewrite)
    check_silent(error, caplog.text)


@pytest.mark.parametrize(("query", "message"), UNDECLARED)
def test_what_is_not_declared_is_told_with_what_is(query, message):
    error = refusal(query)
    assert isinstance(error, UndeclaredColumn)
    assert message in str(error)


@pytest.mark.parametrize("query", [query for query, *_ in (*CASES, *UNDECLARED)])
def test_no_refusal_holds_a_literal(query, caplog):
    with caplog.at_level(logging.DEBUG):
        error = refusal(query)
    check_silent(error, caplog.text)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT age, COUNT(*) FROM visits GROUP BY age",
        "SELECT MIN(age) AS a, MAX(cost) AS b FROM visits",
        "SELECT COUNT(*) AS n FROM visits WHERE CAST(age AS TEXT) LIKE '4%' LIMIT 1",
        "SELECT COUNT(*) AS n FROM visits v JOIN staff s ON v.patient = s.patient",
        "SELECT SUM(age) FILTER (WHERE city = 'Oslo') AS s FROM visits",
        "SELECT COUNT(DISTINCT note) AS d FROM visits",
        "SELECT CASE WHEN age < 18 THEN 'minor' ELSE 'adult' END AS g, COUNT(*) FROM visits GROUP BY g",
    ],
)
def test_what_was_refused_once_is_answered(query):
    assert bind(parse(query, TABLES), TABLES).outputs


@pytest.mark.parametrize(
    "query",
    [
        "SELECT age + 1 AS x FROM visits",
        "SELECT CASE WHEN age < 18 THEN 1 ELSE 0 END AS x, COUNT(*) FROM visits",
    ],
)
def test_a_calculation_is_grouped_by_or_aggregated(query):
    assert "neither grouped by nor aggregated; add it to GROUP BY" in str(refusal(query))
