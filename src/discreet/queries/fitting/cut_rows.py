"""How much a limit on rows cuts: persons over it, rows that it keeps, and rows that it leaves out.

Over a relation with one row for each person, whose number of rows is r, the limit k keeps min(r, k) of them
and cuts max(r - k, 0). Of those at most m - k are counted, so that one person moves the four sums by no more
than 1, 1, k and m - k. (Proof: fitted_limits, lemma 7.)
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.data import Limits, Relation, Table, col, count
from discreet.data.facts.limits import declared_limits
from discreet.data.facts.persons import has_person
from discreet.data.facts.relation_facts import is_single
from discreet.data.language.formulas.cases import when
from discreet.data.language.relations import leftmost, sources_of
from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.queries.question.dataframe import TableRequest
from discreet.queries.question.query import Query

__all__ = ["LARGEST_COUNTED", "cut_query", "limit_that_cuts"]

TIMES = 10
"""Up to how many times the limit a person's rows are counted by default."""
LARGEST_COUNTED = 10**6
_ROWS = "rows"


def limit_that_cuts(relation: Relation, tables: Mapping[str, Table], stated: Limits | None) -> int:
    """Return the limit on rows that a question about a relation has, or refuse one that cuts nothing."""
    if not has_person(relation, tables) or is_single(relation, tables):
        raise ParameterError(
            "question", "is about rows of which each person has one, so that no limit cuts any", "another"
        )
    from discreet.data.prepared.sample import is_bounded_ahead

    if any(is_bounded_ahead(tables[name]) for name in sources_of(relation)):
        raise ParameterError(
            "question",
            "is about a prepared table, of which only the rows are left that its limit kept",
            "the same table without prepare=True",
        )
    limits = stated or leftmost(relation).limits or declared_limits(relation, tables)
    if limits.rows is None:
        raise ParameterError("limits", "are on groups, of which this cannot be said", "Limits(rows=…)")
    if limits.is_bought:
        raise ParameterError("limits", "are bought by each question", "a number, as limits=Limits(rows=10)")
    return limits.rows


def cut_query(relation: Relation, limit: int, most: int | None = None) -> tuple[Query, int]:
    """Return the query for what a limit cuts, and up to which number the rows of a person are counted.

    Parameters
    ----------
    relation : Relation
        The rows that a question is about.
    limit : int
        How many rows of each person it keeps.
    most : int, optional
        Up to how many rows of a person are counted; ten times the limit by default. A larger number sees
        more of people with very many rows, and has more noise in proportion.
    """
    largest = TIMES * limit if most is None else whole(most, "most", least=limit + 1, most=LARGEST_COUNTED)
    rows = TableRequest(table=leftmost(relation).table, relation=relation).per_person(**{_ROWS: count()})
    number = col(_ROWS)
    query = rows.agg(
        persons=count(),
        persons_over=when(number > limit).then(1).otherwise(0).sum(),
        rows_kept=number.clip(0, limit).sum(),
        rows_cut=(number.clip(limit, largest) - limit).sum(),
    ).derive(
        share_of_persons=col("persons_over") / col("persons"),
        share_of_rows=col("rows_cut") / (col("rows_kept") + col("rows_cut")),
    )
    return query, largest
