"""From what an analyst asks to a question on its terms: SQL is parsed, keys are looked up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from discreet.curator import Request
from discreet.curator.request.compound_request import CompoundRequest
from discreet.data import Table
from discreet.data.facts.question_tables import QuestionTables
from discreet.errors import ParameterError
from discreet.queries.asking.asked import Asked, FinishedRequest
from discreet.queries.asking.counts import AskedCounts
from discreet.queries.asking.query import AskedQuery
from discreet.queries.asking.statement import AskedStatement
from discreet.queries.asking.unknown_keys import AskedByUnknownKeys
from discreet.queries.counts.question import LinearQuestion
from discreet.queries.noise.unknown_keys import unknown_keys
from discreet.queries.question.query import Query
from discreet.queries.question.statement import Statement
from discreet.queries.question.terms import Terms
from discreet.queries.sql.statement import read

__all__ = ["Question", "settle"]

Question: TypeAlias = str | Query | Statement | LinearQuestion | Request | CompoundRequest
"""What may be asked: SQL, what `table(…)` built, many counts at once, or a finished request."""


def settle(question: Question, tables: Mapping[str, Table], terms: Terms) -> Asked:
    """Return a question on its terms; it is refused here, or when its request is made, before any charge."""
    if isinstance(question, Request | CompoundRequest):
        return FinishedRequest(tables=tables, terms=terms, finished=question)
    tables = QuestionTables(tables)
    if isinstance(question, LinearQuestion):
        return AskedCounts(tables=tables, terms=terms, question=question)
    query = read(question, tables) if isinstance(question, str) else question
    if isinstance(query, Statement):
        return AskedStatement(tables=tables, terms=terms, statement=query)
    if not isinstance(query, Query):
        raise ParameterError(
            "question",
            "is neither SQL nor a request",
            "text, table(…).agg(…), or ranges(…), cdf(…), marginals(…)",
        )
    # Where an error is wanted, undeclared keys are refused with what to declare: their choice has no error.
    if terms.error is None and unknown_keys(query, tables):
        return AskedByUnknownKeys(tables=tables, terms=terms, query=query)
    return AskedQuery(tables=tables, terms=terms, query=query)
