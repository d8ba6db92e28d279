"""DISTINCT of the outermost SELECT, and answers of keys alone.

SELECT DISTINCT x is SELECT x ... GROUP BY x. Which of the keys have rows is private, so that rows are
counted: keys are listed if the count shows them to have rows, at the confidence of the request. Of keys that
are chosen privately, all have persons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from discreet.queries.question.post_processing import PostProcessing
from discreet.queries.sql.columns.answer_columns import AnswerColumns
from discreet.queries.sql.formulas.aggregates import is_aggregate
from discreet.queries.sql.formulas.expressions import unwrapped
from discreet.queries.sql.formulas.literals import is_literal
from discreet.queries.sql.syntax.refusals import check_parts, refused

__all__ = ["check_distinct", "listed_keys", "with_distinct_groups"]


def with_distinct_groups(select: exp.Select) -> exp.Select:
    """Return a SELECT DISTINCT of columns as one that groups by them; any other SELECT as it is."""
    distinct = select.args.get("distinct")
    if distinct is None:
        return select
    if distinct.args.get("on") is not None:
        raise refused("DISTINCT ON", "write GROUP BY, and an aggregate for every other column")
    check_parts(distinct)
    items = [unwrapped(one.this if isinstance(one, exp.Alias) else one) for one in select.expressions]
    if select.args.get("group") is not None or any(
        is_aggregate(node) or isinstance(node, exp.Window) for one in items for node in one.walk()
    ):
        return select
    places = [exp.Literal.number(place) for place, one in enumerate(items, 1) if not is_literal(one)]
    grouped = select.copy()
    if places:
        grouped.set("group", exp.Group(expressions=places))
    return grouped


def check_distinct(select: exp.Select, named: Sequence[str | None], keys: int) -> None:
    """Refuse DISTINCT where SELECT leaves out keys: groups that differ in them could be alike."""
    if select.args.get("distinct") is not None and sum(name is None for name in named) < keys:
        raise refused(
            "SELECT DISTINCT without all keys", "select every key of GROUP BY, or leave DISTINCT out"
        )


def listed_keys(
    after: PostProcessing, named: Sequence[str | None], columns: AnswerColumns, keys: int
) -> PostProcessing:
    """Return what is done with an answer of keys alone: those are listed that have rows."""
    if not keys or columns.outputs:
        return after
    if columns.windows:
        raise refused("a window over keys alone", "select an aggregate as well, such as COUNT(*)")
    shown = tuple(name for name in named if name is not None)
    return replace(after, present=columns.count_rows(), shown=shown)
