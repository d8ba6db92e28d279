"""How much the limits of a question cut, on request and for a price."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.curator import Release
from discreet.curator.release.drowned import drowned
from discreet.curator.request.request import AnswerColumn
from discreet.data import Limits, Relation
from discreet.errors import ParameterError
from discreet.queries import TableRequest
from discreet.queries.counts.question import LinearQuestion
from discreet.queries.fitting.cut_rows import cut_query, limit_that_cuts
from discreet.queries.question.query import Query
from discreet.queries.sql.statement import read
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.front.curator import Curator

__all__ = ["LimitCut", "cut_by_limits", "cut_question"]

_SHARES = ("share_of_persons", "share_of_rows")
_MEASURED_UP_TO_MOST = ("rows_cut", "share_of_rows")
"""What has noise in proportion to how far rows of a person are counted beyond the limit."""


def cut_by_limits(
    curator: Curator,
    question: str | Query | LinearQuestion | TableRequest,
    *,
    limits: Limits | None = None,
    most: int | None = None,
    **offer: Any,
) -> Release:
    """Spend on how many persons have more rows than a limit keeps, and which share of the rows it cuts.

    An ordinary question with its own price: how many persons there are, how many have more rows than the
    limit, how many rows it keeps and how many it cuts, with intervals. The rows are those of FROM and WHERE,
    of all groups together. Of a person's rows no more than `most` are counted, so that the rows cut
    are at least as many as stated where someone has more. Shares are within 0 and 1, as they must be, and so
    are their intervals; that of the rows cut does not begin below 0.

    Parameters
    ----------
    question : str, Query, LinearQuestion or TableRequest
        What is, or will be, asked under the limit; or ``curator.table("visits")``.
    limits : Limits, optional
        Another limit than the question would have.
    most : int, optional
        Up to how many rows of a person are counted; ten times the limit by default. The noise of the rows
        cut is in proportion to how far it is above the limit.
    **offer
        What `ask` takes, such as ``epsilon=0.1``.

    Examples
    --------
    ``curator.cut_by_limits("SELECT COUNT(*) FROM visits", epsilon=0.1)``
    """
    cut = cut_question(curator, question, limits=limits, most=most)
    return cut.told(curator.ask(cut.query, **offer))


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitCut:
    """What is asked about a limit, and how its answer is told.

    Attributes
    ----------
    query : Query
        An ordinary question, which can be previewed and asked.
    limit, most : int
        How many rows of a person the limit keeps, and up to how many are counted.
    """

    query: Query
    limit: int
    most: int

    def told(self, release: Release) -> Release:
        """Return the answer within the range of what is possible, with words of its own."""
        outputs = tuple(_possible(column) for column in release.outputs)
        rows = "1 row" if self.limit == 1 else f"{self.limit:,} rows"
        words = f"what a limit of {rows} per person cuts, of at most {self.most:,} rows per person"
        noisy = [column for column in outputs if column.name in _MEASURED_UP_TO_MOST]
        fewer = max(self.most // 2, self.limit + 1)
        if fewer < self.most and drowned(noisy, release.request, release.event, release.label):
            words += f"; most={fewer} would have less noise"
        return replace(release, outputs=outputs, label={**release.label, "counted": words})


def cut_question(
    curator: Curator,
    question: str | Query | LinearQuestion | TableRequest,
    *,
    limits: Limits | None = None,
    most: int | None = None,
) -> LimitCut:
    """Return what `cut_by_limits` asks; it takes the same, without the offer."""
    relation = _rows_of(curator, question)
    limit = limit_that_cuts(relation, curator.tables, limits)
    query, largest = cut_query(relation, limit, most)
    return LimitCut(query=query, limit=limit, most=largest)


def _possible(column: AnswerColumn) -> AnswerColumn:
    """Return a column of numbers that are never negative, and of shares never above 1, within that range.

    The interval covers the true number, which is in the range: so does the part of it that is in the range.
    A noisy number of rows stays as it was drawn, and has no bias.
    """
    most = 1.0 if column.name in _SHARES else np.inf
    lower, upper, values = (
        np.asarray(one, np.float64).clip(0, most) for one in (column.lower, column.upper, column.values)
    )
    kept = values if column.name in _SHARES else column.values
    return replace(column, values=kept, lower=lower, upper=upper)


def _rows_of(curator: Curator, question: object) -> Relation:
    asked = read(question, curator.tables, curator.today) if isinstance(question, str) else question
    if isinstance(asked, TableRequest):
        return asked._rows()
    if not isinstance(asked, Query | LinearQuestion):
        raise ParameterError(
            "question", "is not about the rows of one relation", "one question, or curator.table(…)"
        )
    return asked.relation
