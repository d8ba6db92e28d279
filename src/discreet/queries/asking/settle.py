"""From what an analyst asks to a question on its terms: SQL is parsed, keys are looked up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from discreet.curator import Request
from discreet.curator.request.compound_request import CompoundRequest
from discreet.curator.request.statistic_request import StatisticRequest
from discreet.data import Table
from discreet.data.facts.question_tables import QuestionTables
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.queries.asking.asked import Asked, FinishedRequest
from discreet.queries.asking.counts import AskedCounts
from discreet.queries.asking.fitted import AskedToFit, Fittable
from discreet.queries.asking.lacking import stated, wanted_of
from discreet.queries.asking.query import AskedQuery
from discreet.queries.asking.statistic import AskedStatistic, refuse_other_relations
from discreet.queries.counts.question import LinearQuestion
from discreet.queries.noise.unknown_keys import unknown_keys
from discreet.queries.question.query import Query
from discreet.queries.question.statement import Statement
from discreet.queries.question.statistic import StatisticQuestion
from discreet.queries.question.terms import CHOSEN, Terms
from discreet.queries.sql.statement import read

__all__ = ["Question", "settle"]

Question: TypeAlias = (
    str
    | Query
    | Statement
    | LinearQuestion
    | StatisticQuestion
    | Request
    | CompoundRequest
    | StatisticRequest
)
"""What may be asked: SQL, what `table(…)` built, many counts at once, a statistic, or a finished request."""


def settle(question: Question, tables: Mapping[str, Table], terms: Terms) -> Asked:
    """Return a question on its terms; it is refused here, or when its request is made, before any charge."""
    if isinstance(question, StatisticQuestion):
        return AskedStatistic(tables=tables, terms=terms, question=question)
    if not isinstance(question, StatisticRequest):
        refuse_other_relations(tables, terms)
    if isinstance(question, Request | CompoundRequest | StatisticRequest):
        return FinishedRequest(tables=tables, terms=terms, finished=question)
    tables = QuestionTables(tables)
    query = read(question, tables, terms.day) if isinstance(question, str) else question
    if isinstance(query, Statement):
        return _settled_statement(query, tables, terms)
    if not isinstance(query, Query | LinearQuestion):
        raise ParameterError(
            "question",
            "is neither SQL nor a request",
            "text, table(…).agg(…), or ranges(…), cdf(…), marginals(…)",
        )
    query = stated(query, terms)
    wanted = wanted_of(query, tables, terms)
    if not wanted:
        return _settled(query, tables, terms)

    def settled(question: Fittable, terms: Terms) -> Asked:
        return _settled(question, tables, terms)

    return AskedToFit(tables=tables, terms=terms, question=query, wanted=wanted, settled=settled)


def _settled_statement(statement: Statement, tables: Mapping[str, Table], terms: Terms) -> Asked:
    """Return a statement on its terms, with the limits and bounds that these state."""
    from discreet.queries.asking.statement import AskedStatement  # few questions are statements of several

    if terms.keys == CHOSEN:
        raise UnsupportedQuery(
            "keys='chosen' shows keys with their counts, and here several answers are calculated with; ask "
            "for one of them alone"
        )
    parts = tuple(part for part in (stated(one, terms) for one in statement.parts) if isinstance(part, Query))
    if any(wanted_of(part, tables, terms) for part in parts):
        raise ParameterError(
            "question",
            "is a statement of several answers, whose limits or bounds would have to be bought first",
            "limits and bounds in numbers; suggest_limits and suggest_bounds find them",
        )
    return AskedStatement(tables=tables, terms=terms, statement=replace(statement, parts=parts))


def _settled(question: Fittable, tables: Mapping[str, Table], terms: Terms) -> Asked:
    """Return a question that lacks neither limits nor bounds on its terms."""
    if isinstance(question, LinearQuestion):
        return AskedCounts(tables=tables, terms=terms, question=question)
    # Where an error is wanted, undeclared keys are refused with what to declare: their choice has no error.
    if terms.error is None and (unknown_keys(question, tables) or terms.keys == CHOSEN):
        from discreet.queries.asking.counted_keys import AskedByCountedKeys  # most keys are declared

        return AskedByCountedKeys.settle(question, tables, terms)
    return AskedQuery(tables=tables, terms=terms, query=question)
