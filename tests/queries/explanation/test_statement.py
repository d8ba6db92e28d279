"""Explanations of statements: every question with its share, and each step that follows, without literals."""

from __future__ import annotations

from discreet.queries.explanation.statement import explain_statement
from discreet.queries.question.terms import Terms
from discreet.queries.sql.statement import read
from queries.answers.statements import COUNTS, EXACT, tables


def test_every_step_is_described_and_no_literal_is_repeated():
    text = (
        f"SELECT region, SUM(n) * 2 AS twice FROM {COUNTS} JOIN places USING (city) WHERE n > 77123 "  # noqa: S608
        "GROUP BY region ORDER BY twice DESC LIMIT 5"
    )
    said = explain_statement(read(text, tables()), tables(), None, (), Terms())
    assert "question 1 of 1, for 1 of what is offered" in said
    assert "joined by" in said
    assert "only rows with" in said
    assert "sorted by" in said
    assert "cut to the first rows" in said
    assert "77123" not in said


def test_sets_and_groups_are_described():
    said = explain_statement(read(EXACT["intersect"], tables()), tables(), None, (), Terms())
    assert "intersect" in said
    said = explain_statement(read(EXACT["aggregates"], tables()), tables(), None, (), Terms())
    assert "by nothing" in said
