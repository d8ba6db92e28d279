"""Rows that an answer leaves out, as its plan tells: beyond the limits where rows multiply, and in no group.

All of it follows from the plan, the declarations and public tables, never from rows. So it is said of every
answer of such a plan, whether or not any row is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from discreet.curator.request.compound_request import CompoundRequest
from discreet.curator.request.request import Request
from discreet.data import Table
from discreet.data.facts.limits import counted_rows, declared_limits, limits_of, rows_within_limits
from discreet.data.facts.relation_facts import is_single
from discreet.data.language.expressions import Case, Column, Expression, Literal
from discreet.data.language.plan import Plan
from discreet.data.language.relations import Derive, Project, Relation, walk_relation

__all__ = ["left_out"]


def left_out(request: object, tables: Mapping[str, Table]) -> tuple[str, ...]:
    """Say which rows an answer leaves out that a reader may expect in it, each thing once.

    Examples
    --------
    ``rows whose ward is missing or not among its keys are in no group``; of a join in which one row finds
    four public ones, ``a person may have more rows here than the 3 that are counted; cut_by_limits says what
    is lost``.
    """
    if not isinstance(request, Request | CompoundRequest):
        return ()
    said = [words for plan in request.plans for words in (*_multiplied(plan, tables), *_in_no_group(plan))]
    return tuple(dict.fromkeys(said))


def _multiplied(plan: Plan, tables: Mapping[str, Table]) -> Iterator[str]:
    """Say so if a person within the limits of every table has more rows than are counted."""
    relation = plan.source
    if is_single(relation, tables):
        return
    if rows_within_limits(relation, tables) <= counted_rows(declared_limits(relation, tables)):
        return
    many = counted_rows(limits_of(relation, tables))
    yield (
        f"a person may have more rows here than the {many:,} that {'is' if many == 1 else 'are'} counted; "
        "cut_by_limits says what is lost"
    )


def _in_no_group(plan: Plan) -> Iterator[str]:
    """Name the keys that a row may lack: those without NULL, unless a CASE gives every row one of them."""
    for key in plan.keys:
        if not key.values.has_null and not _always_listed(key.column, plan.source):
            yield f"rows whose {key.column} is missing or not among its keys are in no group"


def _always_listed(column: str, relation: Relation) -> bool:
    expression: Expression = Column(name=column)
    for node in walk_relation(relation):
        if not isinstance(expression, Column):
            break
        if isinstance(node, Project | Derive):
            found = {one.name: one.expression for one in node.columns}
            expression = found.get(expression.name, expression)
    return _is_constant_in_all_cases(expression)


def _is_constant_in_all_cases(expression: Expression) -> bool:
    if isinstance(expression, Case):
        values = [*(branch.value for branch in expression.branches), expression.otherwise]
        return all(map(_is_constant_in_all_cases, values))
    return isinstance(expression, Literal) and expression.value is not None
