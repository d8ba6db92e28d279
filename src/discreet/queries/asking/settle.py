"""From what an analyst asks to a question on its terms: SQL is parsed, keys are looked up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from discreet.curator import Request
from discreet.data import Table
from discreet.data.facts.question_tables import QuestionTables
from discreet.errors import ParameterError
from discreet.queries.asking.asked import Asked, FinishedRequest
from discreet.queries.asking.counts import AskedCounts
from discreet.queries.asking.fitted import AskedToFit, Fittable
from discreet.queries.asking.lacking import stated, wanted_of
from discreet.queries.asking.query import AskedQuery
from discreet.queries.asking.unknown_keys import AskedByUnknownKeys
from discreet.queries.counts.question import LinearQuestion
from discreet.queries.noise.unknown_keys import unknown_keys
from discreet.queries.question.query import Query
from discreet.queries.question.terms import Terms
from discreet.queries.sql.select import parse

__all__ = ["Question", "settle"]

Question: TypeAlias = str | Query | LinearQuestion | Request
"""What may be asked: SQL, what `table(…)` built, many counts at once, or a finished request."""


def settle(question: Question, tables: Mapping[str, Table], terms: Terms) -> Asked:
    """Return a question on its terms; it is refused here, or when its request is made, before any charge."""
    if isinstance(question, Request):
        return FinishedRequest(tables=tables, terms=terms, finished=question)
    tables = QuestionTables(tables)
    query = parse(question, tables) if isinstance(question, str) else question
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


def _settled(question: Fittable, tables: Mapping[str, Table], terms: Terms) -> Asked:
    """Return a question that lacks neither limits nor bounds on its terms."""
    if isinstance(question, LinearQuestion):
        return AskedCounts(tables=tables, terms=terms, question=question)
    # Where an error is wanted, undeclared keys are refused with what to declare: their choice has no error.
    if terms.error is None and unknown_keys(question, tables):
        return AskedByUnknownKeys(tables=tables, terms=terms, query=question)
    return AskedQuery(tables=tables, terms=terms, query=question)
