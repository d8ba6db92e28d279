"""What an answer is about, in one line: how much of each person was counted, and within which bounds.

All of it follows from the request and the declarations. Bounds that reveal literals of the question are left
out, as in the plan that a label shows; `with_stated_bounds` puts them in for the one who asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import TypeAlias

from discreet.curator.request.compound_request import CompoundRequest
from discreet.curator.request.fit_request import FitRequest
from discreet.curator.request.key_request import KeyRequest
from discreet.curator.request.request import Request
from discreet.curator.request.statistic_request import StatisticRequest
from discreet.curator.request.tabulated_request import TabulatedRequest
from discreet.data import Bounds, Limits, Table
from discreet.data.facts.limits import limits_of
from discreet.data.facts.persons import has_person
from discreet.data.facts.relation_facts import is_single
from discreet.data.language.description import describe_expression
from discreet.data.language.expressions import Call, Case, Cast, Column, Expression, Literal
from discreet.data.language.measures import ContingencyTable, Histogram, Measure, Moment, Sum, SumDistinct
from discreet.data.language.plan import KeyCountPlan, KeyPlan, Plan, RowPlan
from discreet.data.language.relations import Derive, Filter, Project, Relation, sources_of, walk_relation
from discreet.data.language.serialization import calculates
from discreet.data.tables.related_table import RelatedTable
from discreet.privacy.decimals import above, below
from discreet.privacy.events import Event

__all__ = ["AnyRequest", "counted", "counted_groups", "price", "with_stated_bounds"]

AnyRequest: TypeAlias = (
    Request | CompoundRequest | KeyRequest | StatisticRequest | TabulatedRequest | FitRequest
)
AnyPlan: TypeAlias = Plan | KeyPlan | KeyCountPlan | RowPlan

_MOST_COLUMNS = 4
"""How many columns are named with their bounds: a line is read, a list is not."""
_CHOOSING = {"coalesce", "greatest", "least"}
"""Functions whose value is one of their operands."""


def counted(request: AnyRequest, tables: Mapping[str, Table]) -> str:
    """Say how many rows of each person were counted, and within which bounds their values were taken.

    Examples
    --------
    ``at most 1 row per person counted, age within 0 to 120``; of a statement about several tables,
    ``visits: at most 3 rows per person counted; people: at most 1 row per person counted``.
    """
    if isinstance(request, StatisticRequest):
        table = tables[request.table]
        assert isinstance(table, RelatedTable)  # noqa: S101
        return f"{request.words}; protected: {table.unit}"
    plans: list[AnyPlan] = [*request.plans]
    limits = [_rows(plan, tables) for plan in plans]
    names = _outputs(request)
    values = [[words for words, _ in _values(plan, names, tables)] for plan in plans]
    if len(set(limits)) == 1:
        return _line(limits[0], [one for listed in values for one in listed])
    said: dict[str, None] = {}
    for plan, rows, listed in zip(plans, limits, values, strict=True):
        said[f"{' and '.join(sources_of(plan.source))}: {_line(rows, listed)}"] = None
    return "; ".join(said)


def with_stated_bounds(words: str, request: AnyRequest) -> str:
    """Return what `counted` says with the bounds that a question stated or implied.

    They may reveal its literals, so that they are for print before the one who asked, not for the label.
    """
    if not isinstance(request, Request | CompoundRequest):
        return words
    names = _outputs(request)
    said: dict[str, dict[str, None]] = {}
    for hidden, stated in (pair for plan in request.plans for pair in _values(plan, names, {})):
        said.setdefault(hidden, {})[stated] = None
    for hidden in sorted(said, key=len, reverse=True):  # one name may be the end of another
        words = words.replace(hidden, ", ".join(said[hidden]))
    return words


def _outputs(request: AnyRequest) -> dict[Measure, str]:
    """Return the output that reads each measure first."""
    if not isinstance(request, Request | CompoundRequest):
        return {}
    columns = [one for part in request.requests for one in part.columns]
    return {measure: one.name for one in reversed(columns) for measure in one.measures}


def counted_groups(request: AnyRequest) -> str:
    """Say how many groups are measured, empty ones too; nothing where keys are still to be chosen.

    Examples
    --------
    ``18 groups are answered, of 6 keys of year and 3 of city``.
    """
    if isinstance(request, KeyRequest | StatisticRequest | TabulatedRequest | FitRequest):
        return ""
    if isinstance(request, CompoundRequest) and len(request.requests) > 1:
        sizes = " and ".join(f"{_groups(one):,}" for one in request.requests)
        return f"{len(request.requests)} questions are measured, for {sizes} groups"
    (only,) = request.requests
    if not only.plan.keys:
        return "1 group is answered: all rows together"
    many = _groups(only)
    keys = [
        f"{len(key.values):,} {'keys ' * (place == 0)}of {key.column}"
        for place, key in enumerate(only.plan.keys)
    ]
    totals = ", and totals" if only.levels else ""
    return f"{many:,} {'group is' if many == 1 else 'groups are'} answered, of {' and '.join(keys)}{totals}"


def _groups(request: Request) -> int:
    if not request.levels:
        return request.plan.cells
    return sum(
        prod(len(key.values) for key, grouped in zip(request.plan.keys, level, strict=True) if grouped)
        for level in request.levels
    )


def price(event: Event) -> str:
    """Write what an event costs: a pure epsilon, else a rho, else an epsilon with its delta; rounded up."""
    if event.pure_epsilon is not None:
        return f"epsilon {above(event.pure_epsilon)}"
    if event.concentrated_rho is not None:
        return f"rho {above(event.concentrated_rho)}"
    from discreet.accounting.filters import Odometer
    from discreet.privacy.neighbors import ADD_REMOVE_PERSON

    alone = Odometer(neighbors=event.neighbors or ADD_REMOVE_PERSON).add(event)
    if alone.epsilon is None:
        return "what its event says"
    return f"epsilon {above(alone.epsilon)} and delta {above(alone.delta)}"


def _line(rows: str, values: list[str]) -> str:
    apart = list(dict.fromkeys(values))
    more = [f"{len(apart) - _MOST_COLUMNS} more columns within their bounds"]
    shown = apart if len(apart) <= _MOST_COLUMNS else [*apart[:_MOST_COLUMNS], *more]
    return ", ".join([rows, *shown])


def _rows(plan: AnyPlan, tables: Mapping[str, Table]) -> str:
    """Say how many rows of each person count."""
    if isinstance(plan, KeyCountPlan) and plan.rows > 1:
        return f"at most {_many(plan.total)} per person counted"
    if isinstance(plan, KeyPlan | KeyCountPlan):
        return f"at most {plan.keys:,} {'key' if plan.keys == 1 else 'keys'} per person counted"
    relation = plan.source
    if not has_person(relation, tables):
        return "every row counted, each as a person"
    if is_single(relation, tables):
        return "at most 1 row per person counted: nobody has more"
    from discreet.data.prepared.sample import needs_no_bounding

    narrowed = any(isinstance(node, Filter) for node in walk_relation(relation))
    ahead = ", drawn before any condition" if narrowed and needs_no_bounding(relation, tables) else ""
    if isinstance(plan, RowPlan):
        return f"at most {_many(plan.rows)} per person counted{ahead}"
    return f"at most {_limited(limits_of(relation, tables))}{ahead}"


def _limited(limits: Limits) -> str:
    if limits.rows is not None:
        return f"{_many(limits.rows)} per person counted"
    assert limits.groups is not None  # noqa: S101
    assert limits.rows_per_group is not None  # noqa: S101
    groups = "1 group" if limits.groups == 1 else f"each of {limits.groups:,} groups"
    return f"{_many(limits.rows_per_group)} per person counted in {groups}"


def _many(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows:,} rows"


def _values(
    plan: AnyPlan, outputs: Mapping[Measure, str], tables: Mapping[str, Table]
) -> Iterator[tuple[str, str]]:
    """Say within which bounds values were taken: without those that reveal literals, and with them."""
    if isinstance(plan, KeyPlan | KeyCountPlan):
        return
    told = not calculates(plan)
    calculated = _calculated(plan.source)
    if isinstance(plan, RowPlan):
        axes = [(axis.column, axis.values) for axis in plan.columns]
        read = [(column, bounds, column) for column, bounds in axes if isinstance(bounds, Bounds)]
    else:
        read = [
            (column, bounds, outputs.get(measure, "an output"))
            for measure in plan.measures
            for column, bounds in _bounded(measure)
        ]
    for column, bounds, output in read:
        name = _plain_column(Column(name=column), calculated)
        known = name is not None and _is_declared(plan, name, bounds, tables)
        called = name or f"values of {output}"
        stated = f"{called} within {below(bounds.lower)} to {above(bounds.upper)}"
        hidden = f"{called} within {'their' if name is None else 'its'} bounds"
        yield (stated if told or known else hidden), stated


def _calculated(relation: Relation) -> dict[str, Expression]:
    """Return the columns that are named after how they are calculated, which nobody wrote like this."""
    return {
        column.name: column.expression
        for node in walk_relation(relation)
        if isinstance(node, Project | Derive)
        for column in node.columns
        if not isinstance(column.expression, Column)
        and column.name.startswith(describe_expression(column.expression))
    }


def _plain_column(node: Expression, calculated: Mapping[str, Expression]) -> str | None:
    """Return the column whose values an expression takes, converted, clipped or in some rows only."""
    if isinstance(node, Column):
        below_it = calculated.get(node.name)
        return node.name if below_it is None else _plain_column(below_it, calculated)
    if isinstance(node, Cast):
        return _plain_column(node.operand, calculated)
    parts: list[Expression] = []
    if isinstance(node, Case):
        parts = [*(branch.value for branch in node.branches), node.otherwise]
    elif isinstance(node, Call) and node.function.name in _CHOOSING:
        parts = [*node.operands]
    taken = {_plain_column(part, calculated) for part in parts if not isinstance(part, Literal)}
    return taken.pop() if len(taken) == 1 else None


def _bounded(measure: Measure) -> Iterator[tuple[str, Bounds]]:
    if isinstance(measure, Sum | SumDistinct):
        yield measure.column, measure.bounds
    elif isinstance(measure, Moment):
        yield from ((factor.column, factor.bounds) for factor in measure.factors)
    elif isinstance(measure, Histogram):
        if isinstance(measure.values, Bounds):
            yield measure.column, measure.values
    elif isinstance(measure, ContingencyTable):
        yield from ((axis.column, axis.values) for axis in measure.axes if isinstance(axis.values, Bounds))


def _is_declared(plan: Plan | RowPlan, column: str, bounds: Bounds, tables: Mapping[str, Table]) -> bool:
    """Return whether bounds are those that a table declares for a column, which reveal no literal."""
    for name in sources_of(plan.source):
        declared = tables[name].columns.get(column) if name in tables else None
        if isinstance(declared, Bounds):
            return (declared.lower, declared.upper) == (bounds.lower, bounds.upper)
    return False
